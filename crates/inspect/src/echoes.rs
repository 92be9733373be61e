//! Finds whether ACKs are missing, by the timestamps that ACKs echo.
//!
//! A receiver echoes the timestamp of the first segment that arrived since its last ACK (RFC 7323,
//! §4.3: it takes a timestamp from a segment that begins at or before its last acknowledgment). If
//! an ACK covers several segments and echoes the first of them, it is the only one that was sent
//! for them. If it echoes a later segment, an ACK for the segments before is missing: it was
//! removed, or lost. This distinguishes batches of a receiver (GRO, timers, a busy application)
//! from missing ACKs, also over IPv6 and if the host sends other packets.
//!
//! The sender's clock must tick between the segments. Two kinds of receivers echo later segments
//! although no ACK is missing, and must be excluded:
//!
//! * A stack that always echoes the newest timestamp. It never echoes a timestamp older than that
//!   of the last segment that it acknowledges.
//! * A NIC that coalesces segments under their newest timestamp (LRO). It coalesces segments that
//!   arrive within its interrupt moderation, which is shorter than some milliseconds. Then an echo
//!   older than the newest timestamp belongs to the end of a batch, whose size follows no rule.

use crate::direction::Segments;

/// The minimum number of informative echoes for a verdict on missing ACKs; *chosen*: of 30, a
/// quarter is known to a sixth.
const MIN_INFORMATIVE: u32 = 30;
/// The share of these echoes above which ACKs are missing, and the share below which none are;
/// *chosen*: a smaller share may be due to losses. An ACK after a loss covers more segments, so it
/// is twice as likely to be informative.
const MISSING: f64 = 0.25;
const WHOLE: f64 = 0.05;
/// The minimum number of echoes that prove that a receiver is of neither kind; *chosen*.
const MIN_PROOFS: u32 = 10;
/// The maximum number of segments that a receiver may acknowledge together by its rule.
const MAX_RULE: usize = 16;
/// Of the echoes that are older than the newest, the minimum share that fits one rule; *chosen*:
/// the others may follow a timer.
const FITS: f64 = 0.9;
/// A time in nanoseconds that exceeds the interval in which a NIC coalesces segments; *chosen*:
/// three ticks of the usual clock, and more than the maximum of 1 ms that Linux drivers set
/// (`rx-usecs`).
const LONG: u64 = 3_000_000;

/// The echoes of ACKs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Echoes {
    /// ACKs that echo the first segment that they cover.
    first: u32,
    /// ACKs that echo a later segment.
    later: u32,
    /// The subset of `later` whose echo was sent long after the first.
    long: u32,
    /// ACKs that echo a timestamp older than the newest.
    older: u32,
    /// The subset of `older` that fits a receiver that acknowledges this number of segments.
    fits: [u32; MAX_RULE],
    /// ACKs that arrived after a later one, so that they only seemed to be missing.
    overtaken: u32,
}

/// The evidence of the echoes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Evidence {
    /// No ACKs are missing, or only few. The text is the reason.
    Whole(String),
    /// ACKs are missing. The text is the reason.
    Missing(String),
    /// Either ACKs are missing, or the receiver does not echo timestamps by the standard.
    Open(String),
    /// The evidence is inconclusive. The text is the reason.
    Nothing(String),
}

impl Echoes {
    /// Records an ACK that covers `segments`.
    #[inline]
    pub(crate) fn ack(&mut self, segments: Segments) {
        let Segments { count, is_disturbed: false, echoed: Some((first, end)), passed } = segments else { return };
        let (is_first, is_newest) = (first == 0, end == count);
        if is_first && is_newest {
            // All segments were sent in one tick.
            return;
        }
        self.first += u32::from(is_first);
        self.later += u32::from(!is_first);
        self.long += u32::from(!is_first && passed.1.saturating_sub(passed.0) >= LONG);
        if !is_newest {
            self.older += 1;
            // The echoed segment is one of those in its tick.
            let (shortest, longest) = (count - end + 1, count - first);
            for rule in shortest..=longest.min(MAX_RULE as u32) {
                self.fits[rule as usize - 1] += 1;
            }
        }
    }

