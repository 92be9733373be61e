//! Selection of the rates to probe, and of the times of probes (`minstrel_ht_refill_sample_rates`,
//! `minstrel_ht_get_rate`).

use super::selection::Selection;
use super::table::Table;
use crate::phy::Format;
use acklab_base::random::Stream;
use acklab_base::{Duration, Instant};

/// The interval between two probes (`MINSTREL_SAMPLE_INTERVAL`).
const INTERVAL: Duration = Duration::from_millis(20);
/// The maximum number of rates of each type that wait to be probed (`MINSTREL_SAMPLE_RATES`).
const WAITING: usize = 5;
/// The number of random orders of the rates of a group (`SAMPLE_COLUMNS`).
const COLUMNS: usize = 10;
/// The number of rates in a random order, for any number of rates in the group (`MCS_GROUP_RATES`).
const ROWS: usize = 10;

/// The reason for which a rate is probed (`minstrel_sample_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SampleType {
    /// The next faster rate of a group.
    Increment,
    /// Any faster rate.
    Jump,
    /// A rate between the fastest and the slowest in use.
    Slow,
}

/// The sequence of types (`minstrel_sample_seq`).
const SEQUENCE: [SampleType; 6] = [
    SampleType::Increment,
    SampleType::Jump,
    SampleType::Increment,
    SampleType::Jump,
    SampleType::Increment,
    SampleType::Slow,
];

/// Rates that wait to be probed (`minstrel_sample_category`).
#[derive(Clone, Copy, Debug)]
struct SampleCategory {
    waiting: [Option<usize>; WAITING],
    /// The group examined last.
    group: usize,
}

impl SampleCategory {
    fn take(&mut self) -> Option<usize> {
        self.waiting.iter_mut().find_map(Option::take)
    }

    fn holds(&self, rate: usize) -> bool {
        self.waiting.iter().map_while(|waiting| *waiting).any(|waiting| waiting == rate)
    }

    /// Moves the rates that are still worth a probe to the front. Returns the number of places that
    /// are kept (`minstrel_ht_move_sample_rates`). As in the kernel, a rate that is already at the
    /// front does not keep its place.
    fn keep(&mut self, is_valid: impl Fn(usize) -> bool) -> usize {
        let mut kept = 0;
        for place in 0..WAITING {
            let Some(rate) = self.waiting[place] else { continue };
            if !is_valid(rate) {
                self.waiting[place] = None;
            } else if place != kept {
                self.waiting[place] = None;
                self.waiting[kept] = Some(rate);
                kept += 1;
            }
        }
        kept
    }

    fn next_group(&mut self, table: &Table) -> usize {
        self.group = (self.group + 1) % table.groups.len();
        self.group
    }
}

/// Chooses the rate to probe.
#[derive(Clone, Debug)]
pub(super) struct Sampler {
    increment: SampleCategory,
    jump: SampleCategory,
    slow: SampleCategory,
    /// The position in the sequence of types.
    turn: usize,
    /// The time from which the next probe may be sent.
    due: Instant,
    /// Rates of a group in random orders (`sample_table`).
    pub(super) orders: [Vec<usize>; COLUMNS],
    /// The position of each group in `orders`: column and row.
    places: Vec<(usize, usize)>,
}

impl Sampler {
    pub(super) fn new(table: &Table, stream: &mut Stream) -> Self {
        let format = table.rates[0].mode.format;
        // HE and later formats, which the kernel's code does not support, have more rates.
        let rows = ROWS.max(usize::from(format.indices()));
        // The kernel begins after the first of all its groups, which is a group of HT.
        let group = if format == Format::Ht { 0 } else { table.groups.len() - 1 };
        let category = SampleCategory { waiting: [None; WAITING], group };
        Self {
            increment: category,
            jump: category,
            slow: category,
            turn: 0,
            due: Instant::ZERO,
            orders: std::array::from_fn(|_| order(rows, stream)),
            places: vec![(0, 0); table.groups.len()],
        }
    }

