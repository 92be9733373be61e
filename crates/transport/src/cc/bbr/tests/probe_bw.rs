//! The gain cycle of `ProbeBW`.

use super::*;

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

/// Returns the gain after each of `acks` ACKs, 11 ms apart, with `prior_in_flight` segments in
/// flight before each ACK.
pub(super) fn gains(bench: &mut Bench, acks: usize, prior_in_flight: u64) -> Vec<u64> {
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
    assert_eq!(lossy.bbr.pacing_gain.of(100), 75, "a loss shows that it does not fit");
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
