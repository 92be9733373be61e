//! The rates of a pair of nodes in groups, the airtime of a frame at each, and the expected
//! throughput.

use super::super::Capabilities;
use super::statistics::{AggregateLength, ONE, Statistics, fraction, whole};
use crate::phy::{Format, Guard, Mode, Width};

/// The number of best rates that are kept (`MAX_THR_RATES`).
pub(super) const BEST: usize = 4;
/// Octets of an average frame (`AVG_PKT_SIZE`).
const FRAME: u32 = 1_200;
/// Frames of an average aggregate (`AVG_AMPDU_SIZE`).
const AGGREGATE: u32 = 16;
/// A legacy frame with its FCS, in bits (`CCK_DURATION`, `OFDM_DURATION`).
const LEGACY_BITS: u32 = 8 * (FRAME + 4);

/// One rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub mode: Mode,
    /// The index of the rate's group.
    pub group: usize,
    /// The airtime of an average frame, in nanoseconds.
    pub duration: u32,
    pub statistics: Statistics,
}

/// Rates that differ only in their MCS (`mcs_group`, `minstrel_mcs_group_data`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub streams: u8,
    /// The indices of the group's rates in the table, slowest first, are `first..end`.
    pub first: usize,
    pub end: usize,
    /// The rates with the highest throughput.
    pub best: [usize; BEST],
    /// The rate with the highest probability of success.
    pub likeliest: usize,
}

/// The overhead of a PPDU in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overhead {
    pub plain: u32,
    /// The overhead with RTS and CTS.
    pub with_rts: u32,
}

/// All rates of a pair of nodes.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// Rates by group, slowest first within it.
    pub rates: Vec<Candidate>,
    /// Groups by width, then guard interval, then streams (`GROUP_IDX`).
    pub groups: Vec<Group>,
    pub overhead: Overhead,
    pub aggregation: AggregateLength,
    /// `true` if the transmitter aggregates frames.
    pub is_aggregating: bool,
}

impl Table {
    pub(super) fn new(capabilities: Capabilities) -> Self {
        let is_aggregating = capabilities.standard.has_qos();
        let mut table = Self {
            rates: Vec::new(),
            groups: Vec::new(),
            overhead: overhead(capabilities),
            aggregation: AggregateLength::new(),
            is_aggregating,
        };
        if !is_aggregating {
            table.add(&capabilities.modes());
            return table;
        }
        for width in Width::ALL.into_iter().filter(|width| *width <= capabilities.width) {
            for guard in Guard::ALL.into_iter().rev().filter(|guard| *guard >= capabilities.guard) {
                let modes = capabilities.modes_with(width, guard);
                for streams in 1..=capabilities.streams {
                    let group: Vec<Mode> = modes.iter().copied().filter(|mode| mode.streams == streams).collect();
                    table.add(&group);
                }
            }
        }
        table
    }

    fn add(&mut self, modes: &[Mode]) {
        let Some(slowest) = modes.first() else { return };
        let first = self.rates.len();
        // The kernel stores durations in 16 bits, shifted by the amount that the slowest rate of a
        // group needs (`GROUP_SHIFT`): equal rates of two groups may differ by the truncated bits.
        let shift = 16u32.saturating_sub(duration(*slowest).leading_zeros());
        self.rates.extend(modes.iter().map(|mode| Candidate {
            mode: *mode,
            group: self.groups.len(),
            duration: duration(*mode) >> shift << shift,
            statistics: Statistics::default(),
        }));
        self.groups.push(Group {
            streams: slowest.streams,
            first,
            end: self.rates.len(),
            best: [first; BEST],
            likeliest: first,
        });
    }

    /// Returns the rate of this mode.
    pub(super) fn find(&self, mode: Mode) -> Option<usize> {
        self.rates.iter().position(|rate| rate.mode == mode)
    }

    pub(super) fn duration(&self, rate: usize) -> u32 {
        self.rates[rate].duration
    }

    pub(super) fn probability(&self, rate: usize) -> i32 {
        self.rates[rate].statistics.probability
    }

    /// Returns the MPDUs of an average PPDU.
    pub(super) fn aggregate(&self) -> u32 {
        if self.is_aggregating { self.aggregation.length() } else { 1 }
    }

    /// Returns the successful frames in a tenth of a second, with the overhead of an average
    /// aggregate (`minstrel_ht_get_tp_avg`). Returns zero below a probability of 10 %. Above 90 %,
    /// returns the value for 90 %, because collisions cause the remaining losses.
    pub(super) fn throughput(&self, rate: usize) -> u32 {
        let probability = self.probability(rate);
        if probability < fraction(10, 100) {
            return 0;
        }
        let nanos = 1_000 * self.overhead.plain / self.aggregate() + self.duration(rate);
        let probability = probability.min(fraction(90, 100)) as u64;
        whole(100 * (probability * 1_000_000 / u64::from(nanos)))
    }

    /// Returns `true` if the probability of success of `rate` exceeds this percentage.
    pub(super) fn exceeds(&self, rate: usize, percent: u32) -> bool {
        self.probability(rate) > fraction(percent, 100).min(ONE)
    }
}

