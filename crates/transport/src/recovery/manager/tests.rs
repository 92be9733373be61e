use super::*;
use crate::cc::{self, Ack, CongestionControl, Controller, Signal, Window};
use crate::custom::Custom;
use crate::recovery::rtt::Estimator;
use crate::tcp::Preset;
use acklab_base::random::Seed;
use std::sync::mpsc;

const MS: Duration = Duration::from_millis(1);
const SIZE: u64 = 1000;

type Recovery = Manager<u64, Estimator, Option<Congestion>, 2>;

/// Creates a manager with `NewReno` and a window of ten packets, or without congestion control.
fn manager(is_controlled: bool) -> Recovery {
    let config = Preset::Rfc.config();
    let controller = Controller::new(&cc::ControllerConfig::NEW_RENO, &config.controller_start(Seed(1), "f")).unwrap();
    Manager::new(Estimator::default(), is_controlled.then(|| Congestion::new(controller, 10 * SIZE, SIZE)))
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + MS * ms
}

/// Sends `packets` packets of a space at one instant. Their contents are their numbers.
fn send(recovery: &mut Recovery, now: Instant, space: usize, packets: u64) {
    for _ in 0..packets {
        let content = recovery.space(space).next_number();
        let packet = Packet { at: now, octets: SIZE, is_ack_eliciting: true, is_in_flight: true, content };
        assert_eq!(recovery.send(space, packet, false), content);
    }
}

/// The reports to a context.
#[derive(Debug, Default, PartialEq)]
struct Reports {
    acked: Vec<u64>,
    lost: Vec<u64>,
    events: Vec<Event>,
    is_persistent: bool,
    /// The numbers whose losses do not indicate congestion.
    harmless: Vec<u64>,
    size: Option<u64>,
}

impl Context<u64> for Reports {
    fn on_acked(&mut self, number: u64, packet: &Packet<u64>) -> bool {
        assert_eq!(number, packet.content);
        self.acked.push(number);
        true
    }

    fn on_lost(&mut self, lost: Lost<u64>) -> bool {
        assert_eq!(lost.number, lost.packet.content);
        self.lost.push(lost.number);
        !self.harmless.contains(&lost.number)
    }

    fn packet_size(&mut self) -> Option<u64> {
        self.size
    }

    fn on_persistent_congestion(&mut self) {
        self.is_persistent = true;
    }

    fn sent(&self) -> u64 {
        7777
    }

    fn push(&mut self, event: Event) {
        self.events.push(event);
    }
}

fn report(progress: Progress, prior_in_flight: u64) -> Report {
    let persistent = PersistentCongestion::Detected { max_ack_delay: Duration::ZERO };
    Report { progress, prior_in_flight, marked: None, rate: None, persistent }
}

/// A controller that evaluates its transmissions requires the outcome of each packet, so no outcome
/// may be missing. This includes packets whose loss is ignored, retired packets, packets whose keys
/// are discarded, and packets that a handshake treats as acknowledged.
#[test]
fn each_packet_that_the_controller_was_told_of_has_an_outcome() {
    let config = cc::ControllerConfig::named("pcc-allegro").unwrap();
    let controller = Controller::new(&config, &Preset::Rfc.config().controller_start(Seed(1), "f")).unwrap();
    let mut recovery: Recovery =
        Manager::new(Estimator::default(), Some(Congestion::new(controller, 100 * SIZE, SIZE)));
    send(&mut recovery, at(0), 0, 3);
    recovery.abandon(0);
    assert_eq!(recovery.outcomes.len(), 3, "keys are discarded");
    send(&mut recovery, at(1), 1, 2);
    recovery.acknowledge_all(at(2), 1);
    assert_eq!(recovery.outcomes.len(), 5, "taken for acknowledged");
    send(&mut recovery, at(3), 1, 5);
    recovery.retire(1, 2);
    assert_eq!(recovery.outcomes.len(), 6, "a probe that is retired");
    recovery.round_trips_at(at(4)).sample(MS);
    let progress = recovery.acknowledge(at(4), 1, std::iter::once(6..7)).unwrap();
    recovery.detect(at(4), 1, &Thresholds::RFC);
    let mut reports = Reports { harmless: vec![3], ..Reports::default() };
    recovery.tell(1, &mut reports);
    assert_eq!((reports.lost, reports.acked), (vec![3], vec![6]));
    assert_eq!(recovery.outcomes.len(), 8, "a harmless loss, and an acknowledgment");
    let outcome = recovery.outcomes.last().map(|last| (last.sent_at, last.outcome));
    assert_eq!(outcome, Some((at(3), Outcome::Unknown)));
    assert_eq!(progress.packets, 1);
}

