//! Loss recovery of a connection whose packets are numbered (RFC 9002), with its congestion
//! control.
//!
//! A [`Manager`] contains the [packets](super::packets) of each packet number space, the round-trip
//! times, the number of probe timeouts and [`Congestion`]. It does not interpret the contents of
//! packets. The [`Context`], which owns the manager, processes the outcomes of packets.
//!
//! The owner of a manager calls, for each feedback: [`acknowledge`](Manager::acknowledge), then
//! [`detect`](Manager::detect) or [`lose`](Manager::lose), then [`settle`](Manager::settle), which
//! calls the context and then congestion control.

use super::delivery_rate::Stamp;
use super::packets::timeout::Expiries;
use super::packets::{Lost, NeverSent, Packet, Packets, Progress, Thresholds, persistent};
use super::rtt::RoundTripTimes;
use super::transmission::{Outcome, Transmission};
use crate::congestion::{Congestion, Controlled, Departure, Feedback, LostPacket, Transition};
use acklab_base::{Duration, Event, Instant};
use std::ops::Range;

/// The owner of the packets of a [`Manager`]. All its methods are called by [`Manager::settle`].
pub trait Context<T> {
    /// Processes the acknowledgment of this packet. Returns `true` if the controller must receive
    /// its outcome.
    fn on_acked(&mut self, number: u64, packet: &Packet<T>) -> bool;

    /// Processes the loss of a packet. Returns `true` if the loss indicates congestion.
    fn on_lost(&mut self, lost: Lost<T>) -> bool;

    /// Returns the size of a full packet, if the acknowledgments and losses may have changed it.
    /// Called after [`on_acked`](Self::on_acked) and [`on_lost`](Self::on_lost).
    fn packet_size(&mut self) -> Option<u64> {
        None
    }

    /// Processes persistent congestion: the window is no longer valid (RFC 9002, §7.6).
    fn on_persistent_congestion(&mut self) {}

    /// Returns the number of bytes of the first stream that have been sent. A recovery lasts until
    /// they are acknowledged.
    fn sent(&self) -> u64;

    /// Records an event for observers of the connection.
    fn push(&mut self, event: Event);
}

/// The source of persistent congestion (RFC 9002, §7.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersistentCongestion {
    /// Detected from the lost packets.
    Detected {
        /// The maximum time for which the peer delays an acknowledgment.
        max_ack_delay: Duration,
    },
    /// Reported by another implementation; `true` if there was persistent congestion.
    Reported(bool),
}

/// The effect of feedback or a timer, except losses. Sizes are in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// The acknowledged packets.
    pub progress: Progress,
    /// The number of bytes in flight before the feedback or timer.
    pub prior_in_flight: u64,
    /// The number of bytes newly reported as congestion-marked; `None` if no mark was reported.
    /// Zero if the peer reports marks without their amount.
    pub marked: Option<u64>,
    /// The delivery rate that the receiver reports: a number of bytes, and the time in which they
    /// arrived.
    pub rate: Option<(u64, Duration)>,
    /// The source of persistent congestion.
    pub persistent: PersistentCongestion,
}

/// The number of bytes in flight.
#[derive(Clone, Copy, Debug)]
enum InFlight {
    /// The bytes in flight of all spaces, minus the bytes that have arrived although no feedback
    /// listed them.
    Counted { arrived: u64 },
    /// The number reported by the implementation that sends the packets, updated with later
    /// transmissions and losses.
    Reported(u64),
}

/// The counters of one sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The number of bytes delivered, as congestion control counts them.
    pub delivered: u64,
    /// The number of window reductions in response to congestion marks.
    pub mark_reductions: u64,
}

