//! The compressor.

use super::cid::{Contexts, SmallCids};
use super::context::{References, State};
use super::formats::Format;
use super::ip_id::{Behavior, BehaviorEstimator};
use super::octets::{Octets, put};
use super::options::{self, List};
use super::stride::StrideEstimator;
use super::{Ack, Checksum, Cid, Profile, RohcConfig, ir};
use crate::Endpoints;
use std::collections::BTreeMap;

/// The number of headers of a flow between two IRs, because no feedback reports a damaged context:
/// the value of librohc (`CHANGE_TO_IR_COUNT`).
const REFRESH: u16 = 1700;
/// The cost, in octets per reference, of omitting the ECN bits of a header and carrying them again:
/// each change costs a `rnd_8` or `co_common` instead of a `rnd_4`. Carrying the bits costs one
/// octet in each header.
const ECN_SWITCH: u16 = 10;

/// The sending end, one for each peer.
#[derive(Clone, Debug)]
pub struct Compressor {
    config: RohcConfig,
    cids: BTreeMap<Endpoints, Cid>,
    /// The CID of the last ACK. The next ACK is most likely of the same flow, and then needs no
    /// search.
    recent: Cid,
    contexts: Contexts<Context>,
    /// In [`Profile::Standard`], selects the flow that loses its CID to another flow.
    small_cids: SmallCids,
    /// The next MSN in [`Profile::Hack`].
    msn: u16,
}

/// The context of a compressor.
#[derive(Clone, Debug)]
struct Context {
    references: References,
    stride: StrideEstimator,
    behavior: BehaviorEstimator,
    /// The number of headers since the ECN bits changed; the maximum if they never changed.
    ecn_quiet: u16,
    /// The number of headers with ECN bits of zero after which the bits are omitted.
    zero_ecn_patience: u16,
    /// The number of IRs that must be sent before the decompressor is assumed to have received one
    /// IR.
    irs_left: u8,
    since_ir: u16,
    /// `true` if compressed ACKs were discarded. The context of the decompressor is then unknown
    /// until an uncompressed ACK refreshes it.
    is_lost: bool,
}

impl Context {
    fn new(first: State, config: RohcConfig) -> Self {
        Self {
            references: References::new(first, config.references),
            stride: StrideEstimator::default(),
            behavior: BehaviorEstimator::default(),
            ecn_quiet: u16::MAX,
            zero_ecn_patience: 1,
            irs_left: config.references,
            since_ir: 0,
            is_lost: false,
        }
    }

    /// Returns `true` if the context belongs to the flow between these endpoints.
    fn is_of(&self, endpoints: Endpoints) -> bool {
        self.references.newest().ack.endpoints == endpoints
    }

    /// Returns `true` if the next header must carry the ECN bits. `octet` contains the bits.
    ///
    /// After non-zero bits, the bits are carried until carrying them has cost as much as omitting
    /// them and carrying them again. This rule for the ski rental problem costs at most twice the
    /// best decision. At first, bits of zero are omitted immediately, because congestion is rare.
    /// If omitting them cost more than it saved, they are omitted later the next time.
    fn uses_ecn(&mut self, is_used: bool, octet: u8, is_unchanged: bool, config: RohcConfig) -> bool {
        let switch = ECN_SWITCH * u16::from(config.references);
        if is_unchanged {
            self.ecn_quiet = self.ecn_quiet.saturating_add(1);
            return is_used && self.ecn_quiet < if octet == 0 { self.zero_ecn_patience } else { switch };
        }
        if !is_used && self.ecn_quiet < switch {
            self.zero_ecn_patience = self.zero_ecn_patience.saturating_mul(2);
        }
        self.ecn_quiet = 0;
        true
    }

    /// Returns the state after `ack`. A sequential IP-ID is relative to the number `ip_id_msn`.
    fn next(&mut self, ack: &Ack, list: List, (msn, ip_id_msn): (u16, u16), config: RohcConfig) -> State {
        let last = self.references.newest();
        let ecn_used = last.ecn_used;
        let (before, after) = (last.ack.ip.identification, ack.ip.identification);
        let behavior = self.behavior.next(last.behavior, before, after);
        let advance = ack.segment.ack.0.wrapping_sub(last.ack_number());
        let ack_stride = self.stride.next(last.ack_stride, advance);
        let ip_id_offset = behavior.offset(after, ip_id_msn);
        let is_unchanged = self.references.all(|old| old.ack.ecn_octet() == ack.ecn_octet());
        let ecn_used = self.uses_ecn(ecn_used, ack.ecn_octet(), is_unchanged, config);
        State { ack: *ack, list, msn, behavior, ip_id_offset, ecn_used, ack_stride }
    }
}

