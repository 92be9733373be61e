//! Tests Startup, Drain and their undo.

use super::*;

#[test]
fn a_plateau_ends_startup_and_an_empty_queue_draining() {
    let mut bench = Bench::new();
    for mbps in [40, 80, 90, 90] {
        bench.round(mbps, 300);
        assert_eq!(bench.bbr.state, State::Startup);
    }
    bench.round(90, 300);
    assert_eq!((bench.bbr.state, bench.bbr.state.pacing_gain(&Config::PUBLISHED)), (State::Drain, Gain::percent(50)));
    bench.within(114);
    assert_eq!(bench.bbr.state, State::Drain);
    bench.within(112);
    assert_eq!(bench.bbr.state, State::Cruise, "112.5 segments: there is nothing left to send less for");
}

#[test]
fn draining_takes_three_rounds_at_most() {
    let mut bench = Bench::new();
    (0..4).for_each(|_| bench.round(80, 300));
    (0..3).for_each(|_| bench.round(80, 300));
    assert_eq!(bench.bbr.state, State::Drain);
    bench.round(80, 300);
    assert_eq!(bench.bbr.state, State::Down);
}

/// Feeds a recovery with `ranges` lost ranges, whose round ends with a sample of `lost` lost
/// segments.
fn startup_with_losses(ranges: u64, lost: u64) -> Bench {
    let mut bench = Bench::new();
    bench.round(80, 100);
    bench.round(100, 100);
    bench.bbr.ssthresh(bench.now, &bench.window, 0, Signal::Loss);
    bench.bbr.on_state(bench.now, &mut bench.window, CongestionState::Recovery);
    (0..ranges).for_each(|index| bench.lose(2 * index, 100, 0));
    bench.ack(Duration::from_millis(1), 80, 0, |ack| ack.state = CongestionState::Recovery);
    assert_eq!(bench.bbr.state, State::Startup, "a round of recovery has to pass");
    let prior = bench.delivered;
    bench.ack(RTT, 100, prior, |ack| {
        ack.state = CongestionState::Recovery;
        ack.in_flight = 300 * MSS;
        ack.rate.as_mut().unwrap().lost = lost * MSS;
    });
    bench
}

#[test]
fn heavy_loss_in_several_places_ends_startup() {
    let bench = startup_with_losses(6, 6);
    assert_eq!((bench.bbr.state, bench.bbr.was_full), (State::Drain, true));
    assert_eq!(bench.bbr.long_term.inflight, bench.bbr.bdp(bench.bbr.bandwidth, Gain::ONE), "what the path holds");
    assert_eq!(startup_with_losses(5, 6).bbr.state, State::Startup, "too few ranges");
    assert_eq!(startup_with_losses(6, 2).bbr.state, State::Startup, "2 % may be lost");
}

#[test]
fn losses_that_were_none_lead_back_to_startup() {
    let mut bench = startup_with_losses(6, 6);
    bench.bbr.on_undo(bench.now, &mut bench.window);
    assert_eq!((bench.bbr.state, bench.bbr.was_full), (State::Startup, false));
    assert_eq!(bench.bbr.long_term.inflight, INFINITY);
}
