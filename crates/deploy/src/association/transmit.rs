//! Sends datagrams.

use super::Association;
use acklab_base::{Endpoint, Instant, Machine};
use acklab_secure::Outbox;

/// The bytes that a connection sends per turn. Then the next connection sends. It is the limit of
/// one system call.
const TURN: usize = 64_000;

impl Association {
    /// Appends the datagrams to send now. Returns `true` if there may be more.
    pub(crate) fn transmit(&mut self, now: Instant, out: &mut Outbox) -> bool {
        self.drain(now);
        if !self.writers.is_empty() {
            self.allow_writers();
        }
        let octets = self.waiting.octets();
        if octets == 0 || !self.path.lets(octets) {
            return false;
        }
        self.counters.datagrams_sent += self.waiting.datagrams() as u64;
        self.counters.octets_sent += octets as u64;
        if out.is_empty() {
            std::mem::swap(out, &mut self.waiting);
        } else {
            out.append(&mut self.waiting);
        }
        // Before the address is validated, packets are sent one by one.
        octets >= TURN || (!self.path.is_proven() && self.machine.may_transmit())
    }

    /// Seals the packets that the transport sends now.
    pub(super) fn drain(&mut self, now: Instant) {
        let Self { machine, session, streams, path, waiting, recorder, backlog, .. } = self;
        machine.note_backlog(!backlog.is_empty());
        let mut copy = |id: u32, range: std::ops::Range<u64>, octets: &mut Vec<u8>| {
            // The application wrote the bytes that the transport sends. The stream keeps them until
            // they are acknowledged.
            let is_kept = streams.get_mut(&id).is_some_and(|stream| stream.copy(range.clone(), octets));
            if !is_kept {
                octets.resize(octets.len() + (range.end - range.start) as usize, 0);
            }
            debug_assert!(is_kept, "octets {range:?} of stream {id} are kept");
        };
        // Before an address is validated, one packet at a time is sent to it, if its credit is
        // large enough.
        while waiting.octets() < TURN && (path.is_proven() || waiting.is_empty()) {
            // The packet remains at the place where the transport wrote it. Moving a packet right
            // after it is written costs as much as encrypting half of it.
            let polled = machine.poll(now);
            Self::record_poll(machine, recorder, now, polled.as_ref());
            let Some(packet) = &polled else { break };
            session.seal(packet, &mut copy, waiting);
        }
    }
}
