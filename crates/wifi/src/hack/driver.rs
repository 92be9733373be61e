//! The driver of a node that sends ACKs to a peer. It decides which ACKs are held for a response
//! frame, how long they are retained, and when they are sent uncompressed ("plain").
//!
//! A compressed ACK is retained until the peer must have it (§3.4). The next PPDU confirms the last
//! response frame if it carries new data and is not marked SYNC; SYNC means that its sender sends
//! new data although a response was missing. After a [Block ACK request](Driver::request_received)
//! or a retransmission, the driver cannot determine if the response arrived: the next response
//! repeats the same ACKs, and the peer recognizes them by their master sequence numbers (MSN).
//!
//! A plain ACK supersedes retained ACKs of its flow whose delivery is unconfirmed: they are
//! cleared. The paper considers only one flow. Cleared ACKs of other flows are deferred. They are
//! sent plain if the next PPDU does not confirm the response that carried them.

use super::config::{HackConfig, Variant};
use super::nic::Nic;
use crate::packet::Packet;
use acklab_base::{Bytes, FlowKey, Instant};
use acklab_wire::Endpoints;
use acklab_wire::rohc::{Ack, Compressor, Numbers, Octets};
use std::collections::VecDeque;

/// One direction of ACKs between two nodes.
#[derive(Clone, Debug)]
pub(crate) struct Driver<D> {
    config: HackConfig,
    /// The maximum number of unconfirmed MSNs, by the width of the first MSN of a response frame
    /// (§3.4).
    max_unconfirmed: u16,
    compressor: Compressor,
    nic: Nic,
    /// The ACKs whose descriptors the NIC has, in the order of the descriptors.
    retained: VecDeque<Retained<D>>,
    /// The number of retained ACKs that a response frame has carried. These are the first ACKs in
    /// `retained`.
    transmitted: usize,
    last_response: LastResponse,
    /// `true` if the peer has announced more data for this node.
    is_latched: bool,
    /// The first MSN that has not been confirmed or given up.
    first_unconfirmed: u16,
    /// The deferred ACKs, each with its MSN: the newest cleared ACK of each of the other flows.
    deferred: Vec<(u16, D)>,
    /// Confirmed packets, whose memory is reused for rebuilt packets.
    spare: Vec<D>,
}

#[derive(Clone, Debug)]
struct Retained<D> {
    msn: u16,
    endpoints: Endpoints,
    packet: D,
    since: Instant,
}

/// The last response frame.
#[derive(Clone, Copy, Debug, Default)]
struct LastResponse {
    /// The sequence number that the response acknowledged; `None` for a Block ACK.
    single: Option<u64>,
    /// The number of ACKs that the response carried. These are the first ACKs in `retained`.
    carried: usize,
    /// The MSN after the last MSN that the response carried.
    end: Option<u16>,
}

/// A PPDU from the peer of which at least one frame was received.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceivedPpdu {
    /// The sequence number, if the PPDU contains a single frame that elicits an ACK.
    pub(crate) single: Option<u64>,
    /// `true` if the sender sends new data although an earlier response frame is missing.
    pub(crate) is_sync: bool,
}

/// The ACKs appended to a response frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Appended {
    pub(crate) acks: usize,
    /// The number of ACKs that no earlier response frame carried.
    pub(crate) fresh: usize,
    /// Octets of those ACKs.
    pub(crate) fresh_octets: usize,
}

impl<D: Packet> Driver<D> {
    pub(crate) fn new(config: HackConfig, numbers: Numbers) -> Self {
        Self {
            config,
            max_unconfirmed: numbers.max_unconfirmed(),
            compressor: Compressor::new(config.compression(numbers)),
            nic: Nic::new(numbers),
            retained: VecDeque::new(),
            transmitted: 0,
            last_response: LastResponse::default(),
            is_latched: false,
            first_unconfirmed: 0,
            deferred: Vec::new(),
            spare: Vec::new(),
        }
    }

    pub(crate) const fn config(&self) -> HackConfig {
        self.config
    }

