//! Tests one flow by single events.

use super::super::Growth;
use super::super::testing::{MSS, ack, sent, start};
use super::*;
use crate::recovery::transmission::Outcome;

const MS: fn(u64) -> Duration = Duration::from_millis;

struct Flow {
    sprout: Sprout,
    window: Window,
    now: Instant,
    in_flight: u64,
}

impl Flow {
    fn new() -> Self {
        let mut flow = Self {
            sprout: Sprout::new(&Config::PUBLISHED, &start(Growth::PerSegment)),
            window: Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS },
            now: Instant::ZERO + Duration::from_secs(1),
            in_flight: 0,
        };
        flow.sprout.on_established(flow.now, &mut flow.window, Some(MS(40)));
        flow
    }

    fn send(&mut self) -> Instant {
        self.in_flight += MSS;
        self.sprout.on_sent(&mut self.window, &sent(self.now, self.in_flight));
        self.now
    }

    fn deliver(&mut self, sent_at: Instant) {
        self.in_flight -= MSS;
        self.sprout.on_outcomes(&[Transmission { sent_at, outcome: Outcome::Delivered { was_lost: false } }]);
        let ack = Ack { in_flight: self.in_flight, ..ack(self.now, 1, MS(40)) };
        self.sprout.on_ack(&mut self.window, &ack);
    }

    fn tick(&mut self) {
        self.now = self.sprout.deadline().expect("ticks go on");
        self.sprout.on_deadline(self.now, &mut self.window, self.in_flight);
    }

    /// Runs ticks in each of which `packets` leave and arrive.
    fn ticks(&mut self, count: u64, packets: u64) {
        for _ in 0..count {
            self.now += MS(1);
            for _ in 0..packets {
                let sent_at = self.send();
                self.deliver(sent_at);
            }
            self.tick();
        }
    }
}

#[test]
fn the_window_follows_the_arrivals() {
    let mut flow = Flow::new();
    flow.ticks(50, 4);
    let slow = flow.window.cwnd / MSS;
    assert!((5..20).contains(&slow), "of the 20 packets of five ticks: {slow}");
    flow.ticks(50, 12);
    let fast = flow.window.cwnd / MSS;
    assert!((35..60).contains(&fast), "of the 60 packets of five ticks: {fast}");
}

/// Packets in flight are subtracted from the forecast.
#[test]
fn packets_in_flight_count() {
    let mut flow = Flow::new();
    flow.ticks(50, 12);
    let before = flow.sprout.credit;
    (0..10).for_each(|_| _ = flow.send());
    assert_eq!(flow.sprout.credit, before - 10 * MSS);
    assert_eq!(flow.sprout.outstanding, 10 * MSS);
    flow.tick();
    assert!(flow.sprout.credit < before);
}

#[test]
fn silence_in_a_flight_is_an_outage_and_silence_after_it_is_nothing() {
    let mut flow = Flow::new();
    flow.ticks(50, 10);
    let rate = |flow: &Flow| flow.sprout.model.as_ref().unwrap().0.mean();
    let before = rate(&flow);
    // The flight ended with its last packet, so nothing is expected for 50 ms.
    flow.sprout.silent_until = flow.now + MS(50);
    flow.tick();
    flow.tick();
    assert!(rate(&flow) > 0.9 * before, "{} of {before}", rate(&flow));
    flow.tick();
    flow.tick();
    flow.tick();
    assert!(rate(&flow) < 0.5 * before, "{} of {before}", rate(&flow));
}

#[test]
fn a_packet_that_uses_the_window_up_ends_the_flight() {
    let mut flow = Flow::new();
    flow.sprout.credit = 2 * MSS;
    let (first, last) = (flow.send(), flow.send());
    flow.deliver(first);
    assert_eq!(flow.sprout.silent_until, Instant::ZERO);
    flow.deliver(last);
    assert_eq!(flow.sprout.silent_until, flow.sprout.began + MS(50));
}

/// Packets that were sent more than 10 ms before an arriving packet are considered received or
/// lost.
#[test]
fn overtaken_packets_are_not_outstanding() {
    let mut flow = Flow::new();
    flow.send();
    flow.now += MS(5);
    flow.send();
    flow.now += MS(6);
    let last = flow.send();
    flow.deliver(last);
    assert_eq!(flow.sprout.outstanding, MSS, "the first is given up, the second may yet arrive");
}

#[test]
fn a_heartbeat_leaves_after_50_ms_without_a_window() {
    let mut flow = Flow::new();
    (0..100).for_each(|_| _ = flow.send());
    for _ in 0..2 {
        flow.tick();
        assert_eq!(flow.sprout.credit, 0);
    }
    flow.tick();
    assert_eq!(flow.sprout.credit, MSS, "60 ms after the last packet");
}

#[test]
fn ticks_end_with_the_data_and_begin_with_it() {
    let mut flow = Flow::new();
    flow.ticks(50, 10);
    for _ in 0..6 {
        if flow.sprout.deadline().is_some() {
            flow.tick();
        }
    }
    assert!(flow.sprout.deadline().is_none());
    flow.send();
    assert_eq!(flow.sprout.deadline(), Some(flow.now + MS(20)));
}
