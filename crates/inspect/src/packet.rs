//! A TCP segment as it was captured.

use acklab_wire::tcp::Segment;

/// A TCP segment with what its IP header and the file say of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet<'a> {
    /// The time of the connection in nanoseconds, which does not step back.
    pub(crate) at: u64,
    /// The time in the file.
    pub(crate) captured: u64,
    pub(crate) segment: &'a Segment,
    /// Bytes of the IP packet.
    pub(crate) wire: u64,
    /// The identification of IPv4.
    pub(crate) identification: Option<u16>,
}
