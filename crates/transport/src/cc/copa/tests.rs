//! Tests one flow on a path of 100 ms, ACK by ACK.

use super::super::testing::{MSS, ack, start};
use super::super::{Growth, Position};
use super::*;
use crate::recovery::delivery_rate::Stamp;

const MS: fn(u64) -> Duration = Duration::from_millis;

struct Flow {
    copa: Copa,
    window: Window,
    now: Instant,
}

impl Flow {
    fn new() -> Self {
        Self::with(Config::PUBLISHED)
    }

    fn with(constants: Config) -> Self {
        let mut flow = Self {
            copa: Copa::new(&constants, &start(Growth::PerSegment)),
            window: Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS },
            now: Instant::ZERO,
        };
        flow.copa.on_established(flow.now, &mut flow.window, Some(MS(100)));
        flow
    }

    /// Processes `count` ACKs of `segments` each, `gap_ms` apart, with round trips of `rtt_ms`.
    fn acks(&mut self, count: u64, segments: u64, gap_ms: u64, rtt_ms: u64) -> f64 {
        for _ in 0..count {
            self.now += MS(gap_ms);
            let mut ack = ack(self.now, segments, MS(rtt_ms));
            ack.srtt = Some(MS(100));
            self.copa.on_ack(&mut self.window, &ack);
        }
        self.copa.cwnd
    }
}

#[test]
fn slow_start_doubles_until_the_target_is_passed() {
    let mut flow = Flow::new();
    assert!((flow.acks(10, 1, 10, 100) - 20.0).abs() < 1e-9, "no queue, no bound");
    // Within srtt/2, the standing RTT is still that of the empty queue.
    flow.acks(1, 1, 10, 120);
    assert!(flow.copa.in_slow_start);
    // 20 ms of queue allow 2 · 120 / 20 = 12 packets.
    let cwnd = flow.acks(1, 1, 60, 120);
    assert!(!flow.copa.in_slow_start && cwnd < 21.0, "{cwnd}");
}

#[test]
fn a_round_trip_moves_the_window_by_inverse_delta() {
    let mut flow = Flow::new();
    (flow.copa.in_slow_start, flow.copa.cwnd, flow.copa.velocity) =
        (false, 50.0, Velocity::new(flow.now, Direction::Up, 50.0));
    let up = flow.acks(50, 1, 2, 100);
    assert!((up - 52.0).abs() < 0.05, "{up}");
    let mut thinned = Flow::new();
    (thinned.copa.in_slow_start, thinned.copa.cwnd) = (false, 50.0);
    let thin = thinned.acks(5, 10, 20, 100);
    assert!((thin - up).abs() < 0.05, "ten packets an ACK are ten steps: {thin}");
}

#[test]
fn velocity_doubles_after_three_round_trips_one_way_and_is_lost_on_the_turn() {
    let mut flow = Flow::new();
    (flow.copa.in_slow_start, flow.copa.cwnd, flow.copa.velocity) =
        (false, 50.0, Velocity::new(flow.now, Direction::Up, 50.0));
    let velocity = |flow: &mut Flow, acks, rtt| {
        flow.acks(acks, 5, 10, rtt);
        flow.copa.velocity.value() as u64
    };
    assert_eq!(velocity(&mut flow, 29, 100), 1);
    assert_eq!(velocity(&mut flow, 1, 100), 2, "the third round trip upwards");
    assert_eq!(velocity(&mut flow, 10, 100), 4);
    assert_eq!(velocity(&mut flow, 6, 200), 1, "100 ms of queue turn it at once");
}

/// Returns the loss at `now` of a transmission that was sent at `sent_ms`.
fn lost(now: Instant, sent_ms: u64) -> Lost {
    Lost {
        now,
        sent_at: Instant::ZERO + MS(sent_ms),
        bytes: MSS,
        start: Position(0),
        end: Position(MSS),
        stamp: Stamp::default(),
        total_delivered: 0,
        total_lost: 0,
    }
}

