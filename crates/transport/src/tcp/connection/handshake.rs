//! The three-way handshake (RFC 9293, §3.5), at either end.

use super::super::sender::Phase;
use super::Connection;
use acklab_base::{Instant, Machine};
use acklab_wire::tcp::{Flags, Segment};

impl Connection {
    /// SYN-SENT: processes `segment` if it is the SYN-ACK to this end's SYN.
    pub(super) fn take_syn_ack(&mut self, now: Instant, segment: &Segment) {
        let sent_at = self.sending.syn_sent_at();
        self.sending.accept(now, *segment);
        if self.sending.phase() == Phase::Established {
            self.receiving.open_by(now, segment, sent_at);
        }
    }

    /// LISTEN: the peer opens the connection, if `segment` is a SYN.
    pub(super) fn take_syn(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK) {
            self.receiving.accept(now, *segment);
            self.sending.take_syn(now, segment, self.receiving.has_scaling());
        }
    }

    /// SYN-RECEIVED: the ACK of this end's SYN-ACK, if `segment` is that; it may bring data along.
    pub(super) fn take_ack_of_syn(&mut self, now: Instant, segment: &Segment) {
        if self.sending.take_ack_of_syn(now, segment, self.receiving.syn_ack_sent_at()) {
            self.take(now, segment);
        }
    }

    /// The peer's SYN or SYN-ACK has arrived again: the peer did not receive the response.
    pub(super) fn repeat_answer(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.contains(Flags::ACK) {
            self.sending.accept(now, *segment);
        } else {
            self.sending.note_repeated_syn(segment);
            self.receiving.accept(now, *segment);
        }
    }
}