    /// Returns the rate of a probe, if one is due and there is anything to probe.
    pub(super) fn probe(&mut self, now: Instant) -> Option<usize> {
        if now < self.due {
            return None;
        }
        self.due = now + INTERVAL;
        let kind = SEQUENCE[self.turn];
        self.turn = (self.turn + 1) % SEQUENCE.len();
        match kind {
            SampleType::Increment => self.increment.take(),
            SampleType::Jump => self.jump.take(),
            SampleType::Slow => self.slow.take(),
        }
    }

    /// Chooses rates to probe after a selection.
    pub(super) fn refill(&mut self, now: Instant, table: &Table, selection: Selection) {
        let [first, second, ..] = selection.best.map(|rate| table.duration(rate));
        let likeliest = table.duration(selection.likeliest);
        let (fast, slow) = (first.min(second).min(likeliest), first.max(second).max(likeliest));

        let mut kept = self.increment.keep(|rate| table.duration(rate) < fast);
        while kept < WAITING {
            self.increment.waiting[kept] = self.next_increment(table, first);
            if self.increment.waiting[kept].is_none() {
                break;
            }
            kept += 1;
        }

        let mut kept = self.jump.keep(|rate| table.duration(rate) < fast);
        let mut slows = self.slow.keep(|rate| (fast + 1..slow).contains(&table.duration(rate)));
        while kept < WAITING {
            self.jump.waiting[kept] = self.next_jump(table, fast, slow, &mut slows);
            if self.jump.waiting[kept].is_none() {
                break;
            }
            kept += 1;
        }
        self.due = now;
    }

