//! Tests the coupling, the ramp, the scheduler and the equilibrium.

use super::*;
use crate::queue::pie::tests::equilibrium;
use crate::queue::sample::{Packet, data, draws};

fn us(us: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(us)
}

fn scalable() -> Packet {
    Packet { flow: 7, ecn: Ecn::Ect1, ..data(1500) }
}

fn queue() -> DualPi2<Packet> {
    Config::default().discipline(draws())
}

/// Returns a queue with a constant base probability.
fn with_base(base: f64) -> DualPi2<Packet> {
    let mut queue = queue();
    (queue.controller.base, queue.controller.next) = (base, Instant::FAR_FUTURE);
    queue
}

#[test]
fn the_gains_are_those_of_the_rfc() {
    let controller = Controller::new(&Config::default());
    assert_eq!(controller.update, Duration::from_millis(15), "the target is shorter than a third of 100 ms");
    assert!((controller.alpha - 0.15).abs() < 1e-12 && (controller.beta - 3.0).abs() < 1e-12, "{controller:?}");
}

#[test]
fn a_mark_of_each_kind_is_coupled_by_a_square() {
    // p' = 0.1: scalable packets are marked with 2 p', classic ones with p'².
    let (mut queue, mut tally) = (with_base(0.1), Tally::new());
    let classic = Packet { ecn: Ecn::Ect0, ..data(1500) };
    let mut marked = |packet: Packet| {
        let served = (0..1000).filter_map(|_| queue.pass(us(0), packet, &mut tally));
        served.filter(|packet| packet.ecn == Ecn::Ce).count()
    };
    assert!((199..=200).contains(&marked(scalable())), "no packet waits, so the ramp marks nothing");
    assert!((9..=10).contains(&marked(classic)));
}

#[test]
fn classic_traffic_that_does_not_respond_is_cut_to_the_rate_at_the_target_delay() {
    for load in [1.02, 1.1, 1.2] {
        let (dropped, delay) = equilibrium(queue(), load, data(1500));
        assert!((dropped - (1.0 - 1.0 / load)).abs() < 0.005, "load {load}: {dropped}");
        assert!((delay - 15.0).abs() < 1.5, "load {load}: {delay} ms");
    }
}

#[test]
fn scalable_traffic_that_does_not_respond_is_dropped_in_overload() {
    // Marks do not slow it down: p'² drops the excess over the rate once every packet is marked
    // (RFC 9332, §4.2.3.1).
    let (dropped, _) = equilibrium(queue(), 1.5, scalable());
    assert!((dropped - 1.0 / 3.0).abs() < 0.005, "{dropped}");
}

#[test]
fn the_ramp_marks_packets_that_wait_longer_than_a_millisecond() {
    let marked = |waits: u64| {
        let (mut queue, mut tally) = (with_base(0.0), Tally::new());
        for _ in 0..101 {
            assert_eq!(queue.offer(us(0), scalable(), true, &mut tally), Verdict::Queued);
        }
        (0..100)
            .filter(|_| queue.take_head(us(waits), &mut tally).is_some_and(|(_, packet)| packet.ecn == Ecn::Ce))
            .count()
    };
    assert_eq!(marked(800), 0);
    assert!((49..=50).contains(&marked(1000)), "half of the range of 400 us");
    assert!((99..=100).contains(&marked(1200)));
}

#[test]
fn classic_packets_get_a_tenth_when_both_wait() {
    let (mut queue, mut tally) = (with_base(0.0), Tally::new());
    for _ in 0..1000 {
        assert_eq!(queue.offer(us(0), scalable(), true, &mut tally), Verdict::Queued);
        assert_eq!(queue.offer(us(0), data(1500), true, &mut tally), Verdict::Queued);
    }
    let taken: Vec<_> = (0..500).filter_map(|_| queue.take_head(us(0), &mut tally)).collect();
    let classic = taken.iter().filter(|(_, packet)| packet.ecn == Ecn::NotEct).count();
    assert_eq!(taken[0].1.ecn, Ecn::Ect1, "the L-queue goes first");
    assert!((49..=51).contains(&classic), "Linux's weights are 90 and 10: {classic} of 500");
}

#[test]
fn a_packet_alone_is_not_dropped() {
    let (mut queue, mut tally) = (with_base(1.0), Tally::new());
    for packet in [data(1500), scalable(), data(40)] {
        assert!(queue.pass(us(0), packet, &mut tally).is_some(), "{packet:?}");
    }
    assert_eq!(tally.counters.dropped, 0);
}
