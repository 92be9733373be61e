//! Handles ACK frames and the loss timer.

use super::acks::MAX_MICROSECONDS;
use super::ask;
use super::connection::Connection;
use super::sender::Owners;
use super::space;
use crate::cc;
use crate::recovery::packets::{Progress, Received};
use acklab_base::{Duration, Instant};
use acklab_wire::quic::{Ack, TransportError};

/// Default of `ack_delay_exponent` (RFC 9000, §18.2).
pub(super) const ACK_DELAY_EXPONENT: u32 = 3;

/// Returns the time that a frame's ACK Delay field encodes.
fn reported_delay(delay: u64) -> Duration {
    Duration::from_micros(delay.saturating_mul(1 << ACK_DELAY_EXPONENT).min(MAX_MICROSECONDS))
}

impl Connection {
    /// Handles an ACK frame in a packet of this space.
    pub(super) fn on_ack(&mut self, now: Instant, id: space::Id, ack: &Ack) -> Result<(), TransportError> {
        let prior_in_flight = self.sender.in_flight();
        let before = self.sender.largest_acknowledged(id);
        let Ok(mut progress) = self.sender.acknowledge(now, id, &ack.ranges) else {
            return Err(TransportError::ProtocolViolation);
        };
        if ack.timestamps().is_some() {
            progress.received = self.receive_times(now, ack, &progress)?;
        }
        match id {
            space::Id::Initial => {}
            space::Id::Handshake => self.handshake.on_acknowledged(),
            // The server reads 1-RTT packets only after its handshake is complete (RFC 9001,
            // §4.1.2). An ACK of such a packet therefore confirms the handshake.
            space::Id::Application => self.confirm(now),
        }
        if let Some(rtt) = progress.rtt {
            // Controllers respond to queueing delay, not to intentional delays of ACKs.
            let adjusted = self.sample(now, id, rtt, ack.delay);
            (progress.rtt, progress.waited) = (Some(adjusted), rtt.saturating_sub(adjusted));
        }
        let has_counts = Some(ack.ranges.largest()) > before && id == space::Id::Application;
        let sent = self.sender.next_number(id);
        let marks = if has_counts { self.ecn.on_ack(ack.ecn(), progress.packets, sent) } else { 0 };
        if progress.packets > 0 {
            self.sender.on_progress(now, self.peer_has_validated());
        }
        self.settle(now, id, &progress, prior_in_flight, marks);
        Ok(())
    }

    /// Returns the receive timestamps of a frame. A peer must not send timestamps without a request
    /// (draft-ietf-quic-receive-ts, §6).
    fn receive_times(&self, now: Instant, ack: &Ack, progress: &Progress) -> Result<Received, TransportError> {
        let Some(wanted) = self.config.receive_timestamps else { return Err(TransportError::ProtocolViolation) };
        let newest = progress.newest.map(|(newest, _)| newest.number);
        wanted.read(now, ack, reported_delay(ack.delay), newest, self.sender.departures())
    }

    /// Records a round-trip time. Returns that time minus the acknowledged part of the ACK delay
    /// (RFC 9002, §5.3). Once the handshake is confirmed, at most the peer's `max_ack_delay` is
    /// subtracted. Packets of the handshake are acknowledged immediately, so their delay is
    /// ignored.
    fn sample(&mut self, now: Instant, id: space::Id, rtt: Duration, delay: u64) -> Duration {
        let reported = reported_delay(delay);
        let delay = match id {
            space::Id::Application if self.is_confirmed() => reported.min(self.requester.max_ack_delay()),
            space::Id::Application => reported,
            space::Id::Initial | space::Id::Handshake => Duration::ZERO,
        };
        let adjusted = self.sender.sample(now, rtt, delay);
        if let (Some(round_trip), Some(least)) = (self.acks.acknowledger.round_trip(), self.sender.rtt().min()) {
            round_trip.on_told(least);
        }
        adjusted
    }

    /// Handles the expiry of a space's loss timer.
    pub(super) fn on_loss_timer(&mut self, now: Instant, id: space::Id) {
        let prior_in_flight = self.sender.in_flight();
        self.settle(now, id, &Progress::default(), prior_in_flight, 0);
    }

    /// Reports acknowledged and lost packets to the owners of their contents and to congestion
    /// control.
    fn settle(&mut self, now: Instant, id: space::Id, progress: &Progress, prior_in_flight: u64, marks: u64) {
        let owners = Owners {
            data: &mut self.data,
            requester: &mut self.requester,
            space: &mut self.spaces[id],
            mtu: &mut self.mtu,
            events: &mut self.events,
        };
        self.sender.settle(now, id, progress, prior_in_flight, marks, owners);
        if id == space::Id::Application {
            self.update_asker(now);
        }
    }

    pub(super) fn update_asker(&mut self, now: Instant) {
        if !self.requester.is_active() {
            return;
        }
        let (Some(srtt), Some(min_rtt)) = (self.sender.rtt().srtt(), self.sender.rtt().min()) else { return };
        let numbers = self.spaces[space::Id::Application].arrived.numbers();
        let window = self.sender.window();
        let path = ask::Path {
            mss: window.mss,
            cwnd: window.cwnd,
            in_slow_start: window.in_slow_start(),
            is_reno: matches!(self.config.congestion, cc::ControllerConfig::NewReno(_)),
            phase: self.sender.phase(),
            srtt,
            min_rtt,
            rate: self.requester.rate(now, self.sender.delivered(), srtt),
            recoveries: self.sender.recoveries().recoveries,
            lost_acks: numbers.end().saturating_sub(numbers.received()),
        };
        self.requester.update(now, &path, self.sender.adaptive_threshold());
    }
}
