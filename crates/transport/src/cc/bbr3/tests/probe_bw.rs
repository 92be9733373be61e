//! Tests the states of `ProbeBW`, and the results of probes.

use super::*;

#[test]
fn a_probe_follows_a_round_that_refills_the_pipe() {
    let mut bench = Bench::down();
    bench.within(101);
    assert_eq!(bench.bbr.state, State::Down, "more than the path holds");
    bench.within(100);
    assert_eq!((bench.bbr.state, bench.bbr.state.pacing_gain(&Config::PUBLISHED)), (State::Cruise, Gain::ONE));
    let began = bench.now;
    bench.until(State::Refill, 50);
    let rounds = bench.now.since(began).as_millis() / 10;
    assert!((61..=63).contains(&rounds), "62 or 63 round trips, so that Reno can live beside it: {rounds}");
    bench.within(50);
    assert_eq!(bench.bbr.state, State::Refill);
    bench.round(80, 100);
    assert_eq!((bench.bbr.state, bench.bbr.state.pacing_gain(&Config::PUBLISHED)), (State::Up, Gain::percent(125)));
}

#[test]
fn a_long_path_is_probed_every_two_to_three_seconds() {
    let mut bench = Bench::down();
    bench.until(State::Cruise, 50);
    let began = bench.now;
    while bench.bbr.state == State::Cruise {
        bench.within(50);
    }
    assert!((2000..=3000).contains(&bench.now.since(began).as_millis()));
}

#[test]
fn a_probe_ends_when_three_rounds_bring_no_more() {
    let mut bench = Bench::up();
    (0..2).for_each(|_| bench.round(80, 130));
    assert_eq!(bench.bbr.state, State::Up);
    bench.round(80, 130);
    assert_eq!(bench.bbr.state, State::Down);
    assert_eq!(bench.bbr.long_term.inflight, INFINITY, "nothing was lost");
}

#[test]
fn a_probe_that_loses_too_much_bounds_what_may_be_in_flight() {
    let mut bench = Bench::up();
    (0..2).for_each(|index| bench.lose(index, 125, 0));
    assert_eq!((bench.bbr.state, bench.bbr.long_term.inflight), (State::Up, INFINITY), "1.6 %");
    bench.lose(2, 125, 0);
    assert_eq!(bench.bbr.state, State::Down);
    assert_eq!(
        bench.bbr.long_term.inflight / MSS,
        124,
        "what was in flight before the third, and the part of it that was allowed"
    );
    assert!(bench.bbr.long_term.was_too_high);
    (3..9).for_each(|index| bench.lose(index, 125, 0));
    assert_eq!(bench.bbr.long_term.inflight / MSS, 124, "once a probe");
    let headroom = bench.bbr.inflight_with_headroom();
    assert_eq!(headroom, bench.bbr.long_term.inflight - bench.bbr.long_term.inflight * 15 / 100);
}

#[test]
fn no_more_than_three_tenths_are_taken_at_once() {
    let mut bench = Bench::up();
    (0..2).for_each(|index| bench.lose(index, 20, 0));
    assert_eq!(bench.bbr.long_term.inflight, 70 * MSS, "of the 100 that the path holds, though 20 were in flight");
}

#[test]
fn the_probe_after_one_that_was_too_high_is_cautious_and_the_next_is_not() {
    let mut bench = Bench::up();
    (0..3).for_each(|index| bench.lose(index, 125, 0));
    bench.until(State::Cruise, 50);
    bench.until(State::Up, 90);
    bench.within(125);
    assert_eq!(bench.bbr.state, State::Down, "as soon as 125 % are in flight");
    assert!(bench.bbr.long_term.was_precautionary);
    bench.round(80, 90);
    assert_eq!(bench.bbr.state, State::Refill, "it was not too high: at once again");
    bench.until(State::Up, 90);
    bench.within(125);
    assert_eq!(bench.bbr.state, State::Up);
}

#[test]
fn the_bound_grows_while_the_window_at_it_holds_back_sending() {
    let mut bench = Bench::up();
    bench.bbr.long_term.inflight = 120 * MSS;
    bench.window.cwnd = 120 * MSS;
    let grow = |bench: &mut Bench, acks: u64| {
        (0..acks).for_each(|_| {
            bench.ack(Duration::from_micros(10), 80, 0, |ack| {
                (ack.window_limited, ack.acked_to, ack.sent_to, ack.in_flight) =
                    (true, Position(0), Position(1), 90 * MSS);
            });
        });
        bench.bbr.long_term.inflight / MSS
    };
    let (first, second) = (grow(&mut bench, 260), bench.bbr.long_term.rounds());
    assert_eq!((first, second), (121, 1), "a segment a window of ACKs in the first round");
}

#[test]
fn losses_in_a_probe_that_were_none_lead_back_to_it() {
    let mut bench = Bench::up();
    bench.bbr.ssthresh(bench.now, &bench.window, 0, Signal::Loss);
    (0..3).for_each(|index| bench.lose(index, 125, 0));
    assert_eq!((bench.bbr.state, bench.bbr.undo.state), (State::Down, UndoState::Up));
    bench.bbr.on_undo(bench.now, &mut bench.window);
    assert_eq!((bench.bbr.state, bench.bbr.long_term.inflight), (State::Refill, INFINITY));
}

#[test]
fn bandwidth_is_that_of_this_cycle_and_the_last() {
    let mut bench = Bench::down();
    bench.until(State::Up, 50);
    bench.round(100, 120);
    (0..3).for_each(|_| bench.round(90, 120));
    assert_eq!((bench.bbr.state, bench.bbr.max_bandwidth.get()), (State::Down, 100_000_000));
    bench.round(90, 50);
    bench.until(State::Refill, 50);
    assert_eq!(bench.bbr.max_bandwidth.get(), 100_000_000);
    bench.until(State::Down, 120);
    bench.round(80, 50);
    assert_eq!(bench.bbr.max_bandwidth.get(), 80_000_000, "a cycle later");
}
