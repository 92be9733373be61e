//! Intervals of ratios by batch means.
//!
//! Packets of a connection depend on each other, so that their number says little about how certain a mean of them is. A connection is therefore cut into
//! batches of successive packets, whose ratios hardly depend on each other if they are long (Law and Kelton, *Simulation Modeling and Analysis*, §9.5.3). There are at
//! most 32 of them, whatever the length.

/// Batches at most; at the limit two become one.
const MOST: usize = 32;
/// Batches that an interval needs.
const LEAST: usize = 8;
/// Packets of the shortest batch.
const SHORTEST: u64 = 32;

/// What was counted up to an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Snapshot {
    /// Nanoseconds.
    pub(crate) at: u64,
    pub(crate) segments: u64,
    pub(crate) acks: u64,
    pub(crate) lost: u64,
    /// Octets that the receiver got.
    pub(crate) carried: u64,
    /// The sum of round-trip times in nanoseconds and their number: to the receiver, to the sender, and whole ones.
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
    /// Does a batch end with packet number `packets`?
    #[inline]
    pub(crate) const fn ends_with(&self, packets: u64) -> bool {
        packets.is_multiple_of(self.every)
    }

    pub(crate) fn push(&mut self, snapshot: Snapshot) {
        self.taken.push(snapshot);
        if self.taken.len() > MOST {
            // The last of each two stays.
            let mut number = 0;
            self.taken.retain(|_| {
                number += 1;
                number % 2 == 0
            });
            self.every *= 2;
        }
    }

    /// The interval of 95 % of the ratio of two sums over the whole connection, which began at the snapshot `first` and ended at `last`. Returns `None` if there are
    /// too few batches, or nothing to divide by.
    pub(crate) fn interval(
        &self,
        [first, last]: [Snapshot; 2],
        parts: impl Fn(&Snapshot) -> (f64, f64),
    ) -> Option<[f64; 2]> {
        let ends: Vec<(f64, f64)> = [first].iter().chain(&self.taken).chain(&[last]).map(parts).collect();
        let batches: Vec<(f64, f64)> = ends.windows(2).map(|two| (two[1].0 - two[0].0, two[1].1 - two[0].1)).collect();
        let count = batches.len() as f64;
        let (x, y) = batches.iter().fold((0.0, 0.0), |(x, y), batch| (x + batch.0, y + batch.1));
        if batches.len() < LEAST || y <= 0.0 {
            return None;
        }
        let ratio = x / y;
        // The variance of a ratio of means (Cochran, *Sampling Techniques*, §2.11).
        let squares: f64 = batches.iter().map(|(x, y)| (x - ratio * y) * (x - ratio * y)).sum();
        let half = student(count - 1.0) * (squares * count / (count - 1.0)).sqrt() / y;
        Some([ratio - half, ratio + half])
    }
}

/// The 97.5th percentile of Student's distribution with this number of degrees of freedom (Abramowitz and Stegun, 26.7.5), right to 0.1 % from seven on.
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
        assert!(batches.taken.len() <= MOST && batches.taken.len() > MOST / 2 - 2, "{}", batches.taken.len());
        assert!(interval(&super::tests::batches(200, |_| 1), 200, 200).is_none());
    }

    /// Of many connections whose packets are acknowledged by chance, the interval holds the true ratio in about 95 of 100.
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

    #[test]
    fn students_quantiles_are_those_of_tables() {
        for (freedom, value) in [(7.0, 2.365), (15.0, 2.131), (31.0, 2.040)] {
            assert!((student(freedom) - value).abs() < 0.002, "{freedom}");
        }
    }
}