/// Acknowledges these numbers of a space at `now`, and detects losses by the thresholds of RFC
/// 9002.
fn acknowledge(
    recovery: &mut Recovery,
    now: Instant,
    space: usize,
    ranges: &[Range<u64>],
    reports: Reports,
) -> Reports {
    let mut reports = reports;
    let prior_in_flight = recovery.in_flight();
    let progress = recovery.acknowledge(now, space, ranges.iter().cloned()).unwrap();
    if let Some(rtt) = progress.rtt {
        recovery.round_trips_at(now).sample(rtt);
    }
    recovery.detect(now, space, &Thresholds::RFC);
    recovery.settle(now, space, &report(progress, prior_in_flight), &mut reports);
    reports
}

#[test]
fn a_context_learns_of_each_packet_once_and_the_window_falls_for_a_loss() {
    let mut recovery = manager(true);
    send(&mut recovery, at(0), 0, 10);
    let reports = acknowledge(&mut recovery, at(40), 0, &[4..6], Reports::default());
    assert_eq!((reports.acked, reports.lost), (vec![4, 5], vec![0, 1, 2]), "3 is within the packet threshold of 5");
    assert_eq!(reports.events, [Event::RecoveryEntered { until: 7777 }]);
    let window = recovery.congestion.as_ref().unwrap().window();
    assert_eq!((window.ssthresh, recovery.in_flight()), (5 * SIZE, 5 * SIZE), "half of the window");
    assert_eq!(recovery.counters().delivered, 2 * SIZE);
    let reports = acknowledge(&mut recovery, at(41), 0, &[4..6], Reports::default());
    assert_eq!(reports, Reports::default(), "nothing is acknowledged or lost twice");
}

#[test]
fn a_harmless_loss_does_not_reduce_the_window() {
    let mut recovery = manager(true);
    send(&mut recovery, at(0), 0, 6);
    let probes = Reports { harmless: vec![0, 1, 2], ..Reports::default() };
    let reports = acknowledge(&mut recovery, at(40), 0, &[5..6], probes);
    assert_eq!((reports.lost, reports.events), (vec![0, 1, 2], vec![]));
}

#[test]
fn a_mark_reduces_the_window_once_a_round_trip() {
    let mut recovery = manager(true);
    send(&mut recovery, at(0), 0, 10);
    let reductions = [1, 2].map(|end| {
        let mut reports = Reports::default();
        let progress = recovery.acknowledge(at(40), 0, std::iter::once(0..end)).unwrap();
        let marked = Report { marked: Some(SIZE), ..report(progress, 10 * SIZE) };
        recovery.settle(at(40), 0, &marked, &mut reports);
        (reports.events, recovery.counters().mark_reductions)
    });
    assert_eq!(reductions, [(vec![Event::WindowReduced { until: 7777 }], 1), (vec![], 1)]);
}

#[test]
fn packets_of_a_handshake_count_as_in_flight_and_move_no_window() {
    let mut recovery = manager(true).controlling_from(1);
    send(&mut recovery, at(0), 0, 5);
    send(&mut recovery, at(0), 1, 1);
    assert_eq!(recovery.in_flight(), 6 * SIZE);
    let reports = acknowledge(&mut recovery, at(40), 0, &[4..5], Reports::default());
    assert_eq!((reports.lost, reports.events, recovery.counters().delivered), (vec![0, 1], vec![], 0));
    let reports = acknowledge(&mut recovery, at(41), 1, &[0..1], Reports::default());
    assert_eq!((reports.acked, reports.events, recovery.counters().delivered), (vec![0], vec![], SIZE));
}

/// A controller that records the delivery-rate samples that it receives: the number of bytes, and
/// the time in which they were delivered.
struct Samples(mpsc::Sender<(u64, Duration)>);

impl CongestionControl for Samples {
    fn on_ack(&mut self, _window: &mut Window, ack: &Ack) {
        if let Some(rate) = ack.rate {
            self.0.send((rate.delivered, rate.interval)).unwrap();
        }
    }

    fn ssthresh(&mut self, _now: Instant, window: &Window, _flight: u64, _signal: Signal) -> u64 {
        window.ssthresh
    }

    fn wants_delivery_rate(&self) -> bool {
        true
    }
}

