//! Compares the controller with values computed by hand, and tests its equilibrium.

use super::*;
use crate::queue::sample::{Packet, data, draws};

fn us(us: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(us)
}

#[test]
fn the_probability_changes_as_the_rfc_computes_it() {
    let mut controller = Controller::new(&Config::default());
    let delay = Duration::from_millis(30);
    controller.advance(us(15_000), delay);
    // (0.125 · 15 ms + 1.25 · 30 ms) / 2048, because the probability was below 0.000001.
    let first = (0.125 * 0.015 + 1.25 * 0.030) / 2048.0;
    assert!((controller.probability - first).abs() < 1e-15, "{}", controller.probability);
    controller.advance(us(30_000), delay);
    // The delay did not change, and 1.9e-5 lies below 0.0001: a share of 1/128.
    let second = first + 0.125 * 0.015 / 128.0;
    assert!((controller.probability - second).abs() < 1e-15, "{}", controller.probability);
    assert_eq!(controller.allowance, Duration::from_millis(120), "two periods of 15 ms have passed");
}

#[test]
fn an_idle_queue_forgets_the_probability() {
    let mut controller =
        Controller { probability: 0.5, allowance: Duration::ZERO, ..Controller::new(&Config::default()) };
    controller.advance(us(15_000 * 2000), Duration::ZERO);
    assert!(controller.is_at_rest(Duration::ZERO), "{controller:?}");
    assert_eq!(controller.next, us(15_000 * 2001));
}

/// Runs a queue that is served every millisecond and offered `load` packets in that time. Returns
/// the share of drops and the mean delay in milliseconds over the last 100 of 200 seconds.
pub(crate) fn equilibrium(mut queue: impl Discipline<Packet>, load: f64, packet: Packet) -> (f64, f64) {
    let (mut tally, mut offered, mut owed) = (Tally::new(), 0u64, 0.0);
    let (mut delays, mut before) = (Vec::new(), 0);
    for at in 0..200_000u64 {
        let now = us(at * 1000);
        if at == 100_000 {
            (before, offered) = (tally.counters.dropped, 0);
        }
        owed += load;
        while owed >= 1.0 {
            owed -= 1.0;
            offered += 1;
            if let Verdict::Dropped(packet) = queue.offer(now, packet, true, &mut tally) {
                tally.drops(now, packet.flow(), packet.wire_len());
            }
        }
        while queue.len() > 0 {
            if let Some((arrived, _)) = queue.take_head(now, &mut tally) {
                delays.extend((at >= 100_000).then(|| now.since(arrived).as_secs_f64() * 1000.0));
                break;
            }
        }
    }
    let dropped = (tally.counters.dropped - before) as f64 / offered as f64;
    (dropped, delays.iter().sum::<f64>() / delays.len() as f64)
}

#[test]
fn a_load_that_does_not_respond_is_cut_to_the_rate_at_the_target_delay() {
    for load in [1.05, 1.25, 1.5] {
        // The excess over the rate must be dropped: 1 − 1/load. The controller is at rest only if
        // the delay is the target.
        let (dropped, delay) = equilibrium(Config::default().discipline(draws()), load, data(1500));
        assert!((dropped - (1.0 - 1.0 / load)).abs() < 0.005, "load {load}: {dropped}");
        assert!((delay - 15.0).abs() < 1.5, "load {load}: {delay} ms");
    }
}

#[test]
fn a_burst_within_its_allowance_passes() {
    let mut queue = Config::default().discipline(draws());
    let mut tally = Tally::new();
    for _ in 0..100 {
        assert_eq!(queue.offer(us(1000), data(1500), true, &mut tally), Verdict::Queued);
    }
    // 100 ms of packets: the allowance of 150 ms is not used up.
    for at in 1..100 {
        assert!(queue.take_head(us(at * 1000), &mut tally).is_some());
        assert_eq!(queue.offer(us(at * 1000), data(1500), true, &mut tally), Verdict::Queued);
    }
    assert_eq!(tally.counters.dropped, 0);
}

#[test]
fn marks_replace_drops_up_to_a_tenth() {
    let config = Config { ecn: true, ..Config::default() };
    let capable = Packet { ecn: acklab_base::Ecn::Ect0, ..data(1500) };
    let prepared = |probability| {
        let mut queue: Pie<Packet> = config.discipline(draws());
        queue.controller =
            Controller { probability, allowance: Duration::ZERO, next: Instant::FAR_FUTURE, ..queue.controller };
        queue.controller.delay = Duration::from_millis(15);
        queue
    };
    let outcome = |probability| {
        let (mut queue, mut tally) = (prepared(probability), Tally::new());
        let dropped =
            (0..1000).filter(|_| matches!(queue.offer(us(0), capable, true, &mut tally), Verdict::Dropped(_)));
        (dropped.count(), tally.counters.marked)
    };
    let (dropped, marked) = outcome(0.1);
    assert!(dropped == 0 && (50..=110).contains(&marked), "one in ten is marked: {marked}");
    let (dropped, marked) = outcome(0.11);
    assert!(dropped > 50 && marked == 0, "above a tenth, packets are dropped: {dropped}");
}

#[test]
fn a_tail_drop_counts_among_the_drops_that_are_spaced_out() {
    let mut queue = Config::default().discipline(draws());
    let mut tally = Tally::new();
    queue.accumulated = 0.8;
    assert_eq!(queue.offer(us(0), data(1500), false, &mut tally), Verdict::Dropped(data(1500)));
    assert!(
        queue.accumulated.abs() < f64::EPSILON,
        "the next drop waits for 0.85 again, as in `enque` of RFC 8033, Appendix B"
    );
}
