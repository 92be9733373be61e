//! The rates of the highest throughput and of the highest probability of success
//! (`minstrel_ht_update_stats`).

use super::table::{BEST, Table};

/// The rates of the retry chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selection {
    /// The rates with the highest throughput, highest first (`max_tp_rate`).
    pub best: [usize; BEST],
    /// The rate with the highest probability of success (`max_prob_rate`).
    pub likeliest: usize,
}

impl Table {
    /// Ends an interval, and selects rates by its statistics.
    pub(super) fn select(&mut self) -> Selection {
        self.aggregation.close();
        let best = self.select_best();
        let mut likeliest = 0;
        for group in 0..self.groups.len() {
            self.groups[group].likeliest = self.groups[group].first;
            for rate in self.groups[group].first..self.groups[group].end {
                likeliest = self.likelier(likeliest, rate, best[0]);
            }
        }
        if self.is_aggregating {
            likeliest = self.with_fewer_streams(best[0]).unwrap_or(likeliest);
        }
        Selection { best, likeliest }
    }

    fn select_best(&mut self) -> [usize; BEST] {
        let mut best = [0; BEST];
        for group in 0..self.groups.len() {
            let (first, end) = (self.groups[group].first, self.groups[group].end);
            let mut best_of_group = [first; BEST];
            let mut faster = 0;
            for rate in (first..end).rev() {
                let statistics = &mut self.rates[rate].statistics;
                statistics.close();
                // An untried rate is assumed to be no worse than the faster rates of its group.
                if statistics.is_tried {
                    faster = statistics.probability.max(faster);
                } else {
                    statistics.probability = statistics.probability.max(faster);
                }
                if self.throughput(rate) > 0 {
                    self.insert(rate, &mut best);
                    self.insert(rate, &mut best_of_group);
                }
            }
            self.groups[group].best = best_of_group;
        }
        best
    }

    /// Inserts a rate in the order of throughput, then of probability
    /// (`minstrel_ht_sort_best_tp_rates`).
    fn insert(&self, rate: usize, list: &mut [usize; BEST]) {
        let key = |rate| (self.throughput(rate), self.probability(rate));
        let place = list.iter().rposition(|other| key(*other) >= key(rate)).map_or(0, |better| better + 1);
        if place < BEST {
            list.copy_within(place..BEST - 1, place + 1);
            list[place] = rate;
        }
    }

    /// Returns the rate that is more likely to succeed (`minstrel_ht_set_best_prob_rate`), and
    /// updates the group of `rate`. Of two rates above 75 %, the rate with the higher throughput is
    /// chosen. A rate faster than `best` must have a higher probability than `best`.
    fn likelier(&mut self, likeliest: usize, rate: usize, best: usize) -> usize {
        if self.duration(best) > self.duration(rate) && self.probability(rate) < self.probability(best) {
            return likeliest;
        }
        let group = self.rates[rate].group;
        let is_better = |than| {
            if self.exceeds(rate, 75) {
                self.throughput(rate) > self.throughput(than)
            } else {
                self.probability(rate) > self.probability(than)
            }
        };
        let (of_all, of_group) = (is_better(likeliest), is_better(self.groups[group].likeliest));
        if of_group {
            self.groups[group].likeliest = rate;
        }
        if of_all { rate } else { likeliest }
    }

    /// Returns the likeliest rate of the group that has the highest throughput and fewer streams
    /// than the best (`minstrel_ht_prob_rate_reduce_streams`).
    fn with_fewer_streams(&self, best: usize) -> Option<usize> {
        let streams = self.groups[self.rates[best].group].streams;
        let mut found = (None, 0);
        for group in self.groups.iter().filter(|group| group.streams < streams) {
            let throughput = self.throughput(group.likeliest);
            if throughput > found.1 {
                found = (Some(group.likeliest), throughput);
            }
        }
        found.0
    }

    /// Returns a rate in the next lower group with no more streams, for a rate that has failed
    /// (`minstrel_downgrade_rate`). This is the best or the second-best rate of that group.
    pub(super) fn downgraded(&self, rate: usize, place: usize) -> usize {
        let group = self.rates[rate].group;
        let streams = self.groups[group].streams;
        let lower = self.groups[..group].iter().rev().find(|lower| lower.streams <= streams);
        lower.map_or(rate, |lower| lower.best[place])
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Capabilities;
    use super::super::statistics::{ONE, fraction};
    use super::*;
    use crate::phy::{Guard, Standard, Width};

    /// HT at 20 MHz with the long guard interval: rates 0 to 7 of one stream, 8 to 15 of two.
    fn table(outcomes: &[(usize, u32)]) -> Table {
        let mut table = Table::new(Capabilities {
            standard: Standard::N,
            width: Width::Mhz20,
            guard: Guard::Ns800,
            streams: 2,
            is_short_preamble: false,
        });
        for (rate, percent) in outcomes {
            let statistics = &mut table.rates[*rate].statistics;
            (statistics.attempts, statistics.successes) = (100, *percent);
        }
        table
    }

    #[test]
    fn before_anything_is_known_the_lowest_is_all() {
        let selection = table(&[]).select();
        assert_eq!((selection.best, selection.likeliest), ([0; 4], 0));
    }

    #[test]
    fn the_best_come_in_the_order_of_throughput() {
        let selection = table(&[(7, 30), (6, 60), (5, 90), (4, 95), (3, 100)]).select();
        assert_eq!(selection.best, [5, 4, 6, 3]);
    }

    #[test]
    fn an_untried_rate_is_assumed_as_good_as_faster_ones() {
        let mut table = table(&[(5, 80)]);
        table.select();
        assert_eq!(table.probability(0), fraction(80, 100));
        assert_eq!(table.probability(6), 0);
    }

    #[test]
    fn the_likeliest_beyond_three_quarters_is_the_one_that_carries_most() {
        assert_eq!(table(&[(5, 80), (3, 90), (1, 99)]).select().likeliest, 5);
        assert_eq!(table(&[(5, 60), (3, 70), (1, 74), (0, 74)]).select().likeliest, 0);
    }

    #[test]
    fn the_likeliest_has_fewer_streams_than_the_best() {
        let selection = table(&[(12, 100), (4, 100)]).select();
        assert_eq!((selection.best[0], selection.likeliest), (12, 4));
    }

    #[test]
    fn a_dead_rate_gives_way_to_the_group_below() {
        let mut table = table(&[(12, 100), (4, 100), (3, 100)]);
        table.select();
        assert_eq!((table.downgraded(12, 0), table.downgraded(12, 1)), (4, 3));
        assert_eq!(table.downgraded(4, 0), 4);
        assert_eq!(table.probability(4), ONE);
    }
}
