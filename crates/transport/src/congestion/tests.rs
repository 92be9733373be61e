use super::*;
use crate::tcp::Preset;
use acklab_base::random::Seed;

const MSS: u64 = 1448;

/// Returns NewReno with a window of 100 packets, all of them in flight.
fn newreno() -> Congestion {
    let config = Preset::Rfc.config();
    let controller = Controller::new(&cc::ControllerConfig::NEW_RENO, &config.controller_start(Seed(1), "f")).unwrap();
    Congestion::new(controller, 100 * MSS, MSS)
}

fn lost(number: u64) -> LostPacket {
    LostPacket { number, sent_at: Instant::ZERO, octets: MSS, stamp: Stamp::default() }
}

/// Returns the feedback on these lost packets, with nothing else in flight and packet 200 next.
fn feedback(lost: &[LostPacket]) -> Feedback<'_> {
    Feedback {
        now: Instant::ZERO,
        delivered: 0,
        total_delivered: 0,
        lost,
        spuriously_lost: 0,
        in_flight: 0,
        prior_in_flight: 100 * MSS,
        largest_acknowledged: Some(199),
        next_number: 200,
        rtt: None,
        timed: None,
        srtt: None,
        min_rtt: None,
        newest: None,
        received_at: Duration::ZERO,
        reported: None,
        marked: None,
        outcomes: &[],
        is_persistent: false,
    }
}

/// RFC 9002, appendix B.8: OnCongestionEvent halves window and threshold; persistent congestion
/// then resets only the window.
#[test]
fn persistent_congestion_leaves_the_threshold_of_its_loss() {
    let mut congestion = newreno();
    let all: Vec<_> = (100..200).map(lost).collect();
    congestion.on_feedback(&Feedback { is_persistent: true, ..feedback(&all) }).for_each(drop);
    assert_eq!((congestion.window().cwnd, congestion.window().ssthresh), (2 * MSS, 50 * MSS));
}

/// RFC 9002, §7.3.2: the window is halved, however many bytes the ACK that reports the loss
/// acknowledges.
#[test]
fn a_loss_halves_the_window_whatever_is_in_flight() {
    for in_flight in [0, 50 * MSS, 99 * MSS] {
        let mut congestion = newreno();
        congestion.on_feedback(&Feedback { in_flight, ..feedback(&[lost(100)]) }).for_each(drop);
        assert_eq!((congestion.window().cwnd, congestion.window().ssthresh), (50 * MSS, 50 * MSS));
    }
}

/// The threshold also remains if an earlier loss of the round trip has reduced the window.
#[test]
fn persistent_congestion_after_a_reduction_leaves_the_threshold() {
    let mut congestion = newreno();
    let all: Vec<_> = (100..199).map(lost).collect();
    congestion.on_feedback(&feedback(&all[..1])).for_each(drop);
    assert_eq!((congestion.window().cwnd, congestion.window().ssthresh), (50 * MSS, 50 * MSS));
    congestion.on_feedback(&Feedback { is_persistent: true, ..feedback(&all[1..]) }).for_each(drop);
    assert_eq!((congestion.window().cwnd, congestion.window().ssthresh), (2 * MSS, 50 * MSS));
}
