//! Selects the next segment, and adds the acknowledgment that it carries.

use super::super::sender::Phase;
use super::{Connection, Way};
use acklab_base::{Instant, Machine};
use acklab_wire::tcp::{Flags, Segment};

impl Connection {
    /// Returns the next segment. A RST is first, then an acknowledgment that must have no data.
    /// Then follow segments of the sending half, with the acknowledgment of the receiving half, and
    /// a pure ACK that is due.
    pub(super) fn next_segment(&mut self, now: Instant) -> Option<Segment> {
        if self.reset.is_some() || self.is_aborted() {
            return self.next_reset();
        }
        self.sending.leave_room(self.receiving.room_for_blocks());
        let apart = if self.receiving.owes_apart() { self.acknowledgment(now) } else { None };
        apart.or_else(|| self.of_sending_half(now)).or_else(|| self.acknowledgment(now))
    }

    fn of_sending_half(&mut self, now: Instant) -> Option<Segment> {
        let (phase, answers_syn) = (self.sending.phase(), self.sending.owes_ack_of_syn());
        let mut segment = self.sending.poll(now)?;
        self.last = Way::Out;
        if segment.flags.contains(Flags::FIN) {
            self.receiving.set_may_send(false);
        }
        if phase == Phase::SynSent {
            self.receiving.offer_window(&mut segment);
        } else if answers_syn {
            // The ECN flags of this segment belong to the handshake (RFC 9768, §3.2.2.1).
            self.receiving.finish_handshake(&mut segment);
        } else {
            self.receiving.ride_on(now, &mut segment);
        }
        Some(segment)
    }

    /// Returns the SYN-ACK, or an ACK without data.
    fn acknowledgment(&mut self, now: Instant) -> Option<Segment> {
        let mut segment = self.receiving.poll(now)?;
        if segment.flags.contains(Flags::SYN) {
            self.sending.note_syn_ack(now, &segment);
        } else {
            // RFC 9293, §3.10.7.4: <SEQ=SND.NXT><ACK=RCV.NXT><CTL=ACK>.
            segment.seq = self.sending.next_seq();
        }
        self.last = Way::OutAck;
        Some(segment)
    }
}
