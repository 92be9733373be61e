//! The driver of a node that sends ACKs to a peer: which of them wait for an answer, until when they are kept, when they go as they
//! are.
//!
//! A compressed ACK is kept until the peer must have it (§3.4). That no answer was missed is told by the next PPDU: one that brings
//! something new, without the bit SYNC, which says that its sender has moved on without an answer. A [request](Driver::requested) or
//! a repetition tells nothing, and gets the same ACKs again; the peer knows them by their numbers.
//!
//! Where a plain ACK overtakes compressed ones whose fate is open, they are cleared: it says all that they said. The paper has one
//! flow; ACKs of other flows between them are set aside, and go plain if the next PPDU leaves doubt of the answer that carried them.

use super::config::{Config, Variant};
use super::nic::Nic;
use crate::packet::Packet;
use acklab_base::{Bytes, FlowKey, Instant};
use acklab_wire::Endpoints;
use acklab_wire::rohc::{Ack, Compressor, Octets};
use std::collections::VecDeque;

/// Numbers that may be under way at a time: the eight bits of the first one in an answer tell it from 128 before and behind
/// (§3.4).
const MOST_UNKNOWN: u16 = 128;

/// One direction of ACKs between two nodes.
#[derive(Clone, Debug)]
pub(crate) struct Driver<D> {
    config: Config,
    compressor: Compressor,
    nic: Nic,
    /// What the NIC has, in the same order.
    kept: VecDeque<Kept<D>>,
    /// The first so many of them have been on an answer.
    exposed: usize,
    last_answer: Answered,
    /// The peer has more for this node.
    is_latched: bool,
    /// The numbers before this one have arrived, or never will.
    first_unknown: u16,
    /// ACKs of other flows that were cleared, with their numbers: the newest of each.
    aside: Vec<(u16, D)>,
    /// Packets that are kept no more, whose memory serves the next that are rebuilt.
    spare: Vec<D>,
}

#[derive(Clone, Debug)]
struct Kept<D> {
    msn: u16,
    endpoints: Endpoints,
    packet: D,
    since: Instant,
}

/// The last answer.
#[derive(Clone, Copy, Debug, Default)]
struct Answered {
    /// The sequence number that it acknowledged; none if it was a Block ACK.
    alone: Option<u64>,
    /// How many of the first kept ACKs it carried.
    carried: usize,
    /// The number behind the last that it carried.
    end: Option<u16>,
}

/// A PPDU from the peer, of which something could be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard {
    /// The sequence number of its frame, if that is acknowledged by itself.
    pub(crate) alone: Option<u64>,
    /// Its sender has moved on without an answer to what it sent before.
    pub(crate) is_sync: bool,
}

/// What went on an answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carried {
    pub(crate) acks: usize,
    /// Those that were on no answer before, and their octets.
    pub(crate) fresh: usize,
    pub(crate) fresh_octets: usize,
}

