//! By event: what one ACK, one loss, one silence does. Round trips of 10 ms; at 8 Mbps the path holds ten segments.

use super::super::testing::{MSS, ack, sample, start};
use super::*;
use crate::cc::{Growth, Position};

mod gate;
mod policer;

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

    /// Past startup and draining, at 8 Mbps.
    fn cruising() -> Self {
        let mut bench = Self::new();
        (0..4).for_each(|_| bench.round(8, 10));
        bench.round(8, 0);
        assert_eq!(bench.bbr.mode, Mode::ProbeBw);
        bench
    }

    /// `after` the last, an ACK for so many segments at so many Mbps.
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

    /// An ACK that ends a round trip, with so many segments left in flight.
    fn round(&mut self, mbps: u64, in_flight: u64) {
        let prior = self.delivered;
        self.ack(RTT, 1, mbps, prior, |ack| ack.in_flight = in_flight * MSS);
    }

    /// An ACK within a round trip.
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
fn a_cycle_never_begins_by_sending_less() {
    let mut bench = Bench::cruising();
    let mut first = [false; 2];
    for _ in 0..200 {
        bench.bbr.enter_probe_bw();
        bench.bbr.update_gains();
        let gain = bench.bbr.pacing_gain.of(256);
        assert_ne!(gain, 192);
        first[usize::from(gain == 320)] = true;
    }
    assert_eq!(first, [true, true], "by probing or by cruising");
}

/// The gains of so many ACKs 11 ms apart, with this much in flight before each.
fn gains(bench: &mut Bench, acks: usize, prior_in_flight: u64) -> Vec<u64> {
    (0..acks)
        .map(|_| {
            bench.within(Duration::from_millis(11), 0, |ack| {
                (ack.delivered, ack.prior_in_flight) = (1, prior_in_flight * MSS);
            });
            bench.bbr.pacing_gain.of(100)
        })
        .collect()
}

#[test]
fn a_phase_takes_a_round_trip_and_eight_make_a_cycle() {
    let mut bench = Bench::cruising();
    let seen = gains(&mut bench, 24, 30);
    let probes: Vec<usize> = (0..24).filter(|index| seen[*index] == 125).collect();
    assert_eq!((probes.len(), probes[1] - probes[0], probes[2] - probes[1]), (3, 8, 8), "{seen:?}");
    assert_eq!(seen[probes[0] + 1..probes[0] + 8], [75, 100, 100, 100, 100, 100, 100]);
}

#[test]
fn probing_lasts_until_its_target_is_in_flight_or_something_is_lost() {
    let mut bench = Bench::cruising();
    while gains(&mut bench, 1, 30) != [125] {}
    assert_eq!(gains(&mut bench, 3, 10), [125; 3], "1.25 times the path and the budget are not in flight");
    let mut lossy = Bench { bbr: bench.bbr.clone(), ..Bench::new() };
    lossy.now = bench.now;
    lossy.within(Duration::from_millis(11), 1, |ack| (ack.prior_in_flight, ack.lost) = (10 * MSS, MSS));
    assert_eq!(lossy.bbr.pacing_gain.of(100), 75, "a loss says that it does not fit");
    assert_eq!(gains(&mut bench, 1, 24), [75], "13 segments, the budget, an even number and two more: 22");
}

#[test]
fn draining_ends_when_the_queue_is_gone() {
    let mut bench = Bench::cruising();
    while gains(&mut bench, 1, 30) != [75] {}
    bench.within(Duration::from_millis(1), 1, |ack| ack.prior_in_flight = 17 * MSS);
    assert_eq!(bench.bbr.pacing_gain.of(100), 75);
    bench.within(Duration::from_millis(1), 1, |ack| ack.prior_in_flight = (10 + BUDGET) * MSS);
    assert_eq!(bench.bbr.pacing_gain.of(100), 100);
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
fn ten_seconds_without_a_shorter_round_trip_end_in_a_pause() {
    let mut bench = Bench::cruising();
    let slower = Duration::from_millis(12);
    bench.within(Duration::from_millis(9900), 1, |ack| ack.newest_rtt = Some(slower));
    assert_ne!(bench.bbr.mode, Mode::ProbeRtt);
    let before = bench.window.cwnd;
    bench.within(Duration::from_millis(200), 1, |ack| (ack.newest_rtt, ack.in_flight) = (Some(slower), 20 * MSS));
    assert_eq!((bench.bbr.mode, bench.segments(), bench.bbr.min_rtt), (Mode::ProbeRtt, 4, Some(slower)));
    assert!(bench.bbr.limits_itself(), "rates of four segments a round trip are not the path's");
    bench.within(RTT, 1, |ack| ack.in_flight = 4 * MSS);
    assert_eq!(bench.bbr.min_rtt, Some(RTT), "the drained path shows it");
    (0..19).for_each(|_| bench.round(3, 4));
    assert_eq!(bench.bbr.mode, Mode::ProbeRtt, "190 ms");
    (0..2).for_each(|_| bench.round(3, 4));
    assert_eq!(bench.bbr.mode, Mode::ProbeBw);
    assert!(bench.window.cwnd >= before, "the window of before: {} of {before}", bench.segments());
    bench.round(8, 4);
    assert!(!bench.bbr.limits_itself());
}

#[test]
fn a_lone_runt_may_have_been_delayed_and_renews_nothing() {
    let mut bench = Bench::cruising();
    bench.now += Duration::from_secs(11);
    bench.bbr.restarts = true;
    bench.within(Duration::ZERO, 0, |ack| {
        (ack.delivered, ack.newest_rtt) = (500, Some(Duration::from_millis(60)));
        ack.rate = Some(sample(500, 0));
    });
    assert_eq!(bench.bbr.min_rtt, Some(RTT));
}

#[test]
fn after_silence_it_paces_at_the_bandwidth_and_does_not_pause() {
    let mut bench = Bench::cruising();
    while gains(&mut bench, 1, 30) != [125] {}
    let sent = |is_app_limited| Sent {
        now: bench.now + Duration::from_secs(11),
        bytes: MSS,
        in_flight: MSS,
        end: Position(0),
        is_retransmission: false,
        is_app_limited,
    };
    let (busy, idle) = (sent(false), sent(true));
    bench.bbr.on_sent(&mut bench.window, &busy);
    assert!((bench.pacing_mbps() - 8.0 * 1.25 * 0.99).abs() < 1e-3);
    bench.bbr.on_sent(&mut bench.window, &idle);
    assert!((bench.pacing_mbps() - 8.0 * 0.99).abs() < 1e-3);
    bench.within(Duration::from_secs(11), 1, |ack| ack.newest_rtt = Some(Duration::from_millis(11)));
    assert_eq!(bench.bbr.mode, Mode::ProbeBw, "silence has drained the queue");
    assert_eq!(bench.bbr.min_rtt, Some(Duration::from_millis(11)));
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
