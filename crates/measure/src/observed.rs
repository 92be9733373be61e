//! A packet that probes and captures can read.

use acklab_base::{Bytes, Datagram, Instant};
use acklab_wire::IpVersion;
use acklab_wire::ipv4::Extent;
use acklab_wire::pdu::EncodeError;
use pcap_file::DataLink;
use std::sync::Arc;

/// A packet that probes and captures can read: a packet of a simulation, or a packet of a real
/// host.
pub trait Observed: acklab_wifi::Packet {
    /// Returns the link type of captures of a network with this version of IP. The link type
    /// defines the first header of a packet.
    fn link_type(version: IpVersion) -> DataLink {
        match version {
            IpVersion::V4 => DataLink::IPV4,
            IpVersion::V6 => DataLink::IPV6,
        }
    }

    /// Returns the origin time of the content. For data, it is the time of transmission. For an
    /// acknowledgment, it is the arrival time of the newest data that it reports.
    fn origin(&self) -> Instant;

    /// Returns the number of payload bytes at the end of the packet. A capture may omit them.
    fn payload(&self) -> u32;

    /// Returns the TLS secrets that decrypt the packet, if the packet is encrypted and the secrets
    /// are known (see [`Pdu::secrets`](acklab_wire::Pdu::secrets)).
    fn secrets(&self) -> Option<&Arc<str>> {
        None
    }

    /// Replaces the content of `octets` by the octets of the packet. A packet without its own IPv4
    /// identification gets `identification`.
    ///
    /// # Errors
    /// If the content does not fit into an IP packet. `octets` is then empty.
    fn encode(&self, identification: u16, extent: Extent, octets: &mut Vec<u8>) -> Result<(), EncodeError>;
}

/// Facts about an arriving packet, for a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The length of the IP packet, including headers.
    pub wire_len: Bytes,
    /// The origin time of the content, by the receiver's clock, as [`Observed::origin`] defines it.
    /// `None` if the two ends do not share a clock. One-way delays are then unknown.
    pub origin: Option<Instant>,
}

impl Delivery {
    /// Returns the facts about a packet in a network whose ends share a clock.
    #[inline(always)]
    pub fn of(packet: &impl Observed) -> Self {
        Self { wire_len: Datagram::wire_len(packet), origin: Some(packet.origin()) }
    }
}
