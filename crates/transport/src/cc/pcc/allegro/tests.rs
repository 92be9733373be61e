//! Tests the learner by monitor interval.

use super::super::Learner as _;
use super::*;
use acklab_base::random::Seed;

fn report(rate: f64, loss: f64) -> Report {
    Report { rate, sending_rate: rate, loss, rtt_gradient: 0.0, is_inconclusive: false }
}

/// Reports on a link of `capacity` Mbps without a buffer.
fn link(capacity: f64, rate: f64) -> Report {
    report(rate, (1.0 - capacity / rate).max(0.0))
}

#[test]
fn utility_collapses_beyond_five_percent_of_loss() {
    assert!((utility(&Config::PUBLISHED, &report(10.0, 0.0)) - 10.0 / (1.0 + libm::exp(-5.0))).abs() < 1e-9);
    assert!((utility(&Config::PUBLISHED, &report(10.0, 0.05)) - (9.5 / 2.0 - 0.5)).abs() < 1e-9);
    assert!(utility(&Config::PUBLISHED, &report(20.0, 0.1)) < 0.0);
}

#[test]
fn starting_doubles_until_the_utility_falls_and_goes_back() {
    let (mut learner, mut random) = (Allegro::new(Config::PUBLISHED, 2.0), Seed(1).stream("pcc"));
    let mut next = |learner: &mut Allegro| learner.next(&mut random).map(|rate| rate as u64);
    assert_eq!([next(&mut learner), next(&mut learner)], [Some(2), Some(4)]);
    // Each result is known before the second interval after it begins.
    for (known, begins) in [(2.0, 8), (4.0, 16)] {
        assert_eq!(next(&mut learner), None);
        assert_eq!(learner.learn(&link(10.0, known)), Verdict::Continue);
        assert_eq!(next(&mut learner), Some(begins));
    }
    assert_eq!(learner.learn(&link(10.0, 8.0)), Verdict::Continue);
    assert_eq!(learner.learn(&link(10.0, 16.0)), Verdict::Restart);
    assert!((learner.rate() - 8.0).abs() < 1e-9 && matches!(learner.phase, Phase::Deciding { .. }));
}

/// Runs four trials on a link. Each result is the report `of` the trial's rate.
fn trials(learner: &mut Allegro, random: &mut Stream, of: impl Fn(usize, f64) -> Report) {
    let rates: Vec<f64> = (0..TRIALS).map(|_| learner.next(random).unwrap()).collect();
    assert!(learner.next(random).is_none(), "then it waits");
    for pair in rates.chunks(2) {
        assert!((pair[0] + pair[1] - 2.0 * learner.rate()).abs() < 1e-9, "one up, one down: {pair:?}");
    }
    for (trial, rate) in rates.into_iter().enumerate() {
        learner.learn(&of(trial, rate));
    }
}

#[test]
fn two_pairs_that_agree_move_the_rate_with_growing_steps_until_it_is_too_much() {
    let (mut learner, mut random) = (Allegro::new(Config::PUBLISHED, 2.0), Seed(1).stream("pcc"));
    (learner.rate, learner.phase) = (8.0, Phase::Starting { last: None, under_way: 0 });
    learner.decide();
    trials(&mut learner, &mut random, |_, rate| link(10.0, rate));
    let mut expected = 8.0 * 1.01;
    for step in 1..=6 {
        expected *= 1.0 + 0.01 * f64::from(step);
        assert!((learner.next(&mut random).unwrap() - expected).abs() < 1e-9, "step {step}");
        assert!(learner.next(&mut random).is_none(), "its result comes first");
        assert_eq!(learner.learn(&link(10.0, expected)), Verdict::Restart);
    }
    assert!((learner.rate() - expected * 1.07).abs() < 1e-9);
    assert!(expected < 10.0);
    learner.learn(&link(10.0, expected * 1.07));
    assert!((learner.rate() - expected).abs() < 1e-9 && matches!(learner.phase, Phase::Deciding { .. }));
}

#[test]
fn pairs_that_disagree_widen_the_trials_up_to_five_percent() {
    let (mut learner, mut random) = (Allegro::new(Config::PUBLISHED, 8.0), Seed(1).stream("pcc"));
    learner.decide();
    for round in 2..10 {
        // The first pair favours the higher rate, the second the lower.
        trials(&mut learner, &mut random, |trial, rate| report(if trial < 2 { rate } else { 16.0 - rate }, 0.0));
        assert!((learner.epsilon - (0.01 * f64::from(round)).min(0.05)).abs() < 1e-9);
        assert!((learner.rate() - 8.0).abs() < 1e-9);
    }
}

#[test]
fn an_interval_that_the_application_did_not_fill_is_repeated() {
    let (mut learner, mut random) = (Allegro::new(Config::PUBLISHED, 2.0), Seed(1).stream("pcc"));
    assert!((0..2).all(|_| learner.next(&mut random).is_some()));
    learner.repeat(&report(4.0, 0.0));
    assert!((learner.next(&mut random).unwrap() - 4.0).abs() < 1e-9);
}
