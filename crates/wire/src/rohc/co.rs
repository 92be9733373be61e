//! Decompresses headers (CO; RFC 6846, §7.3): the next header follows from the context, a base
//! header, a list and the irregular chain.

use super::context::State;
use super::crc::Crc;
use super::formats::Base;
use super::ip_id::Behavior;
use super::octets::Reader;
use super::options::{self, ItemTable, Received};
use super::{Checksum, Cid, Error, Profile, RohcConfig};
use crate::tcp::Flags;
use acklab_base::Ecn;

/// The context of a decompressor.
#[derive(Clone, Debug)]
pub(super) struct Context {
    pub(super) state: State,
    pub(super) table: ItemTable,
    /// `true` if a check has failed since the last header with a CRC of more than three bits (RFC
    /// 6846, §5.3.2: the state "Static Context"). One failed check suffices, because links in
    /// acklab lose packets but do not corrupt them.
    pub(super) is_damaged: bool,
}

impl Context {
    /// Replaces the state by the state after an uncompressed ACK. The items of earlier headers
    /// remain in the item table.
    pub(super) fn refresh(&mut self, state: State) {
        self.table.store(self.state.list, &self.state.ack.segment.options);
        self.table.assign_uncompressed(state.list, &state.ack);
        self.state = state;
        self.is_damaged = false;
    }

    /// Returns the item table, with the items of the last header.
    pub(super) fn item_table(&self) -> ItemTable {
        let mut table = self.table;
        table.store(self.state.list, &self.state.ack.segment.options);
        table
    }

    /// Decompresses the header for which [`Format::read`](super::formats::Format::read) returned
    /// `base` and `next`. The remaining octets of the header are in `reader`. The context is
    /// updated only if the header is valid and `accept` accepts the octets that follow it.
    pub(super) fn decompress(
        &mut self,
        base: &Base,
        next: &mut State,
        cid: Cid,
        config: RohcConfig,
        reader: &mut Reader,
        accept: impl FnOnce(&Reader) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (kind, crc) = base.crc;
        if self.is_damaged && kind == Crc::Three {
            return Err(Error::Damaged(cid));
        }
        if base.lacks_stride {
            return Err(Error::NoStride(cid));
        }
        // A sequential IP-ID is relative to this number.
        let ip_id_msn = if config.profile == Profile::Hack { 0 } else { next.msn };
        next.ack.ip.identification = match (next.behavior, base.ip_id) {
            (Behavior::Zero, _) => 0,
            (Behavior::Random, _) => next.ack.ip.identification,
            (_, Some(identification)) => identification,
            (behavior, None) => behavior.identification(next.ip_id_offset, ip_id_msn),
        };

        let ack = next.ack_number();
        let options = &mut next.ack.segment.options;
        let mut new_table = None;
        let received = if base.has_list {
            options::read_list(ack, new_table.insert(self.item_table()), options, reader)?
        } else {
            Received::unchanged(next.list)
        };
        let table = new_table.as_ref().unwrap_or(&self.table);

        // The irregular chain.
        if next.behavior == Behavior::Random {
            next.ack.ip.identification = reader.u16()?;
        }
        next.set_ip_id_offset(ip_id_msn);
        if next.ecn_used {
            let octet = reader.u8()?;
            next.ack.segment.ecn = Ecn::from_bits(octet >> 6);
            next.ack.segment.flags = with_ecn_flags(next.ack.segment.flags, octet & 0x3f)?;
        }
        let carried = if config.checksum == Checksum::Carried { Some(reader.u16()?) } else { None };
        options::read_irregular(ack, &received, table, &mut next.ack.segment.options, reader)?;
        next.list = received.list;

        let layout = |found| Error::Options { what: "layout of options, the number of which is", found };
        let encoded = next.ack.header_words();
        let headers = match &encoded {
            Ok(headers) if table.is_layout_of(next.list, headers.options()) => headers,
            _ => return Err(layout(next.list.len())),
        };
        let computed = kind.of_headers(headers);
        if computed != crc {
            self.is_damaged = true;
            return Err(Error::Crc { cid, found: crc, computed });
        }
        let computed = headers.tcp_checksum();
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
        self.state = *next;
        if let Some(table) = new_table {
            self.table = table;
        }
        Ok(())
    }
}

/// Returns `flags` with AE, CWR and ECE from the reserved bits and ECN bits of TCP, the low six
/// bits of an octet.
pub(super) fn with_ecn_flags(flags: Flags, octet: u8) -> Result<Flags, Error> {
    if octet & 0b0011_1000 != 0 {
        return Err(Error::Chain { what: "the reserved bits of TCP", found: octet });
    }
    let all = Flags::AE | Flags::CWR | Flags::ECE;
    Ok(flags.with(all, false) | Flags::from_ace(octet))
}
