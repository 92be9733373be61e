//! Tests one flow by single events.

use super::super::Growth;
use super::super::testing::{MSS, ack, sent, start};
use super::*;
use crate::recovery::transmission::Outcome;

const MS: fn(u64) -> Duration = Duration::from_millis;

struct Flow {
    indigo: Indigo,
    window: Window,
    now: Instant,
}

impl Flow {
    fn new() -> Self {
        let mut flow = Self {
            indigo: Indigo::new(&Config::PUBLISHED, &start(Growth::PerSegment)),
            window: Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS },
            now: Instant::ZERO + Duration::from_secs(1),
        };
        flow.indigo.on_established(flow.now, &mut flow.window, Some(MS(40)));
        flow
    }

    fn deliver(&mut self, sent_at: Instant) {
        self.indigo.on_outcomes(&[Transmission { sent_at, outcome: Outcome::Delivered { was_lost: false } }]);
    }

    fn send(&mut self) {
        self.indigo.on_sent(&mut self.window, &sent(self.now, MSS));
    }

    fn acknowledge(&mut self, rtt_ms: u64) {
        let sent_at = self.now.saturating_sub(MS(rtt_ms));
        self.deliver(sent_at);
        self.indigo.on_ack(&mut self.window, &ack(self.now, 1, MS(rtt_ms)));
    }
}

#[test]
fn samples_are_averaged_with_an_eighth() {
    let mut flow = Flow::new();
    flow.send();
    flow.now += MS(1);
    flow.send();
    flow.now += MS(39);
    flow.acknowledge(40);
    // The first sample: no queueing, 1000 bytes in the 40 ms since the start, 2000 bytes sent
    // within the round trip.
    let first = flow.indigo.state.unwrap();
    assert!(first.queueing_delay.abs() < 1e-9);
    assert!((first.delivery_rate - 0.2).abs() < 1e-9 && (first.send_rate - 0.4).abs() < 1e-9, "{first:?}");
    flow.now += MS(9);
    flow.acknowledge(48);
    // The second: 8 ms of queueing, 2000 bytes in 49 ms, 1000 in 48 ms.
    let second = flow.indigo.state.unwrap();
    assert!((second.queueing_delay - 1.0).abs() < 1e-9, "an eighth of 8 ms");
    assert!((second.delivery_rate - (0.875 * 0.2 + 0.125 * 16.0 / 49.0)).abs() < 1e-9);
    assert!((second.send_rate - (0.875 * 0.4 + 0.125 * 8.0 / 48.0)).abs() < 1e-9);
}

/// A receiver waits for 30 ms and reports this time. The sample is of the packet; its queueing
/// delay excludes the wait.
#[test]
fn an_acknowledgment_that_waits_is_a_sample_as_well() {
    let mut flow = Flow::new();
    let sent_at = flow.now;
    flow.send();
    flow.now += MS(70);
    flow.deliver(sent_at);
    flow.indigo.on_ack(&mut flow.window, &Ack { newest_rtt: None, ..ack(flow.now, 1, MS(40)) });
    assert!(flow.indigo.state.is_none(), "without a round trip");
    flow.indigo.on_ack(&mut flow.window, &ack(flow.now, 0, MS(40)));
    let state = flow.indigo.state.unwrap();
    assert!(state.queueing_delay.abs() < 1e-9 && (state.delivery_rate - MEGABITS * MSS as f64 / 70.0).abs() < 1e-9);
}

#[test]
fn actions_are_more_than_10_ms_apart() {
    let mut flow = Flow::new();
    let mut steps = 0;
    for _ in 0..300 {
        flow.send();
        flow.now += MS(1);
        flow.acknowledge(1);
        steps += u64::from(flow.indigo.state.is_none());
    }
    assert_eq!(steps, 27, "every 11 ms from the first ACK on");
}

#[test]
fn the_window_never_falls_below_two_packets() {
    let mut flow = Flow::new();
    for round in 0..2000 {
        flow.send();
        flow.now += MS(20);
        // The queue only grows.
        flow.acknowledge(20.min(round + 1));
        assert!(flow.window.cwnd >= 2 * MSS);
    }
}

#[test]
fn an_empty_path_makes_the_window_grow() {
    let mut flow = Flow::new();
    for _ in 0..20 {
        (0..flow.window.cwnd / MSS).for_each(|_| flow.send());
        flow.now += MS(40);
        for _ in 0..10 {
            flow.acknowledge(40);
        }
    }
    assert!(flow.window.cwnd > 20 * MSS, "{}", flow.window.cwnd / MSS);
}
