//! The contract of a protocol data unit: the content of an IP packet of a transport.

use crate::ipv4::{Extent, Ipv4Fields, TooLong};
use crate::{Endpoints, IpPacket, log, tcp, udp};
use acklab_base::{AckHeader, Bytes, Ecn};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// The content of an IP packet of a transport, as a typed value. Networks depend only on this
/// contract, not on a transport.
pub trait Pdu: Any + Debug + Send {
    /// Returns the IP protocol number of the transport (IANA, Protocol Numbers).
    fn protocol(&self) -> u8;

    /// Returns the length of the IPv4 packet, headers included.
    fn wire_len(&self) -> Bytes;

    /// Returns the ECN field of the IP header.
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    /// Sets the ECN field. A queue that marks packets calls this. A transport without ECN may
    /// ignore it.
    fn set_ecn(&mut self, _ecn: Ecn) {}

    /// Returns the acknowledgment in the TCP header. Returns `None` unless this is a TCP segment
    /// with ACK and without SYN.
    fn ack_header(&self) -> Option<AckHeader> {
        None
    }

    /// Returns `true` for a pure ACK, as [`AckHeader::is_pure`] defines it.
    fn is_pure_ack(&self) -> bool {
        self.ack_header().is_some_and(|header| header.is_pure)
    }

    /// Returns `true` if this packet acknowledges and carries no data of streams or datagrams, for
    /// any transport.
    fn is_transport_ack(&self) -> bool {
        self.is_pure_ack()
    }

    /// Returns the number of octets of the payload, which a capture may omit.
    fn payload(&self) -> u32;

    /// Returns the TLS secrets for decrypting the packet, as far as its sender had them: lines in
    /// the format of `SSLKEYLOGFILE` (RFC 9850).
    fn secrets(&self) -> Option<&Arc<str>> {
        None
    }

    /// Calls `to` with each packet of this protocol data unit, in the form of a log. A transport
    /// that does not define packets, such as UDP, does not call `to`.
    fn log_entries(&self, _to: &mut dyn FnMut(log::Entry<'_>)) {}

    /// Replaces the contents of `octets` with the IPv4 packet that carries this protocol data unit
    /// between `endpoints`.
    ///
    /// # Errors
    /// If the protocol data unit does not fit in a packet. `octets` is then empty.
    fn encode(
        &self,
        endpoints: Endpoints,
        fields: Ipv4Fields,
        extent: Extent,
        octets: &mut Vec<u8>,
    ) -> Result<(), EncodeError>;

    /// Replaces the contents of `octets` with the whole IPv4 packet between `endpoints`, with the
    /// octets of streams. `carried` contains the octets of streams one after another, in the order
    /// of [`report_octets`](acklab_base::Endpoint::report_octets). A transport without streams
    /// ignores them.
    ///
    /// # Errors
    /// If the protocol data unit does not fit in a packet. `octets` is then empty.
    fn encode_with(
        &self,
        _carried: &[u8],
        endpoints: Endpoints,
        fields: Ipv4Fields,
        octets: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        self.encode(endpoints, fields, Extent::Whole, octets)
    }

    /// Decodes a protocol data unit from a packet, and appends its octets of streams to `carried`,
    /// in the order of [`report_octets`](acklab_base::Endpoint::report_octets). Returns `None` if
    /// the packet has another content, or if the transport has no decoder. The default method has
    /// no decoder. Ignores checksums.
    fn decode(_packet: &IpPacket, _carried: &mut Vec<u8>) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
}

/// The reasons why a protocol data unit cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// An error of a TCP segment.
    #[error(transparent)]
    Tcp(#[from] tcp::EncodeError),
    /// An error of a user datagram.
    #[error(transparent)]
    Udp(#[from] udp::EncodeError),
    /// The packet is too long.
    #[error(transparent)]
    TooLong(#[from] TooLong),
}
