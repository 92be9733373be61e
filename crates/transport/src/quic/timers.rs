//! Timers: delayed ACKs, the loss timer, the probe timeout (RFC 9002, §6.2 and appendix A.8), the
//! idle timeout.

use super::connection::{Connection, Phase};
use super::space;
use crate::streams::Side;
use acklab_base::{Duration, Instant};
use acklab_wire::quic::MIN_INITIAL;

/// Maximum number of packets that a probe timeout sends (RFC 9002, §6.2.4).
const PROBES: u32 = 2;

impl Connection {
    /// Returns the probe timeout of a space (RFC 9002, §6.2.1).
    pub(super) fn probe_timeout(&self, id: space::Id) -> Duration {
        let delay = match id {
            space::Id::Application => self.requester.max_ack_delay(),
            space::Id::Initial | space::Id::Handshake => Duration::ZERO,
        };
        self.sender.timeout(delay)
    }

    /// Returns when a probe is due, and in which space (`GetPtoTimeAndSpace`). May return `None` if
    /// no probe is due by `bound`.
    #[inline]
    fn probe_by(&self, bound: Instant) -> Option<(Instant, space::Id)> {
        // A server at its limit for unvalidated addresses may not send a probe. It waits for its
        // client.
        if self.unvalidated_room() < MIN_INITIAL {
            return None;
        }
        if !self.spaces.any(|id| self.sender.has_outstanding(id)) {
            return if self.peer_has_validated() || self.phase == Phase::Idle { None } else { Some(self.lone_probe()) };
        }
        self.spaces.least(|id| {
            // The probe timeout of a space does not run while probes of the space are due.
            let is_skipped = (id == space::Id::Application && !self.is_confirmed()) || self.spaces[id].probes > 0;
            if is_skipped || !self.sender.has_outstanding(id) || !self.sender.may_probe_by(id, bound) {
                return None;
            }
            Some((self.sender.probe_at(id, self.probe_timeout(id))?, id))
        })
    }

    /// Returns when a client with no packets in flight sends a probe, and in which space.
    #[cold]
    fn lone_probe(&self) -> (Instant, space::Id) {
        let has_handshake = self.spaces[space::Id::Handshake].is_usable();
        let id = if has_handshake { space::Id::Handshake } else { space::Id::Initial };
        (self.sender.lone_probe_at(self.probe_timeout(id)), id)
    }

    /// Returns when the next packet is declared lost by the time threshold, and in which space
    /// (`GetLossTimeAndSpace`).
    #[inline]
    fn loss_at(&self) -> Option<(Instant, space::Id)> {
        self.spaces.least(|id| Some((self.sender.loss_at(id)?, id)))
    }

    /// Returns when a timer of loss recovery expires. May return `None` if no timer expires by
    /// `bound`.
    #[inline]
    fn recovers_by(&self, bound: Instant) -> Option<Instant> {
        self.loss_at().or_else(|| self.probe_by(bound)).map(|(at, _)| at)
    }

    /// Returns when the idle connection ends (RFC 9000, §10.1), or `None` if it does not end by
    /// `bound`.
    #[inline]
    fn idles_by(&self, bound: Instant) -> Option<Instant> {
        let (mine, peer) = (self.config.idle_timeout, self.peer.idle_timeout);
        if !self.idle.may_expire_by(bound, mine, peer) {
            return None;
        }
        let probe = || self.sender.timeout_after(self.requester.max_ack_delay(), 0);
        self.idle.expires_at(mine, peer, probe).filter(|at| *at <= bound)
    }

    /// Handles timers that have already expired when they are set. Until the handshake is
    /// confirmed, the timer of application data does not run (RFC 9002, §6.2.1). At a server that
    /// may not send, no probe timeout runs (§6.2.2.1). An ACK can also set a timer to a past time,
    /// because it ends the backoff.
    pub(super) fn wake_overdue(&mut self, now: Instant) {
        let is_open = matches!(self.phase, Phase::Handshaking | Phase::Established);
        if is_open && self.recovers_by(now).is_some_and(|at| at <= now) {
            self.wake_timers(now);
        }
    }

    pub(super) fn wake_timers(&mut self, now: Instant) {
        match self.phase {
            Phase::Idle | Phase::Listening => return,
            Phase::Closed(_) => return self.close.wake(now),
            Phase::Handshaking | Phase::Established => {}
        }
        self.output.note_change();
        if self.idles_by(now).is_some() {
            return self.end(super::close::Ended::IdleTimeout);
        }
        self.acks.acknowledger.wake(now);
        self.sender.wake_controller(now);
        while let Some((_, id)) = self.loss_at().filter(|(at, _)| *at <= now) {
            self.on_loss_timer(now, id);
        }
        if self.loss_at().is_some() {
            return;
        }
        // If a server was not permitted to send, its timers may have expired in several spaces.
        let mut is_first = true;
        while let Some((_, id)) = self.probe_by(now).filter(|(at, _)| *at <= now) {
            self.probe(now, id);
            if std::mem::take(&mut is_first) {
                self.on_probe_timeout();
            }
        }
    }

    /// Schedules probes in a space.
    fn probe(&mut self, now: Instant, id: space::Id) {
        self.spaces[id].probes = if self.sender.has_outstanding(id) { PROBES } else { 1 };
        self.sender.note_probe(now);
    }

    fn on_probe_timeout(&mut self) {
        let event = self.sender.on_probe_timeout(self.handshake.is_complete(), !self.data.have_new());
        self.events.push(event);
    }

    #[inline]
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Idle | Phase::Listening => None,
            Phase::Closed(_) => self.close.deadline(),
            Phase::Handshaking | Phase::Established => {
                // The timers that are expensive to compute are last, because an earlier timer
                // usually expires first.
                let pending = Instant::earliest(self.acks.acknowledger.deadline(), self.sender.controller_at());
                let pending = Instant::earliest(pending, self.departs_at());
                let pending = Instant::earliest(pending, self.recovers_by(pending.unwrap_or(Instant::FAR_FUTURE)));
                self.idles_by(pending.unwrap_or(Instant::FAR_FUTURE)).or(pending)
            }
        }
    }

    /// Returns when pacing permits the next packet, if a packet is due and the congestion window
    /// has room.
    #[inline]
    fn departs_at(&self) -> Option<Instant> {
        let until = self.sender.holds_until(self.output.polled_at())?;
        if self.side == Side::Server && self.unvalidated_room() < u64::MAX {
            return None;
        }
        let has_due = |id: space::Id| self.spaces[id].is_usable() && self.has_due(id);
        (self.sender.has_room() && self.spaces.any(has_due)).then_some(until)
    }
}
