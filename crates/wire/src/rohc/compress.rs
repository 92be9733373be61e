//! From ACKs to compressed ACKs.

use super::cid::Contexts;
use super::context::{References, State};
use super::formats::Format;
use super::ip_id::{Behavior, Watch};
use super::octets::{Octets, put};
use super::options::{self, List};
use super::stride::Estimate;
use super::{Ack, Checksum, Cid, Config, Profile, ir};
use crate::Endpoints;
use crate::rohc::ack::TCP_CHECKSUM;
use std::collections::BTreeMap;

/// Headers of a flow from one IR to the next where no feedback tells of a damaged context: the value of librohc
/// (`CHANGE_TO_IR_COUNT`).
const REFRESH: u16 = 1700;
/// Headers without a change of ECN bits after which they stay away again: to say so takes some five octets more than an
/// ACK number in each reference, and saves one octet of each header from then on.
const ECN_QUIET: u8 = 32;

/// The sending end: one for each peer.
#[derive(Clone, Debug)]
pub struct Compressor {
    config: Config,
    cids: BTreeMap<Endpoints, Cid>,
    contexts: Contexts<Context>,
    /// The next number of a frame.
    msn: u16,
    /// Headers compressed, for which context has been used last.
    clock: u64,
}

#[derive(Clone, Debug)]
struct Context {
    references: References,
    estimate: Estimate,
    watch: Watch,
    /// Headers since ECN bits changed.
    ecn_quiet: u8,
    /// IRs that are still to be sent before the other end is taken to have one.
    introductions: u8,
    since_ir: u16,
    used: u64,
    /// What was compressed will not arrive: nothing is known of the other end until an uncompressed ACK refreshes it.
    is_lost: bool,
}

impl Context {
    fn new(first: State, config: Config) -> Self {
        Self {
            references: References::new(first, config.references),
            estimate: Estimate::default(),
            watch: Watch::default(),
            ecn_quiet: 0,
            introductions: config.references,
            since_ir: 0,
            used: 0,
            is_lost: false,
        }
    }

    /// The control fields for `ack`.
    fn next(&mut self, ack: &Ack, list: List, msn: u16, msn_of_ip_id: u16) -> State {
        let last = self.references.newest();
        let ecn_used = last.ecn_used;
        let (before, after) = (last.ack.ip.identification, ack.ip.identification);
        let behavior = self.watch.next(last.behavior, before, after);
        let advance = ack.segment.ack.0.wrapping_sub(last.ack_number());
        let ack_stride = self.estimate.next(last.ack_stride, advance);
        let mut next = State { ack: *ack, list, msn, msn_of_ip_id, behavior, ecn_used, ack_stride };
        if !self.references.all(|old| old.ecn_octet() == next.ecn_octet()) {
            self.ecn_quiet = 0;
            next.ecn_used = true;
        } else if ecn_used {
            self.ecn_quiet += 1;
            next.ecn_used = self.ecn_quiet < ECN_QUIET;
        }
        next
    }
}

impl Compressor {
    /// The end that sends by this configuration.
    #[must_use]
    pub const fn new(config: Config) -> Self {
        Self { config, cids: BTreeMap::new(), contexts: Contexts::new(), msn: 0, clock: 0 }
    }

    /// `ack` goes to the peer uncompressed, and begins or refreshes the context of its flow in [`Profile::Hack`]. Nothing
    /// happens in [`Profile::Standard`], whose other end does not look at such packets.
    ///
    /// The driver calls this when it knows, or takes for granted, that the peer receives the packet before what is
    /// compressed from now on. With more than one reference what is compressed can be told by a peer that has not
    /// received it, too.
    pub fn observe(&mut self, ack: &Ack) {
        if self.config.profile != Profile::Hack || !ack.segment.is_pure_ack() {
            return;
        }
        let Some(list) = ack.headers().ok().and_then(|headers| List::of(&headers)) else { return };
        let state = State::of_uncompressed(*ack, list, self.msn.wrapping_sub(1));
        let cid = *self.cids.entry(ack.endpoints).or_insert_with(|| Cid::of(ack.endpoints));
        match self.contexts.get(cid) {
            None => {
                self.contexts.set(cid, Context::new(state, self.config));
            }
            Some(context) if context.references.newest().ack.endpoints == ack.endpoints => {
                if context.is_lost {
                    context.references = References::new(state, self.config.references);
                    context.is_lost = false;
                } else {
                    context.references.push(state);
                }
                context.estimate.forget();
                context.watch = Watch::default();
            }
            Some(_) => {}
        }
    }

