//! The window in recovery and after a timeout.

use super::*;

#[test]
fn a_recovery_conserves_for_a_round_then_doubles_and_then_restores() {
    let mut bench = Bench::cruising();
    (0..20).for_each(|_| bench.within(Duration::from_millis(1), 1, |_| {}));
    let before = bench.window.cwnd;
    bench.bbr.ssthresh(bench.now, &bench.window, before, Signal::Loss);
    let repairing = |in_flight: u64, lost: u64| {
        move |ack: &mut Ack| {
            (ack.state, ack.in_flight, ack.lost) = (CongestionState::Recovery, in_flight * MSS, lost * MSS);
        }
    };
    bench.within(Duration::from_millis(1), 1, repairing(15, 3));
    assert_eq!(bench.segments(), 16, "what is in flight and what was delivered");
    bench.within(Duration::from_millis(1), 2, repairing(14, 0));
    assert_eq!(bench.segments(), 16);
    let prior = bench.delivered;
    bench.ack(RTT, 2, 8, prior, repairing(14, 0));
    assert_eq!(bench.segments(), 18, "after a round, by what is delivered");
    bench.within(Duration::from_millis(1), 1, |_| {});
    assert!(bench.window.cwnd >= before.min(28 * MSS), "restored: {} of {before}", bench.window.cwnd);
}

#[test]
fn what_is_lost_leaves_the_window_first() {
    let mut bench = Bench::cruising();
    bench.bbr.state = CongestionState::Recovery;
    bench.window.cwnd = 15 * MSS;
    bench.within(Duration::from_millis(1), 1, |ack| {
        (ack.state, ack.lost) = (CongestionState::Recovery, 4 * MSS);
    });
    assert_eq!(bench.segments(), 12);
}

#[test]
fn a_timeout_forgets_the_baseline_and_a_spurious_one_the_search_for_it() {
    let mut bench = Bench::new();
    (0..3).for_each(|_| bench.round(8, 10));
    let before = bench.window.cwnd;
    assert_eq!(bench.bbr.ssthresh(bench.now, &bench.window, before, Signal::Timeout), u64::MAX);
    bench.window.cwnd = MSS;
    bench.bbr.on_state(bench.now, &mut bench.window, CongestionState::Loss);
    bench.round(8, 1);
    assert_eq!(bench.bbr.mode, Mode::Startup, "8 Mbps are growth again");
    bench.within(Duration::from_millis(1), 1, |_| {});
    assert!(bench.window.cwnd >= before, "restored when the recovery is over");
    bench.bbr.on_undo(bench.now, &mut bench.window);
    (0..3).for_each(|_| bench.round(8, 10));
    assert!(!bench.bbr.was_full);
    bench.round(8, 10);
    assert!(bench.bbr.was_full);
}
