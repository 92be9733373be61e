//! Congestion control by the [controllers](crate::cc) for transports that number packets: TACK and
//! QUIC.
//!
//! Positions are packet numbers. A loss reduces the window at most once per round trip: packets
//! that were sent before a reduction do not cause another (RFC 9002, §7.3.2). The window falls to
//! the threshold immediately, because pacing spreads the following packets. Reductions for losses
//! that prove spurious are undone.

pub mod careful_resume;

use self::careful_resume::{CarefulResume, Saved, View};
use crate::ack::tack::Law;
use crate::cc::{self, CongestionControl, ControlledWindow, Controller, Position, Signal, Window};
use crate::limit::Limit;
use crate::pacing::{self, Pacer};
use crate::recovery::CongestionState;
use crate::recovery::delivery_rate::{Newest, Stamp};
use crate::recovery::packets;
use crate::recovery::transmission::Transmission;
use acklab_base::endpoint::counter;
use acklab_base::{CounterValue, Duration, Event, Instant, Rate};

/// Counts of one sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The number of recoveries that ended.
    pub recoveries: u64,
    /// The total duration of these recoveries.
    pub recovery_time: Duration,
    /// The number of reductions that were undone.
    pub undone: u64,
}

impl Counters {
    /// Reports each counter with its name and unit.
    pub fn report(&self, to: &mut dyn FnMut(&'static str, &'static str, CounterValue)) {
        to(counter::UNDONE_REDUCTIONS, "", CounterValue::Count(self.undone));
        to(counter::RECOVERIES, "", CounterValue::Count(self.recoveries));
        to(counter::RECOVERY_TIME, "ns", CounterValue::Count(self.recovery_time.as_nanos()));
    }
}

/// An owner of congestion control: TACK, QUIC or quinn-proto.
pub trait Controlled {
    /// Returns the congestion control, if there is any.
    fn get(&self) -> Option<&Congestion>;

    /// Returns the congestion control, if there is any.
    fn get_mut(&mut self) -> Option<&mut Congestion>;
}

impl Controlled for Congestion {
    #[inline]
    fn get(&self) -> Option<&Self> {
        Some(self)
    }

    #[inline]
    fn get_mut(&mut self) -> Option<&mut Self> {
        Some(self)
    }
}

impl Controlled for Option<Congestion> {
    fn get(&self) -> Option<&Congestion> {
        self.as_ref()
    }

    fn get_mut(&mut self) -> Option<&mut Congestion> {
        self.as_mut()
    }
}

/// A packet that is sent. Sizes are in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// The current time.
    pub now: Instant,
    /// The size of the packet.
    pub octets: u64,
    /// The number of bytes in flight, including this packet.
    pub in_flight: u64,
    /// The number of the packet.
    pub number: u64,
    /// `true` if the packet carries data that were sent before.
    pub is_retransmission: bool,
}

/// A packet that was lost.
#[derive(Clone, Copy, Debug)]
pub struct LostPacket {
    /// The number of the packet.
    pub number: u64,
    /// The time at which it was sent.
    pub sent_at: Instant,
    /// The size of the packet, in bytes.
    pub octets: u64,
    /// The stamp of the packet, if stamps are recorded.
    pub stamp: Stamp,
}

impl LostPacket {
    /// Returns the packet in the form of congestion control.
    #[must_use]
    pub const fn of<T>(lost: &packets::Lost<T>) -> Self {
        Self { number: lost.number, sent_at: lost.packet.at, octets: lost.packet.octets, stamp: lost.stamp }
    }
}

