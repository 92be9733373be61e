//! The sender as half of a [`Connection`](crate::tcp::Connection): the listening end, and the
//! interface between both halves.

use super::chronograph::Condition;
use super::{Controller, Phase, Sender, TcpConfig, announced_mss};
use acklab_base::event::Closing;
use acklab_base::{Event, Instant};
use acklab_wire::tcp::{Segment, SeqNumber};

impl Sender {
    /// Creates a sender with this initial sequence number that opens the connection.
    pub(in crate::tcp) fn opening(config: TcpConfig, controller: Controller, initial: SeqNumber) -> Self {
        Self::numbered(config, controller, initial, Phase::Closed)
    }

    /// Creates a sender with this initial sequence number that waits for the peer's SYN.
    pub(in crate::tcp) fn listening(config: TcpConfig, controller: Controller, initial: SeqNumber) -> Self {
        Self::numbered(config, controller, initial, Phase::Listen)
    }

    /// Processes the peer's `syn`. `scales` is `true` if both ends scale their windows.
    pub(in crate::tcp) fn take_syn(&mut self, now: Instant, syn: &Segment, scales: bool) {
        self.connection.synchronize(now, syn);
        self.negotiate_ack_request(syn);
        self.adopt_mss(syn);
        let window = self.peer_window.establish(syn);
        self.peer_window = if scales { window } else { window.unscaled() };
        self.marks.accept(&self.config, &self.rules, syn);
    }

    /// Limits segments to the size that the peer's `syn` or SYN-ACK permits (RFC 9293, §3.7.1).
    pub(super) fn adopt_mss(&mut self, syn: &Segment) {
        let full_size = self.connection.full_size(syn.options.mss, announced_mss(&self.config));
        if full_size != self.congestion.control.window.mss {
            self.congestion.adopt_mss(&self.config, full_size);
        }
    }

    /// Establishes the connection if `segment` acknowledges the SYN-ACK. `sent_at` is the departure
    /// time of the SYN-ACK, if it was sent once.
    pub(in crate::tcp) fn take_ack_of_syn(
        &mut self,
        now: Instant,
        segment: &Segment,
        sent_at: Option<Instant>,
    ) -> bool {
        let is_synchronized = self.connection.is_synchronized_by(segment);
        if is_synchronized {
            self.connection.phase = Phase::Established;
            self.begin(now, segment, sent_at);
            self.timing.rto.reset();
        }
        is_synchronized
    }

    /// Processes the peer's repeated SYN.
    pub(in crate::tcp) fn note_repeated_syn(&mut self, syn: &Segment) {
        self.marks.note_handshake(syn);
    }

    /// Processes the peer's `syn_ack`, which follows the peer's SYN in a simultaneous open.
    pub(in crate::tcp) fn note_crossed_syn_ack(&mut self, syn_ack: &Segment) {
        self.marks.repeat(syn_ack);
        self.connection.ack_due = true;
    }

    /// Records that the `syn_ack` is sent now. It is retransmitted unless an acknowledgment arrives
    /// in time (RFC 9293, §3.8.1).
    pub(in crate::tcp) fn note_syn_ack(&mut self, now: Instant, syn_ack: &Segment) {
        self.marks.note_handshake(syn_ack);
        if self.connection.phase == Phase::SynReceived {
            self.timing.start(now);
        }
    }

    /// Returns `true` once for each expiry of the SYN-ACK's timer.
    pub(in crate::tcp) fn take_syn_ack_timeout(&mut self) -> bool {
        self.connection.phase == Phase::SynReceived && std::mem::take(&mut self.connection.syn_due)
    }

    /// Returns `true` if the next segment is the ACK of the peer's SYN-ACK.
    pub(in crate::tcp) const fn owes_ack_of_syn(&self) -> bool {
        self.connection.ack_due
    }

    /// Returns SND.NXT.
    pub(in crate::tcp) const fn next_seq(&self) -> SeqNumber {
        self.connection.seq_at(self.board.nxt())
    }

    /// Returns `true` if `segment` acknowledges data that were never sent.
    pub(in crate::tcp) fn never_sent(&self, segment: &Segment) -> bool {
        segment.ack.is_after(self.next_seq())
    }

    /// Returns `true` if the acknowledgment number of `segment` is too old for this connection. It
    /// is too old below snd.una minus the largest window that the peer has offered (RFC 5961,
    /// §5.2).
    pub(in crate::tcp) fn is_too_old(&self, segment: &Segment) -> bool {
        let una = self.connection.seq_at(self.board.una());
        SeqNumber(una.0.wrapping_sub(self.peer_window.largest() as u32)).is_after(segment.ack)
    }

    /// Returns `true` if `segment` acknowledges the SYN or SYN-ACK of this end.
    pub(in crate::tcp) fn is_synchronized_by(&self, segment: &Segment) -> bool {
        self.connection.is_synchronized_by(segment)
    }

    /// Returns a segment with SND.NXT and without data.
    pub(in crate::tcp) fn bare(&mut self, now: Instant) -> Segment {
        self.connection.bare(now, self.next_seq())
    }

    /// Ends the connection for `reason`. No more segments are sent, and unsent data are discarded
    /// (Linux's `tcp_write_queue_purge`).
    pub(in crate::tcp) fn end(&mut self, now: Instant, reason: Closing) {
        self.connection.phase = Phase::Aborted;
        self.buffer.truncate(self.board.nxt());
        self.chronograph.stop(now, Condition::Busy, false);
        self.events.push_back(Event::Closed { reason, code: 0 });
    }

    /// Returns `true` if the FIN has been sent.
    pub(in crate::tcp) fn has_sent_fin(&self) -> bool {
        self.buffer.end().is_some_and(|end| self.board.nxt() > end)
    }

    /// Returns `true` if the FIN, which has the last sequence number, is acknowledged cumulatively
    /// or by SACK.
    #[inline]
    pub(super) fn is_fin_acknowledged(&self) -> bool {
        self.has_sent_fin() && self.board.tail().is_none()
    }
}
