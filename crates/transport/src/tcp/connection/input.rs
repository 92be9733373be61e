//! What an arriving segment does.

use super::super::sender::Phase;
use super::{Connection, Way};
use acklab_base::{Instant, Machine};
use acklab_wire::tcp::{Flags, Segment};

impl Connection {
    pub(super) fn input(&mut self, now: Instant, segment: &Segment) {
        self.last = Way::In;
        match self.sending.phase() {
            Phase::Established | Phase::Finished if segment.flags.contains(Flags::SYN) => {
                self.repeat_answer(now, segment);
            }
            Phase::Established | Phase::Finished => self.take(now, segment),
            Phase::SynReceived if segment.flags.contains(Flags::SYN) => self.repeat_answer(now, segment),
            Phase::SynReceived => self.take_ack_of_syn(now, segment),
            Phase::SynSent => self.take_syn_ack(now, segment),
            Phase::Listen => self.take_syn(now, segment),
            Phase::Closed => {}
        }
    }

    /// RFC 9293, §3.10.7.4, fifth to eighth: first the acknowledgment, then the data, then the FIN.
    pub(super) fn take(&mut self, now: Instant, segment: &Segment) {
        if !segment.flags.contains(Flags::ACK) {
            return;
        }
        if self.sending.never_sent(segment) || self.receiving.is_beyond_window(segment) {
            return self.receiving.answer(now);
        }
        self.sending.accept(now, *segment);
        if segment.sequence_len() == 0 {
            self.receiving.note_timestamp(segment);
        }
        let had_all = self.receiving.has_all();
        self.receiving.accept(now, *segment);
        if self.receiving.has_blocked_option() {
            self.sending.block_option();
        }
        if !had_all && self.receiving.has_all() {
            self.is_closed_by_peer = !self.sending.has_sent_fin();
        }
    }
}