/// The effect of an acknowledgment or a timer, once its acknowledged and lost packets are known.
/// Sizes are in bytes.
#[derive(Debug)]
pub struct Feedback<'a> {
    /// The current time.
    pub now: Instant,
    /// The number of newly acknowledged bytes.
    pub delivered: u64,
    /// The number of bytes acknowledged since the connection began.
    pub total_delivered: u64,
    /// Lost packets, in the order of their numbers.
    pub lost: &'a [LostPacket],
    /// The number of packets that were considered lost and have arrived.
    pub spuriously_lost: u64,
    /// The number of bytes in flight after the acknowledgment or timer.
    pub in_flight: u64,
    /// The number of bytes in flight before the acknowledgment or timer.
    pub prior_in_flight: u64,
    /// The largest packet number acknowledged so far.
    pub largest_acknowledged: Option<u64>,
    /// The number of the next packet.
    pub next_number: u64,
    /// The round-trip time that the acknowledgment measures.
    pub rtt: Option<Duration>,
    /// The sending time of the packet whose round-trip time the acknowledgment measures.
    pub timed: Option<Instant>,
    /// The smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// The minimum round-trip time.
    pub min_rtt: Option<Duration>,
    /// The acknowledged packet in flight that was sent last.
    pub newest: Option<(Newest, Stamp)>,
    /// The arrival time of that packet, by the receiver's clock; zero if the receiver does not
    /// report it.
    pub received_at: Duration,
    /// The delivery rate that the receiver reports: a number of bytes, and the time in which they
    /// arrived. It replaces the sender's measurement, unless it exceeds the sending rate.
    pub reported: Option<(u64, Duration)>,
    /// The number of bytes newly reported as congestion-marked, if a mark was reported.
    pub marked: Option<u64>,
    /// Outcomes of packets, if the controller [requires](Congestion::wants_outcomes) them.
    pub outcomes: &'a [Transmission],
    /// `true` if the losses are persistent congestion: the window is no longer valid (RFC 9002,
    /// §7.6).
    pub is_persistent: bool,
}

/// A change of the state of congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// A congestion mark has reduced the window.
    Reduced,
    /// A recovery began.
    Entered,
    /// A recovery ended.
    Exited,
    /// The last reduction was undone.
    Undone,
}

impl Transition {
    /// Returns the event of this transition, with the first stream sent up to the offset `sent`.
    #[must_use]
    pub const fn event(self, sent: u64) -> Event {
        match self {
            Self::Reduced => Event::WindowReduced { until: sent },
            Self::Entered => Event::RecoveryEntered { until: sent },
            Self::Exited => Event::RecoveryExited,
            Self::Undone => Event::Undone,
        }
    }
}

/// A reduction that may prove spurious.
#[derive(Clone, Copy, Debug)]
struct Reduction {
    cwnd: u64,
    ssthresh: u64,
    /// The number of lost packets that have not arrived.
    lost: u64,
}

/// A controller and its window, with its inputs and outputs.
#[derive(Debug)]
pub struct Congestion {
    control: ControlledWindow,
    pacer: Pacer,
    pacing: pacing::PacingConfig,
    spread: pacing::Spread,
    state: CongestionState,
    /// The first packet number after the last reduction.
    recover: u64,
    recovery_began: Instant,
    reduction: Option<Reduction>,
    /// The number of marked bytes that the controller has not received yet.
    marked: u64,
    limit: Limit,
    careful_resume: Option<CarefulResume>,
    /// The counters.
    pub counters: Counters,
}

impl Congestion {
    /// Creates congestion control by `controller` with a window of `initial_window` bytes; a
    /// full-sized packet has `mss` bytes.
    #[must_use]
    pub fn new(controller: Controller, initial_window: u64, mss: u64) -> Self {
        Self {
            control: ControlledWindow::new(controller, initial_window, mss),
            pacer: Pacer::default(),
            pacing: pacing::PacingConfig::Always,
            spread: pacing::Spread::LINUX,
            state: CongestionState::Open,
            recover: 0,
            recovery_began: Instant::ZERO,
            reduction: None,
            marked: 0,
            limit: Limit::default(),
            careful_resume: None,
            counters: Counters::default(),
        }
    }

    /// Resumes with the saved state of the path, unless the controller governs the window.
    #[must_use]
    pub fn resuming(self, saved: Option<Saved>) -> Self {
        let saved = saved.filter(|_| !self.control.controller.governs_window());
        Self { careful_resume: saved.map(|saved| CarefulResume::new(saved, self.control.window.cwnd)), ..self }
    }

    /// Paces the controllers that `pacing` selects. For a controller without a rate, `spread` sets
    /// the rate from the window.
    #[must_use]
    pub fn with_pacing(self, pacing: pacing::PacingConfig, spread: pacing::Spread) -> Self {
        Self { pacing, spread, ..self }
    }

    /// Paces with a token bucket if `burst` is set.
    #[must_use]
    pub fn with_burst(self, burst: Option<pacing::Burst>) -> Self {
        let packet = self.control.window.mss;
        Self { pacer: burst.map_or_else(Pacer::default, |burst| Pacer::bursting(burst, packet)), ..self }
    }