/// The last packet sent is a Ping, an MTU probe or a path challenge that does not count as in
/// flight, so it has no stamp. The earlier packets yield the same delivery rate as without it.
#[test]
fn packets_that_are_not_in_flight_do_not_move_the_delivery_rate() {
    let samples = [false, true].map(|with_ping| {
        let (samples, taken) = mpsc::channel();
        let controller = Controller::Custom(Custom::new("samples".parse().unwrap(), Box::new(Samples(samples))));
        let congestion = Some(Congestion::new(controller, 10 * SIZE, SIZE));
        let mut recovery: Recovery = Manager::new(Estimator::default(), congestion);
        for round in [0, 40] {
            let first = recovery.space(0).next_number();
            send(&mut recovery, at(round), 0, 4);
            if with_ping {
                let content = first + 4;
                let ping =
                    Packet { at: at(round + 1), octets: SIZE, is_ack_eliciting: true, is_in_flight: false, content };
                recovery.send(0, ping, false);
            }
            let all = first..recovery.space(0).next_number();
            acknowledge(&mut recovery, at(round + 40), 0, &[all], Reports::default());
        }
        taken.try_iter().collect::<Vec<_>>()
    });
    assert_eq!(samples, [0, 1].map(|_| vec![(4 * SIZE, MS * 40); 2]));
}

#[test]
fn without_congestion_control_the_context_learns_the_same() {
    let reports = [true, false].map(|is_controlled| {
        let mut recovery = manager(is_controlled);
        send(&mut recovery, at(0), 0, 10);
        let reports = acknowledge(&mut recovery, at(40), 0, &[4..6], Reports::default());
        (reports.acked, reports.lost, recovery.in_flight(), recovery.counters().delivered)
    });
    assert_eq!(reports[0], reports[1]);
}

/// RFC 9002, §7.6: losses over three probe timeouts, with nothing acknowledged between them.
#[test]
fn losses_over_long_are_persistent_congestion() {
    let mut recovery = manager(true);
    send(&mut recovery, at(0), 0, 1);
    acknowledge(&mut recovery, at(10), 0, &[0..1], Reports::default());
    for ms in [20, 60, 120, 130] {
        send(&mut recovery, at(ms), 0, 1);
    }
    let reports = acknowledge(&mut recovery, at(140), 0, &[4..5], Reports::default());
    assert_eq!((reports.lost, reports.is_persistent), (vec![1, 2, 3], true), "100 ms > 3 · (10 + 4 · 5) ms");
    assert_eq!(recovery.congestion.as_ref().unwrap().window().cwnd, 2 * SIZE, "kMinimumWindow");
}

#[test]
fn the_size_of_packets_follows_the_search_for_it() {
    let mut recovery = manager(true);
    send(&mut recovery, at(0), 0, 2);
    let larger = || Reports { size: Some(1400), ..Reports::default() };
    let reports = [0..1, 1..2].map(|range| acknowledge(&mut recovery, at(40), 0, &[range], larger()).events);
    assert_eq!(reports, [vec![Event::DatagramSize { octets: 1400 }], vec![]]);
    assert_eq!(recovery.congestion.as_ref().unwrap().window().mss, 1400);
}

#[test]
fn a_flight_that_is_reported_grows_and_shrinks_with_what_happens_here() {
    let mut recovery = manager(true).with_reported_flight();
    send(&mut recovery, at(0), 0, 6);
    assert_eq!(recovery.in_flight(), 6 * SIZE);
    let progress = recovery.acknowledge(at(40), 0, std::iter::once(5..6)).unwrap();
    recovery.set_in_flight(5 * SIZE);
    recovery.lose(0, 0..2);
    recovery.settle(at(40), 0, &report(progress, 6 * SIZE), &mut Reports::default());
    assert_eq!(recovery.in_flight(), 3 * SIZE);
}

#[test]
fn what_has_arrived_unlisted_is_not_in_flight() {
    let mut recovery = manager(true);
    send(&mut recovery, at(0), 0, 6);
    recovery.set_arrived(2 * SIZE);
    assert_eq!(recovery.in_flight(), 4 * SIZE);
}

#[test]
fn an_acknowledgment_of_what_was_never_sent_changes_nothing() {
    let mut recovery = manager(true);
    send(&mut recovery, at(0), 0, 2);
    assert_eq!(recovery.acknowledge(at(40), 0, std::iter::once(1..3)).unwrap_err(), NeverSent(2));
    assert_eq!(recovery.in_flight(), 2 * SIZE);
}
