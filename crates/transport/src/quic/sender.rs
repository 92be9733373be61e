//! The sending half: the outstanding packets of each packet number space, and the state that
//! determines when packets may be sent.

mod content;
mod feedback;

pub(super) use content::{Content, Counters};
pub(super) use feedback::Owners;

use super::settings::ConnectionConfig;
use super::space::Id;
use crate::cc::{self, Controller, Window};
use crate::congestion::{self, Congestion};
use crate::pacing::Spread;
use crate::recovery::manager::Manager;
use crate::recovery::packets::timeout::{Expiries, probe_timeout};
use crate::recovery::packets::{GRANULARITY, NeverSent, Packet, Packets, Progress, Thresholds, Widening};
use crate::recovery::rtt::Estimator;
use acklab_base::{Duration, Event, Instant, Rate};
use acklab_wire::quic::{AckRanges, OlderRanges};

/// Recovery in all spaces, and congestion control.
#[derive(Debug)]
pub(super) struct Sender {
    thresholds: Thresholds,
    /// `true` if the packet threshold rises with reordering.
    adapts_threshold: bool,
    /// State that widens the time threshold, if the threshold adapts.
    widening: Option<Widening>,
    /// `true` if window reductions after spurious losses are undone.
    undoes: bool,
    recovery: Manager<Content, Estimator, Congestion, 3>,
    /// The start of the probe timeout of a client without packets in flight: the last departure or
    /// acknowledgment that restarts this timer.
    active_at: Instant,
    /// The ranges below the newest range in the last ACK frame of each space. The next frame
    /// usually repeats them.
    told: [Option<OlderRanges>; Id::ALL.len()],
    counters: Counters,
}

impl Sender {
    pub(super) fn new(config: &ConnectionConfig, controller: Controller) -> Self {
        let congestion = Congestion::new(controller, config.initial_window, config.first_datagram())
            .with_pacing(config.pacing, Spread::QUIC)
            .with_burst(config.burst)
            .resuming(config.careful_resume);
        Self {
            thresholds: config.thresholds,
            adapts_threshold: config.adaptive_packet_threshold,
            widening: config.adaptive_time_threshold.then(Widening::default),
            undoes: config.undo,
            // The handshake never fills the window, so only application data control the window.
            recovery: Manager::new(Estimator::default(), congestion).controlling_from(Id::Application as usize),
            active_at: Instant::ZERO,
            told: Default::default(),
            counters: Counters::default(),
        }
    }

    #[inline]
    const fn space(&self, id: Id) -> &Packets<Content> {
        self.recovery.space(id as usize)
    }

    #[inline]
    const fn space_mut(&mut self, id: Id) -> &mut Packets<Content> {
        self.recovery.space_mut(id as usize)
    }

    /// Returns the present packet threshold, or `None` if the threshold is fixed.
    pub(super) fn adaptive_threshold(&self) -> Option<u64> {
        self.adapts_threshold.then_some(self.thresholds.packets)
    }

    /// Returns the bytes in flight.
    #[inline]
    pub(super) fn in_flight(&self) -> u64 {
        self.recovery.in_flight()
    }

    /// Returns the next packet number of a space.
    #[inline]
    pub(super) fn next_number(&self, id: Id) -> u64 {
        self.space(id).next_number()
    }

    /// Returns the largest acknowledged packet number of a space.
    #[inline]
    pub(super) const fn largest_acknowledged(&self, id: Id) -> Option<u64> {
        self.space(id).largest_acknowledged()
    }

    /// Returns `true` if an ack-eliciting packet of a space is outstanding.
    #[inline]
    pub(super) const fn has_outstanding(&self, id: Id) -> bool {
        self.space(id).has_ack_eliciting()
    }

    /// Returns the content of the oldest outstanding ack-eliciting packet of a space.
    pub(super) fn oldest(&self, id: Id) -> Option<&Content> {
        let mut outstanding = self.space(id).outstanding();
        outstanding.find(|(_, packet)| packet.is_ack_eliciting).map(|(_, packet)| &packet.content)
    }

    /// Assigns a packet number to an untracked packet. Returns the number.
    pub(super) fn pass(&mut self, id: Id) -> u64 {
        self.space_mut(id).pass()
    }

