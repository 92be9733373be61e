//! What both ends remember of a flow.

use super::Ack;
use super::ip_id::Behavior;
use super::options::List;
use arrayvec::ArrayVec;

/// A header and the control fields it went with (RFC 6846, §6.1): what the next one is coded against.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) ack: Ack,
    /// Which options it has, in which order.
    pub(super) list: List,
    /// Master sequence number (§6.1.1).
    pub(super) msn: u16,
    /// What the MSN adds to the identification: itself, or nothing where it counts all flows.
    pub(super) msn_of_ip_id: u16,
    /// How the identification goes (§6.1.2).
    pub(super) behavior: Behavior,
    /// Do the ECN bits go with each header (§6.1.3)?
    pub(super) ecn_used: bool,
    /// The step of ACK numbers; 0 if it is not known (§8.2: `ack_stride`).
    pub(super) ack_stride: u16,
}

impl State {
    /// What an uncompressed ACK leaves at both ends of TCP/HACK: its header, and control fields that follow from nothing
    /// else.
    pub(super) const fn of_uncompressed(ack: Ack, list: List, msn: u16) -> Self {
        let behavior = Behavior::of_first(ack.ip.identification);
        Self { ack, list, msn, msn_of_ip_id: 0, behavior, ecn_used: false, ack_stride: 0 }
    }

    pub(super) const fn seq(&self) -> u32 {
        self.ack.segment.seq.0
    }

    pub(super) const fn ack_number(&self) -> u32 {
        self.ack.segment.ack.0
    }

    /// The identification by the rule of `behavior`, without what the MSN tells of it.
    pub(super) const fn ip_id_offset(&self, behavior: Behavior) -> u16 {
        behavior.offset(self.ack.ip.identification, self.msn_of_ip_id)
    }

    /// The octet of the irregular chain that holds all ECN bits (§8.2, `tcp_irregular`): that of IP, the reserved bits of
    /// TCP with AE, and CWR and ECE.
    pub(super) const fn ecn_octet(&self) -> u8 {
        let flags = self.ack.segment.flags.bits();
        self.ack.segment.ecn.bits() << 6 | ((flags >> 8 & 1) as u8) << 2 | (flags >> 6 & 0b11) as u8
    }
}

/// As many headers as a compressor can hold its next one against.
pub const MOST_REFERENCES: usize = 4;

/// The last headers that were sent, one of which the other end has received last: the sliding window of W-LSB coding, and
/// of the optimistic approach (RFC 6846, §5.2). A value may stay away if all of them have it, and its low bits do if all
/// of them tell it.
#[derive(Clone, Debug)]
pub(super) struct References {
    states: ArrayVec<State, MOST_REFERENCES>,
    newest: usize,
    most: usize,
}

impl References {
    /// A window of `most` headers, that begins with this one.
    pub(super) fn new(first: State, most: u8) -> Self {
        let most = usize::from(most).clamp(1, MOST_REFERENCES);
        Self { states: [first].into_iter().collect(), newest: 0, most }
    }

    pub(super) fn newest(&self) -> &State {
        &self.states[self.newest]
    }

    /// `state` takes the place of the oldest.
    pub(super) fn push(&mut self, state: State) {
        if self.states.len() < self.most {
            self.newest = self.states.len();
            self.states.push(state);
        } else {
            self.newest = (self.newest + 1) % self.most;
            self.states[self.newest] = state;
        }
    }

    /// Does this hold against whichever header the other end has?
    #[inline]
    pub(super) fn all(&self, holds: impl FnMut(&State) -> bool) -> bool {
        self.states.iter().all(holds)
    }
}