    /// Records an ACK that arrived after a later one.
    #[cold]
    pub(crate) fn overtaken(&mut self) {
        self.overtaken += 1;
    }

    /// Returns the evidence of the echoes.
    pub(crate) fn evidence(&self) -> Evidence {
        let later = self.later.saturating_sub(self.overtaken);
        let informative = self.first + later;
        if informative < MIN_INFORMATIVE {
            return Evidence::Nothing(format!(
                "{informative} echoed timestamps show which segments were acknowledged together, expected at least {MIN_INFORMATIVE}"
            ));
        }
        let share = f64::from(later) / f64::from(informative);
        let of = format!(
            "{later} of {informative} ACKs echo a later timestamp than that of the first segment that they cover"
        );
        if share < WHOLE {
            return Evidence::Whole(of);
        }
        if share < MISSING || later < MIN_PROOFS {
            return Evidence::Nothing(format!("{of}, as if some were lost"));
        }
        match self.proof() {
            Some(proof) => Evidence::Missing(format!(
                "{of}, {proof}: the ACKs for the segments before are missing (RFC 7323, §4.3)"
            )),
            None => Evidence::Open(format!(
                "{of}: ACKs for those before are missing, or the receiver does not echo by RFC 7323, §4.3"
            )),
        }
    }

    /// Returns a proof that the receiver follows the standard, and that no NIC coalesces segments.
    fn proof(&self) -> Option<String> {
        // The smallest of the rules that fit equally well, because segments of one tick are
        // indistinguishable.
        let fits = self.fits.iter().copied().max().unwrap_or_default();
        let rule = self.fits.iter().position(|&one| one == fits).map_or(1, |place| place + 1);
        if self.older < MIN_PROOFS {
            return None;
        }
        if f64::from(fits) >= FITS * f64::from(self.older) {
            return Some(format!(
                "{fits} of {} that do not echo the newest one that of the last but {}",
                self.older,
                rule - 1
            ));
        }
        (self.long >= MIN_PROOFS).then(|| {
            format!(
                "{} one that was sent 3 ms or more after it, and {} an older one than the newest",
                self.long, self.older
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the evidence of ACKs that cover these numbers of segments. The sender sends one
    /// segment per microsecond, and its clock ticks once per `per_tick` segments. The receiver
    /// sends an ACK for every `rule` segments. If `rule` is zero, no ACK is removed on the path.
    /// The receiver echoes the first of the segments that it acknowledges, or the newest.
    fn evidence(covers: impl Iterator<Item = u32>, per_tick: u32, rule: u32, echoes_newest: bool) -> Evidence {
        echoes(covers, per_tick, rule, echoes_newest, 1000).evidence()
    }

    fn echoes(covers: impl Iterator<Item = u32>, per_tick: u32, rule: u32, echoes_newest: bool, step: u64) -> Echoes {
        let mut echoes = Echoes::default();
        let mut next = 0;
        for count in covers {
            let own = if rule == 0 { count } else { rule.min(count) };
            let place = if echoes_newest { next + count - 1 } else { next + count - own };
            let tick = place / per_tick;
            let first = (tick * per_tick).max(next) - next;
            let end = ((tick + 1) * per_tick).min(next + count) - next;
            let passed = (u64::from(next) * step, u64::from(next + first) * step);
            echoes.ack(Segments { count, is_disturbed: false, echoed: Some((first, end)), passed });
            next += count;
        }
        echoes
    }

    fn irregular() -> impl Iterator<Item = u32> {
        (0..4000).map(|n| 2 + 2 * (n * 7 % 11 % 6))
    }

    #[test]
    fn batches_of_a_receiver_are_whole() {
        assert!(matches!(evidence(irregular(), 1, 0, false), Evidence::Whole(_)));
        // Three segments per tick.
        assert!(matches!(evidence(irregular(), 3, 0, false), Evidence::Whole(_)));
    }

    #[test]
    fn removed_acks_of_a_receiver_of_two_segments_are_missing() {
        for per_tick in [1, 3, 17] {
            let found = evidence(irregular(), per_tick, 2, false);
            assert!(matches!(&found, Evidence::Missing(text) if text.contains("the last but 1")), "{found:?}");
        }
    }

    /// A receiver acknowledges eight segments. A box passes every one, every second or every third
    /// of its ACKs.
    #[test]
    fn a_rule_of_more_segments_is_found() {
        let found = evidence((0..400).map(|n| 8 + 8 * (n * 7 % 11 % 3)), 3, 8, false);
        assert!(matches!(&found, Evidence::Missing(text) if text.contains("the last but 7")), "{found:?}");
    }

    /// A stack that echoes the newest timestamp, and a receiver that acknowledges each segment, at
    /// any intervals.
    #[test]
    fn the_newest_timestamp_leaves_it_open() {
        assert!(matches!(echoes(irregular(), 1, 0, true, 10_000_000).evidence(), Evidence::Open(_)));
        assert!(matches!(echoes(irregular(), 1, 1, false, 10_000_000).evidence(), Evidence::Open(_)));
    }

    /// A NIC coalesces segments in batches of 1 to 7. Each ACK covers two batches, and echoes the
    /// newest timestamp of the first.
    #[test]
    fn batches_under_their_newest_timestamp_leave_it_open() {
        let mut echoes = Echoes::default();
        for n in 0..400_u32 {
            let (one, other) = (1 + n * 5 % 7, 1 + n * 3 % 7);
            echoes.ack(Segments {
                count: one + other,
                is_disturbed: false,
                echoed: Some((one - 1, one)),
                passed: (0, u64::from(one) * 10_000),
            });
        }
        assert!(matches!(echoes.evidence(), Evidence::Open(_)), "{echoes:?}");
    }

    /// A receiver acknowledges each segment, or batches of 2 to 7 whose first segment it echoes. In
    /// the ACKs that a box passes, the echoed segment was sent 10 ms after the first one.
    #[test]
    fn a_long_time_between_first_and_echo_is_no_card() {
        let echoes = |step| {
            let mut left = echoes((0..400).map(|n| 10 + n % 4), 1, 1, false, step);
            for n in 0..40 {
                left.ack(Segments { count: 2 + n % 6, is_disturbed: false, echoed: Some((0, 1)), passed: (0, 0) });
            }
            left.evidence()
        };
        assert!(matches!(echoes(1_000_000), Evidence::Missing(text) if text.contains("3 ms")));
        assert!(matches!(echoes(10_000), Evidence::Open(_)));
    }

    #[test]
    fn a_clock_that_does_not_tick_is_inconclusive() {
        assert!(matches!(evidence(irregular(), 100_000, 2, false), Evidence::Nothing(_)));
    }

    /// One ACK in fifty is lost, so that the next one covers four segments.
    #[test]
    fn few_losses_are_no_thinner() {
        let found = evidence((0..400).map(|n| if n % 50 == 0 { 4 } else { 2 }), 1, 2, false);
        assert!(matches!(found, Evidence::Whole(_)), "{found:?}");
    }

    /// Each fourth ACK overtakes the previous one, which arrives after it and covers no segment.
    #[test]
    fn overtaken_acks_are_not_missing() {
        let mut echoes = echoes((0..400).map(|n| if n % 3 == 0 { 4 } else { 2 }), 1, 2, false, 1_000_000);
        (0..134).for_each(|_| echoes.overtaken());
        assert!(matches!(echoes.evidence(), Evidence::Whole(_)), "{echoes:?}");
    }
}
