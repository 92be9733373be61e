//! Intervals of ratios by batch means.
//!
//! Packets of a connection depend on each other, so their number alone does not determine the
//! precision of a mean. A connection is therefore divided into batches of successive packets, whose
//! ratios are nearly independent if they are long (Law and Kelton, *Simulation Modeling and
//! Analysis*, §9.5.3). There are at most 32 batches for any length.
//!
//! Each interval contains its value and stays within the range of the quantity:
//!
//! * The interval of a ratio of positive sums is symmetric on a logarithmic scale (the delta
//!   method; Katz et al., *Obtaining Confidence Intervals for the Risk Ratio in Cohort Studies*,
//!   Biometrics 34, 1978), so that it stays above zero.
//! * The interval of a share is Wilson's score interval (Wilson, JASA 22, 1927; Brown, Cai,
//!   DasGupta, *Interval Estimation for a Binomial Proportion*, Statistical Science 16(2), 2001)
//!   with the effective size of the sample, by the variance of the batches (Korn and Graubard,
//!   *Confidence Intervals for Proportions With Small Expected Number of Positive Counts Estimated
//!   From Survey Data*, Survey Methodology 24(2), 1998). It stays within zero and one, and is not
//!   empty if nothing was counted.

use crate::losses::Counts;

/// The maximum number of batches. At the limit, pairs are merged.
const MAX_BATCHES: usize = 32;
/// The minimum number of batches for an interval.
const MIN_BATCHES: usize = 8;
/// The minimum number of packets per batch.
const SHORTEST: u64 = 32;

/// The counts up to an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Snapshot {
    /// The time in nanoseconds.
    pub(crate) at: u64,
    pub(crate) segments: u64,
    pub(crate) acks: u64,
    pub(crate) losses: Counts,
    /// Octets that have arrived at the receiver.
    pub(crate) carried: u64,
    /// Sums of round-trip times in nanoseconds, with their numbers: of the part to the receiver, of
    /// the part to the sender, and of the whole.
    pub(crate) times: [(f64, u64); 3],
}

/// Snapshots at the ends of batches.
#[derive(Clone, Debug)]
pub(crate) struct Batches {
    every: u64,
    taken: Vec<Snapshot>,
}

impl Default for Batches {
    fn default() -> Self {
        Self { every: SHORTEST, taken: Vec::new() }
    }
}

impl Batches {
    /// Returns `true` if a batch ends with packet number `packets`.
    #[inline]
    pub(crate) const fn ends_with(&self, packets: u64) -> bool {
        packets.is_multiple_of(self.every)
    }

    pub(crate) fn push(&mut self, snapshot: Snapshot) {
        self.taken.push(snapshot);
        if self.taken.len() > MAX_BATCHES {
            // The last snapshot of each pair stays.
            let mut number = 0;
            self.taken.retain(|_| {
                number += 1;
                number % 2 == 0
            });
            self.every *= 2;
        }
    }

    /// Returns the 95 % confidence interval of the ratio of two sums over the whole connection,
    /// which began at the snapshot `first` and ended at `last`. Returns `None` if there are too few
    /// batches, or either sum is not positive.
    pub(crate) fn interval(&self, ends: [Snapshot; 2], parts: impl Fn(&Snapshot) -> (f64, f64)) -> Option<[f64; 2]> {
        let Ratio { value, variance, batches, .. } = self.ratio(ends, parts)?;
        if value <= 0.0 {
            return None;
        }
        let factor = libm::exp(student(batches - 1.0) * variance.sqrt() / value);
        Some([value / factor, value * factor]).filter(|both| both[1].is_finite())
    }

    /// Like [`interval`](Self::interval), for the share of one count in another.
    pub(crate) fn share_interval(
        &self,
        ends: [Snapshot; 2],
        parts: impl Fn(&Snapshot) -> (f64, f64),
    ) -> Option<[f64; 2]> {
        let Ratio { value, variance, batches, size } = self.ratio(ends, parts)?;
        let share = value.clamp(0.0, 1.0);
        let independent = share * (1.0 - share) / size;
        let size = if variance > independent { size * independent / variance } else { size };
        let t = student(batches - 1.0);
        let squares = t * t / size.max(1.0);
        let middle = (share + squares / 2.0) / (1.0 + squares);
        let half = (share * (1.0 - share) * squares + squares * squares / 4.0).sqrt() / (1.0 + squares);
        Some([(middle - half).max(0.0).min(share), (middle + half).min(1.0).max(share)])
    }

