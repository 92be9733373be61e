//! Timers of a connection.

use super::amplification::MIN_PACKET;
use super::connection::{Connection, Phase};
use acklab_base::Instant;
use acklab_wire::tack::BELOW;

impl Connection {
    pub(super) fn wake_timers(&mut self, now: Instant) {
        match self.phase {
            Phase::Idle | Phase::Listening => return,
            Phase::Closed { .. } => {
                self.wake_close(now);
                return self.output.note_change();
            }
            Phase::Opening | Phase::Accepting | Phase::Established => {}
        }
        if self.wake_idle(now) {
            return self.output.note_change();
        }
        self.receiver.wake(now);
        if self.phase == Phase::Established {
            self.sender.wake_controller(now);
        }
        if self.probe_at().is_some_and(|at| at <= now) {
            self.on_probe_timeout();
        }
        if self.sender.probe_mut().take_question(now) {
            self.streams.ask_for_windows();
        }
        if self.streams.expires_at().is_some_and(|at| at <= now) {
            self.streams.expire(now);
        }
        self.output.note_change();
    }

    /// Returns when the probe timeout expires. A server at its limit for unvalidated addresses
    /// sends no probe.
    #[inline]
    fn probe_at(&self) -> Option<Instant> {
        let is_held = self.phase == Phase::Accepting && !self.amplification.lets(MIN_PACKET);
        if is_held { None } else { self.sender.probe_at() }
    }

    fn on_probe_timeout(&mut self) {
        self.sender.on_probe_timeout();
        if self.mtu.on_timeout(self.sender.expiries().in_a_row()) {
            self.sender.count_black_hole();
            self.events.push(self.mtu.size_event(BELOW));
        }
        let is_open = self.phase == Phase::Established;
        if !is_open {
            self.handshake.repeat();
        }
        self.events.push(self.sender.timeout_event(is_open, !self.streams.have_due()));
    }

    #[inline]
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Idle | Phase::Listening => None,
            Phase::Closed { .. } => self.close.repeats_at(),
            Phase::Opening | Phase::Accepting => Instant::earliest(self.probe_at(), self.idle_deadline()),
            Phase::Established => {
                let owed = Instant::earliest(self.receiver.deadline(), self.sender.probe_at());
                let owed = Instant::earliest(owed, self.idle_deadline());
                let awaited = Instant::earliest(self.sender.probe().persists_until(), self.streams.expires_at());
                let owed = Instant::earliest(owed, self.sender.controller_at());
                Instant::earliest(Instant::earliest(owed, awaited), self.departs_at())
            }
        }
    }

    /// Returns when pacing permits the next packet, if a packet is due and the congestion window
    /// has room.
    #[inline]
    fn departs_at(&self) -> Option<Instant> {
        let sender = &self.sender;
        let has_data = self.streams.have_due() && sender.has_room();
        if has_data || self.owes_control() { sender.holds_until(Instant::ZERO) } else { None }
    }
}
