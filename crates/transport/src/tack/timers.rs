//! Time passes.

use super::amplification::LEAST_PACKET;
use super::connection::{Connection, Phase};
use acklab_base::{Event, Instant};
use acklab_wire::tack::BELOW;

impl Connection {
    pub(super) fn wake_timers(&mut self, now: Instant) {
        match self.phase {
            Phase::Idle | Phase::Listening => return,
            Phase::Closed { .. } => {
                self.wake_close(now);
                return self.output.stir();
            }
            Phase::Opening | Phase::Accepting | Phase::Established => {}
        }
        if self.wake_idle(now) {
            return self.output.stir();
        }
        self.receiver.wake(now);
        if self.probe_at().is_some_and(|at| at <= now) {
            self.on_probe_timeout();
        }
        if self.sender.probe.take_question(now) {
            self.streams.ask_for_windows();
        }
        if self.streams.expires_at().is_some_and(|at| at <= now) {
            self.streams.expire(now);
        }
        self.output.stir();
    }

    /// When to probe. A server that may not answer strangers any more waits for its client.
    #[inline]
    fn probe_at(&self) -> Option<Instant> {
        let is_held = self.phase == Phase::Accepting && !self.amplification.lets(LEAST_PACKET);
        if is_held { None } else { self.sender.probe_at() }
    }

    fn on_probe_timeout(&mut self) {
        self.sender.probe.on_timeout();
        if self.mtu.on_timeout(self.sender.probe.expiries()) {
            self.sender.counters.black_holes += 1;
            self.events.push_back(Event::DatagramSize { octets: self.mtu.size() - BELOW });
        }
        self.sender.refresh_timeout();
        if self.phase != Phase::Established {
            self.handshake.repeat();
            self.events.push_back(Event::SynTimeout);
            return;
        }
        self.events.push_back(match self.sender.probe.expiries() {
            1 => Event::TailLossProbe { is_retransmission: !self.streams.have_due() },
            backoff => Event::RetransmissionTimeout { backoff: backoff - 1 },
        });
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
                let awaited = Instant::earliest(self.sender.probe.persists_until(), self.streams.expires_at());
                Instant::earliest(Instant::earliest(owed, awaited), self.departs_at())
            }
        }
    }

    /// When pacing lets the next packet leave, if there is one and the window lets it.
    #[inline]
    fn departs_at(&self) -> Option<Instant> {
        let sender = &self.sender;
        let has_data = self.streams.have_due() && sender.congestion.has_room(sender.in_flight(), self.settings.mss());
        if has_data || self.owes_control() { sender.congestion.holds_until(Instant::ZERO) } else { None }
    }
}
