//! CUBIC's response function (RFC 9438, §5.1), and Reno's where CUBIC must not be slower than Reno
//! (§4.3).
//!
//! The derivation assumes a loss every 1/p packets, and so do these tests.

use super::bench::{Outcome, assert_close, bernoulli, periodic};

const BETA: f64 = 0.7;
const C: f64 = 0.4;

/// Returns the average window in segments (§5.1).
fn cubic(p: f64, rtt: f64) -> f64 {
    (C * (3.0 + BETA) / (4.0 * (1.0 - BETA))).powf(0.25) * (rtt / p).powf(0.75)
}

/// Returns the average window of Reno in segments (§5.1).
fn reno(p: f64) -> f64 {
    (1.5 / p).sqrt()
}

fn outcome(p: f64, rtt_ms: u64, seconds: u64, loss: String) -> Outcome {
    let half = rtt_ms * 500;
    let sets = vec![
        "flow.0.congestion=cubic".to_owned(),
        "flow.0.ack={ policy = \"per-packet\" }".to_owned(),
        format!("link.0.forward.delay={half}us"),
        format!("link.0.reverse.delay={half}us"),
        loss,
    ];
    let outcome = Outcome::of(1, seconds, &sets);
    println!(
        "p = {p}, {rtt_ms} ms: Reno {:.1}, CUBIC {:.1}, ours {:.1}",
        reno(p),
        cubic(p, outcome.rtt),
        outcome.window()
    );
    outcome
}

fn response(points: &[(f64, u64)], seconds: u64) {
    for (p, rtt) in points {
        let outcome = outcome(*p, *rtt, seconds, periodic(*p, 40_000));
        let theirs = cubic(*p, outcome.rtt).max(reno(*p));
        assert_close(&format!("CUBIC, p = {p}, RTT = {rtt} ms"), outcome.window(), theirs, 0.1);
    }
}

#[test]
fn beyond_reno_the_window_goes_with_three_quarters_of_rtt_over_p() {
    response(&[(1e-4, 100), (1e-4, 200), (3e-5, 100)], 400);
}

#[test]
fn where_reno_is_faster_it_is_reno() {
    response(&[(1e-2, 20), (1e-3, 20), (1e-3, 100), (1e-4, 50)], 200);
}

#[test]
#[ignore = "long: make closed-forms"]
fn over_decades_of_loss() {
    response(&[(1e-2, 10), (1e-3, 50), (1e-4, 20), (1e-4, 400), (1e-5, 100)], 600);
}

/// The formula does not cover random losses. With them the mean window is higher, as Reno's is
/// (1.31 instead of 1.22).
#[test]
fn random_losses_leave_more_than_even_ones() {
    let random = outcome(1e-3, 20, 400, bernoulli(1e-3)).window();
    assert!((1.0..1.3).contains(&(random / reno(1e-3))), "{random}");
}
