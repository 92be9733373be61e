//! The base header that can encode all fields (RFC 6846, §8.2: `co_common`).

use super::{Base, ip_id_offset, msn, push, reaches, reaches_ip_id, set_ip_id_offset, set_rsf, ttl, window};
use crate::rohc::Error;
use crate::rohc::context::{References, State};
use crate::rohc::crc::Crc;
use crate::rohc::ip_id::Behavior;
use crate::rohc::octets::{Fields, Octets, Reader, put, read_urgent_pointer};
use crate::rohc::wlsb::Lsb;
use crate::tcp::Flags;

/// Discriminator, TTL of outer headers; ACK, push, RST/SYN/FIN, MSN; the indicators of sequence
/// number, ACK number, stride, window, IP-ID and urgent pointer; a reserved bit, ECN, the
/// indicators of DSCP, TTL and list, the behaviour of the IP-ID, urgent; DF, CRC.
const BASE: Fields<21> = Fields([7, 1, 1, 1, 2, 4, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 7]);
pub(super) const DISCRIMINATOR: u8 = 0b111_1101;
/// Octets without the optional fields.
pub(super) const OCTETS: usize = BASE.octets();

/// `variable_length_32_enc`: static, 8 bits, 16 bits, 32 bits.
const BYTE: Lsb = Lsb::new(8, 63, 32);
const WORD: Lsb = Lsb::new(16, 16_383, 32);
/// `optional_ip_id_lsb` with its short form.
const ID: Lsb = Lsb::new(8, 3, 16);

/// Returns the indicator of `variable_length_32_enc`: the octets of a sequence or ACK number that
/// follow.
fn indicator(new: &State, references: &References, field: fn(&State) -> u32) -> u32 {
    let value = field(new);
    if references.all(|old| field(old) == value) {
        0
    } else if reaches(BYTE, new, references, field) {
        1
    } else if reaches(WORD, new, references, field) {
        2
    } else {
        3
    }
}

fn put_number(indicator: u32, value: u32, out: &mut Octets) {
    let octets = [0, 1, 2, 4][indicator as usize];
    put(out, &value.to_be_bytes()[4 - octets..]);
}

fn read_number(indicator: u32, number: &mut u32, reader: &mut Reader) -> Result<(), Error> {
    match indicator {
        0 => {}
        1 => *number = BYTE.decode(*number, u32::from(reader.u8()?)),
        2 => *number = WORD.decode(*number, u32::from(reader.u16()?)),
        _ => *number = reader.u32()?,
    }
    Ok(())
}

/// The optional fields.
struct Optional {
    seq: u32,
    ack: u32,
    stride: bool,
    window: bool,
    /// `true` if the low octet of the offset encodes the IP-ID.
    is_id_near: bool,
    dscp: bool,
    ttl: bool,
}

impl Optional {
    fn of(new: &State, references: &References) -> Self {
        let changes = |same: fn(&State, &State) -> bool| !references.all(|old| same(old, new));
        Self {
            seq: indicator(new, references, State::seq),
            ack: indicator(new, references, State::ack_number),
            stride: changes(|old, new| old.ack_stride == new.ack_stride),
            window: changes(|old, new| window(old) == window(new)),
            is_id_near: reaches_ip_id(ID, new, references),
            dscp: changes(|old, new| old.ack.ip.dscp == new.ack.ip.dscp),
            ttl: changes(|old, new| ttl(old) == ttl(new)),
        }
    }
}

/// Returns the length of the header of `new`, without a list.
pub(super) fn octets(new: &State, references: &References) -> usize {
    let optional = Optional::of(new, references);
    let number = |indicator: u32| [0, 1, 2, 4][indicator as usize];
    let id = if new.behavior.is_sequential() { 2 - usize::from(optional.is_id_near) } else { 0 };
    let words = usize::from(optional.stride) + usize::from(optional.window);
    OCTETS
        + number(optional.seq)
        + number(optional.ack)
        + 2 * words
        + id
        + usize::from(optional.dscp)
        + usize::from(optional.ttl)
}

