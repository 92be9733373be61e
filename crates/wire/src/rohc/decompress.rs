//! The decompressor.

use super::cid::Contexts;
use super::co::Context;
use super::compress::ADD_CID;
use super::context::State;
use super::formats::{Format, MSN};
use super::frame::Received;
use super::ir::Established;
use super::octets::Reader;
use super::options::{ItemTable, List};
use super::{Ack, Cid, Error, Profile, RohcConfig, ir, ir_cr};
use crate::Endpoints;
use std::collections::BTreeMap;

/// The receiving end, one for each peer.
#[derive(Clone, Debug)]
pub struct Decompressor {
    config: RohcConfig,
    /// The computed CIDs of flows for which an uncompressed ACK was observed.
    cids: BTreeMap<Endpoints, Cid>,
    contexts: Contexts<Context>,
    received: Received,
}

/// The outcome of decompression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Decompressed {
    /// The number of ACKs that were delivered.
    pub acks: usize,
    /// The number of ACKs that had been received before.
    pub duplicates: usize,
}

impl Decompressor {
    /// Returns a decompressor for the output of a compressor with the same configuration.
    #[must_use]
    pub fn new(config: RohcConfig) -> Self {
        let received = Received::new(config.numbers);
        Self { config, cids: BTreeMap::new(), contexts: Contexts::new(), received }
    }

    /// Records that `ack` was received uncompressed: the counterpart of
    /// [`Compressor::observe`](super::Compressor::observe).
    pub fn observe(&mut self, ack: &Ack) {
        if self.config.profile != Profile::Hack || !ack.segment.is_pure_ack() {
            return;
        }
        let Some(list) = List::of_ack(ack) else { return };
        let state = State::of_uncompressed(*ack, list, 0);
        let cid = *self.cids.entry(ack.endpoints).or_insert_with(|| Cid::of(ack.endpoints));
        match self.contexts.get_mut(cid) {
            Some(known) if known.state.ack.endpoints != ack.endpoints => {}
            Some(known) => known.refresh(state),
            None => {
                let context = Context { state, table: ItemTable::default(), is_damaged: false };
                self.contexts.set(cid, context).refresh(state);
            }
        }
    }

    /// Removes the flow between these endpoints.
    pub fn forget(&mut self, endpoints: Endpoints) {
        self.cids.remove(&endpoints);
        let found = self.contexts.iter().find(|(_, context)| context.state.ack.endpoints == endpoints);
        if let Some(cid) = found.map(|(cid, _)| cid) {
            self.contexts.remove(cid);
        }
    }

    /// Delivers the ACKs in `octets`, each with its master sequence number. [`Profile::Standard`]
    /// has one ACK per packet, [`Profile::Hack`] all ACKs of a frame.
    ///
    /// # Errors
    /// If the octets are invalid, or do not fit the context. ACKs before the error have been
    /// delivered. The rest of the frame is lost.
    pub fn decompress(&mut self, octets: &[u8], mut deliver: impl FnMut(u16, &Ack)) -> Result<Decompressed, Error> {
        match self.config.profile {
            Profile::Standard => self.packet(octets, &mut deliver),
            Profile::Hack => self.frame(octets, &mut deliver),
        }
    }

    fn packet(&mut self, octets: &[u8], deliver: &mut impl FnMut(u16, &Ack)) -> Result<Decompressed, Error> {
        let mut reader = Reader(octets);
        // An Add-CID octet of zero is padding (RFC 5795, §5.2.1).
        while reader.peek()? == ADD_CID {
            reader.u8()?;
        }
        let packet = reader.0;
        let cid = if reader.peek()? & 0xf0 == ADD_CID { Cid(reader.u8()? & 0x0f) } else { Cid(0) };
        let (msn, ack, is_new) = match reader.peek()? {
            ir::IR | ir::IR_DYN => {
                let established = ir::read(packet, cid, self.contexts.get(cid), &mut reader)?;
                self.establish(cid, established, &reader)?
            }
            ir_cr::IR_CR => {
                let established = ir_cr::read(packet, cid, |base| self.contexts.get(base), &mut reader)?;
                self.establish(cid, established, &reader)?
            }
            _ => {
                let context = self.contexts.get_mut(cid).ok_or(Error::NoContext(cid))?;
                let mut next = context.state;
                let base = Format::read(&mut next, &mut reader)?;
                let msn = MSN.decode(u32::from(context.state.msn), u32::from(base.msn)) as u16;
                let is_new = msn != context.state.msn;
                if is_new {
                    next.msn = msn;
                    context.decompress(&base, &mut next, cid, self.config, &mut reader, no_payload)?;
                }
                (msn, &context.state.ack, is_new)
            }
        };
        if is_new {
            deliver(msn, ack);
        }
        Ok(Decompressed { acks: usize::from(is_new), duplicates: usize::from(!is_new) })
    }

    /// Verifies the context that an IR, IR-DYN or IR-CR header establishes, and replaces the
    /// context of `cid`. Returns the MSN, the ACK, and `true` if the ACK is new.
    fn establish(
        &mut self,
        cid: Cid,
        Established { context, checksum: found }: Established,
        reader: &Reader,
    ) -> Result<(u16, &Ack, bool), Error> {
        no_payload(reader)?;
        let state = &context.state;
        let headers = state.ack.header_words().map_err(|_| Error::NotPure(cid))?;
        let computed = headers.tcp_checksum();
        if !context.table.is_layout_of(state.list, headers.options()) {
            return Err(Error::Options { what: "layout of options, the number of which is", found: state.list.len() });
        }
        if found != computed {
            return Err(Error::Checksum { cid, found, computed });
        }
        if !state.ack.segment.is_pure_ack() {
            return Err(Error::NotPure(cid));
        }
        let known = self.contexts.get_mut(cid).map(|known| (known.state.msn, known.state.ack));
        let is_new = known != Some((state.msn, state.ack));
        let State { msn, ack, .. } = &self.contexts.set(cid, context).state;
        Ok((*msn, ack, is_new))
    }

    fn frame(&mut self, octets: &[u8], deliver: &mut impl FnMut(u16, &Ack)) -> Result<Decompressed, Error> {
        let mut reader = Reader(octets);
        let mut msn = self.received.first(&mut reader)?;
        let mut done = Decompressed::default();
        while !reader.0.is_empty() {
            match self.received.length(msn) {
                Some(0) => return Err(Error::Late(msn)),
                Some(length) => {
                    reader.take(length)?;
                    done.duplicates += 1;
                }
                None => {
                    let before = reader.0.len();
                    let cid = Cid(reader.u8()?);
                    let context = self.contexts.get_mut(cid).ok_or(Error::NoContext(cid))?;
                    let mut next = State { msn, ..context.state };
                    let base = Format::read(&mut next, &mut reader);
                    let base = base.as_ref().map_err(Clone::clone)?;
                    if MSN.code(u32::from(msn)) != u32::from(base.msn) {
                        return Err(Error::Msn { cid, expected: msn, found: base.msn });
                    }
                    context.decompress(base, &mut next, cid, self.config, &mut reader, |_| Ok(()))?;
                    deliver(msn, &context.state.ack);
                    self.received.note(msn, before - reader.0.len());
                    done.acks += 1;
                }
            }
            msn = msn.wrapping_add(1);
        }
        Ok(done)
    }
}

/// Checks that no payload follows, because a pure ACK ends with its header.
fn no_payload(reader: &Reader) -> Result<(), Error> {
    match reader.0.len() {
        0 => Ok(()),
        octets => Err(Error::Payload { octets }),
    }
}
