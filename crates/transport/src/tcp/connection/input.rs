//! Processes arriving segments.

use super::super::refusal::Refusal;
use super::super::sender::Phase;
use super::{Connection, State, Way};
use acklab_base::{Fate, Instant, Machine};
use acklab_wire::tcp::{Flags, Segment};

impl Connection {
    pub(super) fn input(&mut self, now: Instant, segment: &Segment) -> Fate {
        let before = self.watch(segment);
        let fate = self.dispatch(now, segment);
        if let Some(before) = before {
            self.note_changes(before, fate);
        }
        fate
    }

    fn dispatch(&mut self, now: Instant, segment: &Segment) -> Fate {
        self.last = Way::In;
        if segment.flags.contains(Flags::RST) {
            return self.take_reset(now, segment);
        }
        match self.sending.phase() {
            Phase::Closed | Phase::Aborted => self.refuse(segment),
            Phase::Finished if self.state() == State::Closed => self.refuse(segment),
            Phase::Established | Phase::Finished if segment.flags.contains(Flags::SYN) => {
                self.take_repeated_syn(now, segment)
            }
            Phase::Established | Phase::Finished => self.take(now, segment),
            Phase::SynReceived if segment.flags.contains(Flags::SYN) => self.take_syn_in_handshake(now, segment),
            Phase::SynReceived => self.take_ack_of_syn(now, segment),
            Phase::SynSent => self.take_syn_ack(now, segment),
            Phase::Listen => self.take_syn(now, segment),
        }
    }

    /// Processes an acceptable segment (RFC 9293, §3.10.7.4, fifth to eighth): first the
    /// acknowledgment, then the data, then the FIN.
    pub(super) fn take(&mut self, now: Instant, segment: &Segment) -> Fate {
        if !segment.flags.contains(Flags::ACK) {
            return Refusal::NeverSent.into();
        }
        if !self.receiving.is_acceptable(segment) {
            return self.answer_unacceptable(now, segment);
        }
        // RFC 5961, §5.2: the ACK acknowledges data that were never sent, or is too old for this
        // connection.
        if self.sending.never_sent(segment) || self.sending.is_too_old(segment) {
            self.challenge(now);
            return Refusal::NeverSent.into();
        }
        if self.is_released && self.receiving.brings_data(segment) {
            return self.refuse_data(now, segment);
        }
        let of_ack = self.sending.accept(now, *segment);
        if segment.sequence_len() == 0 {
            self.receiving.note_timestamp(segment);
        }
        let had_all = self.receiving.has_all();
        let of_data = self.receiving.accept(now, *segment);
        if self.receiving.has_blocked_option() {
            self.sending.block_option();
        }
        if !had_all && self.receiving.has_all() {
            self.is_closed_by_peer = !self.sending.has_sent_fin();
        }
        if segment.sequence_len() == 0 { of_ack } else { of_data }
    }

    /// Answers `segment`, which lies outside the receive window, with an ACK that reports the
    /// window (RFC 9293, §3.10.7.4, first).
    #[cold]
    fn answer_unacceptable(&mut self, now: Instant, segment: &Segment) -> Fate {
        if self.challenges.covers_unacceptable() && segment.sequence_len() == 0 {
            self.challenge(now);
        } else {
            self.receiving.answer(now);
        }
        Refusal::Window.into()
    }
}
