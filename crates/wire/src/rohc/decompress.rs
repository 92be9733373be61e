//! From compressed ACKs to ACKs.

use super::ack::TCP_CHECKSUM;
use super::cid::Contexts;
use super::compress::ADD_CID;
use super::context::State;
use super::crc::Crc;
use super::formats::{Base, Coded, Format, MSN};
use super::frame::Received;
use super::ip_id::Behavior;
use super::octets::Reader;
use super::options::{self, List};
use super::{Ack, Checksum, Cid, Config, Error, Profile, ir, stride};
use crate::Endpoints;
use crate::tcp::{Flags, SeqNumber};
use acklab_base::Ecn;
use std::collections::BTreeMap;

/// The receiving end: one for each peer.
#[derive(Clone, Debug)]
pub struct Decompressor {
    config: Config,
    /// What was computed for flows seen uncompressed.
    cids: BTreeMap<Endpoints, Cid>,
    contexts: Contexts<Context>,
    received: Received,
}

#[derive(Clone, Debug)]
struct Context {
    state: State,
    /// A check has failed since the last one that says more than three bits (RFC 6846, §5.3: the state "Static Context").
    /// One failure does it: the links here lose packets, and do not flip bits.
    is_damaged: bool,
}

/// What came of octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Decompressed {
    /// ACKs that were delivered.
    pub acks: usize,
    /// ACKs that had come before.
    pub duplicates: usize,
}

impl Decompressor {
    /// The end that receives what a compressor of the same configuration sends.
    #[must_use]
    pub const fn new(config: Config) -> Self {
        Self { config, cids: BTreeMap::new(), contexts: Contexts::new(), received: Received::new() }
    }

    /// `ack` has come from the peer uncompressed: the counterpart of [`Compressor::observe`](super::Compressor::observe).
    pub fn observe(&mut self, ack: &Ack) {
        if self.config.profile != Profile::Hack || !ack.segment.is_pure_ack() {
            return;
        }
        let Some(list) = ack.headers().ok().and_then(|headers| List::of(&headers)) else { return };
        let cid = *self.cids.entry(ack.endpoints).or_insert_with(|| Cid::of(ack.endpoints));
        let state = State::of_uncompressed(*ack, list, 0);
        match self.contexts.get(cid) {
            Some(context) if context.state.ack.endpoints != ack.endpoints => {}
            Some(context) => *context = Context { state, is_damaged: false },
            None => {
                self.contexts.set(cid, Context { state, is_damaged: false });
            }
        }
    }

    /// Forget the flow between these endpoints.
    pub fn forget(&mut self, endpoints: Endpoints) {
        self.cids.remove(&endpoints);
        let found = self.contexts.iter().find(|(_, context)| context.state.ack.endpoints == endpoints);
        if let Some(cid) = found.map(|(cid, _)| cid) {
            self.contexts.remove(cid);
        }
    }

