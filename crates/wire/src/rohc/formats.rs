//! The base headers (RFC 6846, §7.3 and §8.2).
//!
//! `seq_*` apply to a sequential IP-ID, `rnd_*` to a random or zero IP-ID, and `co_common` to any
//! IP-ID. The formats with a scaled sequence number (`rnd_2`, `rnd_6`, `seq_2`, `seq_6`) are not
//! implemented: they scale by the size of a payload, and a pure ACK has none.

mod co_common;
mod rnd;
mod seq;

use super::Error;
use super::context::{References, State};
use super::crc::Crc;
use super::octets::{Octets, Reader};
use super::stride;
use super::wlsb::Lsb;
use crate::tcp::Flags;

/// The low bits of the master sequence number, in all formats.
pub(super) const MSN: Lsb = Lsb::new(4, 4, 16);
/// The time to live in `rnd_8` and `seq_8`.
const TTL: Lsb = Lsb::new(3, 3, 8);

/// The fields of a base header that the next [`State`] lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Base {
    /// Four bits of the MSN.
    pub(super) msn: u8,
    /// The type and the value of the CRC.
    pub(super) crc: (Crc, u8),
    /// The full IP-ID, if the header has it instead of its offset.
    pub(super) ip_id: Option<u16>,
    /// `true` if the ACK number is scaled, but the stride is unknown.
    pub(super) lacks_stride: bool,
    /// `true` if a list of options follows.
    pub(super) has_list: bool,
}

impl Base {
    /// Returns a header with only these fields and a short CRC. Sets PSH in `next`.
    const fn of(msn: u32, push: u32, crc: u32, next: &mut State) -> Self {
        let flags = &mut next.ack.segment.flags;
        *flags = flags.with(Flags::PSH, push == 1);
        Self { msn: msn as u8, crc: (Crc::Three, crc as u8), ip_id: None, lacks_stride: false, has_list: false }
    }
}

/// The formats of base headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Rnd(rnd::Format),
    Seq(seq::Format),
    CoCommon,
}

impl Format {
    /// Returns the shortest format that can encode `new` relative to all references.
    pub(super) fn shortest(new: &State, references: &References, has_list: bool) -> Self {
        let unchanged = Unchanged::of(new, references);
        let shortest = if !unchanged.common {
            None
        } else if new.behavior.is_sequential() {
            seq::Format::shortest(new, references, unchanged, has_list).map(Self::Seq)
        } else {
            rnd::Format::shortest(new, references, unchanged, has_list).map(Self::Rnd)
        };
        shortest
            .filter(|format| !format.is_long() || co_common::octets(new, references) >= format.octets())
            .unwrap_or(Self::CoCommon)
    }

    /// Returns the type of the format's CRC.
    pub(super) const fn crc(self) -> Crc {
        if self.is_long() { Crc::Seven } else { Crc::Three }
    }

    /// Returns `true` if the format can carry a list of options and a CRC of seven bits.
    const fn is_long(self) -> bool {
        matches!(self, Self::CoCommon | Self::Rnd(rnd::Format::Eight) | Self::Seq(seq::Format::Eight))
    }

    const fn octets(self) -> usize {
        match self {
            Self::Rnd(format) => format.octets(),
            Self::Seq(format) => format.octets(),
            Self::CoCommon => co_common::OCTETS,
        }
    }

    /// Writes the base header of `new`, without the list that may follow.
    pub(super) fn write(self, new: &State, references: &References, crc: u8, has_list: bool, out: &mut Octets) {
        let (crc, has_list) = (u32::from(crc), u32::from(has_list));
        match self {
            Self::Rnd(format) => format.write(new, crc, has_list, out),
            Self::Seq(format) => format.write(new, crc, has_list, out),
            Self::CoCommon => co_common::write(new, references, crc, has_list, out),
        }
    }

    /// Reads a base header, and applies its fields to `next`, which initially is the last state.
    /// Sets the offset of the IP-ID, but not the IP-ID itself.
    pub(super) fn read(next: &mut State, reader: &mut Reader) -> Result<Base, Error> {
        if reader.peek()? >> 1 == co_common::DISCRIMINATOR {
            co_common::read(next, reader)
        } else if next.behavior.is_sequential() {
            seq::read(next, reader)
        } else {
            rnd::read(next, reader)
        }
    }
}

