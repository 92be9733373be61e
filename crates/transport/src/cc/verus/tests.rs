//! Tests one flow by single events.

use super::super::testing::{MSS, ack, sent, start};
use super::super::{Growth, Position};
use super::*;
use crate::recovery::delivery_rate::Stamp;
use crate::recovery::transmission::Outcome;

const MS: fn(u64) -> Duration = Duration::from_millis;

struct Flow {
    verus: Verus,
    window: Window,
    now: Instant,
    in_flight: u64,
}

impl Flow {
    fn new() -> Self {
        let mut flow = Self {
            verus: Verus::new(&Config::PUBLISHED, &start(Growth::PerSegment)),
            window: Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS },
            now: Instant::ZERO + Duration::from_secs(1),
            in_flight: 0,
        };
        flow.verus.on_established(flow.now, &mut flow.window, Some(MS(40)));
        flow
    }

    fn send(&mut self) {
        self.in_flight += MSS;
        self.verus.on_sent(&mut self.window, &sent(self.now, self.in_flight));
    }

    /// Sends a packet that is acknowledged `delay_ms` later.
    fn deliver(&mut self, delay_ms: u64) {
        self.send();
        let sent_at = self.now;
        self.now += MS(delay_ms);
        self.in_flight -= MSS;
        self.verus.on_outcomes(&[Transmission { sent_at, outcome: Outcome::Delivered { was_lost: false } }]);
        let ack = Ack { in_flight: self.in_flight, ..ack(self.now, 1, MS(delay_ms)) };
        self.verus.on_ack(&mut self.window, &ack);
    }

    fn lose(&mut self) {
        self.send();
        let (sent_at, stamp) = (self.now, Stamp::default());
        self.now += MS(1);
        self.in_flight -= MSS;
        let (start, end) = (Position(0), Position(MSS));
        let lost = Lost { now: self.now, sent_at, bytes: MSS, start, end, stamp, total_delivered: 0, total_lost: 0 };
        self.verus.on_lost(&self.window, &lost);
    }

    fn epoch(&mut self) {
        let at = self.verus.deadline().expect("there are epochs");
        self.now = self.now.max(at);
        self.verus.on_deadline(self.now, &mut self.window, self.in_flight);
    }

    /// Runs slow start to 100 packets, with a delay of 40 ms plus half a millisecond per packet of
    /// the window, until a loss ends it.
    fn after_slow_start() -> Self {
        let mut flow = Self::new();
        for w in 1..100 {
            flow.deliver(40 + w / 2);
        }
        flow.lose();
        assert_eq!(flow.verus.phase, Phase::Epochs);
        flow
    }
}

#[test]
fn slow_start_adds_a_packet_for_each_one_acknowledged() {
    let mut flow = Flow::new();
    assert_eq!(flow.window.cwnd, MSS, "it begins with one");
    (0..30).for_each(|_| flow.deliver(40));
    assert_eq!(flow.window.cwnd, 31 * MSS);
    assert!(flow.verus.deadline().is_none(), "slow start has no epochs");
}

#[test]
fn a_loss_takes_seven_tenths_of_the_window_of_the_lost_packet() {
    let flow = Flow::after_slow_start();
    assert!(flow.verus.is_in_loss && (flow.verus.window - 70.0).abs() < 1e-9, "{}", flow.verus.window);
    assert!((flow.verus.target - 75.0).abs() < 1.0, "the delay of 70 packets: {}", flow.verus.target);
}

#[test]
fn a_loss_in_a_small_window_does_not_end_slow_start() {
    let mut flow = Flow::new();
    (0..10).for_each(|_| flow.deliver(40));
    flow.lose();
    assert_eq!(flow.verus.phase, Phase::SlowStart);
}

#[test]
fn a_delay_of_half_a_second_ends_slow_start() {
    let mut flow = Flow::new();
    (1..30).for_each(|w| flow.deliver(40 + w));
    flow.deliver(501);
    assert!(flow.verus.phase == Phase::Epochs && flow.verus.is_in_loss);
    assert!((flow.verus.window - 21.0).abs() < 0.1, "0.7 of 30: {}", flow.verus.window);
}

