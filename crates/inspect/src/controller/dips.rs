//! Dips: every ten seconds, BBR reduces its window to four segments for 200 ms, to measure the path
//! without a queue, and then restores it (Cardwell et al., *BBR: Congestion-Based Congestion
//! Control*, CACM 60(2), 2017; Linux's `bbr_min_rtt_win_sec`).

use super::rounds::{Kind, Round};
use super::{Family, Named};
use crate::finding::Finding;

/// The minimum number of dips for the family. Chosen: three have two intervals to compare.
const MIN_DIPS: usize = 3;
/// The maximum number of dips that are kept.
const MAX_DIPS: usize = 256;
/// Segments in flight during a dip: four (`bbr_cwnd_min_target`), and one that an ACK has just
/// released.
const FLOOR: u64 = 5;
/// The minimum number of segments in flight before and after a dip.
const LEVEL: u64 = 3 * FLOOR;
/// The share of the window before a dip that must be regained after this number of rounds. Slow
/// start takes longer.
const REGAINED: (f64, u32) = (0.6, 3);
/// Nanoseconds between dips: ten seconds, the dip itself, and some round trips.
const INTERVAL: (f64, f64) = (9.5e9, 12.5e9);
/// The minimum share of intervals that agree.
const AGREE: f64 = 0.8;

/// The dips of one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Dips {
    /// The window of the previous round.
    level: Option<u64>,
    dip: Option<Dip>,
    found: Vec<u64>,
}

/// A possible dip.
#[derive(Clone, Copy, Debug)]
struct Dip {
    at: u64,
    level: u64,
    /// Rounds since the last one with few segments in flight.
    rounds: u32,
}

impl Dips {
    pub(super) fn round(&mut self, round: Round, mss: u64) {
        if round.kind != Kind::Clean {
            (self.level, self.dip) = (None, None);
            return;
        }
        let is_low = round.flight <= FLOOR * mss;
        if let Some(dip) = &mut self.dip {
            dip.rounds = if is_low { 0 } else { dip.rounds + 1 };
            if round.flight as f64 >= REGAINED.0 * dip.level as f64 {
                if self.found.len() < MAX_DIPS {
                    self.found.push(dip.at);
                }
                self.dip = None;
            } else if dip.rounds >= REGAINED.1 {
                self.dip = None;
            }
        } else if let Some(level) = self.level.filter(|level| is_low && *level >= LEVEL * mss) {
            self.dip = Some(Dip { at: round.at, level, rounds: 0 });
        }
        self.level = Some(round.flight);
    }

    pub(super) fn name(&self) -> Finding<Named> {
        let count = self.found.len();
        let intervals = self.found.windows(2).map(|two| (two[1] - two[0]) as f64);
        let agree = intervals.filter(|nanos| (INTERVAL.0..INTERVAL.1).contains(nanos)).count();
        if count < MIN_DIPS || (agree as f64) < AGREE * (count - 1) as f64 {
            return Finding::not_known(format!(
                "{count} pauses of the window, {agree} intervals of ten seconds, expected {MIN_DIPS}"
            ));
        }
        let agreement = agree as f64 / (count - 1) as f64;
        let named = Named { family: Family::RateBased, ratio: None, episodes: count, agreement };
        Finding::known(
            named,
            format!("the window fell to {FLOOR} segments {count} times without a loss, each ten seconds"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// Returns a window of 40 segments for `seconds`, in rounds of 50 ms. Every `every` seconds, it
    /// dips to four segments for four rounds, and then grows by `step`.
    fn dips(seconds: u64, every: u64, step: u64) -> Dips {
        let mut dips = Dips::default();
        let mut window = 40;
        for n in 0..seconds * 20 {
            let place = n % (every * 20);
            window = if n >= every * 20 && place < 4 { 4 } else { (window + step).min(40) };
            let flight = window * MSS;
            let round = Round {
                at: n * 50_000_000,
                flight,
                acknowledged: flight,
                times: None,
                kind: Kind::Clean,
                has_short: false,
            };
            dips.round(round, MSS);
        }
        dips
    }

    #[test]
    fn pauses_each_ten_seconds_are_bbr() {
        let named = dips(45, 10, 40).name();
        assert_eq!(named.value().map(|named| (named.family, named.episodes)), Some((Family::RateBased, 4)));
    }

    #[test]
    fn pauses_at_other_distances_are_not() {
        let found = dips(60, 3, 40).name();
        assert_eq!(found.reason(), Some("19 pauses of the window, 0 intervals of ten seconds, expected 3"));
        assert_eq!(
            dips(25, 10, 40).name().reason(),
            Some("2 pauses of the window, 1 intervals of ten seconds, expected 3")
        );
    }

    /// A timeout, after which the window grows by two segments per round.
    #[test]
    fn slow_growth_after_a_dip_is_none() {
        assert!(dips(45, 10, 2).found.is_empty());
    }
}
