//! By event. Round trips of 10 ms; at 80 Mbps the path holds a hundred segments.

use super::super::testing::{MSS, ack, sample, start};
use super::undo::Return;
use super::*;
use crate::cc::Growth;
use crate::recovery::delivery_rate::{Sample, Stamp};

const RTT: Duration = Duration::from_millis(10);

struct Bench {
    bbr: Bbr3,
    window: Window,
    now: Instant,
    delivered: u64,
    lost: u64,
}

impl Bench {
    fn new() -> Self {
        let mut bench = Self {
            bbr: Bbr3::new(&Config::PUBLISHED, &start(Growth::PerSegment)),
            window: Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS },
            now: Instant::ZERO,
            delivered: 0,
            lost: 0,
        };
        bench.bbr.on_established(bench.now, &mut bench.window, Some(RTT));
        bench
    }

    /// Past startup and draining, at 80 Mbps.
    fn down() -> Self {
        let mut bench = Self::new();
        (0..4).for_each(|_| bench.round(80, 200));
        assert_eq!(bench.bbr.state, State::Drain);
        // Draining takes three rounds at most, and what is still queued keeps it there.
        (0..4).for_each(|_| bench.round(80, 150));
        assert_eq!(bench.bbr.state, State::Down);
        (0..250).for_each(|_| bench.within(150));
        assert_eq!(
            bench.window.cwnd,
            bench.bbr.path(80_000_000, Gain::percent(200)) + bench.bbr.extra_acked.get().unwrap_or(0)
        );
        bench
    }

    /// Just into a probe, with what it sends acknowledged.
    fn up() -> Self {
        let mut bench = Self::down();
        bench.until(State::Cruise, 50);
        bench.until(State::Refill, 50);
        bench.until(State::Up, 100);
        bench
    }

    fn ack(&mut self, after: Duration, mbps: u64, prior: u64, edit: impl FnOnce(&mut Ack)) {
        self.now += after;
        self.delivered += MSS;
        let mut ack = Ack {
            total_delivered: self.delivered,
            rate: Some(Sample { tx_in_flight: 100 * MSS, ..sample(mbps * 125, prior) }),
            ..ack(self.now, 1, RTT)
        };
        edit(&mut ack);
        self.bbr.on_ack(&mut self.window, &ack);
    }

    /// An ACK that ends a round trip, with so many segments left in flight.
    fn round(&mut self, mbps: u64, in_flight: u64) {
        let prior = self.delivered;
        self.ack(RTT, mbps, prior, |ack| ack.in_flight = in_flight * MSS);
    }

    /// An ACK within a round trip.
    fn within(&mut self, in_flight: u64) {
        self.ack(Duration::from_micros(100), 80, 0, |ack| ack.in_flight = in_flight * MSS);
    }

    fn until(&mut self, state: State, in_flight: u64) {
        for _ in 0..200 {
            if self.bbr.state == state {
                return;
            }
            self.round(80, in_flight);
        }
        panic!("{:?}, not {state:?}", self.bbr.state);
    }

    /// The segment at `start` is lost, that left with so many in flight when so many octets were lost.
    fn lose(&mut self, start: u64, in_flight: u64, lost_before: u64) {
        self.lost += MSS;
        let stamp = Stamp { in_flight: in_flight * MSS, lost: lost_before, ..Stamp::default() };
        let lost = Lost {
            now: self.now,
            sent_at: self.now,
            bytes: MSS,
            start: Position(start * MSS),
            end: Position((start + 1) * MSS),
            stamp,
            total_delivered: self.delivered,
            total_lost: self.lost,
        };
        self.bbr.on_lost(&self.window, &lost);
    }
}

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

