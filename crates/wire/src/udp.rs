//! UDP datagrams as values (RFC 768), with the header of test traffic, and their octets over IPv4.

pub(crate) mod header;
pub mod octets;

pub use header::HeaderError;
pub use octets::{DecodeError, EncodeError, decode, encode_between};

use crate::ipv4::{Extent, IPV4_HEADER, Ipv4Fields};
use crate::pdu::{self, Pdu};
use crate::{Endpoints, IpPacket};
use acklab_base::{Bytes, Ecn, Instant};
use etherparse::IpNumber;

/// Octets of a UDP header.
pub const UDP_HEADER: u64 = 8;
/// Octets at the start of the payload, with the time of transmission and the number of the
/// datagram. They have the format of iperf3 with `--udp-counters-64bit` (`iperf_udp_send`), whose
/// 64-bit number does not wrap in any run.
pub const TEST_HEADER: u64 = 16;
/// The largest payload that fits an IPv4 packet.
pub const LARGEST_PAYLOAD: u64 = u16::MAX as u64 - IPV4_HEADER - UDP_HEADER;

/// A user datagram of test traffic over IPv4. Only the fields of the test header and the length of
/// the payload are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserDatagram {
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// The number of the datagram within its flow, from one.
    pub number: u64,
    /// The time of transmission. It is encoded in whole microseconds, as `gettimeofday` returns
    /// them.
    pub sent_at: Instant,
    /// Octets of payload, the test header included.
    pub payload: u32,
}

impl Pdu for UserDatagram {
    fn protocol(&self) -> u8 {
        IpNumber::UDP.0
    }

    fn wire_len(&self) -> Bytes {
        Bytes(IPV4_HEADER + UDP_HEADER + u64::from(self.payload))
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }

    fn payload(&self) -> u32 {
        self.payload
    }

    fn encode(
        &self,
        endpoints: Endpoints,
        fields: Ipv4Fields,
        extent: Extent,
        octets: &mut Vec<u8>,
    ) -> Result<(), pdu::EncodeError> {
        Ok(octets::encode(self, endpoints, fields, extent, octets)?)
    }

    fn decode(packet: &IpPacket, _carried: &mut Vec<u8>) -> Option<Self> {
        packet.datagram()
    }
}
