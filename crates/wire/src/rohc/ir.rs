//! Initialization and refresh: IR and IR-DYN headers (RFC 6846, §7.1; RFC 5795, §5.2), with the
//! static and dynamic chains (§8.2).

use super::co::Context;
use super::context::State;
use super::crc::Crc;
use super::ip_id::Behavior;
use super::octets::{Octets, Reader, put, read_urgent_pointer};
use super::options::{self, ItemTable};
use super::{Cid, Error};
use crate::Endpoints;
use crate::ipv4::Ipv4Fields;
use crate::tcp::octets::HeaderWords;
use crate::tcp::{Flags, Segment, SeqNumber};
use acklab_base::Ecn;
use etherparse::IpNumber;
use std::net::{Ipv4Addr, SocketAddrV4};

/// The packet type of an IR header with a dynamic chain, and of IR-DYN.
pub(super) const IR: u8 = 0xfd;
pub(super) const IR_DYN: u8 = 0xf8;
/// Profile 0x0006, ROHC-TCP.
const PROFILE: u8 = 0x06;

/// Writes an IR header of `new`, whose uncompressed headers are `headers`. `out` already contains
/// the Add-CID octet, if there is one.
pub(super) fn write(headers: &HeaderWords, new: &State, out: &mut Octets) {
    put(out, &[IR, PROFILE]);
    let check = out.len();
    out.push(0);

    // The static chain: ipv4_static, tcp_static.
    let Endpoints { source, destination } = new.ack.endpoints;
    put(out, &[0, IpNumber::TCP.0]);
    put(out, &source.ip().octets());
    put(out, &destination.ip().octets());
    put(out, &source.port().to_be_bytes());
    put(out, &destination.port().to_be_bytes());

    // The dynamic chain: ipv4_innermost_dynamic, tcp_dynamic.
    let (segment, ip) = (&new.ack.segment, &new.ack.ip);
    out.push(u8::from(ip.dont_fragment) << 2 | new.behavior as u8);
    put(out, &[ip.dscp << 2 | segment.ecn.bits(), ip.time_to_live]);
    if new.behavior != Behavior::Zero {
        put(out, &ip.identification.to_be_bytes());
    }
    let has_stride = new.ack_stride != 0;
    let is_ack_zero = segment.ack.0 == 0;
    let reserved = new.ack.ecn_octet() >> 2 & 0x0f;
    let urgent_is_zero = 1 << 4;
    out.push(
        u8::from(new.ecn_used) << 7
            | u8::from(has_stride) << 6
            | u8::from(is_ack_zero) << 5
            | urgent_is_zero
            | reserved,
    );
    // CWR, ECE, URG, ACK, PSH, RST, SYN and FIN, in the order of a TCP header.
    out.push(segment.flags.bits() as u8);
    put(out, &new.msn.to_be_bytes());
    put(out, &segment.seq.0.to_be_bytes());
    if !is_ack_zero {
        put(out, &segment.ack.0.to_be_bytes());
    }
    put(out, &segment.window.to_be_bytes());
    put(out, &headers.tcp_checksum().to_be_bytes());
    if has_stride {
        put(out, &new.ack_stride.to_be_bytes());
    }
    options::write_list(headers.options(), new, None, out);
    out[check] = Crc::Eight.of(out);
}

/// The state that an IR, IR-DYN or IR-CR header establishes.
pub(super) struct Established {
    pub(super) context: Context,
    /// The TCP checksum of the header.
    pub(super) checksum: u16,
}

/// The part of an IR, IR-DYN or IR-CR header after the packet type: the profile and the CRC of
/// eight bits.
pub(super) struct Check {
    at: usize,
    crc: u8,
}

impl Check {
    /// Reads profile and CRC. `packet` begins with the Add-CID octet, if there is one, and `reader`
    /// contains the rest of `packet`.
    pub(super) fn read(packet: &[u8], reader: &mut Reader) -> Result<Self, Error> {
        let found = reader.u8()?;
        if found != PROFILE {
            return Err(Error::Profile { found });
        }
        let at = packet.len() - reader.0.len();
        Ok(Self { at, crc: reader.u8()? })
    }