    /// Deliver the ACKs in `octets`, each with its master sequence number: in [`Profile::Standard`] those of one packet, in
    /// [`Profile::Hack`] those of a frame.
    ///
    /// # Errors
    /// If the octets are not what a compressor sends, or the contexts of the two ends differ. What was delivered before
    /// stays so, and what comes after in the frame is lost.
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
        let no_payload = |reader: &Reader| match reader.0.len() {
            0 => Ok(()),
            octets => Err(Error::Payload { octets }),
        };
        let state = match reader.peek()? {
            ir::IR | ir::IR_DYN => {
                let known = self.contexts.get(cid).map(|context| context.state);
                let (state, checksum) = ir::read(packet, cid, known.as_ref(), &mut reader)?;
                no_payload(&reader)?;
                let headers = state.ack.headers().map_err(|_| Error::NotPure(cid))?;
                let computed = u16::from_be_bytes([headers[TCP_CHECKSUM.start], headers[TCP_CHECKSUM.start + 1]]);
                if checksum != computed {
                    return Err(Error::Checksum { cid, found: checksum, computed });
                }
                if !state.ack.segment.is_pure_ack() {
                    return Err(Error::NotPure(cid));
                }
                self.contexts.set(cid, Context { state, is_damaged: false });
                if known.is_some_and(|known| (known.msn, known.ack) == (state.msn, state.ack)) {
                    return Ok(Decompressed { acks: 0, duplicates: 1 });
                }
                state
            }
            _ => {
                let context = self.contexts.get(cid).ok_or(Error::NoContext(cid))?;
                let base = Format::read(context.state.behavior, &mut reader)?;
                let msn = MSN.decode(u32::from(context.state.msn), u32::from(base.msn)) as u16;
                if msn == context.state.msn {
                    return Ok(Decompressed { acks: 0, duplicates: 1 });
                }
                let before = context.state;
                context.follow(base, cid, msn, msn, self.config.checksum, &mut reader)?;
                no_payload(&reader).inspect_err(|_| context.state = before)?;
                context.state
            }
        };
        deliver(state.msn, &state.ack);
        Ok(Decompressed { acks: 1, duplicates: 0 })
    }

    fn frame(&mut self, octets: &[u8], deliver: &mut impl FnMut(u16, &Ack)) -> Result<Decompressed, Error> {
        let mut reader = Reader(octets);
        let mut msn = self.received.first(reader.u8()?);
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
                    let context = self.contexts.get(cid).ok_or(Error::NoContext(cid))?;
                    let base = Format::read(context.state.behavior, &mut reader)?;
                    if MSN.code(u32::from(msn)) != u32::from(base.msn) {
                        return Err(Error::Msn { cid, expected: msn, found: base.msn });
                    }
                    context.follow(base, cid, msn, 0, self.config.checksum, &mut reader)?;
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

impl Context {
    /// This base header, with what follows it, makes the next header of the last one.
    fn follow(
        &mut self,
        base: Base,
        cid: Cid,
        msn: u16,
        msn_of_ip_id: u16,
        checksum: Checksum,
        reader: &mut Reader,
    ) -> Result<(), Error> {
        let (kind, crc) = base.crc;
        if self.is_damaged && kind == Crc::Three {
            return Err(Error::Damaged(cid));
        }
        let last = &self.state;
        let mut next = State { msn, msn_of_ip_id, ..*last };
        apply(&base, last, cid, &mut next)?;

        let ack = next.ack_number();
        let options = &mut next.ack.segment.options;
        let listed = if base.has_list { Some(options::read_list(ack, options, reader)?) } else { None };

        // The irregular chain.
        if next.behavior == Behavior::Random {
            next.ack.ip.identification = reader.u16()?;
        }
        if next.ecn_used {
            take_ecn(reader.u8()?, &mut next)?;
        }
        let carried = if checksum == Checksum::Carried { Some(reader.u16()?) } else { None };
        options::read_irregular(ack, last, listed.as_deref(), &mut next.ack.segment.options, reader)?;

        let behind = reader.0.first().copied();
        let wrong_order = || Error::Options { what: "order of options, beginning with", found: behind.unwrap_or(0) };
        let headers = next.ack.headers().map_err(|_| wrong_order())?;
        next.list = List::of(&headers).ok_or_else(wrong_order)?;
        let is_as_told = listed.map_or(next.list == last.list, |listed| next.list.is(&listed));
        if !is_as_told {
            return Err(wrong_order());
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
        self.is_damaged = false;
        self.state = next;
        Ok(())
    }
}

/// What the base header says.
fn apply(base: &Base, last: &State, cid: Cid, next: &mut State) -> Result<(), Error> {
    if let Some(rare) = base.rare {
        next.behavior = rare.behavior;
        next.ack_stride = rare.ack_stride.unwrap_or(last.ack_stride);
        next.ack.ip.dont_fragment = rare.dont_fragment;
        next.ack.ip.dscp = rare.dscp.unwrap_or(last.ack.ip.dscp);
        set(next, Flags::ACK, rare.ack_flag);
        set(next, Flags::URG, rare.urg_flag);
    }
    set(next, Flags::PSH, base.push);
    if let Some(rsf) = base.rsf {
        for (index, flag) in [(1, Flags::RST), (2, Flags::SYN), (3, Flags::FIN)] {
            set(next, flag, rsf == index);
        }
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
        (_, Coded::Full(identification)) => identification as u16,
        (behavior, coded) => {
            let offset = coded.decode(u32::from(last.ip_id_offset(behavior)));
            behavior.identification(offset as u16, next.msn_of_ip_id)
        }
    };
    Ok(())
}

fn set(state: &mut State, flag: Flags, is_set: bool) {
    let flags = &mut state.ack.segment.flags;
    *flags = Flags::from_bits(if is_set { flags.bits() | flag.bits() } else { flags.bits() & !flag.bits() });
}

/// The octet of the irregular chain that holds all ECN bits: the counterpart of [`State::ecn_octet`].
fn take_ecn(octet: u8, next: &mut State) -> Result<(), Error> {
    if octet & 0b0011_1000 != 0 {
        return Err(Error::Chain { what: "the reserved bits of TCP", found: octet });
    }
    next.ack.segment.ecn = Ecn::from_bits(octet >> 6);
    set(next, Flags::AE, octet & 0b100 != 0);
    set(next, Flags::CWR, octet & 0b10 != 0);
    set(next, Flags::ECE, octet & 0b01 != 0);
    Ok(())
}
