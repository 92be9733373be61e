//! What a policy says, and why.

use acklab_base::Instant;

/// What a policy says after an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Acknowledge at once.
    Now(Reason),
    /// Acknowledge at this instant, if nothing has made it happen before.
    At(Instant, Reason),
    /// Acknowledge with what follows.
    Hold,
}

/// Why an ACK was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The policy acknowledges every segment.
    EverySegment,
    /// As many segments were unacknowledged as the policy allows.
    SegmentCount,
    /// As many octets were unacknowledged as the policy allows.
    ByteCount,
    /// The delayed-ACK timer ran out.
    Timer,
    /// As much of a round trip had passed since the last ACK as the policy allows.
    Periodic,
    /// The sender is thought to be in slow start, or to have just had a loss.
    SlowStart,
    /// Quick ACKs while the sender is still growing its window.
    QuickAck,
    /// A segment came out of order (RFC 5681, §4.2).
    OutOfOrder,
    /// A segment filled all or part of a gap (RFC 5681, §4.2).
    FillsGap,
    /// A segment carried nothing new.
    Duplicate,
    /// SACKs for several out-of-order segments were sent as one.
    CompressedSack,
    /// The first marked segment after others, or with DCTCP the first after marked ones (RFC 8257, §3.2; RFC 9768, §3.2.2.5.1).
    MarkChange,
    /// As many marks were not yet told as may be (RFC 9768, §3.2.2.5.1).
    MarkCount,
    /// The peer has finished.
    Fin,
    /// Part of the handshake.
    Handshake,
}

impl Reason {
    /// All reasons, in the order of their index.
    pub const ALL: [Self; 15] = [
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
    ];

    /// Its name, as it stands in the `acks` table.
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
        }
    }
}