#[test]
fn the_target_moves_by_the_deltas() {
    let mut flow = Flow::after_slow_start();
    flow.verus.is_in_loss = false;
    flow.verus.greatest = Some(60.0);
    let mut target = |greatest: f64| {
        let (before, smoothed) = (flow.verus.target, flow.verus.greatest);
        (flow.verus.epoch_greatest, flow.in_flight) = (Some(greatest), 10 * MSS);
        flow.epoch();
        (flow.verus.target - before, smoothed)
    };
    assert!((target(60.0).0 - 2.0).abs() < 1e-9, "no rise");
    assert!((target(70.0).0 + 1.0).abs() < 1e-9, "a rise");
    let (change, smoothed) = target(400.0);
    assert!(
        (change + 1.0).abs() < 1e-9 && (smoothed.unwrap() - 68.0).abs() < 1e-9,
        "0.2 · 60 + 0.8 · 70: {smoothed:?}"
    );
    assert!((target(400.0).0 + 2.0).abs() < 1e-9, "more than six times the least");
}

/// S = W + (2 − n)/(n − 1) · W_i: with n = 10 epochs in a round trip and a full window, a ninth of
/// the window is sent.
#[test]
fn an_epoch_sends_its_share_of_the_window() {
    let mut flow = Flow::after_slow_start();
    (flow.verus.window, flow.verus.mean) = (90.0, Some(50.0));
    assert_eq!(flow.verus.packets_of_epoch(90.0), 10);
    assert_eq!(flow.verus.packets_of_epoch(0.0), 90);
    assert_eq!(flow.verus.packets_of_epoch(200.0), 0);
    flow.verus.mean = Some(4.0);
    assert_eq!(flow.verus.packets_of_epoch(80.0), 10, "a round trip within an epoch");
}

#[test]
fn what_an_epoch_may_send_leaves_once() {
    let mut flow = Flow::after_slow_start();
    flow.epoch();
    let credit = flow.verus.credit;
    assert!(credit > 0);
    assert_eq!(flow.window.cwnd, flow.in_flight + credit * MSS);
    flow.send();
    flow.send();
    assert_eq!(flow.verus.credit, credit - 2);
}

#[test]
fn the_loss_phase_ends_with_a_packet_of_the_reduced_window() {
    let mut flow = Flow::after_slow_start();
    let points = flow.verus.profile.clone();
    flow.verus.sent = Departures::default();
    // A packet that was sent at the window before the loss does not change the profile, and the
    // window grows as in congestion avoidance.
    flow.verus.sent.push(flow.now, 100);
    let sent_at = flow.now;
    flow.now += MS(90);
    flow.verus.on_outcomes(&[Transmission { sent_at, outcome: Outcome::Delivered { was_lost: false } }]);
    flow.verus.on_ack(&mut flow.window, &ack(flow.now, 1, MS(90)));
    assert!(flow.verus.is_in_loss && (flow.verus.window - (70.0 + 1.0 / 70.0)).abs() < 1e-9);
    assert!((flow.verus.profile.delay_at(100.0) - points.delay_at(100.0)).abs() < 1e-12);
    flow.deliver(75);
    assert!(!flow.verus.is_in_loss);
}

#[test]
fn a_timeout_sets_the_target_to_the_least_delay() {
    let mut flow = Flow::after_slow_start();
    flow.verus.on_state(flow.now, &mut flow.window, CongestionState::Loss);
    assert!((flow.verus.target - flow.verus.least).abs() < 1e-12);
}

/// Without ACKs, the time since the last ACK is the delay, so the target falls.
#[test]
fn silence_lowers_the_target() {
    let mut flow = Flow::after_slow_start();
    flow.in_flight = 50 * MSS;
    let before = flow.verus.target;
    (0..100).for_each(|_| flow.epoch());
    assert!(flow.verus.target < before, "{} from {before}", flow.verus.target);
}

#[test]
fn epochs_end_with_the_data_and_begin_with_it() {
    let mut flow = Flow::after_slow_start();
    flow.in_flight = 0;
    flow.epoch();
    flow.epoch();
    assert!(flow.verus.deadline().is_none(), "nothing was sent for an epoch");
    flow.send();
    assert_eq!(flow.verus.deadline(), Some(flow.now + MS(5)));
}