/// The fields that have the same value in the new header and in all references.
#[derive(Clone, Copy, Debug)]
struct Unchanged {
    seq: bool,
    ack: bool,
    /// `true` if the scaled ACK number is unchanged.
    ack_scaled: bool,
    window: bool,
    ttl: bool,
    ecn_used: bool,
    /// `true` if the fields that only `co_common` carries are unchanged: DSCP, DF, the behavior of
    /// the IP-ID, and the stride.
    common: bool,
}

impl Unchanged {
    fn of(new: &State, references: &References) -> Self {
        let (ip, segment, stride) = (&new.ack.ip, &new.ack.segment, new.ack_stride);
        let all = Self {
            seq: true,
            ack: true,
            ack_scaled: stride != 0,
            window: true,
            ttl: true,
            ecn_used: true,
            common: true,
        };
        references.states().fold(all, |all, old| Self {
            seq: all.seq && old.seq() == new.seq(),
            ack: all.ack && old.ack_number() == new.ack_number(),
            ack_scaled: all.ack_scaled && stride::reaches(stride, old.ack_number(), segment.ack.0),
            window: all.window && old.ack.segment.window == segment.window,
            ttl: all.ttl && old.ack.ip.time_to_live == ip.time_to_live,
            ecn_used: all.ecn_used && old.ecn_used == new.ecn_used,
            common: all.common
                && (old.behavior, old.ack_stride) == (new.behavior, stride)
                && (old.ack.ip.dscp, old.ack.ip.dont_fragment) == (ip.dscp, ip.dont_fragment),
        })
    }
}

/// Returns `true` if the low bits of a field of `new` are unambiguous relative to all references.
fn reaches(lsb: Lsb, new: &State, references: &References, field: impl Fn(&State) -> u32) -> bool {
    let value = field(new);
    references.all(|old| lsb.reaches(field(old), value))
}

/// Returns `true` if all references have a sequential IP-ID, and the low bits of the IP-ID's offset
/// are unambiguous relative to all of them.
fn reaches_ip_id(lsb: Lsb, new: &State, references: &References) -> bool {
    references.all(|old| old.behavior.is_sequential() && lsb.reaches(ip_id_offset(old), ip_id_offset(new)))
}

fn ip_id_offset(state: &State) -> u32 {
    u32::from(state.ip_id_offset)
}

fn window(state: &State) -> u32 {
    u32::from(state.ack.segment.window)
}

fn ttl(state: &State) -> u32 {
    u32::from(state.ack.ip.time_to_live)
}

fn push(state: &State) -> u32 {
    u32::from(state.ack.segment.flags.contains(Flags::PSH))
}

fn msn(state: &State) -> u32 {
    MSN.code(u32::from(state.msn))
}

fn set_seq(next: &mut State, lsb: Lsb, code: u32) {
    let seq = &mut next.ack.segment.seq.0;
    *seq = lsb.decode(*seq, code);
}

fn set_ack(next: &mut State, lsb: Lsb, code: u32) {
    let ack = &mut next.ack.segment.ack.0;
    *ack = lsb.decode(*ack, code);
}

/// Sets the ACK number from its scaled form. Returns `false` if the stride is unknown.
fn set_scaled_ack(next: &mut State, code: u32) -> bool {
    let decoded = stride::decode(next.ack_stride, next.ack_number(), code);
    next.ack.segment.ack.0 = decoded.unwrap_or(next.ack_number());
    decoded.is_some()
}

fn set_ip_id_offset(next: &mut State, lsb: Lsb, code: u32) {
    next.ip_id_offset = lsb.decode(ip_id_offset(next), code) as u16;
}

fn set_ttl(next: &mut State, code: u32) {
    next.ack.ip.time_to_live = TTL.decode(ttl(next), code) as u8;
}

fn set_rsf(next: &mut State, index: u32) {
    next.ack.segment.flags = with_rsf(next.ack.segment.flags, index);
}

/// Returns `flags` with RST, SYN and FIN, at most one of which can be set (§8.2: `rsf_index_enc`).
pub(super) fn with_rsf(flags: Flags, index: u32) -> Flags {
    [(1, Flags::RST), (2, Flags::SYN), (3, Flags::FIN)]
        .iter()
        .fold(flags, |flags, (of_flag, flag)| flags.with(*flag, index == *of_flag))
}

#[cfg(test)]
mod tests;
