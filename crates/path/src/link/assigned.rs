//! Service in assigned slots, for a link with capacity on demand.

use super::channel::Channel;
use crate::counters::Tally;
use crate::demand::{Event, Terminal};
use crate::queue::PacketQueue;
use acklab_base::{Bytes, Datagram, Instant};
use std::collections::VecDeque;

/// The slots of a terminal, and the packet that it has sent in part.
#[derive(Clone, Debug)]
pub(super) struct Assigned<D> {
    pub(super) terminal: Terminal,
    /// Packets in the buffer of the modem, each with its arrival time at the queue. They have left
    /// the queue's discipline and wait for grants.
    committed: VecDeque<(Instant, D)>,
    /// The octets of these packets, with overhead.
    committed_octets: u64,
    /// The packet in transmission, with the number of its remaining octets.
    sending: Option<(D, u64)>,
    overhead: Bytes,
}

impl<D: Datagram + Clone> Assigned<D> {
    pub(super) const fn new(terminal: Terminal, overhead: Bytes) -> Self {
        Self { terminal, committed: VecDeque::new(), committed_octets: 0, sending: None, overhead }
    }

    /// Returns `true` if a packet waits for a slot, as a whole or in part.
    pub(super) fn is_waiting(&self, packets: &PacketQueue<D>) -> bool {
        self.sending.is_some() || !self.committed.is_empty() || packets.len() > 0
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
                    self.commit(at, packets, tally);
                    let left = self.sending.as_ref().map_or(0, |(_, left)| *left) + self.committed_octets;
                    let queued = packets.bytes().get() + self.overhead.get() * packets.len() as u64;
                    self.terminal.begin_superframe(left + queued, tally);
                }
                Event::Slot => self.fill_slot(at, packets, channel, tally),
            }
        }
        self.terminal.pass_idle(now, tally);
    }

    /// Moves packets from the discipline to the buffer of the modem: as many as grants can carry
    /// until a request takes effect.
    ///
    /// Otherwise, an AQM would count the time to a grant as queuing delay. This time exceeds
    /// CoDel's target, so CoDel would drop packets.
    fn commit(&mut self, now: Instant, packets: &mut PacketQueue<D>, tally: &mut Tally) {
        while self.committed_octets < self.terminal.max_committed()
            && let Some((arrived, packet)) = Self::take(now, packets, tally)
        {
            self.committed_octets += (packet.wire_len() + self.overhead).get();
            self.committed.push_back((arrived, packet));
        }
    }

    /// Sends the octets that fit into the slot that begins at `now`. A packet has left when the
    /// slot with its last octet ends.
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

    /// Takes the next packet for a slot, with the number of its octets.
    fn begin(&mut self, now: Instant, packets: &mut PacketQueue<D>, tally: &mut Tally) -> Option<(D, u64)> {
        let (arrived, packet) = match self.committed.pop_front() {
            Some((arrived, packet)) => {
                self.committed_octets -= (packet.wire_len() + self.overhead).get();
                (arrived, packet)
            }
            None => Self::take(now, packets, tally)?,
        };
        let on_wire = packet.wire_len() + self.overhead;
        tally.serves(now, on_wire, now.since(arrived));
        Some((packet, on_wire.get()))
    }

    /// Takes the next packet from the queue. Returns `None` if the queue drops all of its packets,
    /// or if its shaper delays the packet. The rest of a slot is then unused.
    fn take(now: Instant, packets: &mut PacketQueue<D>, tally: &mut Tally) -> Option<(Instant, D)> {
        while packets.len() > 0 && packets.not_before() <= now {
            if let Some(taken) = packets.take_head(now, tally) {
                return Some(taken);
            }
        }
        None
    }
}
