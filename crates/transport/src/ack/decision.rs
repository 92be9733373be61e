//! The decision of a policy, and its reason.

use super::Tally;
use acklab_base::event::AckTime;
use acklab_base::{Event, Instant};

/// A policy's decision after an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Acknowledge immediately.
    Now(Reason),
    /// Acknowledge at this instant, unless an ACK is sent earlier.
    At(Instant, Reason),
    /// Do not send an ACK because of this arrival.
    Hold,
}

/// A recorded decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The time of the decision.
    pub at: Instant,
    /// The decision and its reason.
    pub decision: Decision,
    /// The amount of data that had arrived since the last ACK.
    pub unacknowledged: Tally,
}

impl Decided {
    /// Returns the event that an endpoint reports. `Hold` has no reason, so its event has index 0.
    #[must_use]
    pub fn event(&self) -> Event {
        let (when, reason) = match self.decision {
            Decision::Now(reason) => (AckTime::Now, reason.index()),
            Decision::At(at, reason) => (AckTime::In(at.since(self.at)), reason.index()),
            Decision::Hold => (AckTime::Hold, 0),
        };
        Event::AckDecided { when, reason, unacknowledged: self.unacknowledged.segments }
    }
}

/// The reason for an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The policy acknowledges every segment.
    EverySegment,
    /// The policy's maximum number of unacknowledged segments was reached.
    SegmentCount,
    /// The policy's maximum number of unacknowledged bytes was reached.
    ByteCount,
    /// The delayed-ACK timer expired.
    Timer,
    /// The policy's fraction of a round-trip time has passed since the last ACK.
    Periodic,
    /// The policy infers that the sender is in slow start, or has just detected a loss.
    SlowStart,
    /// The receiver acknowledges immediately while the sender's window still grows (Linux's quick
    /// ACKs).
    QuickAck,
    /// A segment arrived out of order (RFC 5681, §4.2).
    OutOfOrder,
    /// A segment filled all or part of a gap (RFC 5681, §4.2).
    FillsGap,
    /// A segment carried no new data.
    Duplicate,
    /// SACKs for several out-of-order segments were compressed into one.
    CompressedSack,
    /// A segment with a congestion mark (CE) arrived after unmarked segments. With DCTCP, also an
    /// unmarked segment after marked ones (RFC 8257, §3.2; RFC 9768, §3.2.2.5.1).
    MarkChange,
    /// The maximum number of unreported congestion marks was reached (RFC 9768, §3.2.2.5.1).
    MarkCount,
    /// The peer has sent a FIN.
    Fin,
    /// The segment is part of the handshake.
    Handshake,
    /// The application has read enough data to open the receive window (RFC 9293, §3.8.6.2.2).
    WindowUpdate,
    /// A data segment, FIN or probe of this end carried the acknowledgment (RFC 9293, §3.8.6.3).
    Piggyback,
    /// The receiver reports a packet as lost (Li et al., SIGCOMM 2020, §4.4: the loss-event-driven
    /// IACK).
    LossEvent,
    /// The sender requested the ACK.
    Asked,
    /// The segment ends a write of the sender's application (PSH; RFC 9293, §3.9.1.2), and the
    /// local application has read the segment.
    Push,
    /// The reason with this number of a custom policy, named by
    /// [the policy](super::AckPolicy::reason).
    Custom(OwnReason),
}

/// The number of a custom policy's reason.
///
/// The type has few values, so that a [`Reason`] takes one byte. The compiler would write a
/// two-byte reason as two bytes and read it as one word, which stalls the processor at each
/// decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[rustfmt::skip]
#[expect(missing_docs, reason = "they are numbers")]
pub enum OwnReason {
    N0, N1, N2, N3, N4, N5, N6, N7, N8, N9, N10, N11, N12, N13, N14, N15,
}