    /// Verifies the CRC over the header, which ends where `reader` begins.
    pub(super) fn verify(&self, packet: &[u8], cid: Cid, reader: &Reader) -> Result<(), Error> {
        let header = &packet[..packet.len() - reader.0.len()];
        let computed = Crc::eight_of_parts(&[&header[..self.at], &[0], &header[self.at + 1..]]);
        if computed == self.crc { Ok(()) } else { Err(Error::Crc { cid, found: self.crc, computed }) }
    }
}

/// Reads an IR or IR-DYN header. `known` is the context of `cid`.
pub(super) fn read(
    packet: &[u8],
    cid: Cid,
    known: Option<&Context>,
    reader: &mut Reader,
) -> Result<Established, Error> {
    let kind = reader.u8()?;
    let check = Check::read(packet, reader)?;
    let endpoints = match (kind, known) {
        (IR, _) => read_static(reader)?,
        (_, Some(known)) => known.state.ack.endpoints,
        (_, None) => return Err(Error::NoContext(cid)),
    };
    let known = known.filter(|known| known.state.ack.endpoints == endpoints);
    let established = read_dynamic(endpoints, known, reader)?;
    check.verify(packet, cid, reader)?;
    Ok(established)
}

fn read_static(reader: &mut Reader) -> Result<Endpoints, Error> {
    let [version, protocol] = reader.array()?;
    if version != 0 {
        return Err(Error::Chain { what: "the first octet of ipv4_static", found: version });
    }
    if protocol != IpNumber::TCP.0 {
        return Err(Error::Chain { what: "the protocol", found: protocol });
    }
    let (from, to) = (Ipv4Addr::from_octets(reader.array()?), Ipv4Addr::from_octets(reader.array()?));
    Ok(Endpoints { source: SocketAddrV4::new(from, reader.u16()?), destination: SocketAddrV4::new(to, reader.u16()?) })
}

fn read_dynamic(endpoints: Endpoints, known: Option<&Context>, reader: &mut Reader) -> Result<Established, Error> {
    let [first, service, time_to_live] = reader.array()?;
    if first >> 3 != 0 {
        return Err(Error::Chain { what: "the first octet of ipv4_innermost_dynamic", found: first });
    }
    let behavior = Behavior::from_bits(u32::from(first));
    let identification = if behavior == Behavior::Zero { 0 } else { reader.u16()? };
    let ip = Ipv4Fields { dscp: service >> 2, identification, dont_fragment: first & 0b100 != 0, time_to_live };

    let [present, flags] = reader.array()?;
    if present & 0b1110 != 0 {
        return Err(Error::Chain { what: "the reserved bits of TCP", found: present & 0b1110 });
    }
    let msn = reader.u16()?;
    let seq = SeqNumber(reader.u32()?);
    let ack = SeqNumber(if present & 0x20 != 0 { 0 } else { reader.u32()? });
    let window = reader.u16()?;
    let checksum = reader.u16()?;
    if present & 0x10 == 0 {
        read_urgent_pointer(reader)?;
    }
    let has_stride = present & 0x40 != 0;
    let ack_stride = if has_stride { reader.u16()? } else { known.map_or(0, |known| known.state.ack_stride) };
    let mut segment = Segment {
        ecn: Ecn::from_bits(service),
        seq,
        ack,
        flags: Flags::from_bits(u16::from(present & 1) << 8 | u16::from(flags)),
        window,
        options: Default::default(),
        payload: 0,
    };
    let mut table = known.map_or_else(ItemTable::default, Context::item_table);
    let list = options::read_list(ack.0, &mut table, &mut segment.options, reader)?.list;
    let ack = super::Ack { endpoints, segment, ip };
    let ecn_used = present & 0x80 != 0;
    let mut state = State { ack, list, msn, behavior, ip_id_offset: 0, ecn_used, ack_stride };
    state.set_ip_id_offset(msn);
    Ok(Established { context: Context { state, table, is_damaged: false }, checksum })
}