    /// Restarts on another path: `controller` begins with a window of `initial_window` bytes (RFC
    /// 9000, §9.4). Packets in flight keep their stamps.
    pub fn restart(&mut self, now: Instant, controller: Controller, initial_window: u64) {
        let sampler = self.control.sampler.take();
        let mut control = ControlledWindow::new(controller, initial_window, self.control.window.mss);
        control.sampler = control.sampler.map(|fresh| sampler.unwrap_or(fresh));
        self.control = control;
        if self.state != CongestionState::Open {
            self.set_state(now, CongestionState::Open);
        }
        (self.reduction, self.marked, self.limit) = (None, 0, Limit::default());
        self.careful_resume = None;
    }

    /// Returns the congestion window and the threshold.
    #[must_use]
    #[inline]
    pub const fn window(&self) -> &Window {
        &self.control.window
    }

    /// Sets the size of a full-sized packet to `octets` bytes. Returns `true` if it has changed.
    pub const fn set_packet_size(&mut self, octets: u64) -> bool {
        let before = std::mem::replace(&mut self.control.window.mss, octets);
        before != octets
    }

    /// Returns `true` if the controller requires the delivery rate, and therefore
    /// [stamps](Self::stamp).
    #[must_use]
    pub const fn wants_stamps(&self) -> bool {
        self.control.sampler.is_some()
    }

    /// Returns `true` if the controller requires the outcome of each packet.
    #[must_use]
    pub fn wants_outcomes(&self) -> bool {
        self.control.controller.wants_outcomes()
    }

    /// Returns the purpose for which the controller needs feedback now.
    #[must_use]
    pub fn phase(&self) -> Option<cc::Phase> {
        self.control.controller.phase()
    }

    /// Sets the parameters that TACK's receiver uses in its ACK frequency formula.
    pub fn on_frequency(&mut self, law: Law) {
        self.control.controller.on_frequency(law);
    }

    /// Records that the handshake is complete, with the round-trip time `rtt`.
    pub fn on_established(&mut self, now: Instant, rtt: Option<Duration>) {
        self.control.controller.on_established(now, &mut self.control.window, rtt);
    }

    /// Returns when the controller must be [woken](Self::wake).
    #[must_use]
    #[inline]
    pub fn deadline(&self) -> Option<Instant> {
        self.control.alarm().at()
    }

    /// Wakes the controller if it is due, with `in_flight` bytes in flight. Returns `true` if it
    /// was.
    pub fn wake(&mut self, now: Instant, in_flight: u64) -> bool {
        self.control.wake(now, in_flight)
    }

    /// Returns when pacing permits the next packet, if that is later than now.
    #[must_use]
    #[inline]
    pub fn holds_until(&self, now: Instant) -> Option<Instant> {
        self.pacer.holds_until(now)
    }

    /// Returns `true` if the window has room for a packet of this size.
    #[must_use]
    #[inline]
    pub const fn has_room(&self, in_flight: u64, octets: u64) -> bool {
        in_flight == 0 || in_flight + octets <= self.control.window.cwnd
    }

    /// Returns the stamp of a packet of `octets` bytes that is sent now; `in_flight` includes the
    /// packet.
    #[inline]
    pub fn stamp(&mut self, now: Instant, in_flight: u64, octets: u64) -> Stamp {
        let was_idle = in_flight == octets;
        self.control.sampler.as_mut().map(|sampler| sampler.on_sent(now, in_flight, was_idle)).unwrap_or_default()
    }

    /// Records that a packet was sent.
    #[inline]
    pub fn on_sent(&mut self, departure: &Departure, srtt: Option<Duration>) {
        let Departure { now, octets, in_flight, number, is_retransmission } = *departure;
        let sent = cc::Sent {
            now,
            bytes: octets,
            in_flight,
            end: Position(number + 1),
            is_retransmission,
            is_app_limited: self.control.is_app_limited(),
        };
        self.control.tell_sent(&sent);
        match self.pacing_rate(srtt) {
            Some(rate) => self.pacer.on_sent(now, octets, rate),
            None => self.pacer.on_unpaced(octets),
        }
    }

    /// Records a packet that was sent regardless of the window, such as a packet of the handshake.
    pub const fn on_unpaced(&mut self, octets: u64) {
        self.pacer.on_unpaced(octets);
    }