impl Compressor {
    /// Returns a compressor with this configuration.
    #[must_use]
    pub const fn new(config: RohcConfig) -> Self {
        Self {
            config,
            cids: BTreeMap::new(),
            recent: Cid(0),
            contexts: Contexts::new(),
            small_cids: SmallCids::new(),
            msn: 0,
        }
    }

    /// Records that `ack` is sent uncompressed. In [`Profile::Hack`], this establishes or refreshes
    /// the context of its flow. It has no effect in [`Profile::Standard`], whose decompressor does
    /// not receive such packets.
    ///
    /// The driver calls this when the peer has received the packet, or will receive it before any
    /// ACK that is compressed later. With more than one reference, a peer that missed the packet
    /// can still decompress later ACKs.
    pub fn observe(&mut self, ack: &Ack) {
        if self.config.profile != Profile::Hack || !ack.segment.is_pure_ack() {
            return;
        }
        let Some(list) = List::of_ack(ack) else { return };
        let state = State::of_uncompressed(*ack, list, self.msn.wrapping_sub(1));
        let cid = *self.cids.entry(ack.endpoints).or_insert_with(|| Cid::of(ack.endpoints));
        match self.contexts.get_mut(cid) {
            None => {
                self.contexts.set(cid, Context::new(state, self.config));
            }
            Some(context) if context.is_of(ack.endpoints) => {
                if context.is_lost {
                    context.references = References::new(state, self.config.references);
                    context.is_lost = false;
                } else {
                    context.references.push(state);
                }
                context.stride.forget();
                context.behavior = BehaviorEstimator::default();
            }
            Some(_) => {}
        }
    }

    /// Replaces the contents of `out` with the compressed `ack`, and returns its master sequence
    /// number. Returns `None` if the ACK must be sent uncompressed: it is not a pure ACK, has an
    /// option that is not supported, or has no context in [`Profile::Hack`].
    ///
    /// In [`Profile::Hack`] the result is a part of a frame, which
    /// [`write_frame`](super::write_frame) assembles.
    pub fn compress(&mut self, ack: &Ack, out: &mut Octets) -> Option<u16> {
        out.clear();
        if !ack.segment.is_pure_ack() {
            return None;
        }
        let headers = ack.header_words();
        let headers = headers.as_ref().ok()?;
        let list = List::of_ack_with(ack, headers.options())?;
        let RohcConfig { profile, checksum, .. } = self.config;
        let cid = self.cid(ack, list)?;
        let context = self.contexts.get_mut(cid).filter(|context| context.is_of(ack.endpoints) && !context.is_lost)?;

        let (msn, ip_id_msn) = match profile {
            Profile::Standard => {
                let msn = context.references.newest().msn.wrapping_add(1);
                (msn, msn)
            }
            Profile::Hack => (self.msn, 0),
        };
        let mut next = context.next(ack, list, (msn, ip_id_msn), self.config);
        match profile {
            Profile::Standard if cid != Cid(0) => out.push(ADD_CID | cid.0),
            Profile::Standard => {}
            Profile::Hack => out.push(cid.0),
        }

        let is_first = context.irs_left == self.config.references && profile == Profile::Standard;
        let is_ir_due = context.irs_left > 0 || context.since_ir >= REFRESH;
        if profile == Profile::Standard && is_ir_due {
            context.irs_left = context.irs_left.saturating_sub(1);
            context.since_ir = 0;
            if next.ack_stride == 0 {
                next.ack_stride = context.stride.guess();
            }
            ir::write(headers, &next, out);
        } else {
            context.since_ir = context.since_ir.saturating_add(1);
            let references = &context.references;
            let has_list = !options::is_unchanged(&next, references);
            let format = Format::shortest(&next, references, has_list);
            format.write(&next, references, format.crc().of_headers(headers), has_list, out);
            if has_list {
                options::write_list(headers.options(), &next, Some(references), out);
            }
            // The irregular chain (RFC 6846, §8.2: ipv4_innermost_irregular, tcp_irregular).
            if next.behavior == Behavior::Random {
                put(out, &ack.ip.identification.to_be_bytes());
            }
            if next.ecn_used {
                out.push(next.ack.ecn_octet());
            }
            if checksum == Checksum::Carried {
                put(out, &headers.tcp_checksum().to_be_bytes());
            }
            options::write_irregular(headers.options(), &next, references, has_list, out);
        }
        if is_first {
            context.references = References::new(next, self.config.references);
        } else {
            context.references.push(next);
        }
        self.recent = cid;
        self.msn = self.msn.wrapping_add(1);
        Some(msn)
    }