    /// Returns the slowest rate that is faster than the best rate, from the next group that has
    /// such a rate (`minstrel_ht_next_inc_rate`).
    fn next_increment(&mut self, table: &Table, best: u32) -> Option<usize> {
        for _ in 0..table.groups.len() {
            let group = self.increment.next_group(table);
            let found = slowest_below(table, group, best).filter(|rate| !self.increment.holds(*rate));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Returns any rate that is faster than the rates in use. Slower rates are recorded during the
    /// search if there is room (`minstrel_ht_next_jump_rate`).
    fn next_jump(&mut self, table: &Table, fast: u32, slow: u32, slows: &mut usize) -> Option<usize> {
        for _ in 0..table.groups.len() {
            let group = self.jump.next_group(table);
            let maximum = if *slows < WAITING { slow } else { fast };
            let Some(minimum) = slowest_below(table, group, maximum) else { continue };
            let Some(rate) = self.any_from(table, group, minimum) else { continue };
            let duration = table.duration(rate);
            if duration < fast {
                if !self.jump.holds(rate) {
                    return Some(rate);
                }
            } else if *slows < WAITING && duration < slow && !table.exceeds(rate, 95) && !self.slow.holds(rate) {
                self.slow.waiting[*slows] = Some(rate);
                *slows += 1;
            }
        }
        None
    }

    /// Returns the next rate of a group in random order, but no slower than `minimum`
    /// (`minstrel_ht_next_group_sample_rate`).
    fn any_from(&mut self, table: &Table, group: usize, minimum: usize) -> Option<usize> {
        let end = table.groups[group].end;
        let (column, row) = &mut self.places[group];
        let rows = self.orders[0].len();
        for _ in 0..rows {
            let mcs = self.orders[*column][*row];
            *row += 1;
            if *row == rows {
                (*column, *row) = ((*column + 1) % COLUMNS, 0);
            }
            // Some groups lack an MCS within their range.
            let rate = (minimum..end).find(|rate| usize::from(table.rates[*rate].mode.mcs) == mcs);
            if rate.is_some() {
                return rate;
            }
        }
        None
    }
}

/// Returns the slowest rate of a group at which a frame takes less than this
/// (`minstrel_ht_group_min_rate_offset`).
fn slowest_below(table: &Table, group: usize, duration: u32) -> Option<usize> {
    (table.groups[group].first..table.groups[group].end).find(|rate| table.duration(*rate) < duration)
}

/// Returns an order with each rate at a random place, or at the next free place
/// (`init_sample_table`).
fn order(rows: usize, stream: &mut Stream) -> Vec<usize> {
    let mut order = vec![None; rows];
    for rate in 0..rows {
        let mut place = (rate + stream.below(rows as u64) as usize) % rows;
        while order[place].is_some() {
            place = (place + 1) % rows;
        }
        order[place] = Some(rate);
    }
    order.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::Capabilities;
    use super::*;
    use crate::phy::{Guard, Standard, Width};
    use acklab_base::random::Seed;

    /// HT at 20 MHz with the long guard interval: rates 0 to 7 of one stream, 8 to 15 of two.
    fn table() -> Table {
        Table::new(Capabilities {
            standard: Standard::N,
            width: Width::Mhz20,
            guard: Guard::Ns800,
            streams: 2,
            is_short_preamble: false,
        })
    }

    fn sampler(table: &Table, best: [usize; 4], likeliest: usize) -> Sampler {
        let mut sampler = Sampler::new(table, &mut Seed(1).stream("sampling"));
        sampler.refill(Instant::ZERO, table, Selection { best, likeliest });
        sampler
    }

    #[test]
    fn an_increment_is_the_next_faster_of_each_group() {
        let table = table();
        // MCS 3 of one stream has the rate of MCS 1 of two.
        let sampler = sampler(&table, [3, 2, 1, 0], 2);
        assert_eq!(sampler.increment.waiting, [Some(10), Some(4), None, None, None]);
    }

    #[test]
    fn jumps_are_faster_and_slow_ones_lie_between() {
        let table = table();
        let sampler = sampler(&table, [4, 3, 2, 1], 1);
        assert!(sampler.jump.waiting.iter().flatten().all(|rate| table.duration(*rate) < table.duration(4)));
        assert!(sampler.jump.waiting.iter().flatten().count() > 1);
        // A rate that is as fast as the fastest rate is classified as slow.
        let between = table.duration(4)..table.duration(1);
        assert!(sampler.slow.waiting.iter().flatten().count() > 0);
        assert!(sampler.slow.waiting.iter().flatten().all(|rate| between.contains(&table.duration(*rate))));
    }

    #[test]
    fn at_the_top_there_is_nothing_faster_to_probe() {
        let table = table();
        let mut sampler = sampler(&table, [15, 14, 13, 12], 15);
        assert_eq!(sampler.increment.waiting, [None; WAITING]);
        assert_eq!(sampler.jump.waiting, [None; WAITING]);
        let probes = (0..6).filter_map(|turn| sampler.probe(Instant::ZERO + INTERVAL * turn));
        assert!(probes.count() <= 1);
    }

    #[test]
    fn probes_keep_their_distance() {
        let table = table();
        let mut sampler = sampler(&table, [3, 2, 1, 0], 2);
        assert!(sampler.probe(Instant::ZERO).is_some());
        assert_eq!(sampler.probe(Instant::ZERO + Duration::from_micros(19_999)), None);
        assert!(sampler.probe(Instant::ZERO + INTERVAL).is_some());
    }

    #[test]
    fn the_one_in_front_loses_its_place() {
        let mut category = SampleCategory { waiting: [Some(1), Some(2), Some(3), Some(9), None], group: 0 };
        assert_eq!(category.keep(|rate| rate < 9), 2);
        assert_eq!(category.waiting, [Some(2), Some(3), None, None, None]);
    }

    #[test]
    fn an_order_holds_each_rate_once() {
        let mut order = order(ROWS, &mut Seed(3).stream("order"));
        order.sort_unstable();
        assert_eq!(order, Vec::from_iter(0..ROWS));
    }
}
