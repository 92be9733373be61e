//! Encoding and decoding of typed headers.
//!
//! | module | holds |
//! |---|---|
//! | [`dot11`] | [`dot11::Frame`]: frames of 802.11 and their octets, MSDUs, radiotap headers |
//! | [`endpoints`] | [`Endpoints`]: addresses and ports, and those of simulated connections |
//! | [`ip_version`] | [`IpVersion`]: IPv4 or IPv6, addresses of nodes, and headers of packets in either |
//! | [`ipv4`] | the IPv4 header, and checksums |
//! | [`log`] | [`log::Entry`]: packets in the form of a log |
//! | [`packet`] | [`IpPacket`]: an IP packet as octets, parsed once |
//! | [`pdu`] | [`Pdu`]: the contract of a protocol data unit, of any transport |
//! | [`quic`] | [`quic::Datagram`]: packets of QUIC and their octets |
//! | [`rohc`] | compressed TCP ACKs: ROHC-TCP (RFC 6846), and the variant of TCP/HACK |
//! | [`sequence`] | [`sequence::Sequence`]: a few values in order |
//! | [`tack`] | [`tack::Packet`]: packets of the TACK transport and their octets |
//! | [`tcp`] | [`tcp::Segment`] and its options, sequence numbers, and the octets of both |
//! | [`udp`] | [`udp::UserDatagram`]: test traffic over UDP, and its octets |
//! | [`varint`] | integers of variable length (RFC 9000, §16) |

pub mod dot11;
pub mod endpoints;
pub mod ip_version;
pub mod ipv4;
pub mod log;
mod octets;
pub mod packet;
pub mod pdu;
pub mod quic;
pub mod rohc;
pub mod sequence;
pub mod tack;
pub mod tcp;
pub mod udp;
pub mod varint;

pub use endpoints::{Endpoints, address_of_node};
pub use ip_version::IpVersion;
pub use packet::IpPacket;
pub use pdu::Pdu;
