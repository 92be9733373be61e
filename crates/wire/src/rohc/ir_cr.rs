//! Context replication: IR-CR headers (RFC 6846, §5.3.3 and §7.2; RFC 4164), with the replicate
//! chain (§8.2). A decompressor must support IR-CR headers. The compressor here does not send them.

use super::co::{Context, with_ecn_flags};
use super::context::State;
use super::crc::Crc;
use super::formats::with_rsf;
use super::ip_id::Behavior;
use super::ir::{Check, Established};
use super::octets::{Fields, Reader, read_urgent_pointer};
use super::wlsb::Lsb;
use super::{Ack, Cid, Error, options};
use crate::Endpoints;
use crate::tcp::{Flags, SeqNumber};
use acklab_base::Ecn;

/// The packet type.
pub(super) const IR_CR: u8 = 0xfc;
/// The flag B, which shares an octet with the CRC of seven bits: the CID of the base context
/// follows.
const HAS_BASE: u8 = 0x80;

/// `ipv4_innermost_replicate`: reserved, behavior of the IP-ID, TTL follows, DF, DSCP, ECN.
const IPV4: Fields<6> = Fields([4, 2, 1, 1, 6, 2]);
/// `tcp_replicate`: reserved; the indicators of window and list; the encodings of source and
/// destination port; the indicators of ACK stride, ACK number and urgent pointer; URG, ACK, PSH,
/// RST/SYN/FIN; ECN bits follow.
const TCP: Fields<13> = Fields([1, 1, 1, 2, 2, 1, 1, 1, 1, 1, 1, 2, 1]);

/// `port_replicate`: unchanged, by low bits, in full.
const PORT_LSB: Lsb = Lsb::new(8, 64, 16);

/// Reads an IR-CR header. `context_of` returns the context of a CID.
pub(super) fn read<'a>(
    packet: &[u8],
    cid: Cid,
    context_of: impl FnOnce(Cid) -> Option<&'a Context>,
    reader: &mut Reader,
) -> Result<Established, Error> {
    reader.u8()?;
    let check = Check::read(packet, reader)?;
    let octet = reader.u8()?;
    let base_cid = if octet & HAS_BASE != 0 { small_cid(reader.u8()?)? } else { cid };
    let base = context_of(base_cid).ok_or(Error::NoContext(base_cid))?;
    let established = read_chain(base, reader)?;
    check.verify(packet, cid, reader)?;

    let headers = established.context.state.ack.header_words().map_err(|_| Error::NotPure(cid))?;
    let (found, computed) = (octet & !HAS_BASE, Crc::Seven.of_headers(&headers));
    if found == computed { Ok(established) } else { Err(Error::Crc { cid, found, computed }) }
}

/// Returns the CID of a base context. The reserved bits before the CID must be zero.
fn small_cid(octet: u8) -> Result<Cid, Error> {
    if octet < Cid::SMALL { Ok(Cid(octet)) } else { Err(Error::Chain { what: "the base CID", found: octet }) }
}

fn read_chain(base: &Context, reader: &mut Reader) -> Result<Established, Error> {
    let last = &base.state;
    let mut ip = last.ack.ip;
    let [reserved, behavior, has_ttl, dont_fragment, dscp, ecn] = IPV4.unpack(reader)?;
    if reserved != 0 {
        return Err(Error::Chain { what: "the first field of ipv4_innermost_replicate", found: reserved as u8 });
    }
    let behavior = Behavior::from_bits(behavior);
    ip.identification = if behavior == Behavior::Zero { 0 } else { reader.u16()? };
    ip.dont_fragment = dont_fragment == 1;
    ip.dscp = dscp as u8;
    if has_ttl == 1 {
        ip.time_to_live = reader.u8()?;
    }

    let [reserved, window, list, source, destination, stride, ack_number, urgent, urg, ack, psh, rsf, ecn_used] =
        TCP.unpack(reader)?;
    if reserved != 0 {
        return Err(Error::Chain { what: "the first bit of tcp_replicate", found: reserved as u8 });
    }
    let msn = reader.u16()?;
    let mut segment = last.ack.segment;
    segment.ecn = Ecn::from_bits(ecn as u8);
    segment.seq = SeqNumber(reader.u32()?);
    let Endpoints { source: mut from, destination: mut to } = last.ack.endpoints;
    from.set_port(read_port(source, from.port(), reader)?);
    to.set_port(read_port(destination, to.port(), reader)?);
    if window == 1 {
        segment.window = reader.u16()?;
    }
    if urgent == 1 {
        read_urgent_pointer(reader)?;
    }
    if ack_number == 1 {
        segment.ack = SeqNumber(reader.u32()?);
    }
    let flags = segment.flags.with(Flags::URG, urg == 1).with(Flags::ACK, ack == 1).with(Flags::PSH, psh == 1);
    segment.flags = with_rsf(flags, rsf);
    if ecn_used == 1 {
        let octet = reader.u8()?;
        if octet >> 6 != 0 {
            return Err(Error::Chain { what: "the padding of the ECN bits", found: octet });
        }
        segment.flags = with_ecn_flags(segment.flags, octet)?;
    }
    let checksum = reader.u16()?;
    let ack_stride = if stride == 1 { reader.u16()? } else { last.ack_stride };
    let mut table = base.item_table();
    let list = if list == 1 {
        options::read_list(segment.ack.0, &mut table, &mut segment.options, reader)?.list
    } else {
        last.list
    };

    let ack = Ack { endpoints: Endpoints { source: from, destination: to }, segment, ip };
    let ecn_used = ecn_used == 1;
    let mut state = State { ack, list, msn, behavior, ip_id_offset: 0, ecn_used, ack_stride };
    state.set_ip_id_offset(msn);
    Ok(Established { context: Context { state, table, is_damaged: false }, checksum })
}

fn read_port(encoding: u32, base: u16, reader: &mut Reader) -> Result<u16, Error> {
    Ok(match encoding {
        0 => base,
        1 => PORT_LSB.decode(u32::from(base), u32::from(reader.u8()?)) as u16,
        2 => reader.u16()?,
        _ => return Err(Error::Chain { what: "the encoding of a port", found: encoding as u8 }),
    })
}