    /// Returns `true` if an ACK that arrives now is held for a response frame.
    pub(crate) const fn holds_acks(&self) -> bool {
        match self.config.variant {
            Variant::MoreData => self.is_latched,
            Variant::Timer => true,
            Variant::Opportunistic => false,
        }
    }

    /// Returns `true` if an ACK of this flow is held that no response frame has carried.
    pub(crate) fn holds_any_of(&self, flow: FlowKey) -> bool {
        self.retained.range(self.transmitted..).any(|retained| retained.packet.flow() == flow)
    }

    /// Returns the instant since which the oldest ACK that no response frame has carried is held.
    pub(crate) fn held_since(&self) -> Option<Instant> {
        self.retained.get(self.transmitted).map(|retained| retained.since)
    }

    /// Returns the number of further ACKs that can be compressed before the peer must have
    /// confirmed some.
    pub(crate) fn msns_left(&self) -> u16 {
        let retained = self.retained.len() as u16;
        let cleared = self.compressor.next_msn().wrapping_sub(self.first_unconfirmed) - retained;
        let room = self.max_unconfirmed.saturating_sub(cleared);
        if cleared == 0 { room - retained } else { room.div_ceil(2).saturating_sub(retained) }
    }

    /// Returns `true` if this packet can be compressed, provided that MSNs are left.
    pub(crate) fn can_compress(&mut self, packet: &D) -> bool {
        packet.ack().is_some_and(|ack| self.compressor.takes(&ack))
    }

    /// Compresses an ACK that arrived at `since` and passes it to the NIC. Returns the packet if it
    /// cannot be compressed.
    pub(crate) fn compress(&mut self, since: Instant, packet: D) -> Result<(), D> {
        if self.msns_left() == 0 {
            return Err(packet);
        }
        let mut octets = Octets::new();
        let ack = packet.ack();
        let Some(ack) = &ack else { return Err(packet) };
        let Some(msn) = self.compressor.compress(ack, &mut octets) else { return Err(packet) };
        self.nic.push(msn, &octets, since + self.config.delay);
        self.retained.push_back(Retained { msn, endpoints: ack.endpoints, packet, since });
        Ok(())
    }

    /// Processes a PPDU. It confirms the ACKs of the last response frame, unless it is a
    /// retransmission or marked SYNC. In these two cases, returns the deferred ACKs, which must be
    /// sent plain.
    pub(crate) fn ppdu_received(&mut self, ppdu: ReceivedPpdu) -> Vec<D> {
        let is_new = match (self.last_response.single, ppdu.single) {
            (Some(before), Some(now)) => now > before,
            _ => true,
        };
        if is_new && !ppdu.is_sync {
            let LastResponse { carried, end, .. } = std::mem::take(&mut self.last_response);
            self.drop_first(carried);
            if let Some(end) = end {
                self.first_unconfirmed = end;
                self.deferred.retain(|(msn, _)| end.wrapping_sub(*msn).cast_signed() <= 0);
            }
        }
        self.request_received()
    }

    /// Processes a Block ACK request, which confirms nothing. Returns the deferred ACKs, which must
    /// be sent plain.
    pub(crate) fn request_received(&mut self) -> Vec<D> {
        self.deferred.drain(..).map(|(_, packet)| packet).collect()
    }

    /// Appends at most `maximum` octets of the NIC's ACKs to the response to a PPDU that began at
    /// `began`.
    pub(crate) fn append_to_response(
        &mut self,
        began: Instant,
        single: Option<u64>,
        maximum: Option<Bytes>,
        out: &mut Vec<u8>,
    ) -> Appended {
        let (acks, fresh_octets) = self.nic.append(began, maximum, self.transmitted, out);
        let end = acks.checked_sub(1).map(|last| self.retained[last].msn.wrapping_add(1));
        self.last_response = LastResponse { single, carried: acks, end };
        let fresh = acks.saturating_sub(self.transmitted);
        self.transmitted = self.transmitted.max(acks);
        Appended { acks, fresh, fresh_octets }
    }

