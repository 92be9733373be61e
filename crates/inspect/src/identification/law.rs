//! Finds whether skipped numbers match the ACKs that a receiver by RFC 5681 sends for the segments
//! that an ACK covers.
//!
//! A receiver sends an ACK for each or for each second full-sized segment (RFC 5681, §4.2). If a
//! box removes some ACKs, the next one also covers their segments, so skipped numbers and segments
//! correlate closely. Other packets of a host arrive at random (Poisson, or in bursts), so the
//! variance of their number is about its mean.

/// Segments per ACK of a receiver by RFC 5681, with a margin for late ACKs.
const MAX_SEGMENTS: f64 = 2.2;
/// The minimum number of ACKs for a verdict.
const MIN_ACKS: f64 = 60.0;
/// The minimum mean number of skipped numbers per ACK for a proof.
const MIN_SKIPPED: f64 = 0.1;
/// The maximum variance of the numbers around the values expected from the segments, relative to
/// their mean: a quarter of the variance of random packets; *chosen*.
const MAX_VARIANCE: f64 = 0.25;
/// The minimum part of the variance of the numbers that the segments explain; *chosen*.
const MIN_EXPLAINED: f64 = 0.8;
/// A ratio below one segment per ACK, with a margin for segments that were captured together.
const IMPOSSIBLE: f64 = 0.9;

/// Sums over pure ACKs that cover data in order: their segments, and the count of their own number
/// and those skipped before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Law {
    acks: f64,
    covers: f64,
    numbers: f64,
    covers_squared: f64,
    numbers_squared: f64,
    product: f64,
}

impl Law {
    #[inline]
    pub(super) fn ack(&mut self, covers: u32, skipped: u32) {
        let (covers, numbers) = (f64::from(covers), f64::from(skipped) + 1.0);
        self.acks += 1.0;
        self.covers += covers;
        self.numbers += numbers;
        self.covers_squared += covers * covers;
        self.numbers_squared += numbers * numbers;
        self.product += covers * numbers;
    }

    /// Returns the segments per sent ACK, if all numbers belong to ACKs.
    fn ratio(&self) -> f64 {
        self.covers / self.numbers
    }

    /// Returns the reason why the numbers cannot belong to ACKs, or `None` if they can.
    pub(super) fn refuted(&self) -> Option<String> {
        let ratio = self.ratio();
        (self.acks >= MIN_ACKS && ratio < IMPOSSIBLE).then(|| {
            format!("identifications are counted by the host: by them there would be an ACK per {ratio:.2} segments, expected at least 1")
        })
    }

    /// Returns the proof that they do.
    pub(super) fn proof(&self) -> Option<String> {
        let Self { acks, covers, numbers, covers_squared, numbers_squared, product } = *self;
        let ratio = self.ratio();
        let skipped = numbers / acks - 1.0;
        if acks < MIN_ACKS || !(1.0..=MAX_SEGMENTS).contains(&ratio) || skipped < MIN_SKIPPED {
            return None;
        }
        let residual = (numbers_squared - 2.0 * product / ratio + covers_squared / (ratio * ratio)) / acks;
        let [of_covers, of_numbers] = [
            covers_squared / acks - (covers / acks) * (covers / acks),
            numbers_squared / acks - (numbers / acks) * (numbers / acks),
        ];
        let common = product / acks - covers / acks * numbers / acks;
        let explained = common * common / (of_covers * of_numbers);
        (residual <= MAX_VARIANCE * skipped && explained >= MIN_EXPLAINED).then(|| {
            format!(
                "and with them there is an ACK per {ratio:.2} segments, which explain {:.0} % of the skipped numbers",
                100.0 * explained
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(acks: impl Iterator<Item = (u32, u32)>) -> Law {
        let mut law = Law::default();
        acks.for_each(|(covers, skipped)| law.ack(covers, skipped));
        law
    }

    /// A receiver of two segments. A box passes each, each second, third, fourth or fifth of its
    /// ACKs in turn.
    #[test]
    fn removed_acks_are_as_many_as_the_segments_say() {
        let found = law((0..200).map(|n| (2 * (1 + n % 5), n % 5)));
        assert!(found.proof().is_some_and(|text| text.contains("2.00")), "{found:?}");
    }

    /// Each ACK covers two segments, and the host has sent 0 to 2 other packets since the previous
    /// one.
    #[test]
    fn other_packets_of_a_host_do_not_go_with_segments() {
        let found = law((0..200).map(|n| (2, n * 7 % 3)));
        assert!(found.proof().is_none() && found.refuted().is_none(), "{found:?}");
        // A packet for each ACK, so there is no variance to explain.
        assert!(law((0..200).map(|_| (2, 1))).proof().is_none());
    }

    #[test]
    fn more_acks_than_segments_are_impossible() {
        assert!(law((0..200).map(|n| (2, n % 40))).refuted().is_some());
    }
}
