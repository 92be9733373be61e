//! One flow on a path of 100 ms, by ACK.

use super::super::Growth;
use super::super::testing::{MSS, ack, start};
use super::*;

const MS: fn(u64) -> Duration = Duration::from_millis;

struct Flow {
    copa: Copa,
    window: Window,
    now: Instant,
}

impl Flow {
    /// On a path of 100 ms.
    fn new() -> Self {
        let mut flow = Self {
            copa: Copa::new(&Config::PUBLISHED, &start(Growth::PerSegment)),
            window: Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS },
            now: Instant::ZERO,
        };
        flow.copa.on_established(flow.now, &mut flow.window, Some(MS(100)));
        flow
    }

    /// ACKs of `segments` each, `gap_ms` apart, whose round trips were of `rtt_ms`.
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
    // Within srtt/2 the standing time is still that of the empty queue.
    flow.acks(1, 1, 10, 120);
    assert!(flow.copa.in_slow_start);
    // 20 ms of queue allow 2 · 120 / 20 = 12 packets.
    let cwnd = flow.acks(1, 1, 60, 120);
    assert!(!flow.copa.in_slow_start && cwnd < 21.0, "{cwnd}");
}

#[test]
fn a_round_trip_moves_the_window_by_inverse_delta() {
    let mut flow = Flow::new();
    (flow.copa.in_slow_start, flow.copa.cwnd, flow.copa.velocity.before) = (false, 50.0, 50.0);
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
    (flow.copa.in_slow_start, flow.copa.cwnd, flow.copa.velocity.before) = (false, 50.0, 50.0);
    let velocity = |flow: &mut Flow, acks, rtt| {
        flow.acks(acks, 5, 10, rtt);
        flow.copa.velocity.value as u64
    };
    assert_eq!(velocity(&mut flow, 29, 100), 1);
    assert_eq!(velocity(&mut flow, 1, 100), 2, "the third round trip upwards");
    assert_eq!(velocity(&mut flow, 10, 100), 4);
    assert_eq!(velocity(&mut flow, 6, 200), 1, "100 ms of queue turn it at once");
}

#[test]
fn loss_alone_moves_nothing_but_a_timeout_does() {
    let mut flow = Flow::new();
    let before = flow.acks(5, 1, 10, 100);
    assert_eq!(flow.copa.ssthresh(flow.now, &flow.window, 10 * MSS, Signal::Loss), u64::MAX);
    flow.copa.on_state(flow.now, &mut flow.window, CongestionState::Recovery);
    assert!((flow.copa.cwnd - before).abs() < 1e-9);
    flow.copa.on_state(flow.now, &mut flow.window, CongestionState::Loss);
    assert_eq!(flow.window.cwnd, 2 * MSS);
}

#[test]
fn paced_at_twice_the_window_in_a_standing_round_trip() {
    let flow = Flow::new();
    assert_eq!(flow.copa.pacing_rate(), Rate::from_bits_per_second(2 * 10 * MSS * 8 * 10));
}
