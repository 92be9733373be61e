//! Service in assigned slots, for a link with capacity on demand.

use super::channel::Channel;
use crate::counters::Tally;
use crate::demand::{Event, Terminal};
use crate::queue::PacketQueue;
use acklab_base::{Bytes, Datagram, Instant};

/// The slots of a terminal, and the packet that it has sent in part.
#[derive(Clone, Debug)]
pub(super) struct Assigned<D> {
    pub(super) terminal: Terminal,
    /// The packet with the number of its octets that are left to send.
    sending: Option<(D, u64)>,
    overhead: Bytes,
}

impl<D: Datagram + Clone> Assigned<D> {
    pub(super) const fn new(terminal: Terminal, overhead: Bytes) -> Self {
        Self { terminal, sending: None, overhead }
    }

    /// Returns `true` if a packet waits for a slot, as a whole or in part.
    pub(super) fn is_waiting(&self, packets: &PacketQueue<D>) -> bool {
        self.sending.is_some() || packets.len() > 0
    }

    /// Begins the superframes and uses the slots that begin by `now`.
    pub(super) fn advance(
        &mut self,
        now: Instant,
        packets: &mut PacketQueue<D>,
        channel: &mut Channel<D>,
        tally: &mut Tally,
    ) {
        while self.is_waiting(packets) {
            let (at, event) = self.terminal.next_event();
            if at > now {
                return;
            }
            match event {
                Event::Superframe => {
                    let left = self.sending.as_ref().map_or(0, |(_, left)| *left);
                    let queued = packets.bytes().get() + self.overhead.get() * packets.len() as u64;
                    self.terminal.begin_superframe(left + queued, tally);
                }
                Event::Slot => self.fill_slot(at, packets, channel, tally),
            }
        }
        self.terminal.pass_idle(now, tally);
    }

    /// Sends what fits into the slot that begins at `now`. A packet has left when the slot with its last octet ends.
    fn fill_slot(&mut self, now: Instant, packets: &mut PacketQueue<D>, channel: &mut Channel<D>, tally: &mut Tally) {
        let (size, end) = (self.terminal.slot_size(), self.terminal.slot_end());
        let mut room = size;
        while room > 0 {
            let Some((packet, left)) = self.sending.take().or_else(|| self.begin(now, packets, tally)) else { break };
            let part = left.min(room);
            room -= part;
            if part == left {
                channel.send(end, packet, tally);
            } else {
                self.sending = Some((packet, left - part));
            }
        }
        tally.sends(now, end, Bytes(size - room));
        self.terminal.use_slot(size - room);
    }

    /// Takes the next packet from the queue, with the number of its octets. Returns `None` if the queue drops all that it holds.
    fn begin(&self, now: Instant, packets: &mut PacketQueue<D>, tally: &mut Tally) -> Option<(D, u64)> {
        while packets.len() > 0 {
            if let Some((arrived, packet)) = packets.take_head(now, tally) {
                let on_wire = packet.wire_len() + self.overhead;
                tally.serves(now, on_wire, now.since(arrived));
                return Some((packet, on_wire.get()));
            }
        }
        None
    }
}