impl OwnReason {
    #[rustfmt::skip]
    const ALL: [Self; 16] = [
        Self::N0, Self::N1, Self::N2, Self::N3, Self::N4, Self::N5, Self::N6, Self::N7,
        Self::N8, Self::N9, Self::N10, Self::N11, Self::N12, Self::N13, Self::N14, Self::N15,
    ];

    /// Returns the reason with this number, counted from 0. Larger numbers than the maximum map to
    /// the last reason.
    #[must_use]
    pub fn new(number: usize) -> Self {
        Self::ALL[number.min(Self::ALL.len() - 1)]
    }

    /// Returns the number, counted from 0.
    #[must_use]
    pub const fn number(self) -> usize {
        self as usize
    }
}

impl Reason {
    /// The maximum number of reasons per custom policy.
    pub const MAX_CUSTOM: usize = OwnReason::ALL.len();
    /// The total number of reasons.
    pub const COUNT: usize = Self::ALL.len() + Self::MAX_CUSTOM;

    /// All reasons except those of custom policies, in the order of their index.
    pub const ALL: [Self; 20] = [
        Self::EverySegment,
        Self::SegmentCount,
        Self::ByteCount,
        Self::Timer,
        Self::Periodic,
        Self::SlowStart,
        Self::QuickAck,
        Self::OutOfOrder,
        Self::FillsGap,
        Self::Duplicate,
        Self::CompressedSack,
        Self::MarkChange,
        Self::MarkCount,
        Self::Fin,
        Self::Handshake,
        Self::WindowUpdate,
        Self::Piggyback,
        Self::LossEvent,
        Self::Asked,
        Self::Push,
    ];

    /// Returns the reason with this index.
    #[must_use]
    pub fn of_index(index: usize) -> Self {
        Self::ALL.get(index).copied().unwrap_or(Self::Custom(OwnReason::new(index.saturating_sub(Self::ALL.len()))))
    }

    /// Returns the index in arrays of counts: common reasons first, then those of a custom policy.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::EverySegment => 0,
            Self::SegmentCount => 1,
            Self::ByteCount => 2,
            Self::Timer => 3,
            Self::Periodic => 4,
            Self::SlowStart => 5,
            Self::QuickAck => 6,
            Self::OutOfOrder => 7,
            Self::FillsGap => 8,
            Self::Duplicate => 9,
            Self::CompressedSack => 10,
            Self::MarkChange => 11,
            Self::MarkCount => 12,
            Self::Fin => 13,
            Self::Handshake => 14,
            Self::WindowUpdate => 15,
            Self::Piggyback => 16,
            Self::LossEvent => 17,
            Self::Asked => 18,
            Self::Push => 19,
            Self::Custom(own) => Self::ALL.len() + own.number(),
        }
    }

    /// Returns the name in the `acks` table. [Policy::reason_name](super::Policy::reason_name)
    /// returns the specific names of a custom policy's reasons.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::EverySegment => "every-segment",
            Self::SegmentCount => "segment-count",
            Self::ByteCount => "byte-count",
            Self::Timer => "timer",
            Self::Periodic => "periodic",
            Self::SlowStart => "slow-start",
            Self::QuickAck => "quick-ack",
            Self::OutOfOrder => "out-of-order",
            Self::FillsGap => "fills-gap",
            Self::Duplicate => "duplicate",
            Self::CompressedSack => "compressed-sack",
            Self::MarkChange => "mark-change",
            Self::MarkCount => "mark-count",
            Self::Fin => "fin",
            Self::Handshake => "handshake",
            Self::WindowUpdate => "window-update",
            Self::Piggyback => "piggyback",
            Self::LossEvent => "loss-event",
            Self::Asked => "asked",
            Self::Push => "push",
            Self::Custom(_) => "custom",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_its_index() {
        for index in 0..Reason::COUNT {
            assert_eq!(Reason::of_index(index).index(), index);
        }
        assert_eq!(OwnReason::new(200).number(), Reason::MAX_CUSTOM - 1, "the last counts for those beyond");
        assert_eq!(size_of::<Option<Reason>>(), 1);
    }
}