pub(super) fn write(new: &State, references: &References, crc: u32, has_list: u32, out: &mut Octets) {
    let Optional { seq, ack, stride, window: has_window, is_id_near, dscp, ttl: has_ttl } =
        Optional::of(new, references);
    let (segment, ip) = (&new.ack.segment, &new.ack.ip);
    let is_sequential = new.behavior.is_sequential();
    let is_ack = segment.flags.contains(Flags::ACK);
    BASE.pack(
        [
            u32::from(DISCRIMINATOR),
            0,
            u32::from(is_ack),
            push(new),
            0,
            msn(new),
            seq,
            ack,
            u32::from(stride),
            u32::from(has_window),
            u32::from(is_sequential && !is_id_near),
            0,
            0,
            u32::from(new.ecn_used),
            u32::from(dscp),
            u32::from(has_ttl),
            has_list,
            new.behavior as u32,
            0,
            u32::from(ip.dont_fragment),
            crc,
        ],
        out,
    );
    put_number(seq, new.seq(), out);
    put_number(ack, new.ack_number(), out);
    if stride {
        put(out, &new.ack_stride.to_be_bytes());
    }
    if has_window {
        put(out, &segment.window.to_be_bytes());
    }
    if is_sequential && is_id_near {
        out.push(ID.code(ip_id_offset(new)) as u8);
    } else if is_sequential {
        put(out, &ip.identification.to_be_bytes());
    }
    if dscp {
        out.push(ip.dscp << 2);
    }
    if has_ttl {
        out.push(ip.time_to_live);
    }
}

/// Reads a DSCP (`dscp_enc`). The padding must be zero.
fn read_dscp(reader: &mut Reader) -> Result<u8, Error> {
    let octet = reader.u8()?;
    if octet & 0b11 == 0 { Ok(octet >> 2) } else { Err(Error::Chain { what: "the padding of the DSCP", found: octet }) }
}

pub(super) fn read(next: &mut State, reader: &mut Reader) -> Result<Base, Error> {
    let first = reader.peek()?;
    let [
        _,
        outer_ttl,
        ack_flag,
        push,
        rsf,
        msn,
        seq,
        ack,
        stride,
        has_window,
        full_id,
        has_urgent,
        reserved,
        ecn_used,
        dscp,
        has_ttl,
        has_list,
        behavior,
        urg_flag,
        dont_fragment,
        crc,
    ] = BASE.unpack(reader)?;
    if outer_ttl == 1 || reserved == 1 {
        // Outer IP headers are not supported, and the reserved bit must be zero.
        return Err(Error::Format { octet: first });
    }
    let mut base = Base { crc: (Crc::Seven, crc as u8), has_list: has_list == 1, ..Base::of(msn, push, crc, next) };
    set_rsf(next, rsf);
    next.behavior = Behavior::from_bits(behavior);
    next.ecn_used = ecn_used == 1;
    let (segment, ip) = (&mut next.ack.segment, &mut next.ack.ip);
    segment.flags = segment.flags.with(Flags::ACK, ack_flag == 1).with(Flags::URG, urg_flag == 1);
    ip.dont_fragment = dont_fragment == 1;
    read_number(seq, &mut segment.seq.0, reader)?;
    read_number(ack, &mut segment.ack.0, reader)?;
    if stride == 1 {
        next.ack_stride = reader.u16()?;
    }
    if has_window == 1 {
        segment.window = reader.u16()?;
    }
    match (next.behavior.is_sequential(), full_id == 1) {
        (true, true) => base.ip_id = Some(reader.u16()?),
        (true, false) => set_ip_id_offset(next, ID, u32::from(reader.u8()?)),
        (false, _) => {}
    }
    if has_urgent == 1 {
        read_urgent_pointer(reader)?;
    }
    if dscp == 1 {
        next.ack.ip.dscp = read_dscp(reader)?;
    }
    if has_ttl == 1 {
        next.ack.ip.time_to_live = reader.u8()?;
    }
    Ok(base)
}