    /// Records that a packet is sent. It contains `octets_of_streams` bytes of stream data.
    /// `repeats` is `true` if some of them are retransmitted. Returns the packet number.
    #[inline]
    pub(super) fn send(&mut self, id: Id, packet: Packet<Content>, octets_of_streams: u64, repeats: bool) -> u64 {
        if packet.is_ack_eliciting {
            self.active_at = packet.at;
        }
        if octets_of_streams > 0 {
            self.counters.packets += 1;
            self.counters.bytes += octets_of_streams;
            self.counters.retransmissions += u64::from(repeats);
        }
        self.recovery.send(id as usize, packet, repeats)
    }

    /// Removes the packets of a space from the bytes in flight (RFC 9002, §6.4).
    pub(super) fn abandon(&mut self, id: Id) {
        self.recovery.abandon(id as usize);
    }

    /// Discards the keys and the timers of a space (RFC 9002, §6.2.2 and §6.4).
    pub(super) fn discard(&mut self, now: Instant, id: Id) {
        self.abandon(id);
        self.recovery.expiries.reset();
        self.active_at = now;
    }

    /// Records that probes are due.
    pub(super) const fn note_probe(&mut self, now: Instant) {
        self.active_at = now;
    }

    /// Records that the handshake is complete.
    pub(super) fn on_established(&mut self, now: Instant) {
        let least = self.rtt().min();
        self.recovery.congestion.on_established(now, least);
    }

    /// Counts a datagram with an ACK frame that has arrived.
    pub(super) const fn count_ack(&mut self) {
        self.counters.acks += 1;
    }

    pub(super) const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the counters of congestion control.
    pub(super) const fn recoveries(&self) -> &congestion::Counters {
        &self.recovery.congestion.counters
    }

    /// Returns the number of reductions of the window in response to marks.
    pub(super) const fn mark_reductions(&self) -> u64 {
        self.recovery.counters().mark_reductions
    }

    /// Returns the number of acknowledged bytes, as congestion control counts them.
    pub(super) const fn delivered(&self) -> u64 {
        self.recovery.counters().delivered
    }

    /// Returns the estimator of the round-trip time.
    #[inline]
    pub(super) const fn rtt(&self) -> &Estimator {
        self.recovery.round_trips()
    }

    /// Records the round-trip time `rtt`, of which the peer reports `delay` as ACK delay. Returns
    /// `rtt` minus the part of `delay` that is accepted.
    pub(super) fn sample(&mut self, now: Instant, rtt: Duration, delay: Duration) -> Duration {
        self.recovery.round_trips_at(now).sample_with_delay(rtt, delay)
    }

    /// Returns the congestion window and the slow-start threshold.
    #[inline]
    pub(super) const fn window(&self) -> &Window {
        self.recovery.congestion.window()
    }

    /// Returns the phase of the controller that determines the feedback it needs.
    pub(super) fn phase(&self) -> Option<cc::Phase> {
        self.recovery.congestion.phase()
    }

    /// Returns the number of bytes that the congestion window permits.
    pub(super) fn room(&self) -> u64 {
        self.window().cwnd.saturating_sub(self.in_flight())
    }

