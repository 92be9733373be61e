//! A segment as a typed value.

use super::{Options, SeqNumber, headers};
use crate::ipv4::{Extent, IPV4_HEADER, Ipv4Fields};
use crate::log;
use crate::pdu::{EncodeError, Pdu};
use crate::quic::PacketType;
use crate::{Endpoints, IpPacket};
use acklab_base::{AckHeader, Bytes, Ecn, Opening};
use etherparse::IpNumber;
use std::fmt;
use std::ops::BitOr;

/// Octets of a TCP header without options.
pub const TCP_HEADER: u64 = 20;

/// The control bits of a TCP header (RFC 9293, §3.1; AE from RFC 9768).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(u16);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// No more data from the sender.
    pub const FIN: Self = Self(0x001);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x002);
    /// Reset the connection.
    pub const RST: Self = Self(0x004);
    /// Push.
    pub const PSH: Self = Self(0x008);
    /// The acknowledgment field is valid.
    pub const ACK: Self = Self(0x010);
    /// The urgent pointer is valid.
    pub const URG: Self = Self(0x020);
    /// ECN echo.
    pub const ECE: Self = Self(0x040);
    /// Congestion window reduced.
    pub const CWR: Self = Self(0x080);
    /// Accurate ECN.
    pub const AE: Self = Self(0x100);

    /// Returns `true` if all flags of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns `true` if at least one flag of `other` is set.
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns these flags, with the flags in `others` set or cleared.
    #[must_use]
    pub const fn with(self, others: Self, is_set: bool) -> Self {
        Self(if is_set { self.0 | others.0 } else { self.0 & !others.0 })
    }

    /// Returns the nine bits in the order of the header.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Returns AE, CWR and ECE as one number of three bits: the ACE field (RFC 9768, §3.2.2).
    #[must_use]
    pub const fn ace(self) -> u8 {
        ((self.0 >> 6) & 0b111) as u8
    }

    /// Returns the flags AE, CWR and ECE of an ACE field with this value. Only the low three bits
    /// are used.
    #[must_use]
    pub const fn from_ace(ace: u8) -> Self {
        Self(((ace & 0b111) as u16) << 6)
    }

    /// Returns the flags in the nine low bits.
    #[must_use]
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & 0x1ff)
    }
}

impl BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Debug for Flags {
    /// Writes the flags in the form of tcpdump: `[S.]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LETTERS: [(Flags, char); 9] = [
            (Flags::FIN, 'F'),
            (Flags::SYN, 'S'),
            (Flags::RST, 'R'),
            (Flags::PSH, 'P'),
            (Flags::URG, 'U'),
            (Flags::ECE, 'E'),
            (Flags::CWR, 'W'),
            (Flags::AE, 'e'),
            (Flags::ACK, '.'),
        ];
        let letters: String =
            LETTERS.iter().filter(|(flag, _)| self.contains(*flag)).map(|(_, letter)| letter).collect();
        write!(f, "[{letters}]")
    }
}

/// A TCP segment over IPv4. Only the length of the payload is stored, because simulated endpoints
/// exchange counts of octets.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Segment {
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// Sequence number of the first octet.
    pub seq: SeqNumber,
    /// Acknowledgment number, if [`Flags::ACK`] is set.
    pub ack: SeqNumber,
    /// Control bits.
    pub flags: Flags,
    /// Window field, unscaled.
    pub window: u16,
    /// Options.
    pub options: Options,
    /// Octets of payload.
    pub payload: u32,
}

impl Segment {
    /// Returns the length of the segment in sequence space: the length of its payload, plus one
    /// each for SYN and FIN.
    #[must_use]
    pub fn sequence_len(&self) -> u64 {
        u64::from(self.payload)
            + u64::from(self.flags.contains(Flags::SYN))
            + u64::from(self.flags.contains(Flags::FIN))
    }

    /// Returns the length of the IPv4 packet, headers included.
    #[must_use]
    #[inline]
    pub fn wire_len(&self) -> Bytes {
        Bytes(IPV4_HEADER + TCP_HEADER + self.options.wire_len() + u64::from(self.payload))
    }

    /// Returns the acknowledgment fields of the header. Returns `None` unless ACK is set and SYN is
    /// not.
    #[must_use]
    pub fn ack_header(&self) -> Option<AckHeader> {
        if !self.flags.contains(Flags::ACK) || self.flags.contains(Flags::SYN) {
            return None;
        }
        let Options { timestamps, sack, accurate_ecn, .. } = self.options;
        let is_pushed = self.flags.contains(Flags::PSH);
        let has_others = self.options != (Options { timestamps, sack, accurate_ecn, ..Options::default() });
        Some(AckHeader {
            ack: self.ack.0,
            window: self.window,
            ecn: self.flags.ace(),
            timestamps: timestamps.map(|clocks| (clocks.value, clocks.echo)),
            sack: sack.as_slice().iter().map(|block| (block.start.0, block.end.0)).collect(),
            is_pure: self.is_pure_ack(),
            has_other_content: is_pushed || has_others || accurate_ecn.is_some(),
            accurate_ecn: accurate_ecn.filter(|_| !is_pushed && !has_others).map_or(0, |option| option.len() as u8),
        })
    }

    /// Returns the options on segments and windows, if SYN is set.
    #[must_use]
    pub fn opening(&self) -> Option<Opening> {
        let Options { mss, window_scale, .. } = self.options;
        self.flags.contains(Flags::SYN).then_some(Opening { mss, window_scale })
    }

    /// Like [`ack_header`](Self::ack_header), but returns `None` unless the segment is a pure ACK.
    #[must_use]
    pub fn pure_ack(&self) -> Option<AckHeader> {
        self.ack_header().filter(|header| header.is_pure)
    }