    /// Records that compressed ACKs of a flow were discarded, and may not have reached the peer.
    /// The ACKs of the flow are sent uncompressed until one of them refreshes the context ("Lost
    /// Block ACK, No More Data" and a flush to ordinary ACKs in the paper, §3.4).
    pub fn discard(&mut self, endpoints: Endpoints) {
        let is_lost = self.config.profile == Profile::Hack;
        if let Some(context) = self.context_of(endpoints) {
            context.is_lost = is_lost;
        }
    }

    /// Returns the context of a flow that has a CID.
    fn context_of(&mut self, endpoints: Endpoints) -> Option<&mut Context> {
        let cid = self.known_cid(endpoints)?;
        self.contexts.get_mut(cid).filter(|context| context.is_of(endpoints))
    }

    /// Returns `true` if [`compress`](Self::compress) would accept this ACK in [`Profile::Hack`].
    #[must_use]
    pub fn takes(&mut self, ack: &Ack) -> bool {
        let has_context = self.context_of(ack.endpoints).is_some_and(|context| !context.is_lost);
        has_context && ack.segment.is_pure_ack() && List::of_ack(ack).is_some()
    }

    /// Reuses the numbers from `msn` on. ACKs with these numbers have not been sent, and will not
    /// be.
    pub const fn rewind(&mut self, msn: u16) {
        self.msn = msn;
    }

    /// Returns the number of the next ACK.
    #[must_use]
    pub const fn next_msn(&self) -> u16 {
        self.msn
    }

    /// Removes the flow between these endpoints, so that another flow can use its CID. Compressor
    /// and decompressor must both do so.
    pub fn forget(&mut self, endpoints: Endpoints) {
        if let Some(cid) = self.cids.remove(&endpoints)
            && let Some(context) = self.contexts.get_mut(cid)
            && context.is_of(endpoints)
        {
            self.small_cids.note_last_msn(cid, context.references.newest().msn);
            self.small_cids.free(cid);
            self.contexts.remove(cid);
        }
    }

    /// Returns the CID that was assigned to a flow, or computed for it.
    fn known_cid(&self, endpoints: Endpoints) -> Option<Cid> {
        let is_recent = self.contexts.get(self.recent).is_some_and(|context| context.is_of(endpoints));
        if is_recent { Some(self.recent) } else { self.cids.get(&endpoints).copied() }
    }

    /// Returns the CID of the flow. In [`Profile::Hack`], another flow may use this CID. In
    /// [`Profile::Standard`], a new flow is assigned a CID, if necessary the CID of another flow.
    fn cid(&mut self, ack: &Ack, list: List) -> Option<Cid> {
        if let Some(cid) = self.known_cid(ack.endpoints) {
            if self.config.profile == Profile::Standard {
                self.small_cids.hit(cid);
            }
            return Some(cid);
        }
        if self.config.profile == Profile::Hack {
            return None;
        }
        let cid = self.small_cids.assign();
        if let Some(context) = self.contexts.get_mut(cid) {
            let State { ack: Ack { endpoints, .. }, msn, .. } = *context.references.newest();
            self.cids.remove(&endpoints);
            self.small_cids.note_last_msn(cid, msn);
        }
        self.cids.insert(ack.endpoints, cid);
        let first = State {
            ack: *ack,
            list,
            msn: self.small_cids.last_msn(cid),
            behavior: Behavior::initial(ack.ip.identification),
            ip_id_offset: 0,
            ecn_used: false,
            ack_stride: 0,
        };
        self.contexts.set(cid, Context::new(first, self.config));
        Some(cid)
    }
}

/// The octet before a small CID other than zero (RFC 5795, §5.2.1).
pub(super) const ADD_CID: u8 = 0xe0;
