//! The minimum round-trip time, `ProbeRTT`, and idle periods.

use super::probe_bw::gains;
use super::*;

#[test]
fn ten_seconds_without_a_shorter_round_trip_start_probe_rtt() {
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
fn after_idle_it_paces_at_the_bandwidth_and_does_not_enter_probe_rtt() {
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
    assert_eq!(bench.bbr.mode, Mode::ProbeBw, "the idle period has drained the queue");
    assert_eq!(bench.bbr.min_rtt, Some(Duration::from_millis(11)));
}
