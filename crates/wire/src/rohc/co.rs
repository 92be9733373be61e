//! Compressed headers (CO; RFC 6846, §7.3): the next header, from the context, a base header, a list and the irregular chain.

use super::ack::TCP_CHECKSUM;
use super::context::State;
use super::crc::Crc;
use super::formats::{Base, Coded};
use super::ip_id::Behavior;
use super::octets::Reader;
use super::options::{self, ItemTable, Received};
use super::{Checksum, Cid, Error, stride};
use crate::tcp::{Flags, SeqNumber};
use acklab_base::Ecn;

/// The context of a decompressor.
#[derive(Clone, Debug)]
pub(super) struct Context {
    pub(super) state: State,
    pub(super) table: ItemTable,
    /// A check has failed since the last header with a CRC of more than three bits (RFC 6846, §5.3.2: the state "Static Context"). One
    /// failure is enough, because the links here lose packets and do not corrupt them.
    pub(super) is_damaged: bool,
}

impl Context {
    /// Replaces the state by that of an uncompressed ACK. The item table keeps the items of earlier headers.
    pub(super) fn refresh(&mut self, state: State) {
        self.table.store(&self.state.list, &self.state.ack.segment.options);
        self.table.assign_uncompressed(&state.list, &state.ack);
        self.state = state;
        self.is_damaged = false;
    }

    /// The item table, with the items of the last header.
    pub(super) fn item_table(&self) -> ItemTable {
        let mut table = self.table;
        table.store(&self.state.list, &self.state.ack.segment.options);
        table
    }

    /// Decompresses the header whose base header is `base` and whose remaining octets are in `reader`. `ip_id_msn` is the number that a
    /// sequential IP-ID is relative to. The context is updated only if the header is valid and nothing follows it that `accept` refuses.
    pub(super) fn decompress(
        &mut self,
        base: &Base,
        cid: Cid,
        (msn, ip_id_msn): (u16, u16),
        checksum: Checksum,
        reader: &mut Reader,
        accept: impl FnOnce(&Reader) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (kind, crc) = base.crc;
        if self.is_damaged && kind == Crc::Three {
            return Err(Error::Damaged(cid));
        }
        let last = &self.state;
        let mut next = State { msn, ..*last };
        apply(base, last, cid, ip_id_msn, &mut next)?;

        let ack = next.ack_number();
        let options = &mut next.ack.segment.options;
        let mut new_table = None;
        let received = if base.has_list {
            options::read_list(ack, new_table.insert(self.item_table()), options, reader)?
        } else {
            Received::unchanged(last.list)
        };
        let table = new_table.as_ref().unwrap_or(&self.table);

        // The irregular chain.
        if next.behavior == Behavior::Random {
            next.ack.ip.identification = reader.u16()?;
        }
        if next.ecn_used {
            let octet = reader.u8()?;
            next.ack.segment.ecn = Ecn::from_bits(octet >> 6);
            set_ecn_flags(&mut next.ack.segment.flags, octet & 0x3f)?;
        }
        let carried = if checksum == Checksum::Carried { Some(reader.u16()?) } else { None };
        options::read_irregular(ack, &received, table, &mut next.ack.segment.options, reader)?;
        next.list = received.list;

        let layout = |found| Error::Options { what: "layout of options, the number of which is", found };
        let headers = next.ack.headers().map_err(|_| layout(next.list.len()))?;
        if !table.is_layout_of(&next.list, &headers) {
            return Err(layout(next.list.len()));
        }
        let computed = kind.of(&headers);
        if computed != crc {
            self.is_damaged = true;
            return Err(Error::Crc { cid, found: crc, computed });
        }
        let computed = u16::from_be_bytes([headers[TCP_CHECKSUM.start], headers[TCP_CHECKSUM.start + 1]]);
        if let Some(found) = carried
            && found != computed
        {
            self.is_damaged = true;
            return Err(Error::Checksum { cid, found, computed });
        }
        if !next.ack.segment.is_pure_ack() {
            return Err(Error::NotPure(cid));
        }
        accept(reader)?;
        self.is_damaged = false;
        self.state = next;
        if let Some(table) = new_table {
            self.table = table;
        }
        Ok(())
    }
}

/// Applies the fields of a base header.
fn apply(base: &Base, last: &State, cid: Cid, ip_id_msn: u16, next: &mut State) -> Result<(), Error> {
    let flags = &mut next.ack.segment.flags;
    if let Some(common) = base.common {
        next.behavior = common.behavior;
        next.ack_stride = common.ack_stride.unwrap_or(last.ack_stride);
        next.ack.ip.dont_fragment = common.dont_fragment;
        next.ack.ip.dscp = common.dscp.unwrap_or(last.ack.ip.dscp);
        set_flag(flags, Flags::ACK, common.ack_flag);
        set_flag(flags, Flags::URG, common.urg_flag);
    }
    set_flag(flags, Flags::PSH, base.push);
    if let Some(rsf) = base.rsf {
        set_rsf(flags, rsf);
    }
    next.ecn_used = base.ecn_used.unwrap_or(last.ecn_used);

    let segment = &mut next.ack.segment;
    segment.seq = SeqNumber(base.seq.decode(last.seq()));
    segment.ack = SeqNumber(match base.ack {
        Coded::Scaled(_) if last.ack_stride == 0 => return Err(Error::NoStride(cid)),
        Coded::Scaled(code) => stride::decode(last.ack_stride, last.ack_number(), code),
        coded => coded.decode(last.ack_number()),
    });
    segment.window = base.window.decode(u32::from(last.ack.segment.window)) as u16;
    next.ack.ip.time_to_live = base.ttl.decode(u32::from(last.ack.ip.time_to_live)) as u8;
    next.ack.ip.identification = match (next.behavior, base.ip_id) {
        (Behavior::Zero, _) => 0,
        (Behavior::Random, _) => last.ack.ip.identification,
        (_, Coded::Full(identification)) => identification as u16,
        (behavior, coded) => behavior.identification(coded.decode(u32::from(last.ip_id_offset)) as u16, ip_id_msn),
    };
    next.set_ip_id_offset(ip_id_msn);
    Ok(())
}

pub(super) fn set_flag(flags: &mut Flags, flag: Flags, is_set: bool) {
    *flags = Flags::from_bits(if is_set { flags.bits() | flag.bits() } else { flags.bits() & !flag.bits() });
}

/// Sets RST, SYN and FIN, of which at most one can be set (§8.2: `rsf_index_enc`).
pub(super) fn set_rsf(flags: &mut Flags, index: u8) {
    for (of_flag, flag) in [(1, Flags::RST), (2, Flags::SYN), (3, Flags::FIN)] {
        set_flag(flags, flag, index == of_flag);
    }
}

/// Sets AE, CWR and ECE from the reserved bits and ECN bits of TCP, the low six bits of an octet.
pub(super) fn set_ecn_flags(flags: &mut Flags, octet: u8) -> Result<(), Error> {
    if octet & 0b0011_1000 != 0 {
        return Err(Error::Chain { what: "the reserved bits of TCP", found: octet });
    }
    for (bit, flag) in [(0b100, Flags::AE), (0b10, Flags::CWR), (0b01, Flags::ECE)] {
        set_flag(flags, flag, octet & bit != 0);
    }
    Ok(())
}
