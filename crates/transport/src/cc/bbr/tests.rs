//! Tests the effect of one ACK, one loss or one idle period. Round trips take 10 ms; at 8 Mbps the
//! bandwidth-delay product is ten segments.

use super::super::testing::{MSS, ack, sample, start};
use super::*;
use crate::cc::{Growth, Position};

mod gate;
mod policer;
mod probe_bw;
mod probe_rtt;
mod recovery;

const RTT: Duration = Duration::from_millis(10);
/// `bbr_quantization_budget`: three transmissions of two segments.
const BUDGET: u64 = 6;

struct Bench {
    bbr: Bbr,
    window: Window,
    now: Instant,
    delivered: u64,
    lost: u64,
}

impl Bench {
    fn new() -> Self {
        let mut bench = Self {
            bbr: Bbr::new(&Config::PUBLISHED, &start(Growth::PerSegment)),
            window: Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS },
            now: Instant::ZERO,
            delivered: 0,
            lost: 0,
        };
        bench.bbr.on_established(bench.now, &mut bench.window, Some(RTT));
        bench
    }

    /// Creates a flow in `ProbeBW`, at 8 Mbps.
    fn cruising() -> Self {
        let mut bench = Self::new();
        (0..4).for_each(|_| bench.round(8, 10));
        bench.round(8, 0);
        assert_eq!(bench.bbr.mode, Mode::ProbeBw);
        bench
    }

    /// Processes an ACK for `segments` segments, `after` the previous ACK, with a rate sample of
    /// `mbps`.
    fn ack(&mut self, after: Duration, segments: u64, mbps: u64, prior: u64, edit: impl FnOnce(&mut Ack)) {
        self.now += after;
        self.delivered += segments * MSS;
        let mut ack = Ack {
            total_delivered: self.delivered,
            rate: (segments > 0).then(|| sample(mbps * 125, prior)),
            ..ack(self.now, segments, RTT)
        };
        edit(&mut ack);
        self.bbr.on_ack(&mut self.window, &ack);
    }

    /// Processes an ACK that ends a round trip and leaves `in_flight` segments in flight.
    fn round(&mut self, mbps: u64, in_flight: u64) {
        let prior = self.delivered;
        self.ack(RTT, 1, mbps, prior, |ack| ack.in_flight = in_flight * MSS);
    }

    /// Processes an ACK within a round trip.
    fn within(&mut self, after: Duration, segments: u64, edit: impl FnOnce(&mut Ack)) {
        self.ack(after, segments, 8, 0, edit);
    }

    fn lose(&mut self, segments: u64) {
        self.lost += segments * MSS;
        let lost = Lost {
            now: self.now,
            sent_at: self.now,
            bytes: segments * MSS,
            start: Position(0),
            end: Position(segments * MSS),
            stamp: crate::recovery::delivery_rate::Stamp::default(),
            total_delivered: self.delivered,
            total_lost: self.lost,
        };
        self.bbr.on_lost(&self.window, &lost);
    }

    fn pacing_mbps(&self) -> f64 {
        self.bbr.pacing.bits_per_second() as f64 / 1e6
    }

    fn segments(&self) -> u64 {
        self.window.cwnd / MSS
    }
}

#[test]
fn gains_are_those_of_the_kernel() {
    let Config { startup_gain, drain_gain, cwnd_gain, .. } = Config::PUBLISHED;
    assert_eq!([startup_gain, drain_gain, cwnd_gain].map(|gain| gain.of(256)), [739, 88, 512]);
}

#[test]
fn pacing_begins_with_the_window_in_the_round_trip_of_the_handshake() {
    let bench = Bench::new();
    assert!((bench.pacing_mbps() - 8.0 * 739.0 / 256.0 * 0.99).abs() < 1e-4, "{}", bench.pacing_mbps());
}