    /// Put `ack` in place of what is in `out`, and give its master sequence number. None if it must go uncompressed: it
    /// is no pure ACK, or has an option that an ACK has not, or, in [`Profile::Hack`], its flow has no context.
    ///
    /// In [`Profile::Hack`] this is one part of a frame, which [`write_frame`](super::write_frame) puts together.
    pub fn compress(&mut self, ack: &Ack, out: &mut Octets) -> Option<u16> {
        out.clear();
        if !ack.segment.is_pure_ack() {
            return None;
        }
        let headers = ack.headers().ok()?;
        let list = List::of(&headers)?;
        let Config { profile, checksum, .. } = self.config;
        let cid = self.cid(ack, list)?;
        let context = self.contexts.get(cid)?;
        if context.is_lost {
            return None;
        }
        self.clock += 1;
        context.used = self.clock;

        let (msn, msn_of_ip_id) = match profile {
            Profile::Standard => {
                let msn = context.references.newest().msn.wrapping_add(1);
                (msn, msn)
            }
            Profile::Hack => (self.msn, 0),
        };
        let next = context.next(ack, list, msn, msn_of_ip_id);
        match profile {
            Profile::Standard if cid != Cid(0) => out.push(ADD_CID | cid.0),
            Profile::Standard => {}
            Profile::Hack => out.push(cid.0),
        }

        let is_ir_due = context.introductions > 0 || context.since_ir >= REFRESH;
        if profile == Profile::Standard && is_ir_due {
            context.introductions = context.introductions.saturating_sub(1);
            context.since_ir = 0;
            ir::write(&headers, &next, out);
        } else {
            context.since_ir = context.since_ir.saturating_add(1);
            let references = &context.references;
            let has_list = !options::is_known(&next, references);
            let format = Format::shortest(&next, references, !has_list);
            format.write(&next, references, format.crc().of(&headers), has_list, out);
            if has_list {
                options::write_list(&headers, &next, Some(references), out);
            }
            // The irregular chain (RFC 6846, §8.2: ipv4_innermost_irregular, tcp_irregular).
            if next.behavior == Behavior::Random {
                put(out, &ack.ip.identification.to_be_bytes());
            }
            if next.ecn_used {
                out.push(next.ecn_octet());
            }
            if checksum == Checksum::Carried {
                put(out, &headers[TCP_CHECKSUM]);
            }
            options::write_irregular(&headers, &next, references, has_list, out);
        }
        context.references.push(next);
        self.msn = self.msn.wrapping_add(1);
        Some(msn)
    }

    /// Compressed ACKs of the flow between these endpoints are thrown away before the peer is known to have them: the
    /// flow's ACKs go uncompressed until one of them refreshes the context ("Lost Block ACK, No More Data" and a flush to
    /// ordinary ACKs in the paper, §3.4).
    pub fn discard(&mut self, endpoints: Endpoints) {
        let is_lost = self.config.profile == Profile::Hack;
        if let Some(context) = self.context_of(endpoints) {
            context.is_lost = is_lost;
        }
    }

    /// The context of a flow that holds its CID.
    fn context_of(&mut self, endpoints: Endpoints) -> Option<&mut Context> {
        let cid = *self.cids.get(&endpoints)?;
        self.contexts.get(cid).filter(|context| context.references.newest().ack.endpoints == endpoints)
    }

    /// Would [`compress`](Self::compress) take this ACK in [`Profile::Hack`]?
    #[must_use]
    pub fn takes(&mut self, ack: &Ack) -> bool {
        let has_context = self.context_of(ack.endpoints).is_some_and(|context| !context.is_lost);
        has_context && ack.segment.is_pure_ack() && ack.headers().is_ok_and(|headers| List::of(&headers).is_some())
    }

    /// Nobody has sent the ACKs that have `msn` and the numbers after it, and nobody will: the next ACK gets that number again.
    pub const fn rewind(&mut self, msn: u16) {
        self.msn = msn;
    }

    /// The number that the next ACK gets.
    #[must_use]
    pub const fn next_msn(&self) -> u16 {
        self.msn
    }

    /// Forget the flow between these endpoints, whose CID another may take. Both ends do so, or neither.
    pub fn forget(&mut self, endpoints: Endpoints) {
        if let Some(cid) = self.cids.remove(&endpoints)
            && self.contexts.get(cid).is_some_and(|context| context.references.newest().ack.endpoints == endpoints)
        {
            self.contexts.remove(cid);
        }
    }

    /// The CID of the flow; in [`Profile::Standard`] a free one, or that of the flow that was quiet for longest.
    fn cid(&mut self, ack: &Ack, list: List) -> Option<Cid> {
        if let Some(&cid) = self.cids.get(&ack.endpoints) {
            let holder = self.contexts.get(cid)?.references.newest().ack.endpoints;
            return (holder == ack.endpoints).then_some(cid);
        }
        if self.config.profile == Profile::Hack {
            return None;
        }
        let cid = match u8::try_from(self.cids.len()) {
            Ok(used) if used < Cid::SMALL => {
                let is_free = |cid: &Cid| self.cids.values().all(|used| used != cid);
                (0..Cid::SMALL).map(Cid).find(is_free)?
            }
            _ => self.contexts.iter().min_by_key(|(_, context)| context.used)?.0,
        };
        self.cids.retain(|_, used| *used != cid);
        self.cids.insert(ack.endpoints, cid);
        let first = State {
            ack: *ack,
            list,
            msn: u16::MAX,
            msn_of_ip_id: u16::MAX,
            behavior: Behavior::of_first(ack.ip.identification),
            ecn_used: false,
            ack_stride: 0,
        };
        self.contexts.set(cid, Context::new(first, self.config));
        Some(cid)
    }
}

/// The octet that tells a small CID other than zero (RFC 5795, §5.2.1).
pub(super) const ADD_CID: u8 = 0xe0;