    /// Returns `true` if the window has room for a full packet.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.recovery.congestion.has_room(self.in_flight(), self.window().mss)
    }

    /// Returns `true` if the congestion window and pacing permit a packet.
    #[inline]
    pub(super) fn may_send(&self, now: Instant) -> bool {
        self.holds_until(now).is_none() && self.has_room()
    }

    /// Returns when pacing permits the next packet, or `None` if pacing permits it now.
    #[inline]
    pub(super) fn holds_until(&self, now: Instant) -> Option<Instant> {
        self.recovery.congestion.holds_until(now)
    }

    /// Returns when the next timer of the controller expires.
    #[inline]
    pub(super) fn controller_at(&self) -> Option<Instant> {
        self.recovery.congestion.deadline()
    }

    /// Runs the controller's timer if it has expired.
    pub(super) fn wake_controller(&mut self, now: Instant) {
        let in_flight = self.in_flight();
        self.recovery.congestion.wake(now, in_flight);
    }

    /// Records that no packet can be sent now. Pacing alone delays `delayed` bytes.
    pub(super) fn note_limit(&mut self, delayed: u64) {
        let (in_flight, packet) = (self.in_flight(), self.window().mss);
        self.recovery.congestion.note_limit(in_flight, packet, delayed);
    }

    /// Records that the application has no more data to send, although the congestion window has
    /// room.
    pub(super) fn on_app_limited(&mut self) {
        let in_flight = self.in_flight();
        self.recovery.congestion.on_app_limited(in_flight);
    }

    /// Returns the pacing rate.
    pub(super) fn pacing_rate(&self) -> Option<Rate> {
        self.recovery.congestion.pacing_rate(self.rtt().srtt())
    }

    /// Returns the counts of probe timeouts.
    pub(super) const fn expiries(&self) -> &Expiries {
        &self.recovery.expiries
    }

    /// Records a probe timeout, and returns its event. `is_open` is `true` if the handshake is
    /// complete. `repeats` is `true` if the probe carries no new data.
    pub(super) const fn on_probe_timeout(&mut self, is_open: bool, repeats: bool) -> Event {
        self.recovery.expiries.on_timeout();
        self.recovery.expiries.event(is_open, repeats)
    }

    /// Returns the probe timeout of a space (RFC 9002, §6.2.1). `delay` is the maximum ACK delay of
    /// the peer. The timeout doubles with each of `expiries` consecutive expiries, without a
    /// maximum in the RFC.
    pub(super) fn timeout_after(&self, delay: Duration, expiries: u32) -> Duration {
        probe_timeout(self.rtt(), self.thresholds.initial_rtt, delay, expiries)
    }

    /// Returns the probe timeout with the present backoff.
    #[inline]
    pub(super) fn timeout(&self, delay: Duration) -> Duration {
        self.timeout_after(delay, self.recovery.expiries.in_a_row())
    }

    /// Returns `true` if a space may have to be probed by `bound`. Every timeout is at least
    /// kGranularity, so the result does not require the exact timeout, which is expensive to
    /// compute.
    #[inline]
    pub(super) fn may_probe_by(&self, id: Id, bound: Instant) -> bool {
        self.space(id).last_ack_eliciting_at().is_some_and(|last| last + GRANULARITY <= bound)
    }

    /// Returns when the probe timeout of a space expires.
    #[inline]
    pub(super) fn probe_at(&self, id: Id, timeout: Duration) -> Option<Instant> {
        self.space(id).probe_at(timeout)
    }

    /// Returns when the probe timeout of a client without packets in flight expires.
    pub(super) fn lone_probe_at(&self, timeout: Duration) -> Instant {
        self.active_at + timeout
    }

    /// Returns when the next packet of a space is declared lost by the time threshold.
    #[inline]
    pub(super) const fn loss_at(&self, id: Id) -> Option<Instant> {
        self.space(id).loss_at()
    }

    /// Handles an ACK frame in a packet of a space.
    ///
    /// # Errors
    /// If the frame acknowledges a number that was never used.
    pub(super) fn acknowledge(&mut self, now: Instant, id: Id, ranges: &AckRanges) -> Result<Progress, NeverSent> {
        let told = &mut self.told[id as usize];
        let repeats = told.as_ref().zip(ranges.older()).is_some_and(|(told, older)| told.is_same(older));
        // The repeated ranges contain only acknowledged packets.
        let of_interest = if repeats { 1 } else { usize::MAX };
        let progress = self.recovery.acknowledge(now, id as usize, ranges.iter().take(of_interest).cloned())?;
        if !repeats {
            *told = ranges.older().cloned();
        }
        Ok(progress)
    }

    /// Returns the numbers and departure times of the newly acknowledged packets.
    pub(super) fn departures(&self) -> impl Iterator<Item = (u64, Instant)> {
        self.recovery.departures()
    }

    /// Records an acknowledgment. `is_validated` is `true` if the peer has validated this end's
    /// address (RFC 9002, §6.2.1).
    pub(super) const fn on_progress(&mut self, now: Instant, is_validated: bool) {
        self.active_at = now;
        if is_validated {
            self.recovery.expiries.reset();
        }
    }
}

#[cfg(test)]
mod tests;