/// Returns the airtime of an average frame in nanoseconds: its share of an aggregate's data
/// (`MCS_DURATION`), or with preamble and interframe space (`CCK_DURATION`, `OFDM_DURATION`).
fn duration(mode: Mode) -> u32 {
    let rate = (mode.data_rate() / 100_000) as u32;
    if mode.format.is_dsss() {
        let preamble = if mode.format == Format::ShortDsss { 72 + 24 } else { 144 + 48 };
        return 1_000 * (10 + preamble + LEGACY_BITS * 10 / rate);
    }
    if !mode.format.phy().has_mcs {
        return 1_000 * (16 + 16 + 4 + 4 * ((16 + 10 * LEGACY_BITS + 6) / (rate * 4)));
    }
    // Bits of a symbol are rounded down for one stream, then multiplied (`VHT_GROUP`).
    let bits = Mode { streams: 1, ..mode }.bits_per_symbol() as u32 * u32::from(mode.streams);
    let symbols = (FRAME * AGGREGATE * 8).div_ceil(bits);
    // With a short guard interval, the PPDU is padded to symbols of 4 µs: 0.8 µs on average
    // (`MCS_SYMBOL_TIME`).
    let padding = if mode.guard == Guard::Ns400 { 800 } else { 0 };
    (symbols * mode.symbol().as_nanos() as u32 + padding) / AGGREGATE
}

/// Returns `overhead` and `overhead_rtscts` of `minstrel_ht_update_caps`, or `overhead_legacy` and
/// `overhead_legacy_rtscts`.
fn overhead(capabilities: Capabilities) -> Overhead {
    let is_ofdm = !capabilities.standard.data_format().is_dsss();
    let lowest = if is_ofdm { 60 } else { 10 };
    let ack = frame_duration(10, lowest, is_ofdm);
    let plain = if capabilities.standard.has_qos() { frame_duration(0, 60, true) + ack } else { ack };
    Overhead { plain, with_rts: plain + 2 * ack }
}

/// Returns the duration of interframe space, short preamble, octets and FCS at a rate in units of
/// 100 kbps; in microseconds (`ieee80211_frame_duration`).
const fn frame_duration(octets: u32, rate: u32, is_ofdm: bool) -> u32 {
    let bits = 8 * (octets + 4);
    if is_ofdm {
        16 + 16 + 4 + 4 * ((16 + bits + 6) * 10).div_ceil(4 * rate)
    } else {
        10 + 72 + 24 + (bits * 10).div_ceil(rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::Standard;

    fn table(standard: Standard, width: Width, guard: Guard, streams: u8) -> Table {
        Table::new(Capabilities { standard, width, guard, streams, is_short_preamble: true })
    }

    #[test]
    fn groups_are_ordered_by_width_then_guard_then_streams() {
        let table = table(Standard::N, Width::Mhz40, Guard::Ns400, 2);
        let order = table.groups.iter().map(|group| {
            let mode = table.rates[group.first].mode;
            (mode.width, mode.guard, mode.streams)
        });
        assert_eq!(
            order.collect::<Vec<_>>(),
            [
                (Width::Mhz20, Guard::Ns800, 1),
                (Width::Mhz20, Guard::Ns800, 2),
                (Width::Mhz20, Guard::Ns400, 1),
                (Width::Mhz20, Guard::Ns400, 2),
                (Width::Mhz40, Guard::Ns800, 1),
                (Width::Mhz40, Guard::Ns800, 2),
                (Width::Mhz40, Guard::Ns400, 1),
                (Width::Mhz40, Guard::Ns400, 2),
            ]
        );
        assert_eq!(table.rates.len(), 64);
    }

    #[test]
    fn durations_are_those_of_the_kernel() {
        let at = |table: &Table, group: usize, mcs: usize| table.rates[table.groups[group].first + mcs].duration;
        let ht = table(Standard::N, Width::Mhz20, Guard::Ns400, 1);
        // 153600 bits at 26 per symbol: 5908 symbols of 4 µs, a sixteenth, shifted by 5.
        assert_eq!(at(&ht, 0, 0), 1_477_000 >> 5 << 5);
        // 591 symbols of 3.6 µs and 0.8 µs, a sixteenth, shifted by 5 as the slowest of the group
        // needs.
        assert_eq!(at(&ht, 1, 7), ((591 * 3_600 + 800) / 16) >> 5 << 5);
        let ofdm = table(Standard::A, Width::Mhz20, Guard::Ns800, 1);
        assert_eq!(at(&ofdm, 0, 0), 1_640_000 >> 5 << 5);
        let cck = table(Standard::B, Width::Mhz20, Guard::Ns800, 1);
        assert_eq!(at(&cck, 0, 3), ((10 + 96 + 875) * 1_000) >> 8 << 8);
    }

    #[test]
    fn overheads_are_those_of_the_kernel() {
        let of = |standard| {
            overhead(Capabilities {
                standard,
                width: Width::Mhz20,
                guard: Guard::Ns800,
                streams: 1,
                is_short_preamble: true,
            })
        };
        assert_eq!((of(Standard::N).plain, of(Standard::N).with_rts), (48 + 60, 48 + 60 + 120));
        assert_eq!((of(Standard::A).plain, of(Standard::A).with_rts), (60, 180));
        assert_eq!((of(Standard::B).plain, of(Standard::B).with_rts), (218, 654));
    }

    #[test]
    fn throughput_counts_probability_between_a_tenth_and_nine_tenths() {
        let mut table = table(Standard::N, Width::Mhz20, Guard::Ns800, 1);
        let mut at = |probability| {
            table.rates[7].statistics.probability = probability;
            table.throughput(7)
        };
        assert_eq!(at(fraction(9, 100)), 0);
        assert_eq!(at(ONE), at(fraction(90, 100)));
        // 0.5 frames in 108 µs and 147.7 µs, in 0.1 ms · 1000.
        assert_eq!(at(ONE / 2), 195);
    }
}
