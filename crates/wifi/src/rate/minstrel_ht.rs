//! Minstrel-HT: the rate control of Linux (`net/mac80211/rc80211_minstrel_ht.c` of 6.12 and 6.18), whose symbols stand beside what follows
//! them.
//!
//! It counts what gets through at each rate, sends at the rate that carries the most by that, and probes others now and then.
//!
//! | module | holds |
//! |---|---|
//! | [`statistics`] | the average probability of success of a rate, the average length of aggregates |
//! | [`table`] | rates in groups, the airtime of a frame, the throughput that this promises |
//! | [`selection`] | the best rates and the likeliest |
//! | [`sampling`] | what is probed when |
//! | [`chain`] | which rate is tried how often before the next |

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

/// How long it counts before it selects anew: HZ / 20 (`update_interval`).
const UPDATE_INTERVAL: Duration = Duration::from_millis(50);
/// A rate has died suddenly, if of more than so many attempts of an interval fewer than a quarter succeeded (`minstrel_ht_tx_status`).
const SUDDEN_DEATH: u32 = 30;

/// The state of one transmitter for one receiver.
#[derive(Clone, Debug)]
pub struct MinstrelHt {
    table: Table,
    selection: Selection,
    chain: Chain,
    sampler: Sampler,
    /// When it last selected.
    updated: Instant,
    /// What the chain in progress probes in the place of its first rate.
    probe: Option<usize>,
    /// Where in the chain the mode is that was chosen last.
    place: usize,
    /// PPDUs without any answer since one had one.
    unanswered: u32,
}

impl MinstrelHt {
    /// One that knows nothing yet. `chance` decides in which order rates are probed.
    ///
    /// # Errors
    /// If the standard defines no mode here.
    pub fn new(able: Capabilities, chance: &mut Stream) -> Result<Self, Refusal> {
        let mut table = Table::new(able);
        if table.rates.is_empty() {
            return Err(Refusal::NoMode(able));
        }
        let selection = table.select();
        let mut sampler = Sampler::new(&table, chance);
        sampler.refill(Instant::ZERO, &table, selection);
        let chain = Chain::new(&table, selection);
        Ok(Self { table, selection, chain, sampler, updated: Instant::ZERO, probe: None, place: 0, unanswered: 0 })
    }

    /// The chain goes on while no answer comes at all: as hardware has it, which sends an aggregate again at the next rate of its chain.
    /// An answer ends it, and frames that the answer lacks are sent by a new one.
    pub(super) fn choose(&mut self, now: Instant, attempt: u32) -> Mode {
        let failures = attempt.min(self.unanswered);
        if failures == 0 {
            self.probe = self.sampler.probe(now);
        }
        let (rate, place) = self.chain.at(self.probe, failures);
        self.place = place;
        self.table.rates[rate].mode
    }

    /// Of the mode chosen last.
    pub(super) const fn is_fallback(&self) -> bool {
        self.place > 0
    }

    /// Of the mode chosen last.
    pub(super) const fn is_probe(&self) -> bool {
        self.place == 0 && self.probe.is_some()
    }

    /// `minstrel_ht_tx_status`.
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

    /// The two best rates are not kept for the rest of the interval, if they hardly work: spatial streams may die at once.
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