    /// Returns `true` for a pure ACK: without payload, and without SYN, FIN, RST and URG.
    #[must_use]
    #[inline]
    pub fn is_pure_ack(&self) -> bool {
        let not_pure = Flags::SYN | Flags::FIN | Flags::RST | Flags::URG;
        self.payload == 0 && self.flags.contains(Flags::ACK) && !self.flags.intersects(not_pure)
    }
}

impl Pdu for Segment {
    fn protocol(&self) -> u8 {
        IpNumber::TCP.0
    }

    #[inline]
    fn wire_len(&self) -> Bytes {
        self.wire_len()
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }

    fn ack_header(&self) -> Option<AckHeader> {
        self.ack_header()
    }

    #[inline]
    fn is_pure_ack(&self) -> bool {
        self.is_pure_ack()
    }

    fn payload(&self) -> u32 {
        self.payload
    }

    fn log_entries(&self, to: &mut dyn FnMut(log::Entry<'_>)) {
        let is_handshake = self.flags.contains(Flags::SYN);
        to(log::Entry {
            packet_type: if is_handshake { PacketType::Initial } else { PacketType::OneRtt },
            number: log::Number::None,
            length: self.wire_len().get() - IPV4_HEADER,
            frames: log::Frames::Tcp(self),
        });
    }

    fn encode(
        &self,
        endpoints: Endpoints,
        fields: Ipv4Fields,
        extent: Extent,
        octets: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        octets.clear();
        octets.extend_from_slice(&headers(self, endpoints, fields)?);
        if extent == Extent::Whole {
            octets.resize(octets.len() + self.payload as usize, 0);
        }
        Ok(())
    }

    fn encode_with(
        &self,
        carried: &[u8],
        endpoints: Endpoints,
        fields: Ipv4Fields,
        octets: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        Ok(super::octets::encode_with(self, carried, endpoints, fields, octets)?)
    }

    fn decode(packet: &IpPacket, carried: &mut Vec<u8>) -> Option<Self> {
        let segment = packet.segment()?;
        let whole = packet.octets();
        carried.extend_from_slice(&whole[whole.len() - packet.payload()..]);
        Some(segment)
    }
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} seq {:?}+{}", self.flags, self.seq, self.payload)?;
        if self.flags.contains(Flags::ACK) {
            write!(f, " ack {:?}", self.ack)?;
        }
        write!(f, " win {} {:?}", self.window, self.options)?;
        if self.ecn.is_capable() {
            write!(f, " {}", self.ecn.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::{SackBlock, Timestamps};

    fn ack() -> Segment {
        Segment {
            ecn: Ecn::NotEct,
            seq: SeqNumber(1),
            ack: SeqNumber(2897),
            flags: Flags::ACK,
            window: 501,
            options: Options { timestamps: Some(Timestamps { value: 1, echo: 2 }), ..Options::default() },
            payload: 0,
        }
    }

    #[test]
    fn sizes_are_those_on_the_wire() {
        assert_eq!(ack().wire_len(), Bytes(52));
        assert_eq!(Segment { payload: 1448, ..ack() }.wire_len(), Bytes(1500));
        let block = SackBlock { start: SeqNumber(4000), end: SeqNumber(5000) };
        let mut with_sack = ack();
        with_sack.options.sack = [block, block, block].into_iter().collect();
        assert_eq!(with_sack.wire_len(), Bytes(80));
    }

    #[test]
    fn a_pure_ack_carries_nothing_else() {
        assert!(ack().pure_ack().is_some());
        assert!(Segment { payload: 1, ..ack() }.pure_ack().is_none());
        assert!(Segment { flags: Flags::ACK | Flags::FIN, ..ack() }.pure_ack().is_none());
        assert!(Segment { flags: Flags::NONE, ..ack() }.pure_ack().is_none());
        assert_eq!(Segment { flags: Flags::ACK | Flags::ECE, ..ack() }.pure_ack().unwrap().ecn, 1);
    }

    #[test]
    fn a_segment_with_data_can_acknowledge() {
        let with_data = Segment { payload: 1, ..ack() }.ack_header().unwrap();
        assert_eq!((with_data.ack, with_data.is_pure), (2897, false));
        assert!(Segment { flags: Flags::ACK | Flags::SYN, ..ack() }.ack_header().is_none());
    }

    #[test]
    fn an_ack_reports_its_clocks_its_blocks_and_other_content() {
        let mut segment = ack();
        let block = |start, end| SackBlock { start: SeqNumber(start), end: SeqNumber(end) };
        segment.options.sack = [block(4000, 5000), block(6000, 7000)].into_iter().collect();
        let header = segment.pure_ack().unwrap();
        assert_eq!((header.timestamps, header.has_other_content), (Some((1, 2)), false));
        assert_eq!(header.sack.as_slice(), [(4000, 5000), (6000, 7000)]);
        assert!(Segment { flags: Flags::ACK | Flags::PSH, ..segment }.pure_ack().unwrap().has_other_content);
        segment.options.ack_ratio = Some(2);
        assert!(segment.pure_ack().unwrap().has_other_content);
    }

    #[test]
    fn ace_is_ae_cwr_and_ece() {
        assert_eq!((Flags::AE | Flags::ACK).ace(), 0b100);
        assert_eq!((Flags::CWR | Flags::ECE | Flags::SYN).ace(), 0b011);
        assert_eq!(Flags::from_ace(0b101), Flags::AE | Flags::ECE);
        assert_eq!(Flags::from_ace(13), Flags::from_ace(5));
    }

    #[test]
    fn flags_read_as_in_tcpdump() {
        assert_eq!(format!("{:?}", Flags::SYN | Flags::ACK), "[S.]");
        assert_eq!(format!("{:?}", Flags::PSH | Flags::ACK), "[P.]");
    }
}
