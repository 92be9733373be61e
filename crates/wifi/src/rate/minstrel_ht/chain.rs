//! The retry chain: four rates and the number of tries at each (`minstrel_ht_update_rates`).

use super::selection::Selection;
use super::statistics::fraction;
use super::table::Table;

/// Rates of the chain (`IEEE80211_TX_RATE_TABLE_SIZE`).
const LENGTH: usize = 4;
/// Contention windows, "just an approximation" (`cw_min`, `cw_max` in `minstrel_ht_alloc`).
const WINDOW: (u32, u32) = (15, 1_023);
/// A slot in microseconds (`t_slot` in `minstrel_calc_retransmit`).
const SLOT: u32 = 9;
/// The maximum time on one rate, in microseconds (`segment_size`).
const SEGMENT: u32 = 6_000;
/// The maximum number of tries, if the hardware gives no limit (`max_retry`).
const MAX_TRIES: u32 = 7;

/// One stage of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stage {
    pub rate: usize,
    pub tries: u32,
}

/// The rate by the number of failures of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain([Stage; LENGTH]);

impl Chain {
    /// Creates a chain of the three rates with the highest throughput and the rate with the highest
    /// probability.
    pub(super) fn new(table: &Table, selection: Selection) -> Self {
        let [first, second, third, _] = selection.best;
        let mut place = 0;
        Self([first, second, third, selection.likeliest].map(|rate| {
            // RTS and CTS precede fallback rates (`minstrel_ht_set_rate`).
            let is_fallback = place > 0;
            place += 1;
            Stage { rate, tries: tries(table, rate, is_fallback) }
        }))
    }

    #[cfg(test)]
    pub(super) const fn stages(&self) -> [Stage; LENGTH] {
        self.0
    }

    /// Returns the rate after `failures`, and its stage. A probe replaces the first stage for one
    /// try.
    pub(super) fn at(&self, probe: Option<usize>, failures: u32) -> (usize, usize) {
        let first = probe.map_or(self.0[0], |rate| Stage { rate, tries: 1 });
        let mut left = failures;
        for (place, stage) in [first, self.0[1], self.0[2]].into_iter().enumerate() {
            if left < stage.tries {
                return (stage.rate, place);
            }
            left -= stage.tries;
        }
        (self.0[LENGTH - 1].rate, LENGTH - 1)
    }
}

/// Returns the number of tries at a rate: two, or more if they fit into a segment
/// (`minstrel_calc_retransmit`). Returns two if the probability is below 20 %.
fn tries(table: &Table, rate: usize, has_rts: bool) -> u32 {
    if table.probability(rate) < fraction(20, 100) {
        return 2;
    }
    let overhead = if has_rts { table.overhead.with_rts } else { table.overhead.plain };
    let exchange = overhead + table.duration(rate) * table.aggregate() / 1_000;
    let mut window = WINDOW.0;
    let mut taken = 0;
    let mut one_more = || {
        let contention = SLOT * window / 2;
        window = (window << 1 | 1).min(WINDOW.1);
        taken += contention + exchange;
        taken
    };
    one_more();
    one_more();
    let mut tries = 2;
    while tries < MAX_TRIES && one_more() < SEGMENT {
        tries += 1;
    }
    tries
}

#[cfg(test)]
mod tests {
    use super::super::super::Capabilities;
    use super::super::statistics::ONE;
    use super::*;
    use crate::phy::{Guard, Standard, Width};

    /// Returns a table of 6 to 54 Mbps in which each rate has this probability.
    fn table(probability: i32) -> Table {
        let mut table = Table::new(Capabilities {
            standard: Standard::A,
            width: Width::Mhz20,
            guard: Guard::Ns800,
            streams: 1,
            is_short_preamble: false,
        });
        for rate in &mut table.rates {
            rate.statistics.probability = probability;
        }
        table
    }

    #[test]
    fn a_rate_is_tried_while_its_segment_lasts() {
        // At 6 Mbps an exchange takes 60 + 1639 µs; contention 67, 139 and 283 µs: two take 3604
        // µs, three 5586 µs, and four too long.
        assert_eq!(tries(&table(ONE), 0, false), 3);
        // Behind RTS and CTS one takes 1819 µs: 3844 µs, then 5946 µs.
        assert_eq!(tries(&table(ONE), 0, true), 3);
        // At 54 Mbps 60 + 212 µs, and contention of 67, 139, 283, 571 and 1147 µs: five take 3567
        // µs, a sixth 6142 µs.
        assert_eq!(tries(&table(ONE), 7, false), 5);
        assert_eq!(tries(&table(fraction(19, 100)), 7, false), 2);
    }

    #[test]
    fn the_chain_runs_down_and_stays_at_its_end() {
        let chain = Chain::new(&table(ONE), Selection { best: [7, 6, 5, 4], likeliest: 0 });
        let rates: Vec<_> = (0..16).map(|failures| chain.at(None, failures)).collect();
        let run = |rate, place| rates.iter().filter(|found| **found == (rate, place)).count() as u32;
        let table = table(ONE);
        assert_eq!(run(7, 0), tries(&table, 7, false));
        assert_eq!(run(6, 1), tries(&table, 6, true));
        assert_eq!(run(5, 2), tries(&table, 5, true));
        assert_eq!(rates.last(), Some(&(0, 3)));
    }

    #[test]
    fn a_probe_has_one_try_in_place_of_the_best() {
        let chain = Chain::new(&table(ONE), Selection { best: [5, 4, 3, 2], likeliest: 0 });
        assert_eq!(chain.at(Some(7), 0), (7, 0));
        assert_eq!(chain.at(Some(7), 1), (4, 1));
    }
}
