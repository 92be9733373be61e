//! Tests the effect of single events. Round trips take 10 ms; at 80 Mbps the bandwidth-delay
//! product is a hundred segments.

use super::super::testing::{MSS, ack, sample, start};
use super::undo::UndoState;
use super::*;
use crate::cc::Growth;
use crate::recovery::delivery_rate::{Sample, Stamp};

mod probe_bw;
mod startup;

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

    /// Creates a flow after Startup and Drain, at 80 Mbps.
    fn down() -> Self {
        let mut bench = Self::new();
        (0..4).for_each(|_| bench.round(80, 200));
        assert_eq!(bench.bbr.state, State::Drain);
        // Drain takes at most three rounds, and the remaining queue keeps the flow in Down.
        (0..4).for_each(|_| bench.round(80, 150));
        assert_eq!(bench.bbr.state, State::Down);
        (0..250).for_each(|_| bench.within(150));
        assert_eq!(
            bench.window.cwnd,
            bench.bbr.bdp(80_000_000, Gain::percent(200)) + bench.bbr.extra_acked.get().unwrap_or(0)
        );
        bench
    }

    /// Creates a flow at the start of a probe, whose first transmissions have been acknowledged.
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

    /// Processes an ACK that ends a round trip and leaves `in_flight` segments in flight.
    fn round(&mut self, mbps: u64, in_flight: u64) {
        let prior = self.delivered;
        self.ack(RTT, mbps, prior, |ack| ack.in_flight = in_flight * MSS);
    }

    /// Processes an ACK within a round trip.
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

    /// Loses the segment at `start`. When the segment was sent, `in_flight` segments were in
    /// flight, and `lost_before` bytes had been lost.
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
fn probe_rtt_keeps_half_of_the_bdp_at_the_old_minimum_rtt() {
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
