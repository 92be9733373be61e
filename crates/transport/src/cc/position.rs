//! The progress of a connection's transmissions and acknowledgments, from which controllers count
//! round trips.

/// A position in the order in which a connection sends. A round that begins when `sent_to` is at
/// one position ends when `acked_to` reaches that position.
///
/// The unit depends on the transport: stream bytes if acknowledgments cover bytes (TCP), packet
/// numbers if they cover packets (RFC 9002, §3). Controllers only compare positions; they are not
/// sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Position(pub u64);
