//! Tests the integer arithmetic of the module by single events.

use super::super::super::testing::{MSS, ack};
use super::*;
use crate::cc::Position;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn window(segments: u64) -> Window {
    Window { cwnd: segments * MSS, ssthresh: segments * MSS, mss: MSS }
}

/// Returns the state after a loss at `segments`, on a path of 20 ms, at the start of congestion
/// avoidance at 2 s.
fn after_loss(segments: u64) -> (Linux, Window) {
    let (mut linux, mut window) = (Linux::new(&Config::PUBLISHED), window(segments));
    linux.sample(&ack(at(1000), 1, Duration::from_millis(20)));
    window.ssthresh = linux.reduce(&window);
    window.cwnd = window.ssthresh;
    linux.grow(&mut window, at(2000), 1);
    (linux, window)
}

#[test]
fn constants_of_the_module() {
    let Parameters { beta, cube_rtt_scale, friendly_scale, .. } = Parameters::new(&Config::PUBLISHED);
    assert_eq!((beta, cube_rtt_scale, friendly_scale), (717, 410, 15));
    assert_eq!(window(43).cwnd, 43 * MSS);
    assert_eq!(Linux::new(&Config::PUBLISHED).reduce(&window(43)), 30 * MSS, "43 · 717 / 1024 = 30.1");
}

#[test]
fn the_count_of_the_curve() {
    let (linux, _) = after_loss(100);
    assert_eq!((linux.origin, linux.last_max), (100, 100));
    // ∛((100 − 70) · 2⁴⁰ / 410) / 1024 = 4.2 s.
    assert_eq!(linux.k, 4316, "4.215 s: the factor is truncated");
    // 5 jiffies ahead, the curve is at 100 − 29 = 71: 70 acknowledged segments per segment of
    // growth.
    assert_eq!(linux.count, 70);
}

#[test]
fn the_curve_is_looked_at_once_a_jiffy() {
    let (mut linux, window) = after_loss(100);
    let count = linux.count;
    linux.update(window.cwnd / MSS + 1, jiffies(at(2001)), 1);
    assert_eq!(linux.count, count, "the same jiffy");
    linux.update(window.cwnd / MSS + 1, jiffies(at(3000)), 1);
    assert_ne!(linux.count, count);
    let later = linux.count;
    linux.update(window.cwnd / MSS + 1, jiffies(at(3024)), 1);
    assert_eq!(linux.count, later, "the window has not moved for less than a 32nd of a second");
}

#[test]
fn reno_sets_the_pace_of_small_windows() {
    let (mut linux, mut window) = after_loss(10);
    for millis in (2020..2400).step_by(20) {
        let acked = window.cwnd / MSS;
        linux.grow(&mut window, at(millis), acked);
    }
    // 19 round trips at α = 8/15, from 7 segments: Reno's window would be 17 segments.
    assert!((15..=17).contains(&(window.cwnd / MSS)), "{}", window.cwnd);
}

#[test]
fn credit_of_slow_growth_is_worth_one_segment() {
    let mut linux = Linux { count: 100, ..Linux::new(&Config::PUBLISHED) };
    assert_eq!(linux.additive_increase(90), 0);
    linux.count = 10;
    assert_eq!(linux.additive_increase(25), 3, "1 for the 90, 2 for the 25");
    assert_eq!(linux.credit, 5);
}

#[test]
fn before_a_loss_a_twentieth_a_round_trip() {
    let mut linux = Linux::new(&Config::PUBLISHED);
    let mut window = window(100);
    linux.grow(&mut window, at(1000), 1);
    assert_eq!(linux.count, 20);
}

#[test]
fn delays_of_the_first_second_after_a_recovery_are_not_taken() {
    let (mut linux, _) = after_loss(100);
    linux.sample(&ack(at(2900), 1, Duration::from_millis(5)));
    assert_eq!(linux.delay_min, Some(Duration::from_millis(20)));
    linux.sample(&ack(at(3000), 1, Duration::from_millis(5)));
    assert_eq!(linux.delay_min, Some(Duration::from_millis(5)));
}

#[test]
fn idleness_shifts_the_epoch() {
    let (mut linux, _) = after_loss(100);
    let sent = |now, in_flight| Sent {
        now,
        bytes: MSS,
        in_flight,
        end: Position(0),
        is_retransmission: false,
        is_app_limited: false,
    };
    linux.on_sent(&sent(at(2100), 5 * MSS));
    linux.on_sent(&sent(at(2500), MSS));
    assert_eq!(linux.epoch_start, Some(jiffies(at(2400))));
}

#[test]
fn a_timeout_forgets_the_curve() {
    let (mut linux, _) = after_loss(100);
    linux.on_state(CongestionState::Loss);
    assert_eq!((linux.last_max, linux.k, linux.delay_min, linux.epoch_start), (0, 0, None, None));
}