    /// Returns the sending rate. If the controller sets none, it is computed from the window:
    /// pacing ∝ CWND/sRTT (§5.3).
    #[inline]
    #[must_use]
    pub fn pacing_rate(&self, srtt: Option<Duration>) -> Option<Rate> {
        let Window { cwnd, ssthresh, .. } = self.control.window;
        let of_window = || pacing::rate_of_window(self.spread, cwnd, ssthresh, srtt?);
        match self.pacing {
            pacing::PacingConfig::Always => self.control.controller.pacing_rate().or_else(of_window),
            pacing::PacingConfig::Controller => self.control.controller.pacing_rate(),
            pacing::PacingConfig::Never => None,
        }
    }

    /// Records why no packet is sent now, with `in_flight` bytes in flight and `delayed` bytes that
    /// only pacing delays. A full-sized packet has `packet` bytes.
    #[inline]
    pub const fn note_limit(&mut self, in_flight: u64, packet: u64, delayed: u64) {
        self.limit = Limit::of(self.control.window.cwnd.saturating_sub(in_flight), packet, delayed);
    }

    /// Records that the application has nothing more to send while the window has room.
    pub fn on_app_limited(&mut self, in_flight: u64) {
        if let Some(sampler) = &mut self.control.sampler {
            sampler.on_app_limited(in_flight);
        }
    }

    /// Processes a report that a packet was congestion-marked (RFC 9002, §7.1). The window is
    /// reduced as after a loss, unless the last reduction was within the round trip. Returns `true`
    /// if the window was reduced.
    fn on_mark(&mut self, feedback: &Feedback<'_>) -> bool {
        if feedback.largest_acknowledged.unwrap_or(0) < self.recover {
            return false;
        }
        self.reduction = None;
        self.control.lower_threshold(feedback.now, self.control.window.cwnd, Signal::Mark);
        if self.state == CongestionState::Open {
            self.recovery_began = feedback.now;
            self.set_state(feedback.now, CongestionState::Reduced);
        }
        self.control.fall_to_threshold();
        self.recover = feedback.next_number;
        true
    }

    /// Returns `true` if the controller sets a rate.
    #[must_use]
    pub fn names_rate(&self) -> bool {
        self.control.controller.pacing_rate().is_some()
    }

    /// Processes feedback. Returns the changes of the state.
    pub fn on_feedback(&mut self, feedback: &Feedback<'_>) -> impl Iterator<Item = Transition> + use<> {
        let mut transitions = [None; 4];
        if let Some(octets) = feedback.marked {
            // The controller receives the marked bytes with the next delivered bytes.
            self.marked += octets;
            if self.on_mark(feedback) {
                transitions[0] = Some(Transition::Reduced);
            }
        }
        let is_past = feedback.largest_acknowledged.is_some_and(|largest| largest >= self.recover);
        if self.state != CongestionState::Open && is_past {
            self.exit(feedback.now);
            transitions[1] = Some(Transition::Exited);
        }
        if feedback.spuriously_lost > 0 && self.refute(feedback) {
            transitions[2] = Some(Transition::Undone);
        }
        if let Some(newest) = feedback.lost.last() {
            if newest.number >= self.recover {
                self.enter(feedback);
                transitions[3] = Some(Transition::Entered);
            }
            self.tell_losses(feedback);
        }
        if feedback.is_persistent {
            self.collapse(feedback);
        }
        let cwnd = self.control.window.cwnd;
        self.tell(feedback);
        if let Some(resume) = &mut self.careful_resume {
            let view = View {
                now: feedback.now,
                delivered: feedback.delivered,
                total_delivered: feedback.total_delivered,
                in_flight: feedback.in_flight,
                largest_acknowledged: feedback.largest_acknowledged,
                next_number: feedback.next_number,
                min_rtt: feedback.min_rtt,
                is_congested: !feedback.lost.is_empty() || feedback.marked.is_some(),
                is_limited: self.limit.uses_window(),
            };
            resume.update(&mut self.control.window, cwnd, &view);
        }
        transitions.into_iter().flatten()
    }

