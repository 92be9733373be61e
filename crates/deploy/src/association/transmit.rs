//! Datagrams leave.

use super::Association;
use acklab_base::Instant;
use acklab_secure::Outbox;

/// So many octets of datagrams leave in one turn, before other connections have theirs: what one system call takes.
const TURN: usize = 64_000;

impl Association {
    /// Appends the datagrams that leave now, and returns whether there may be more.
    pub(crate) fn transmit(&mut self, now: Instant, out: &mut Outbox) -> bool {
        let (before, datagrams_before) = (out.octets(), out.datagrams());
        let Self { machine, session, streams, path, waiting, recorder, .. } = self;
        if !waiting.is_empty() {
            if !path.lets(waiting.octets()) {
                return false;
            }
            out.append(waiting);
        }
        let mut copy = |id: u32, range: std::ops::Range<u64>, octets: &mut Vec<u8>| {
            // What the transport sends was written, and is kept until it is acknowledged.
            let is_kept = streams.get(&id).is_some_and(|stream| stream.copy(range.clone(), octets));
            if !is_kept {
                octets.resize(octets.len() + (range.end - range.start) as usize, 0);
            }
            debug_assert!(is_kept, "octets {range:?} of stream {id} are kept");
        };
        while out.octets() - before < TURN {
            let Some(packet) = Self::poll(machine, recorder, now) else { break };
            if path.is_proven() {
                session.seal(&packet, &mut copy, out);
            } else if session.seal(&packet, &mut copy, waiting) {
                if !path.lets(waiting.octets()) {
                    break;
                }
                out.append(waiting);
            }
        }
        if !self.writers.is_empty() {
            self.wake_writers();
        }
        let counters = &mut self.counters;
        let (datagrams, octets) = ((out.datagrams() - datagrams_before) as u64, (out.octets() - before) as u64);
        counters.datagrams_sent += datagrams;
        counters.octets_sent += octets;
        out.octets() - before >= TURN
    }
}
