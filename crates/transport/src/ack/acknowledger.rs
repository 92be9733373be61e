//! Tracks unacknowledged data and decides when to acknowledge, for every transport.

use super::{AckPolicy, Arrival, Decided, Decision, Held, Ledger, Packet, Policy, Reason, RoundTrip, TcpEvents};
use acklab_base::Instant;
use std::collections::VecDeque;

/// The ledger, the policy, its timer, and the numbers of ACKs by reason.
///
/// # The caller's order
///
/// 1. For each segment or packet that elicits an ACK: [`enter`](Self::enter) it, feed samples to
///    [`round_trip`](Self::round_trip), [`measure_delivery`](Self::measure_delivery), and let the
///    policy [`decide`](Self::decide). The transport calls [`demand`](Self::demand) for an ACK that
///    it requires immediately. It calls [`oblige`](Self::oblige) to limit the delay to the maximum
///    that its peer expects.
/// 2. If an ACK is [`due`](Self::due), build it and report it as [`sent`](Self::sent). Also report
///    ACKs that are sent for another reason, such as those with data.
/// 3. Call [`wake`](Self::wake) at the [`deadline`](Self::deadline).
#[derive(Debug)]
pub struct Acknowledger {
    ledger: Ledger,
    policy: Policy,
    /// The reason for an ACK that must be sent now.
    due: Option<Reason>,
    /// The scheduled ACK.
    delayed: Option<(Instant, Reason)>,
    /// The arrival time of the newest data that the last ACK reported.
    newest_reported: Instant,
    /// The decisions, if they are recorded.
    decisions: Option<VecDeque<Decided>>,
    counts: [u64; Reason::COUNT],
}

