//! A packet that probes and captures can read.

use acklab_base::{Bytes, Datagram, Instant};
use acklab_wire::IpVersion;
use acklab_wire::ipv4::Extent;
use acklab_wire::pdu::EncodeError;
use pcap_file::DataLink;
use std::sync::Arc;

/// A packet that probes and captures can read: one of a simulation, or one of a real host.
pub trait Observed: acklab_wifi::Packet {
    /// Returns the link type of captures of a network with this version of IP, which defines the
    /// first header of a packet.
    fn link_type(version: IpVersion) -> DataLink {
        match version {
            IpVersion::V4 => DataLink::IPV4,
            IpVersion::V6 => DataLink::IPV6,
        }
    }

    /// Returns the time that the content represents: for data the time of transmission, for an
    /// acknowledgment the arrival of the newest data that it reports.
    fn origin(&self) -> Instant;

    /// Returns the bytes of payload at the end of the packet, which a capture may omit.
    fn payload(&self) -> u32;

    /// Returns the TLS secrets that decrypt the packet, if it is encrypted and they are known (see
    /// [`Pdu::secrets`](acklab_wire::Pdu::secrets)).
    fn secrets(&self) -> Option<&Arc<str>> {
        None
    }

    /// Replaces the content of `octets` by the octets of the packet. A packet without its own IPv4
    /// identification gets `identification`.
    ///
    /// # Errors
    /// If the packet does not fit an IP packet; `octets` is then empty.
    fn encode(&self, identification: u16, extent: Extent, octets: &mut Vec<u8>) -> Result<(), EncodeError>;
}

/// Facts about an arriving packet, for a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The length of the IP packet, headers included.
    pub wire_len: Bytes,
    /// The time that the content represents, by the clock of the receiver, as [`Observed::origin`]
    /// defines it. `None` if the ends do not share a clock: one-way delays are then unknown.
    pub origin: Option<Instant>,
}

impl Delivery {
    /// Returns the facts about a packet in a network whose ends share a clock.
    #[inline(always)]
    pub fn of(packet: &impl Observed) -> Self {
        Self { wire_len: Datagram::wire_len(packet), origin: Some(packet.origin()) }
    }
}