impl<D: Packet> Driver<D> {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            config,
            compressor: Compressor::new(config.compression()),
            nic: Nic::default(),
            kept: VecDeque::new(),
            exposed: 0,
            last_answer: Answered::default(),
            is_latched: false,
            first_unknown: 0,
            aside: Vec::new(),
            spare: Vec::new(),
        }
    }

    pub(crate) const fn config(&self) -> Config {
        self.config
    }

    /// Does an ACK that comes now wait for an answer?
    pub(crate) const fn holds(&self) -> bool {
        match self.config.variant {
            Variant::MoreData => self.is_latched,
            Variant::Timer => true,
            Variant::Opportunistic => false,
        }
    }

    /// Does an ACK of this flow wait that was on no answer yet?
    pub(crate) fn holds_any_of(&self, flow: FlowKey) -> bool {
        self.kept.range(self.exposed..).any(|kept| kept.packet.flow() == flow)
    }

    /// Since when an ACK has waited that was on no answer yet.
    pub(crate) fn held_since(&self) -> Option<Instant> {
        self.kept.get(self.exposed).map(|kept| kept.since)
    }

    /// ACKs that can be compressed before the peer must have some. Where numbers were cleared and no PPDU has told of their answers
    /// since, half of the others at most: were all cleared, none could be compressed any more.
    pub(crate) fn numbers_left(&self) -> u16 {
        let kept = self.kept.len() as u16;
        let cleared = self.compressor.next_msn().wrapping_sub(self.first_unknown) - kept;
        let room = MOST_UNKNOWN.saturating_sub(cleared);
        if cleared == 0 { room - kept } else { room.div_ceil(2).saturating_sub(kept) }
    }

    /// Can this packet be compressed, if there are numbers left?
    pub(crate) fn can_compress(&mut self, packet: &D) -> bool {
        packet.ack().is_some_and(|ack| self.compressor.takes(&ack))
    }

    /// Compresses an ACK that came at `since` and hands it to the NIC. Gives it back if that is not possible.
    pub(crate) fn compress(&mut self, since: Instant, packet: D) -> Result<(), D> {
        let Some(ack) = packet.ack().filter(|_| self.numbers_left() > 0) else { return Err(packet) };
        let mut octets = Octets::new();
        let Some(msn) = self.compressor.compress(&ack, &mut octets) else { return Err(packet) };
        self.nic.push(msn, &octets, since + self.config.delay);
        self.kept.push_back(Kept { msn, endpoints: ack.endpoints, packet, since });
        Ok(())
    }

    /// A PPDU has come: what the last answer carried has arrived, unless there is doubt. Returns what was set aside and must go plain,
    /// as there is.
    pub(crate) fn heard(&mut self, heard: Heard) -> Vec<D> {
        let is_new = match (self.last_answer.alone, heard.alone) {
            (Some(before), Some(now)) => now > before,
            _ => true,
        };
        if is_new && !heard.is_sync {
            let Answered { carried, end, .. } = std::mem::take(&mut self.last_answer);
            self.drop_first(carried);
            if let Some(end) = end {
                self.first_unknown = end;
                self.aside.retain(|(msn, _)| end.wrapping_sub(*msn).cast_signed() <= 0);
            }
        }
        self.requested()
    }

    /// A request has come, which tells nothing. Returns what was set aside and must go plain.
    pub(crate) fn requested(&mut self) -> Vec<D> {
        self.aside.drain(..).map(|(_, packet)| packet).collect()
    }

    /// Appends to the answer to a PPDU that `began` then what the NIC has, as far as `most` octets go.
    pub(crate) fn answer(
        &mut self,
        began: Instant,
        alone: Option<u64>,
        most: Option<Bytes>,
        out: &mut Vec<u8>,
    ) -> Carried {
        let (acks, fresh_octets) = self.nic.append(began, most, self.exposed, out);
        let end = acks.checked_sub(1).map(|last| self.kept[last].msn.wrapping_add(1));
        self.last_answer = Answered { alone, carried: acks, end };
        let fresh = acks.saturating_sub(self.exposed);
        self.exposed = self.exposed.max(acks);
        Carried { acks, fresh, fresh_octets }
    }

    /// The peer has more for this node, or not.
    pub(crate) const fn latch(&mut self, has_more: bool) {
        self.is_latched = has_more;
    }

    /// What was on no answer yet goes plain, in its order.
    pub(crate) fn release(&mut self) -> Vec<D> {
        if let Some(first) = self.kept.get(self.exposed) {
            self.compressor.rewind(first.msn);
        }
        self.nic.truncate(self.exposed);
        let compressor = &mut self.compressor;
        let released = self.kept.drain(self.exposed..).map(|kept| {
            compressor.discard(kept.endpoints);
            kept.packet
        });
        released.collect()
    }

    /// A plain ACK of `flow` is sent: it says all that the kept ones of its flow say, which are cleared with those before them, and
    /// with later ones of the same flows, which were compressed against them. Tells how many are cleared, and returns those that must
    /// go plain instead, as they were on no answer.
    pub(crate) fn overtakes(&mut self, flow: FlowKey) -> (usize, Vec<D>) {
        self.aside.retain(|(_, packet)| packet.flow() != flow);
        let last_of = |flow| self.kept.iter().rposition(|kept| kept.packet.flow() == flow);
        let Some(mut last) = last_of(flow) else { return (0, Vec::new()) };
        debug_assert!(last < self.exposed, "what was on no answer goes plain first, in its order");
        let mut place = 0;
        while place < last {
            last = last.max(last_of(self.kept[place].packet.flow()).unwrap_or(last));
            place += 1;
        }
        let released = if last < self.exposed { Vec::new() } else { self.release() };
        let cleared = (last + 1).min(self.kept.len());
        for kept in self.kept.range(..cleared) {
            self.compressor.discard(kept.endpoints);
            if kept.packet.flow() != flow {
                let newest = (kept.msn, kept.packet.clone());
                match self.aside.iter_mut().find(|(_, packet)| packet.flow() == kept.packet.flow()) {
                    Some(older) => *older = newest,
                    None => self.aside.push(newest),
                }
            }
        }
        // A later one that goes plain says more.
        self.aside.retain(|(_, packet)| !released.iter().any(|later| later.flow() == packet.flow()));
        self.drop_first(cleared);
        (cleared, released)
    }

    /// The peer has this plain ACK.
    pub(crate) fn arrived(&mut self, ack: &Ack) {
        self.compressor.observe(ack);
    }

    /// Whether the peer has a plain ACK of this flow will never be known.
    pub(crate) fn lost(&mut self, endpoints: Endpoints) {
        self.compressor.discard(endpoints);
    }

    /// Returns the packet that the peer rebuilds from `ack`, which it decompressed under this number, or `None` if no ACK is kept
    /// under it.
    pub(crate) fn rebuild(&mut self, msn: u16, ack: &Ack) -> Option<D> {
        let spare = self.spare.pop();
        self.kept(msn).map(|kept| kept.with_ack(ack, spare))
    }

    /// The packet that was compressed under this number.
    fn kept(&self, msn: u16) -> Option<&D> {
        let place = msn.wrapping_sub(self.kept.front()?.msn);
        self.kept.get(usize::from(place)).map(|kept| &kept.packet)
    }

    fn drop_first(&mut self, count: usize) {
        self.nic.drop_first(count);
        let room = usize::from(MOST_UNKNOWN) - self.spare.len();
        let confirmed = self.kept.drain(..count).map(|kept| kept.packet);
        self.spare.extend(confirmed.take(room));
        self.exposed = self.exposed.saturating_sub(count);
        self.last_answer.carried = self.last_answer.carried.saturating_sub(count);
    }
}

#[cfg(test)]
mod tests;