/// So many ranges lost in a recovery, and what the ACK that ends the round tells of the loss rate.
fn startup_with_losses(ranges: u64, lost: u64) -> Bench {
    let mut bench = Bench::new();
    bench.round(80, 100);
    bench.round(100, 100);
    bench.bbr.ssthresh(bench.now, &bench.window, 0, Signal::Loss);
    (0..ranges).for_each(|index| bench.lose(2 * index, 100, 0));
    bench.bbr.on_state(bench.now, &mut bench.window, CongestionState::Recovery);
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
    assert_eq!(bench.bbr.long_term.inflight, bench.bbr.path(bench.bbr.bandwidth, Gain::ONE), "what the path holds");
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
    assert_eq!(bench.bbr.state, State::Down, "as soon as so much is in flight");
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
fn a_loss_between_probes_lowers_the_short_term_bounds_once_a_round() {
    let mut bench = Bench::down();
    bench.until(State::Cruise, 50);
    let cwnd = bench.window.cwnd;
    bench.lose(0, 100, 0);
    bench.within(50);
    assert_eq!(bench.bbr.short_term.bandwidth, INFINITY, "what is acknowledged left before the loss was seen");
    bench.round(60, 50);
    assert_eq!(bench.bbr.short_term.bandwidth, 80_000_000, "the greatest rate of that round");
    assert_eq!(bench.bbr.short_term.inflight, cwnd * 7 / 10);
    bench.lose(1, 100, MSS);
    bench.round(60, 50);
    assert_eq!((bench.bbr.short_term.bandwidth, bench.bbr.bandwidth), (60_000_000, 60_000_000));
    assert_eq!(bench.bbr.short_term.inflight, cwnd * 49 / 100);
    bench.lose(2, 100, 2 * MSS);
    bench.round(20, 50);
    bench.lose(3, 100, 3 * MSS);
    bench.round(20, 50);
    assert_eq!(bench.bbr.bandwidth, 42_000_000, "no more than three tenths at once");
    bench.until(State::Refill, 50);
    assert_eq!((bench.bbr.short_term.bandwidth, bench.bbr.short_term.inflight), (INFINITY, INFINITY));
}

#[test]
fn losses_in_a_probe_that_were_none_lead_back_to_it() {
    let mut bench = Bench::up();
    bench.bbr.ssthresh(bench.now, &bench.window, 0, Signal::Loss);
    (0..3).for_each(|index| bench.lose(index, 125, 0));
    assert_eq!((bench.bbr.state, bench.bbr.undo.returns_to), (State::Down, Return::Up));
    bench.bbr.on_undo(bench.now, &mut bench.window);
    assert_eq!((bench.bbr.state, bench.bbr.long_term.inflight), (State::Refill, INFINITY));
}

#[test]
fn a_recovery_leaves_the_window_as_it_found_it() {
    let mut bench = Bench::down();
    let before = bench.window.cwnd;
    bench.bbr.ssthresh(bench.now, &bench.window, 0, Signal::Timeout);
    bench.window.cwnd = MSS;
    bench.bbr.on_state(bench.now, &mut bench.window, CongestionState::Loss);
    bench.within(1);
    assert_eq!(bench.window.cwnd, 4 * MSS, "the least");
    bench.bbr.on_state(bench.now, &mut bench.window, CongestionState::Open);
    assert_eq!(bench.window.cwnd, before);
}

#[test]
fn the_pause_keeps_half_of_what_the_path_held_when_its_time_was_last_seen() {
    let mut bench = Bench::down();
    bench.now += Duration::from_secs(10);
    let slower = Duration::from_millis(20);
    bench.ack(Duration::ZERO, 80, 0, |ack| (ack.newest_rtt, ack.in_flight) = (Some(slower), 150 * MSS));
    assert_eq!((bench.bbr.state, bench.bbr.min_rtt), (State::ProbeRtt, Some(slower)));
    assert_eq!(bench.window.cwnd, 50 * MSS, "half of 100, not of 200");
    bench.within(50);
    assert!(bench.bbr.limits_itself());
    (0..20).for_each(|_| bench.round(40, 50));
    assert_eq!(bench.bbr.state, State::ProbeRtt);
    bench.round(40, 50);
    assert_eq!(bench.bbr.state, State::Cruise, "after 200 ms and a round");
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
