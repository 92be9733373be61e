//! A TCP segment as it was captured.

use crate::hosts::Between;
use acklab_wire::IpPacket;
use acklab_wire::tcp::Segment;

/// A TCP segment with fields of its IP header and of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet<'a> {
    /// The time on the timeline of the connection in nanoseconds. It does not decrease.
    pub(crate) at: u64,
    /// The time in the file.
    pub(crate) captured: u64,
    pub(crate) segment: &'a Segment,
    /// Bytes of the IP packet.
    pub(crate) wire: u64,
    /// The identification of IPv4.
    pub(crate) identification: Option<u16>,
    /// The packets that the host has sent since the last packet of this flow.
    pub(crate) others: Between,
    /// The time to live of IPv4, or the hop limit of IPv6.
    pub(crate) time_to_live: u8,
}

/// The effect of an acknowledgment on data in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledged {
    /// The number of octets that the acknowledgment is the first to acknowledge.
    pub(crate) octets: u64,
    /// The number of octets still in flight.
    pub(crate) flight: u64,
    /// The size of the acknowledgment's packet in octets.
    pub(crate) size: u64,
    /// `true` if the acknowledgment arrived without data.
    pub(crate) is_pure: bool,
}

/// Returns the time to live (RFC 791, §3.1) or the hop limit (RFC 8200, §3) of a packet.
pub(crate) fn time_to_live(packet: &IpPacket) -> u8 {
    const PLACES: [usize; 2] = [8, 7];
    let octets = packet.octets();
    let is_v6 = octets.first().is_some_and(|first| first >> 4 == 6);
    octets.get(PLACES[usize::from(is_v6)]).copied().unwrap_or_default()
}

/// Returns the source of an IPv4 packet (RFC 791, §3.1), or `None` for IPv6.
pub(crate) fn ipv4_source(packet: &IpPacket) -> Option<[u8; 4]> {
    const SOURCE: std::ops::Range<usize> = 12..16;
    let octets = packet.octets();
    octets.first().filter(|first| **first >> 4 == 4)?;
    octets.get(SOURCE)?.first_chunk().copied()
}