/// Recovery and congestion control of one sender with `SPACES` packet number spaces, whose packets
/// have contents `T`.
#[derive(Debug)]
pub struct Manager<T, R, C, const SPACES: usize> {
    spaces: [Packets<T>; SPACES],
    /// The first space under congestion control. Packets of earlier spaces are only paced.
    first_controlled: usize,
    in_flight: InFlight,
    round_trips: R,
    /// The time at which the round-trip time was first measured.
    measured_at: Option<Instant>,
    /// The number of consecutive probe timeouts.
    pub expiries: Expiries,
    /// Congestion control, unless another implementation provides it.
    pub congestion: C,
    counters: Counters,
    /// Memory that is reused for each feedback.
    acknowledged: Vec<(u64, Packet<T>)>,
    lost: Vec<Lost<T>>,
    signals: Vec<LostPacket>,
    outcomes: Vec<Transmission>,
}

impl<T, R: RoundTripTimes, C: Controlled, const SPACES: usize> Manager<T, R, C, SPACES> {
    /// Creates a manager whose congestion control counts the packets of all spaces.
    #[must_use]
    pub fn new(round_trips: R, congestion: C) -> Self {
        let keeps_stamps = congestion.get().is_some_and(Congestion::wants_stamps);
        Self {
            spaces: std::array::from_fn(|_| Packets::default().keeping_stamps(keeps_stamps)),
            first_controlled: 0,
            in_flight: InFlight::Counted { arrived: 0 },
            round_trips,
            measured_at: None,
            expiries: Expiries::default(),
            congestion,
            counters: Counters::default(),
            acknowledged: Vec::new(),
            lost: Vec::new(),
            signals: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    /// Excludes the packets of the spaces before `first` from congestion control.
    #[must_use]
    pub fn controlling_from(self, first: usize) -> Self {
        Self { first_controlled: first, ..self }
    }

    /// Allows the caller to [set](Self::set_in_flight) the bytes in flight after each feedback.
    #[must_use]
    pub fn with_reported_flight(self) -> Self {
        Self { in_flight: InFlight::Reported(0), ..self }
    }

    /// Returns the packets of a space.
    #[must_use]
    #[inline]
    pub const fn space(&self, space: usize) -> &Packets<T> {
        &self.spaces[space]
    }

    /// Returns the packets of a space.
    #[inline]
    pub const fn space_mut(&mut self, space: usize) -> &mut Packets<T> {
        &mut self.spaces[space]
    }

    /// Returns the bytes in flight (`bytes_in_flight` of RFC 9002, appendix B.2), of all spaces.
    #[must_use]
    #[inline]
    pub fn in_flight(&self) -> u64 {
        match self.in_flight {
            InFlight::Counted { arrived } => {
                let in_flight: u64 = self.spaces.iter().map(Packets::in_flight).sum();
                in_flight.saturating_sub(arrived)
            }
            InFlight::Reported(in_flight) => in_flight,
        }
    }

    /// Sets the number of bytes in flight, if it is [reported](Self::with_reported_flight).
    pub const fn set_in_flight(&mut self, octets: u64) {
        self.in_flight = InFlight::Reported(octets);
    }

    /// Records that `octets` of the bytes counted as in flight have arrived.
    #[inline]
    pub const fn set_arrived(&mut self, octets: u64) {
        self.in_flight = InFlight::Counted { arrived: octets };
    }

    /// Returns the round-trip times.
    #[must_use]
    #[inline]
    pub const fn round_trips(&self) -> &R {
        &self.round_trips
    }

    /// Returns the round-trip times for a sample at `now`.
    pub const fn round_trips_at(&mut self, now: Instant) -> &mut R {
        if self.measured_at.is_none() {
            self.measured_at = Some(now);
        }
        &mut self.round_trips
    }

    /// Returns the counters.
    #[must_use]
    #[inline]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Records a packet that is sent. If it counts as in flight, congestion control records it too.
    /// Returns the packet's number.
    #[inline]
    pub fn send(&mut self, space: usize, packet: Packet<T>, is_retransmission: bool) -> u64 {
        let (now, octets) = (packet.at, packet.octets);
        let number = self.spaces[space].next_number();
        let mut stamp = Stamp::default();
        if packet.is_in_flight {
            let in_flight = self.in_flight() + octets;
            if let InFlight::Reported(reported) = &mut self.in_flight {
                *reported = in_flight;
            }
            if let Some(congestion) = self.congestion.get_mut() {
                stamp = congestion.stamp(now, in_flight, octets);
                if space >= self.first_controlled {
                    let departure = Departure { now, octets, in_flight, number, is_retransmission };
                    congestion.on_sent(&departure, self.round_trips.srtt());
                } else {
                    congestion.on_unpaced(octets);
                }
            }
        }
        self.spaces[space].send(packet, stamp)
    }

    /// Acknowledges these number ranges of a space.
    ///
    /// # Errors
    /// If one of the numbers was never used. The state is then unchanged.
    #[inline]
    pub fn acknowledge(
        &mut self,
        now: Instant,
        space: usize,
        ranges: impl Iterator<Item = Range<u64>> + Clone,
    ) -> Result<Progress, NeverSent> {
        self.spaces[space].acknowledge(now, ranges, &mut self.acknowledged)
    }

    /// Returns the numbers of the packets that [`acknowledge`](Self::acknowledge) has newly
    /// acknowledged, and the times at which they were sent, in the order of the ranges.
    pub fn departures(&self) -> impl Iterator<Item = (u64, Instant)> {
        self.acknowledged.iter().map(|(number, packet)| (*number, packet.at))
    }

    /// Treats the packets of a space as acknowledged. Their outcome is not reported.
    pub fn acknowledge_all(&mut self, now: Instant, space: usize) {
        let packets = &mut self.spaces[space];
        let all = std::iter::once(0..packets.next_number());
        let acknowledged: Result<_, NeverSent> = packets.acknowledge(now, all, &mut self.acknowledged);
        debug_assert!(acknowledged.is_ok(), "no number was left out");
        packets.settle();
        let wants_outcomes = self.wants_outcomes(space);
        for (_, packet) in self.acknowledged.drain(..) {
            if wants_outcomes && packet.is_in_flight {
                self.outcomes.push(unknown(&packet));
            }
        }
    }

    /// Removes the packets of a space, because its keys are discarded (RFC 9002, §6.4).
    pub fn abandon(&mut self, space: usize) {
        let wants_outcomes = self.wants_outcomes(space);
        for packet in self.spaces[space].abandon() {
            if wants_outcomes && packet.is_in_flight {
                self.outcomes.push(unknown(&packet));
            }
        }
    }

    /// Retires the packet with this number of a space: it is neither acknowledged nor lost.
    pub fn retire(&mut self, space: usize, number: u64) {
        let wants_outcomes = self.wants_outcomes(space);
        if let Some(packet) = self.spaces[space].retire(number)
            && wants_outcomes
            && packet.is_in_flight
        {
            self.outcomes.push(unknown(&packet));
        }
    }

    /// Returns `true` if the controller receives each in-flight packet of a space, and then
    /// requires its outcome.
    fn wants_outcomes(&self, space: usize) -> bool {
        space >= self.first_controlled && self.congestion.get().is_some_and(Congestion::wants_outcomes)
    }

    /// Marks the packets with these numbers as reported lost.
    pub fn lose(&mut self, space: usize, range: Range<u64>) {
        self.spaces[space].lose(range, &mut self.lost);
    }

    /// Finds the packets of a space that are considered lost at `now` (RFC 9002, §6.1).
    #[inline]
    pub fn detect(&mut self, now: Instant, space: usize, thresholds: &Thresholds) {
        let Some(estimator) = self.round_trips.estimator() else { return };
        let time = thresholds.time_threshold(estimator);
        self.spaces[space].detect_losses(now, thresholds.packets, time, &mut self.lost);
    }

    /// Reports acknowledgments and losses to `context`, and their consequences to congestion
    /// control. Returns `true` if there was persistent congestion.
    pub fn settle(&mut self, now: Instant, space: usize, report: &Report, context: &mut impl Context<T>) -> bool {
        self.tell(space, context);
        if let (Some(size), Some(congestion)) = (context.packet_size(), self.congestion.get_mut())
            && congestion.set_packet_size(size)
        {
            context.push(Event::DatagramSize { octets: size });
        }
        // Persistent congestion is ignored for the window of the handshake, which the handshake
        // never fills: its losses give no evidence about the window.
        let is_controlled = space >= self.first_controlled;
        let is_persistent = is_controlled && self.control(now, space, report, context);
        self.signals.clear();
        if is_controlled {
            self.outcomes.clear();
        }
        is_persistent
    }

    #[inline]
    fn tell(&mut self, space: usize, context: &mut impl Context<T>) {
        let wants_outcomes = self.wants_outcomes(space);
        for (number, packet) in self.acknowledged.drain(..) {
            if context.on_acked(number, &packet) && wants_outcomes {
                let outcome = Outcome::Delivered { was_lost: false };
                self.outcomes.push(Transmission { sent_at: packet.at, outcome });
            }
        }
        for lost in self.lost.drain(..) {
            let (signal, outcome) = (LostPacket::of(&lost), lost.packet.is_in_flight.then(|| unknown(&lost.packet)));
            if context.on_lost(lost) {
                if let InFlight::Reported(in_flight) = &mut self.in_flight {
                    *in_flight = in_flight.saturating_sub(signal.octets);
                }
                self.signals.push(signal);
            } else if wants_outcomes {
                self.outcomes.extend(outcome);
            }
        }
    }

    /// Reports to congestion control. Returns `true` if there was persistent congestion.
    #[inline]
    fn control(&mut self, now: Instant, space: usize, report: &Report, context: &mut impl Context<T>) -> bool {
        self.counters.delivered += report.progress.octets;
        let is_persistent = match report.persistent {
            PersistentCongestion::Detected { max_ack_delay } => {
                self.signals.first().is_some_and(|first| self.is_persistent(space, first.number, max_ack_delay))
            }
            PersistentCongestion::Reported(is_persistent) => is_persistent,
        };
        if is_persistent {
            context.on_persistent_congestion();
        }
        let in_flight = self.in_flight();
        let (packets, progress) = (&self.spaces[space], &report.progress);
        let Some(congestion) = self.congestion.get_mut() else { return is_persistent };
        let feedback = Feedback {
            now,
            delivered: progress.octets,
            total_delivered: self.counters.delivered,
            lost: &self.signals,
            spuriously_lost: progress.spuriously_lost,
            in_flight,
            prior_in_flight: report.prior_in_flight,
            largest_acknowledged: packets.largest_acknowledged(),
            next_number: packets.next_number(),
            rtt: progress.received.least_rtt.or(progress.rtt),
            timed: progress.rtt.map(|rtt| now.saturating_sub(rtt + progress.waited)),
            srtt: self.round_trips.srtt(),
            min_rtt: self.round_trips.least(),
            newest: progress.newest,
            received_at: progress.received.newest_at,
            reported: report.rate,
            marked: report.marked,
            outcomes: &self.outcomes,
            is_persistent,
        };
        for transition in congestion.on_feedback(&feedback) {
            self.counters.mark_reductions += u64::from(transition == Transition::Reduced);
            context.push(transition.event(context.sent()));
        }
        is_persistent
    }

    /// Returns `true` if the losses of a space from the number `since` on are persistent congestion
    /// (RFC 9002, §7.6).
    fn is_persistent(&self, space: usize, since: u64, max_ack_delay: Duration) -> bool {
        let (Some(measured_at), Some(longest)) = (self.measured_at, self.persistent_duration(max_ack_delay)) else {
            return false;
        };
        self.spaces[space].longest_loss(measured_at, since) >= longest
    }

    /// Returns the minimum duration of losses for [persistent congestion](persistent), if the
    /// round-trip time was measured here.
    #[must_use]
    pub fn persistent_duration(&self, max_ack_delay: Duration) -> Option<Duration> {
        persistent::duration(self.round_trips.estimator()?, max_ack_delay)
    }
}

/// Returns the outcome of a packet whose delivery remains unknown.
const fn unknown<T>(packet: &Packet<T>) -> Transmission {
    Transmission { sent_at: packet.at, outcome: Outcome::Unknown }
}

#[cfg(test)]
mod tests;
