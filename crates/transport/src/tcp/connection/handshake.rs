//! The three-way handshake (RFC 9293, §3.5), at either end.

use super::super::refusal::Refusal;
use super::super::sender::Phase;
use super::Connection;
use acklab_base::{Fate, Instant, Machine};
use acklab_wire::tcp::{Flags, Segment};

impl Connection {
    /// SYN-SENT: processes `segment` if it is the SYN-ACK to this end's SYN. A segment with another
    /// acknowledgment number belongs to another connection (RFC 9293, §3.10.7.3, first).
    pub(super) fn take_syn_ack(&mut self, now: Instant, segment: &Segment) -> Fate {
        if segment.flags.contains(Flags::ACK) && !self.sending.is_synchronized_by(segment) {
            return self.refuse(segment);
        }
        if segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK) {
            return self.open_by_syn(now, segment);
        }
        let sent_at = self.sending.syn_sent_at();
        let fate = self.sending.accept(now, *segment);
        if self.sending.phase() == Phase::Established {
            self.receiving.open_by(now, segment, sent_at);
        }
        fate
    }

    /// LISTEN: opens the connection if `segment` is a SYN. An ACK belongs to an earlier connection
    /// (RFC 9293, §3.10.7.2, second).
    pub(super) fn take_syn(&mut self, now: Instant, segment: &Segment) -> Fate {
        if segment.flags.contains(Flags::ACK) {
            self.refuse(segment)
        } else if segment.flags.contains(Flags::SYN) {
            self.open_by_syn(now, segment)
        } else {
            Refusal::Phase.into()
        }
    }

    /// Enters SYN-RECEIVED from LISTEN or, if both ends open the connection at the same time, from
    /// SYN-SENT (RFC 9293, §3.5, figure 7).
    fn open_by_syn(&mut self, now: Instant, syn: &Segment) -> Fate {
        self.receiving.accept(now, *syn);
        self.sending.take_syn(now, syn, self.receiving.has_scaling());
        Fate::Taken
    }

    /// SYN-RECEIVED: processes `segment`, which may carry data, if it acknowledges this end's
    /// SYN-ACK. Any other ACK belongs to an earlier connection (RFC 9293, §3.10.7.4, fifth).
    pub(super) fn take_ack_of_syn(&mut self, now: Instant, segment: &Segment) -> Fate {
        if self.sending.take_ack_of_syn(now, segment, self.receiving.syn_ack_sent_at()) {
            self.take(now, segment)
        } else if segment.flags.contains(Flags::ACK) {
            self.refuse(segment)
        } else {
            Refusal::Phase.into()
        }
    }

    /// Answers a SYN in a synchronized state with a challenge ACK, whatever its sequence number
    /// (RFC 5961, §4.2). If the peer repeats its SYN-ACK, the challenge ACK replaces the lost ACK.
    pub(super) fn take_repeated_syn(&mut self, now: Instant, segment: &Segment) -> Fate {
        let is_answer = segment.flags.contains(Flags::ACK);
        if is_answer && self.challenges.admit(now) {
            return self.sending.accept(now, *segment);
        }
        if !is_answer {
            self.challenge(now);
        }
        Refusal::Suspicious.into()
    }

    /// Processes a repeated SYN in SYN-RECEIVED: the peer did not receive the SYN-ACK. After a
    /// simultaneous open, `segment` is the peer's SYN-ACK, which acknowledges this end's SYN.
    pub(super) fn take_syn_in_handshake(&mut self, now: Instant, segment: &Segment) -> Fate {
        if !segment.flags.contains(Flags::ACK) {
            self.sending.note_repeated_syn(segment);
            self.receiving.accept(now, *segment)
        } else if self.sending.take_ack_of_syn(now, segment, self.sending.syn_sent_at()) {
            self.sending.note_crossed_syn_ack(segment);
            self.receiving.note_crossed_syn_ack(segment);
            Fate::Taken
        } else {
            self.refuse(segment)
        }
    }
}
