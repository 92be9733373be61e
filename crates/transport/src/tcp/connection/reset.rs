//! RST (RFC 9293, §3.5.2, §3.5.3 and §3.10.7; RFC 5961, §3). A RST answers a segment without a
//! connection, or ends a connection without the consent of the peer.

use super::super::refusal::Refusal;
use super::super::sender::Phase;
use super::{Connection, State, Way};
use acklab_base::event::Closing;
use acklab_base::{Ecn, Fate, Instant, StreamPort};
use acklab_wire::tcp::{Flags, Options, Segment, SeqNumber};

impl Connection {
    /// Returns the RST with which a host answers `segment` if it belongs to no connection (RFC
    /// 9293, §3.10.7.1), or `None` if the segment is a RST itself.
    #[must_use]
    pub fn refusal(segment: &Segment) -> Option<Segment> {
        if segment.flags.contains(Flags::RST) {
            return None;
        }
        let (seq, ack, flags) = if segment.flags.contains(Flags::ACK) {
            (segment.ack, SeqNumber::default(), Flags::RST)
        } else {
            let end = segment.seq.0.wrapping_add(segment.sequence_len() as u32);
            (SeqNumber::default(), SeqNumber(end), Flags::RST | Flags::ACK)
        };
        Some(Segment { ecn: Ecn::NotEct, seq, ack, flags, window: 0, options: Options::default(), payload: 0 })
    }

    /// Closes both directions for the application. Unlike [`close`](StreamPort::close), data that
    /// arrive later are not read (RFC 9293, §3.6.1). If data are unread, or arrive later, a RST
    /// reports their loss to the peer (SHLD-3; RFC 2525, §2.17).
    pub fn release(&mut self, now: Instant) {
        match self.sending.phase() {
            Phase::Closed | Phase::Listen | Phase::SynSent => self.end(now, Closing::Application),
            _ if self.receiving.readable() > 0 => self.abort(now),
            _ => {
                self.is_released = true;
                self.close(now);
            }
        }
    }

    /// Aborts the connection for the application (RFC 9293, §3.10.5). The peer receives a RST,
    /// unless the connection is in CLOSED, LISTEN, SYN-SENT or TIME-WAIT.
    pub fn abort(&mut self, now: Instant) {
        if !matches!(self.state(), State::Closed | State::Listen | State::SynSent | State::TimeWait) {
            let mut reset = self.sending.bare(now);
            self.receiving.acknowledge_on(&mut reset);
            reset.flags = Flags::RST | Flags::ACK;
            self.reset = Some(reset);
        }
        self.end(now, Closing::Application);
    }

    /// Returns `true` if the connection ended before both ends had sent and acknowledged all data
    /// and FINs. Either a RST or the application ended the connection.
    #[must_use]
    pub fn is_aborted(&self) -> bool {
        self.sending.phase() == Phase::Aborted
    }

    fn end(&mut self, now: Instant, reason: Closing) {
        self.sending.end(now, reason);
    }

    /// Answers `segment`, which belongs to no connection or to another connection.
    pub(super) fn refuse(&mut self, segment: &Segment) -> Fate {
        self.reset = Self::refusal(segment).or(self.reset.take());
        Refusal::Connection.into()
    }

    /// Refuses new data after the application has stopped reading.
    pub(super) fn refuse_data(&mut self, now: Instant, segment: &Segment) -> Fate {
        self.end(now, Closing::Application);
        self.refuse(segment)
    }

    /// Returns the RST that is sent next, or `None`.
    pub(super) fn next_reset(&mut self) -> Option<Segment> {
        let reset = self.reset.take()?;
        self.last = Way::Out;
        Some(reset)
    }

    /// Processes a RST. A RST with exactly the next sequence number ends the connection. Any other
    /// RST within the window is answered with a challenge ACK (RFC 5961, §3.2). No RST ends
    /// TIME-WAIT (RFC 1337, fix F1). A listening end serves one connection and does not listen
    /// again.
    pub(super) fn take_reset(&mut self, now: Instant, reset: &Segment) -> Fate {
        match self.state() {
            State::SynSent if self.sending.is_synchronized_by(reset) => {}
            State::Closed | State::Listen | State::SynSent | State::TimeWait => return Refusal::Phase.into(),
            _ if self.receiving.is_next(reset) => {}
            _ => {
                if self.receiving.is_in_window(reset) {
                    self.challenge(now);
                }
                return Refusal::Suspicious.into();
            }
        }
        self.end(now, Closing::Reset);
        Fate::Taken
    }

    /// Sends a challenge ACK if the limit permits it.
    pub(super) fn challenge(&mut self, now: Instant) {
        if self.challenges.admit(now) {
            self.receiving.answer(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9293, §3.10.7.1: the end that sent the segment accepts the RST.
    #[test]
    fn a_refusal_has_the_numbers_that_the_other_end_expects() {
        let segment = |flags, payload| Segment {
            ecn: Ecn::Ect0,
            seq: SeqNumber(u32::MAX - 1),
            ack: SeqNumber(77),
            flags,
            window: 1000,
            options: Options::default(),
            payload,
        };
        let refused = |flags, payload| {
            Connection::refusal(&segment(flags, payload)).map(|reset| (reset.seq.0, reset.ack.0, reset.flags))
        };
        assert_eq!(refused(Flags::ACK | Flags::PSH, 100), Some((77, 0, Flags::RST)));
        assert_eq!(refused(Flags::SYN, 0), Some((0, u32::MAX, Flags::RST | Flags::ACK)));
        assert_eq!(refused(Flags::FIN, 100), Some((0, 99, Flags::RST | Flags::ACK)), "numbers go round");
        assert_eq!((refused(Flags::RST, 0), refused(Flags::RST | Flags::ACK, 0)), (None, None));
    }
}
