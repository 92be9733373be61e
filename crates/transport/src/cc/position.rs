//! How far a connection has sent and been acknowledged, as controllers need to know it: to count round trips.

/// A position in the order in which a connection sends. A round that begins with `sent_to` at one position is over once `acked_to` has
/// reached it.
///
/// What a position counts is the transport's affair: octets of the stream where acknowledgments are of octets (TCP), packet numbers where
/// they are of packets (RFC 9002, §3). Controllers compare positions and never take them for sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Position(pub u64);
