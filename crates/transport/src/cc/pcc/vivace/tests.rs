//! Tests the learner by monitor interval.

use super::super::Learner as _;
use super::*;
use acklab_base::random::Seed;

fn report(rate: f64, loss: f64, rtt_gradient: f64) -> Report {
    Report { rate, sending_rate: rate, loss, rtt_gradient, is_inconclusive: false }
}

/// Reports on a link of `capacity` Mbps with a deep buffer.
fn link(capacity: f64, rate: f64) -> Report {
    report(rate, 0.0, (rate / capacity - 1.0).max(0.0))
}

#[test]
fn utility_pays_for_rate_and_charges_for_latency_and_loss() {
    assert!((utility(&Config::PUBLISHED, &report(10.0, 0.0, 0.0)) - 7.943_282_347).abs() < 1e-6);
    assert!(
        (utility(&Config::PUBLISHED, &report(10.0, 0.0, 0.009))
            - utility(&Config::PUBLISHED, &report(10.0, 0.0, -0.5)))
        .abs()
            < 1e-9,
        "both are noise"
    );
    assert!((utility(&Config::PUBLISHED, &report(10.0, 0.02, 0.0)) - (7.943_282_347 - 2.27)).abs() < 1e-6);
    assert!((utility(&Config::PUBLISHED, &report(10.0, 0.0, 0.02)) - (7.943_282_347 - 180.0)).abs() < 1e-6);
}

#[test]
fn starting_waits_for_each_result_and_goes_back_when_the_utility_falls() {
    let (mut learner, mut random) = (Vivace::new(Config::PUBLISHED, 2.0), Seed(1).stream("pcc"));
    for expected in [2.0, 4.0, 8.0, 16.0] {
        let rate = learner.next(&mut random).unwrap();
        assert!((rate - expected).abs() < 1e-9 && learner.next(&mut random).is_none());
        learner.learn(&link(10.0, rate));
    }
    assert!((learner.rate() - 8.0).abs() < 1e-9 && matches!(learner.phase, Phase::Probing { .. }));
}

#[test]
fn a_pair_around_the_rate_gives_the_gradient() {
    let (mut learner, mut random) = (Vivace::new(Config::PUBLISHED, 8.0), Seed(1).stream("pcc"));
    learner.probe();
    let pair = [(); 2].map(|()| learner.next(&mut random).unwrap());
    assert!(learner.next(&mut random).is_none());
    assert!((pair[0] + pair[1] - 16.0).abs() < 1e-9 && (pair[0] - pair[1]).abs() - 0.8 < 1e-9);
    let verdicts = pair.map(|rate| learner.learn(&link(100.0, rate)));
    assert_eq!(verdicts, [Verdict::Continue, Verdict::Restart]);
    // d(x^0.9)/dx = 0.9·8^−0.1 = 0.73, but 5 % of 8 is the bound.
    assert!((learner.rate() - 8.4).abs() < 1e-9, "{}", learner.rate());
}

#[test]
fn confidence_and_boundary_grow_with_steps_one_way() {
    let mut ascent = Ascent { is_up: true, ..Ascent::default() };
    let steps: Vec<f64> = (0..6).map(|_| ascent.step(&Config::PUBLISHED, 0.1, 100.0)).collect();
    for (step, expected) in steps.iter().zip([0.1, 0.2, 0.3, 0.5, 0.7, 0.9]) {
        assert!((step - expected).abs() < 1e-9, "{steps:?}");
    }
    let turned: Vec<f64> = (0..3).map(|_| ascent.step(&Config::PUBLISHED, -1000.0, 100.0)).collect();
    for (step, expected) in turned.iter().zip([-5.0, -15.0, -25.0]) {
        assert!((step - expected).abs() < 1e-9, "{turned:?}");
    }
    ascent.step(&Config::PUBLISHED, -2.0, 100.0);
    assert!((ascent.cut - 1.0).abs() < 1e-9, "10 % would have passed with k = 1");
}

#[test]
fn a_zero_gradient_ends_the_confidence() {
    let mut ascent = Ascent { is_up: true, ..Ascent::default() };
    let mut step = |gradient| ascent.step(&Config::PUBLISHED, gradient, 100.0);
    let steps = [0.1, 0.1, 0.1, 0.1, 0.0, 0.1].map(&mut step);
    for (step, expected) in steps.iter().zip([0.1, 0.2, 0.3, 0.5, 0.0, 0.1]) {
        assert!((step - expected).abs() < 1e-9, "{steps:?}");
    }
}

#[test]
fn after_an_uncut_step_webrtc_leaves_a_wider_boundary() {
    let bound = |uncut_steps| {
        let constants = Config { uncut_steps, ..Config::PUBLISHED };
        let mut ascent = Ascent { is_up: true, ..Ascent::default() };
        [0.1, 1000.0].map(|gradient| ascent.step(&constants, gradient, 100.0))[1]
    };
    assert!((bound(0) - 5.0).abs() < 1e-9, "ω0, as the paper has it");
    assert!((bound(1) - 15.0).abs() < 1e-9, "ω0 + δ");
}

#[test]
fn a_falling_round_trip_time_is_worth_what_the_floor_allows() {
    let utility = |gradient_floor, gradient| {
        utility(&Config { gradient_floor, ..Config::PUBLISHED }, &report(10.0, 0.0, gradient))
    };
    let base = utility(0.0, 0.0);
    assert!((utility(0.0, -0.5) - base).abs() < 1e-9, "PCC-Uspace: nothing");
    assert!((utility(-1000.0, -0.5) - base - 900.0 * 10.0 * 0.5).abs() < 1e-6, "the paper");
    assert!((utility(-0.1, -0.5) - base - 900.0 * 10.0 * 0.1).abs() < 1e-6, "WebRTC");
    assert!((utility(-1000.0, -0.009) - base).abs() < 1e-9, "noise in either direction");
}

#[test]
fn a_timeout_halves_the_rate() {
    let mut learner = Vivace::new(Config::PUBLISHED, 8.0);
    learner.on_timeout();
    assert!((learner.rate() - 4.0).abs() < 1e-9);
}