/// Returns the windows after the first and the second of two timeouts. The second timeout loses
/// data that were sent a second later.
fn after_timeouts(timeout: TimeoutRule) -> [u64; 2] {
    let mut flow = Flow::with(Config { timeout, ..Config::PUBLISHED });
    flow.acks(5, 1, 10, 100);
    [60, 1060].map(|sent_ms| {
        flow.now = Instant::ZERO + MS(sent_ms + 1000);
        assert_eq!(flow.copa.ssthresh(flow.now, &flow.window, 10 * MSS, Signal::Timeout), u64::MAX);
        flow.copa.on_lost(&flow.window, &lost(flow.now, sent_ms));
        flow.window.cwnd = MSS;
        flow.copa.on_state(flow.now, &mut flow.window, CongestionState::Loss);
        flow.window.cwnd / MSS
    })
}

#[test]
fn a_timeout_resets_the_window_if_congestion_persists() {
    assert_eq!(after_timeouts(TimeoutRule::PersistentCongestion), [15, 2]);
    assert_eq!(after_timeouts(TimeoutRule::Every), [2, 2]);
    assert_eq!(after_timeouts(TimeoutRule::Never), [15, 15]);
}

#[test]
fn loss_alone_moves_nothing_in_the_default_mode() {
    let mut flow = Flow::new();
    let before = flow.acks(5, 1, 10, 100);
    flow.copa.on_lost(&flow.window, &lost(flow.now, 40));
    assert_eq!(flow.copa.ssthresh(flow.now, &flow.window, 10 * MSS, Signal::Loss), u64::MAX);
    flow.copa.on_state(flow.now, &mut flow.window, CongestionState::Recovery);
    assert!((flow.copa.cwnd - before).abs() < 1e-9);
}

/// Returns the window before and after the last ACK, with 40 packets delivered and `lost_packets`
/// lost in 400 ms.
fn after_losses(heavy_loss: f64, lost_packets: u64) -> [f64; 2] {
    let mut flow = Flow::with(Config { heavy_loss, competes: false, ..Config::PUBLISHED });
    (0..lost_packets).for_each(|_| flow.copa.on_lost(&flow.window, &lost(flow.now, 0)));
    let before = flow.acks(20, 2, 10, 100);
    [before, flow.acks(1, 2, 1, 100)]
}

#[test]
fn heavy_loss_takes_three_tenths_of_the_window() {
    let [before, after] = after_losses(0.3, 30);
    assert!((after - 0.7 * (before + 2.0)).abs() < 1e-9, "30 of 72: {before} to {after}");
    let [before, after] = after_losses(0.3, 15);
    assert!((after - (before + 2.0)).abs() < 1e-9, "15 of 57");
    let [before, after] = after_losses(1.0, 1000);
    assert!((after - (before + 2.0)).abs() < 1e-9, "switched off");
}

#[test]
fn an_ack_of_a_retransmission_moves_the_window_by_the_latest_sample() {
    let mut flow = Flow::new();
    flow.acks(5, 1, 10, 100);
    let before = flow.copa.cwnd;
    flow.now += MS(10);
    let ack = Ack { newest_rtt: None, srtt: Some(MS(100)), ..ack(flow.now, 3, MS(100)) };
    flow.copa.on_ack(&mut flow.window, &ack);
    assert!((flow.copa.cwnd - before - 3.0).abs() < 1e-9, "slow start counts its three packets: {}", flow.copa.cwnd);
}

#[test]
fn the_handshake_counts_for_rtt_min_if_it_is_asked_to() {
    // Data take 20 ms longer than the SYN.
    let queueing = |counts_handshake| {
        let mut flow = Flow::with(Config { counts_handshake, ..Config::PUBLISHED });
        flow.acks(100, 1, 10, 120);
        flow.copa.in_slow_start
    };
    assert!(queueing(false), "no queue is seen");
    assert!(!queueing(true), "20 ms of queue are seen");
}

#[test]
fn paced_at_twice_the_window_in_a_standing_round_trip() {
    let flow = Flow::new();
    assert_eq!(flow.copa.pacing_rate(), Rate::from_bits_per_second(2 * 10 * MSS * 8 * 10));
}