    /// Stores MORE DATA of the peer.
    pub(crate) const fn latch(&mut self, has_more: bool) {
        self.is_latched = has_more;
    }

    /// Releases the ACKs that no response frame has carried, in their order. They must be sent
    /// plain.
    pub(crate) fn release(&mut self) -> Vec<D> {
        if let Some(first) = self.retained.get(self.transmitted) {
            self.compressor.rewind(first.msn);
        }
        self.nic.truncate(self.transmitted);
        let compressor = &mut self.compressor;
        let released = self.retained.drain(self.transmitted..).map(|retained| {
            compressor.discard(retained.endpoints);
            retained.packet
        });
        released.collect()
    }

    /// Records that a plain ACK of `flow` is sent and supersedes the retained ACKs of its flow.
    /// Clears the superseded ACKs and all ACKs before them. Also clears later ACKs of the flows of
    /// cleared ACKs, because they were compressed against cleared ACKs. Returns the number of
    /// cleared ACKs, and the ACKs that must be sent plain because no response frame has carried
    /// them.
    pub(crate) fn overtakes(&mut self, flow: FlowKey) -> (usize, Vec<D>) {
        self.deferred.retain(|(_, packet)| packet.flow() != flow);
        let last_of = |flow| self.retained.iter().rposition(|retained| retained.packet.flow() == flow);
        let Some(mut last) = last_of(flow) else { return (0, Vec::new()) };
        debug_assert!(last < self.transmitted, "ACKs of the flow that no response carried were released before");
        let mut place = 0;
        while place < last {
            last = last.max(last_of(self.retained[place].packet.flow()).unwrap_or(last));
            place += 1;
        }
        let released = if last < self.transmitted { Vec::new() } else { self.release() };
        let cleared = (last + 1).min(self.retained.len());
        for retained in self.retained.range(..cleared) {
            self.compressor.discard(retained.endpoints);
            if retained.packet.flow() != flow {
                let newest = (retained.msn, retained.packet.clone());
                match self.deferred.iter_mut().find(|(_, packet)| packet.flow() == retained.packet.flow()) {
                    Some(older) => *older = newest,
                    None => self.deferred.push(newest),
                }
            }
        }
        // A released ACK of the flow supersedes the deferred ACK.
        self.deferred.retain(|(_, packet)| !released.iter().any(|later| later.flow() == packet.flow()));
        self.drop_first(cleared);
        (cleared, released)
    }

    /// Records that the peer has received this plain ACK.
    pub(crate) fn arrived(&mut self, ack: &Ack) {
        self.compressor.observe(ack);
    }

    /// Records that the sender will not receive any information on the delivery of a plain ACK of
    /// this flow.
    pub(crate) fn lost(&mut self, endpoints: Endpoints) {
        self.compressor.discard(endpoints);
    }

    /// Returns the packet that the peer builds from `ack`, which it decompressed under this MSN.
    /// Returns `None` if no ACK is retained under this MSN.
    pub(crate) fn rebuild(&mut self, msn: u16, ack: &Ack) -> Option<D> {
        let spare = self.spare.pop();
        self.retained(msn).map(|retained| retained.with_ack(ack, spare))
    }

    /// Returns the packet that was compressed under this MSN.
    fn retained(&self, msn: u16) -> Option<&D> {
        let place = msn.wrapping_sub(self.retained.front()?.msn);
        self.retained.get(usize::from(place)).map(|retained| &retained.packet)
    }

    fn drop_first(&mut self, count: usize) {
        self.nic.drop_first(count);
        let room = usize::from(self.max_unconfirmed) - self.spare.len();
        let confirmed = self.retained.drain(..count).map(|retained| retained.packet);
        self.spare.extend(confirmed.take(room));
        self.transmitted = self.transmitted.saturating_sub(count);
        self.last_response.carried = self.last_response.carried.saturating_sub(count);
    }
}

#[cfg(test)]
mod tests;