    fn enter(&mut self, feedback: &Feedback<'_>) {
        let Window { cwnd, ssthresh, .. } = self.control.window;
        self.reduction = Some(Reduction { cwnd, ssthresh, lost: 0 });
        self.control.lower_threshold(feedback.now, cwnd, Signal::Loss);
        if self.state == CongestionState::Open {
            self.recovery_began = feedback.now;
        }
        self.set_state(feedback.now, CongestionState::Recovery);
        self.control.fall_to_threshold();
        self.recover = feedback.next_number;
    }

    /// Reduces the window to the minimum after persistent congestion (RFC 9002, §7.6.2). The
    /// threshold remains as the loss has set it (appendix B.8), so that slow start returns to half
    /// the window.
    fn collapse(&mut self, feedback: &Feedback<'_>) {
        self.reduction = None;
        self.set_state(feedback.now, CongestionState::Loss);
        // kMinimumWindow (§7.2).
        self.control.set(2 * self.control.window.mss);
        self.recover = feedback.next_number;
    }

    fn exit(&mut self, now: Instant) {
        let was_marked = self.state == CongestionState::Reduced;
        self.set_state(now, CongestionState::Open);
        if was_marked {
            return;
        }
        self.counters.recoveries += 1;
        self.counters.recovery_time += now.since(self.recovery_began);
    }

    /// Undoes the last reduction if all its lost packets have arrived. Returns `true` if the
    /// reduction was undone.
    fn refute(&mut self, feedback: &Feedback<'_>) -> bool {
        let Some(reduction) = &mut self.reduction else { return false };
        reduction.lost = reduction.lost.saturating_sub(feedback.spuriously_lost);
        if reduction.lost > 0 {
            return false;
        }
        let Reduction { cwnd, ssthresh, .. } = *reduction;
        self.reduction = None;
        self.control.restore(feedback.now, cwnd, ssthresh);
        self.counters.undone += 1;
        if self.state != CongestionState::Open {
            self.exit(feedback.now);
        }
        true
    }

    fn set_state(&mut self, now: Instant, state: CongestionState) {
        if self.state != state {
            self.state = state;
            self.control.enter(now, state);
        }
    }

    fn tell_losses(&mut self, feedback: &Feedback<'_>) {
        if let Some(reduction) = &mut self.reduction {
            reduction.lost += feedback.lost.len() as u64;
        }
        for &LostPacket { number, sent_at, octets, stamp } in feedback.lost {
            let times = (feedback.now, sent_at);
            self.control.tell_lost(times, octets, number..number + 1, stamp, feedback.total_delivered);
        }
    }

    fn tell(&mut self, feedback: &Feedback<'_>) {
        let grows = self.state == CongestionState::Open;
        let bytes = if grows { feedback.delivered } else { 0 };
        let acked = self.control.count(bytes);
        // In slow start, the window is considered fully used if half of it is in flight (RFC 7661,
        // §4.3; Linux's `tcp_is_cwnd_limited`).
        let is_used = self.limit.uses_window()
            || (self.control.window.in_slow_start() && self.control.window.cwnd < 2 * feedback.prior_in_flight);
        let marked = self.marked.min(feedback.delivered);
        self.marked -= marked;
        let ack = cc::Ack {
            now: feedback.now,
            acked,
            delivered: feedback.delivered,
            total_delivered: feedback.total_delivered,
            lost: feedback.lost.iter().map(|lost| lost.octets).sum(),
            marked,
            in_flight: feedback.in_flight,
            prior_in_flight: feedback.prior_in_flight,
            acked_to: Position(feedback.largest_acknowledged.map_or(0, |largest| largest + 1)),
            sent_to: Position(feedback.next_number),
            rtt: feedback.rtt,
            newest_rtt: feedback.rtt,
            newest_sent_at: feedback.timed,
            srtt: feedback.srtt,
            min_rtt: feedback.min_rtt,
            rate: None,
            state: self.state,
            has_sack: true,
            window_limited: self.limit == Limit::Window,
            departure: self.pacer.holds_until(feedback.now).unwrap_or(feedback.now),
            may_grow: bytes > 0 && is_used,
        };
        let newest = feedback.newest.as_ref().map(|(newest, stamp)| (newest, stamp));
        if let Some(sampler) = self.control.sampler.as_mut().filter(|_| feedback.delivered > 0) {
            sampler.on_receive_time(feedback.received_at);
        }
        self.control.tell_ack(ack, newest, feedback.reported, feedback.outcomes);
    }
}

#[cfg(test)]
mod tests;