    fn ratio(&self, [first, last]: [Snapshot; 2], parts: impl Fn(&Snapshot) -> (f64, f64)) -> Option<Ratio> {
        let ends: Vec<(f64, f64)> = [first].iter().chain(&self.taken).chain(&[last]).map(parts).collect();
        let batches: Vec<(f64, f64)> = ends.windows(2).map(|two| (two[1].0 - two[0].0, two[1].1 - two[0].1)).collect();
        let count = batches.len() as f64;
        let (x, y) = batches.iter().fold((0.0, 0.0), |(x, y), batch| (x + batch.0, y + batch.1));
        if batches.len() < MIN_BATCHES || y <= 0.0 {
            return None;
        }
        let value = x / y;
        // The variance of a ratio of means (Cochran, *Sampling Techniques*, §2.11).
        let squares: f64 = batches.iter().map(|(x, y)| (x - value * y) * (x - value * y)).sum();
        Some(Ratio { value, variance: squares * count / (count - 1.0) / (y * y), batches: count, size: y })
    }
}

/// A ratio of two sums.
struct Ratio {
    value: f64,
    variance: f64,
    batches: f64,
    /// The denominator.
    size: f64,
}

/// Returns the 97.5th percentile of Student's distribution with this number of degrees of freedom
/// (Abramowitz and Stegun, 26.7.5), accurate to 0.1 % from seven on.
fn student(freedom: f64) -> f64 {
    const Z: f64 = 1.959_964;
    let cubic = Z * Z * Z;
    let quintic = cubic * Z * Z;
    let septic = quintic * Z * Z;
    Z + (cubic + Z) / (4.0 * freedom)
        + (5.0 * quintic + 16.0 * cubic + 3.0 * Z) / (96.0 * freedom * freedom)
        + (3.0 * septic + 19.0 * quintic + 17.0 * cubic - 15.0 * Z) / (384.0 * freedom * freedom * freedom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn batches(packets: u64, acks: impl Fn(u64) -> u64) -> Batches {
        let mut batches = Batches::default();
        let mut so_far = 0;
        for packet in 1..=packets {
            so_far += acks(packet);
            if batches.ends_with(packet) {
                batches.push(Snapshot { segments: packet, acks: so_far, ..Snapshot::default() });
            }
        }
        batches
    }

    fn interval(batches: &Batches, segments: u64, acks: u64) -> Option<[f64; 2]> {
        let ends = [Snapshot::default(), Snapshot { segments, acks, ..Snapshot::default() }];
        batches.interval(ends, |snapshot| (snapshot.segments as f64, snapshot.acks as f64))
    }

    #[test]
    fn what_never_changes_is_certain() {
        let [low, high] = interval(&batches(100_000, |packet| packet % 2), 100_000, 50_000).unwrap();
        assert!((low - 2.0).abs() < 1e-9 && (high - 2.0).abs() < 1e-9);
    }

    #[test]
    fn memory_is_bounded() {
        let batches = batches(1_000_000, |_| 1);
        assert!(
            batches.taken.len() <= MAX_BATCHES && batches.taken.len() > MAX_BATCHES / 2 - 2,
            "{}",
            batches.taken.len()
        );
        assert!(interval(&super::tests::batches(200, |_| 1), 200, 200).is_none());
    }

    /// For connections whose packets are acknowledged at random, the interval contains the true
    /// ratio in about 95 of 100.
    #[test]
    fn intervals_hold_the_truth() {
        let mut state = 1_u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 40
        };
        let mut held = 0;
        for _ in 0..400 {
            let draws: Vec<u64> = (0..4000).map(|_| u64::from(draw() % 10 < 4)).collect();
            let acks = draws.iter().sum();
            let found = interval(&batches(4000, |packet| draws[packet as usize - 1]), 4000, acks).unwrap();
            held += u32::from(found[0] <= 2.5 && 2.5 <= found[1]);
        }
        assert!((365..=395).contains(&held), "{held}");
    }

    /// Connections of 4,000 packets that lose one in 500 at random: the interval contains the true
    /// share in about 95 of 100. A connection without a loss follows the rule of three: at most 3
    /// of 4,000 packets, or somewhat more because the variance is estimated.
    #[test]
    fn intervals_of_rare_events_hold_the_truth() {
        let mut state = 7_u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 40
        };
        let mut held = 0;
        for _ in 0..400 {
            let draws: Vec<u64> = (0..4000).map(|_| u64::from(draw() % 500 == 0)).collect();
            let lost: u64 = draws.iter().sum();
            let found = share(&losing(4000, |packet| draws[packet as usize - 1]), 4000, lost).unwrap();
            held += u32::from(found[0] <= 0.002 && 0.002 <= found[1]);
        }
        assert!((365..=398).contains(&held), "{held}");
        let [low, high] = share(&losing(4000, |_| 0), 4000, 0).unwrap();
        assert!(low == 0.0 && (3.0 / 4000.0..5.0 / 4000.0).contains(&high), "{high}");
    }

    fn losing(packets: u64, losses: impl Fn(u64) -> u64) -> Batches {
        let (mut batches, mut lost_before) = (Batches::default(), 0);
        for packet in 1..=packets {
            lost_before += losses(packet);
            if batches.ends_with(packet) {
                let losses = Counts { lost_before, ..Counts::default() };
                batches.push(Snapshot { segments: packet, losses, ..Snapshot::default() });
            }
        }
        batches
    }

    fn share(batches: &Batches, segments: u64, lost_before: u64) -> Option<[f64; 2]> {
        let losses = Counts { lost_before, ..Counts::default() };
        let ends = [Snapshot::default(), Snapshot { segments, losses, ..Snapshot::default() }];
        batches.share_interval(ends, |snapshot| (snapshot.losses.lost_before as f64, snapshot.segments as f64))
    }

    proptest! {
        /// For any batches, an interval contains its value and stays in its range.
        #[test]
        fn each_interval_contains_its_value(
            batches in prop::collection::vec((0_u64..50, 1_u64..1_000_000, 0.0..2e9_f64), 8..40),
            last in 0_u64..50,
        ) {
            let mut taken = Batches::default();
            let mut sum = Snapshot::default();
            for (lost, carried, time) in batches {
                sum.segments += 50;
                // A D-SACK reverts a loss that was counted earlier.
                sum.losses.repeated += lost;
                sum.losses.duplicate += lost / 3 * u64::from(lost % 2 == 0);
                sum.carried += carried;
                sum.at += carried * 7;
                sum.times[0] = (sum.times[0].0 + time, sum.times[0].1 + 1);
                taken.push(sum);
            }
            sum.segments += 50;
            sum.losses.repeated += last;
            let ends = [Snapshot::default(), sum];
            let lost = |snapshot: &Snapshot| (snapshot.losses.lost(false) as f64, snapshot.segments as f64);
            let goodput = |snapshot: &Snapshot| (snapshot.carried as f64, snapshot.at as f64);
            let time = |snapshot: &Snapshot| (snapshot.times[0].0, snapshot.times[0].1 as f64);
            let of = |(x, y): (f64, f64)| x / y;
            if let Some([low, high]) = taken.share_interval(ends, lost) {
                let value = of(lost(&sum));
                prop_assert!(0.0 <= low && low <= value && value <= high && high <= 1.0, "{low} {value} {high}");
            }
            let positive = [(taken.interval(ends, goodput), of(goodput(&sum))), (taken.interval(ends, time), of(time(&sum)))];
            for (interval, value) in positive {
                let Some([low, high]) = interval else { continue };
                prop_assert!(0.0 < low && low <= value * (1.0 + 1e-12) && value <= high * (1.0 + 1e-12), "{low} {value} {high}");
            }
        }
    }

    #[test]
    fn students_quantiles_are_those_of_tables() {
        for (freedom, value) in [(7.0, 2.365), (15.0, 2.131), (31.0, 2.040)] {
            assert!((student(freedom) - value).abs() < 0.002, "{freedom}");
        }
    }
}
