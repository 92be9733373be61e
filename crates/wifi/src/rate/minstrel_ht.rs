//! Minstrel-HT: the rate control of Linux (`net/mac80211/rc80211_minstrel_ht.c` of 6.12 and 6.18).
//! The kernel's symbols are named next to the corresponding code.
//!
//! Minstrel-HT maintains statistics of success at each rate. It sends at the rate with the highest
//! expected throughput, and probes other rates periodically.
//!
//! | module | holds |
//! |---|---|
//! | [`statistics`] | the average probability of success of a rate, the average length of aggregates |
//! | [`table`] | rates in groups, the airtime of a frame, the expected throughput |
//! | [`selection`] | the rates of highest throughput and of highest probability |
//! | [`sampling`] | which rates are probed, and when |
//! | [`chain`] | the retry chain |

mod chain;
mod sampling;
mod selection;
mod statistics;
mod table;
#[cfg(test)]
mod tests;

use super::{Capabilities, Refusal};
use crate::phy::Mode;
use acklab_base::random::Stream;
use acklab_base::{Duration, Instant};
use chain::Chain;
use sampling::Sampler;
use selection::Selection;
use table::Table;

/// The interval between two selections: HZ / 20 (`update_interval`).
const UPDATE_INTERVAL: Duration = Duration::from_millis(50);
/// A rate is downgraded before the interval ends if it had more attempts than this and fewer than a
/// quarter succeeded (`minstrel_ht_tx_status`).
const SUDDEN_DEATH: u32 = 30;

/// The state of one transmitter for one receiver.
#[derive(Clone, Debug)]
pub struct MinstrelHt {
    table: Table,
    selection: Selection,
    chain: Chain,
    sampler: Sampler,
    /// The time at which the rates were last selected.
    updated: Instant,
    /// The rate of a probe, which replaces the first rate of the chain in progress.
    probe: Option<usize>,
    /// The stage of the chain of the mode chosen last.
    place: usize,
    /// Consecutive PPDUs without a response frame.
    unanswered: u32,
}

impl MinstrelHt {
    /// Returns the state without any statistics. `stream` is the random order of probes.
    ///
    /// # Errors
    /// If the standard defines no mode here.
    pub fn new(capabilities: Capabilities, stream: &mut Stream) -> Result<Self, Refusal> {
        let mut table = Table::new(capabilities);
        if table.rates.is_empty() {
            return Err(Refusal::NoMode(capabilities));
        }
        let selection = table.select();
        let mut sampler = Sampler::new(&table, stream);
        sampler.refill(Instant::ZERO, &table, selection);
        let chain = Chain::new(&table, selection);
        Ok(Self { table, selection, chain, sampler, updated: Instant::ZERO, probe: None, place: 0, unanswered: 0 })
    }

    /// Returns the mode of the next PPDU. The chain advances while no response frame arrives,
    /// because hardware retransmits an aggregate at the next rate of its chain. A response frame
    /// ends the chain. Unacknowledged frames are then sent with a new chain.
    pub(super) fn choose(&mut self, now: Instant, attempt: u32) -> Mode {
        let failures = attempt.min(self.unanswered);
        if failures == 0 {
            self.probe = self.sampler.probe(now);
        }
        let (rate, place) = self.chain.at(self.probe, failures);
        self.place = place;
        self.table.rates[rate].mode
    }

    /// Returns `true` if the mode chosen last is a fallback.
    pub(super) const fn is_fallback(&self) -> bool {
        self.place > 0
    }

    /// Returns `true` if the mode chosen last is a probe.
    pub(super) const fn is_probe(&self) -> bool {
        self.place == 0 && self.probe.is_some()
    }

    /// Reports a PPDU (`minstrel_ht_tx_status`).
    pub(super) fn report(&mut self, now: Instant, mode: Mode, attempted: u32, delivered: u32) {
        self.unanswered = if delivered == 0 { self.unanswered + 1 } else { 0 };
        let Some(rate) = self.table.find(mode) else { return };
        if attempted == 0 {
            return;
        }
        self.table.aggregation.count(attempted);
        let statistics = &mut self.table.rates[rate].statistics;
        statistics.attempts += attempted;
        statistics.successes += delivered;

        let has_died = self.replace_the_dead();
        let is_due = now > self.updated + UPDATE_INTERVAL;
        if is_due {
            self.selection = self.table.select();
            self.sampler.refill(now, &self.table, self.selection);
            self.updated = now;
        }
        if has_died || is_due {
            self.chain = Chain::new(&self.table, self.selection);
        }
    }

    /// Downgrades the two best rates before the interval ends if they mostly fail, because spatial
    /// streams may fail suddenly.
    fn replace_the_dead(&mut self) -> bool {
        let mut has_died = false;
        for place in 0..2 {
            let rate = self.selection.best[place];
            let statistics = self.table.rates[rate].statistics;
            if statistics.attempts > SUDDEN_DEATH && statistics.successes < statistics.attempts / 4 {
                self.selection.best[place] = self.table.downgraded(rate, place);
                has_died = true;
            }
        }
        has_died
    }
}