#[test]
fn without_a_round_trip_time_a_millisecond_is_supposed_until_there_is_one() {
    let mut bench = Bench { bbr: Bbr::new(&Config::PUBLISHED, &start(Growth::PerSegment)), ..Bench::new() };
    bench.bbr.on_established(bench.now, &mut bench.window, None);
    assert!((bench.pacing_mbps() - 80.0 * 739.0 / 256.0 * 0.99).abs() < 1e-3);
    bench.round(1, 1);
    assert!((bench.pacing_mbps() - 8.0 * 739.0 / 256.0 * 0.99).abs() < 1e-4, "of the window that the ACK found");
}

#[test]
fn startup_ends_when_three_rounds_bring_no_quarter_more_and_the_queue_is_drained() {
    let mut bench = Bench::new();
    for (mbps, mode) in [(4, Mode::Startup), (8, Mode::Startup), (9, Mode::Startup), (9, Mode::Startup)] {
        bench.round(mbps, 40);
        assert_eq!(bench.bbr.mode, mode);
    }
    bench.round(9, 40);
    assert_eq!((bench.bbr.mode, bench.bbr.pacing_gain), (Mode::Drain, Config::PUBLISHED.drain_gain));
    let path = bench.bbr.inflight(9_000_000, Gain::ONE);
    assert_eq!(path, (12 + BUDGET) * MSS, "11.25 segments, rounded up, and the budget: an even number");
    bench.within(RTT, 1, |ack| ack.in_flight = path + MSS);
    assert_eq!(bench.bbr.mode, Mode::Drain);
    bench.within(RTT, 1, |ack| ack.in_flight = path);
    assert_eq!(bench.bbr.mode, Mode::ProbeBw);
}

#[test]
fn rounds_that_the_application_limits_do_not_end_startup() {
    let mut bench = Bench::new();
    for _ in 0..10 {
        let prior = bench.delivered;
        bench.ack(RTT, 1, 4, prior, |ack| ack.rate.as_mut().unwrap().is_app_limited = true);
    }
    assert_eq!(bench.bbr.mode, Mode::Startup);
}

#[test]
fn what_pacing_holds_back_counts_as_delivered_by_then() {
    let bench = Bench::cruising();
    let ack = Ack { departure: bench.now + Duration::from_millis(3), ..ack(bench.now, 1, RTT) };
    assert_eq!(bench.bbr.in_flight_at_departure(&ack, 10 * MSS), 7 * MSS, "3 ms at 8 Mbps");
}

#[test]
fn the_window_is_twice_the_path_and_the_budget() {
    let mut bench = Bench::cruising();
    (0..40).for_each(|_| bench.within(Duration::from_millis(1), 1, |_| {}));
    let probing = if bench.bbr.cycle.probes() { 2 } else { 0 };
    assert_eq!(bench.bbr.aggregation(), MSS, "a segment a millisecond is no burst, but comes at once");
    assert_eq!(bench.segments(), 20 + BUDGET + 2 + probing, "with that, an even number");
}

#[test]
fn bursts_of_acks_enlarge_the_window_by_what_they_bring_beyond_the_bandwidth() {
    let mut bench = Bench::cruising();
    (0..6).for_each(|_| {
        bench.round(8, 10);
        bench.within(Duration::from_millis(20), 0, |ack| ack.rate = None);
        bench.within(Duration::ZERO, 25, |_| {});
    });
    assert_eq!(bench.bbr.aggregation(), 25 * MSS);
    let mut early = Bench::new();
    early.within(RTT, 25, |_| {});
    assert_eq!(early.bbr.aggregation(), 0, "not before the pipe was full");
    bench.bbr.extra_acked.update(1000 * MSS);
    assert_eq!(bench.bbr.aggregation(), 100 * MSS, "what the bandwidth brings in 100 ms");
}

#[test]
fn bursts_are_forgotten_after_ten_rounds() {
    let mut bench = Bench::cruising();
    bench.window.cwnd = 30 * MSS;
    bench.within(Duration::ZERO, 25, |_| {});
    assert!(bench.bbr.aggregation() >= 25 * MSS);
    (0..10).for_each(|_| bench.round(8, 10));
    assert!(bench.bbr.aggregation() < 5 * MSS, "{}", bench.bbr.aggregation());
}