impl Acknowledger {
    /// Creates an acknowledger with nothing to acknowledge.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self {
            ledger: policy.ledger(),
            policy,
            due: None,
            delayed: None,
            newest_reported: Instant::ZERO,
            decisions: None,
            counts: [0; Reason::COUNT],
        }
    }

    /// Returns the ledger.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns the policy. The transport reports the peer's window and ACKs to it.
    pub const fn policy(&mut self) -> &mut Policy {
        &mut self.policy
    }

    /// Returns the policy as a receiver of TCP's events, or `None` if it ignores them.
    pub fn tcp_events(&mut self) -> Option<&mut dyn TcpEvents> {
        self.policy.tcp_events()
    }

    /// Enters `packet`, which arrived at `now`.
    #[inline]
    pub fn enter(&mut self, now: Instant, packet: Packet) {
        self.ledger.enter(now, packet);
    }

    /// Sets an upper bound on the size of the peer's segments. A segment of more than `octets`
    /// bytes was merged from several.
    pub(crate) fn bound_full_size(&mut self, octets: u64) {
        self.ledger.bound_full_size(octets);
    }

    /// Consults the policy after the application has read data, if an ACK is pending.
    pub(crate) fn note_read(&mut self, now: Instant, held: Held<'_>) {
        let reason = self.policy.tcp_events().and_then(|policy| policy.on_read(&self.ledger, held));
        if let Some(reason) = reason.filter(|_| self.is_waiting()) {
            self.demand(now, reason);
        }
    }

    /// Records an arrival that is not entered in the ledger, such as data beyond the receive
    /// window.
    pub const fn pass(&mut self, now: Instant, packet: Packet) {
        (self.ledger.newest, self.ledger.last) = (now, packet);
    }

    /// Returns the round-trip estimates, which the caller feeds with samples, or `None` if the
    /// policy does not use them.
    pub fn round_trip(&mut self) -> Option<&mut RoundTrip> {
        self.ledger.round_trip.as_deref_mut()
    }

    /// Measures the rate at which data arrive, if the policy uses the rate. Call it after the
    /// newest packet and its round-trip samples are entered.
    #[inline]
    pub fn measure_delivery(&mut self, now: Instant) {
        let ledger = &mut self.ledger;
        if let Some(delivery) = &mut ledger.delivery {
            let rtt = ledger.round_trip.as_ref().and_then(|round_trip| round_trip.least());
            delivery.on_data(now, ledger.total.octets, rtt);
        }
    }

    /// Consults the policy about the newest arrival, which the ledger and `held` already include.
    #[inline(always)]
    pub fn decide(&mut self, now: Instant, arrival: Arrival, held: Held<'_>) {
        let decision = match self.policy.decide(now, &arrival, &self.ledger, held) {
            // A custom policy may request an instant in the past.
            Decision::At(at, reason) => Decision::At(at.max(now), reason),
            decision => decision,
        };
        self.follow(now, decision);
    }

    /// Consults the policy about the peer's FIN, if no data are missing and the local application
    /// may still send.
    pub fn decide_fin(&mut self, now: Instant, held: Held<'_>) {
        let decision = self.policy.tcp_events().and_then(|policy| policy.on_fin(now, &self.ledger, held));
        self.follow(now, decision.unwrap_or(Decision::Now(Reason::Fin)));
    }

    #[inline(always)]
    fn follow(&mut self, now: Instant, decision: Decision) {
        self.note(now, decision);
        match decision {
            Decision::Now(reason) => _ = self.due.get_or_insert(reason),
            // A later instant never postpones an earlier one.
            Decision::At(at, reason) if self.delayed.is_none_or(|(running, _)| at < running) => {
                self.delayed = Some((at, reason));
            }
            Decision::At(..) | Decision::Hold => {}
        }
    }

    /// Requires an ACK now, for a reason of the transport. An ACK that is already due keeps its
    /// reason.
    pub fn demand(&mut self, now: Instant, reason: Reason) {
        if self.due.is_none() {
            self.due = Some(reason);
            self.note(now, Decision::Now(reason));
        }
    }

    /// Acknowledges the arrived data by `latest`, regardless of the policy's decisions.
    #[inline]
    pub fn oblige(&mut self, now: Instant, latest: Instant) {
        if self.due.is_none() && self.delayed.is_none_or(|(at, _)| latest < at) {
            self.delayed = Some((latest, Reason::Timer));
            self.note(now, Decision::At(latest, Reason::Timer));
        }
    }

    #[inline]
    fn note(&mut self, at: Instant, decision: Decision) {
        if let Some(decisions) = &mut self.decisions {
            decisions.push_back(Decided { at, decision, unacknowledged: self.ledger.arrived });
        }
    }

    /// Returns the reason for an ACK that must be sent now, or `None`.
    #[must_use]
    pub const fn due(&self) -> Option<Reason> {
        self.due
    }

    /// Returns `true` if the due ACK may also report packets that the host has not processed yet.
    #[must_use]
    pub fn goes_by_time(&self) -> bool {
        self.policy.goes_by_time()
    }

    /// Returns `true` if an ACK of arrived data is scheduled.
    #[must_use]
    pub const fn is_waiting(&self) -> bool {
        self.delayed.is_some() || self.ledger.since.is_some()
    }

    /// Returns `true` if data have arrived that no ACK has reported.
    #[must_use]
    pub const fn has_unreported(&self) -> bool {
        self.due.is_some() || self.is_waiting() || self.ledger.arrived.segments > 0
    }

    /// Returns the deadline of the delayed ACK.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.delayed.map(|(at, _)| at)
    }

    /// Sends the ACK whose time has come.
    pub fn wake(&mut self, now: Instant) {
        if let Some((at, reason)) = self.delayed
            && at <= now
        {
            self.delayed = None;
            self.due.get_or_insert(reason);
        }
    }

    /// Records that an ACK is sent now, which reports all data that have arrived.
    #[inline]
    pub fn sent(&mut self, now: Instant, reason: Reason) {
        self.count(reason);
        (self.due, self.delayed) = (None, None);
        self.newest_reported = self.ledger.newest;
        self.ledger.settle();
        self.policy.on_ack_sent(now);
    }

    /// Counts a segment that is sent for this reason but acknowledges no data, such as a SYN-ACK.
    pub const fn count(&mut self, reason: Reason) {
        self.counts[reason.index()] += 1;
    }

    /// Returns the numbers of ACKs sent, by the [index](Reason::index) of their reason.
    #[must_use]
    pub const fn counts(&self) -> &[u64; Reason::COUNT] {
        &self.counts
    }

    /// Returns the arrival time of the newest data that the last ACK reported.
    #[must_use]
    pub const fn newest_reported(&self) -> Instant {
        self.newest_reported
    }

    /// Returns the name of a reason among its [counts](Self::counts).
    #[must_use]
    pub fn reason_name(&self, reason: Reason) -> &str {
        self.policy.reason_name(reason)
    }

    /// Reports the number of acknowledgments by reason.
    pub fn report_reasons(&self, to: &mut dyn FnMut(&str, u64)) {
        for (index, count) in self.counts().iter().enumerate() {
            to(self.reason_name(Reason::of_index(index)), *count);
        }
    }

    /// Sets whether decisions are recorded.
    pub fn keep_decisions(&mut self, keep: bool) {
        self.decisions = keep.then(VecDeque::new);
    }

    /// Removes and returns the oldest decision, if decisions are [recorded](Self::keep_decisions).
    #[inline]
    pub fn take_decision(&mut self) -> Option<Decided> {
        self.decisions.as_mut()?.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::super::delayed::Delayed;
    use super::super::testing::{Endpoint, Line, SIZE};
    use super::super::{PolicyConfig, Tally};
    use super::*;
    use acklab_base::Duration;
    use proptest::prelude::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn decisions_are_kept_if_anyone_asks() {
        let mut endpoint = Endpoint::new(Line::Packets, PolicyConfig::Delayed(Delayed::default()));
        let _ = endpoint.arrives(at(0), 0);
        assert_eq!(endpoint.acknowledger.take_decision(), None, "decisions are not kept");
        endpoint.acknowledger.keep_decisions(true);
        let _ = endpoint.arrives(at(10), 1);
        let _ = endpoint.arrives(at(20), 2);
        endpoint.acknowledger.demand(at(30), Reason::WindowUpdate);
        endpoint.acknowledger.demand(at(30), Reason::Duplicate);
        let decided = |ms, decision, segments| Decided {
            at: at(ms),
            decision,
            unacknowledged: Tally { segments, octets: segments * SIZE },
        };
        let expected = [
            decided(10, Decision::Now(Reason::SegmentCount), 2),
            decided(20, Decision::At(at(220), Reason::Timer), 1),
            decided(30, Decision::Now(Reason::WindowUpdate), 1),
        ];
        assert_eq!(expected.map(|_| endpoint.acknowledger.take_decision()), expected.map(Some));
        assert_eq!(endpoint.acknowledger.take_decision(), None, "each is reported once");
        assert_eq!(endpoint.acknowledger.due(), Some(Reason::WindowUpdate), "what was due first stands");
    }

    #[test]
    fn any_ack_settles_what_is_owed() {
        let mut endpoint = Endpoint::new(Line::Stream, PolicyConfig::Delayed(Delayed::default()));
        let _ = endpoint.arrives(at(0), 0);
        let acknowledger = &mut endpoint.acknowledger;
        assert!(acknowledger.is_waiting() && acknowledger.deadline() == Some(at(200)));
        // An ACK is sent with data of this end.
        acknowledger.sent(at(50), Reason::Timer);
        assert!(!acknowledger.is_waiting() && acknowledger.deadline().is_none());
        acknowledger.wake(at(200));
        assert_eq!((acknowledger.due(), acknowledger.newest_reported()), (None, at(0)));
        assert_eq!(acknowledger.counts()[Reason::Timer.index()], 1);
    }

    proptest! {
        /// Packets of equal size yield the same ACKs for packet numbers and for stream offsets.
        /// Linux's compressed ACKs need bytes beyond a gap, which packet numbers do not provide.
        #[test]
        fn both_lines_bring_the_same_acks(arrivals in proptest::collection::vec((0u64..3000, 0u64..6, 0u64..8), 1..300)) {
            for config in PolicyConfig::built_in() {
                let keeps_order = config.name() == "linux";
                let mut endpoints = [Line::Packets, Line::Stream].map(|line| Endpoint::new(line, config));
                let (mut now, mut newest) = (Instant::ZERO, 0);
                for (place, (pause, step, back)) in (0..).zip(&arrivals) {
                    now += Duration::from_micros(*pause);
                    // Most packets arrive in order. Some arrive beyond a gap, late or twice.
                    newest += step.saturating_sub(4).max(u64::from(*step > 0));
                    let back = if *back < 6 { 0 } else { newest.min(*back - 5) };
                    let number = if keeps_order { place } else { newest - back };
                    let woken = endpoints.each_mut().map(|endpoint| endpoint.wake(now));
                    prop_assert_eq!(woken[0], woken[1], "{}", config.name());
                    let reasons = endpoints.each_mut().map(|endpoint| endpoint.arrives(now, number));
                    prop_assert_eq!(reasons[0], reasons[1], "{}: {}", config.name(), number);
                    let deadlines = endpoints.each_ref().map(|endpoint| endpoint.acknowledger.deadline());
                    prop_assert_eq!(deadlines[0], deadlines[1], "{}", config.name());
                }
            }
        }
    }
}
