//! Tests that BBR infers a policer from heavy losses at a constant delivery rate.

use super::*;

/// Feeds `rounds` rounds at 8 Mbps, the last with losses of a quarter of the delivered data.
fn lossy_interval(bench: &mut Bench, rounds: u32) {
    (0..rounds).for_each(|_| {
        let prior = bench.delivered;
        bench.ack(RTT, 10, 8, prior, |_| {});
    });
    bench.lose(u64::from(rounds) * 10 / 4);
    let prior = bench.delivered;
    bench.ack(RTT, 10, 8, prior, |ack| ack.lost = MSS);
}

#[test]
fn two_lossy_intervals_of_one_rate_mean_a_policer() {
    let mut bench = Bench::cruising();
    bench.lose(1);
    bench.within(Duration::ZERO, 1, |ack| ack.lost = MSS);
    lossy_interval(&mut bench, 5);
    assert_eq!(bench.bbr.long_term.policed(), None);
    lossy_interval(&mut bench, 5);
    let rate = bench.bbr.long_term.policed().expect("a policer");
    assert!((7_900_000..8_300_000).contains(&rate), "{rate}");
    assert_eq!((bench.bbr.bandwidth(), bench.bbr.pacing_gain), (rate, Gain::ONE));
    (0..47).for_each(|_| bench.round(8, 10));
    assert!(bench.bbr.long_term.policed().is_some());
    bench.round(8, 10);
    assert_eq!(bench.bbr.long_term.policed(), None, "after 48 rounds it looks again");
}

#[test]
fn little_loss_is_no_policer() {
    let mut bench = Bench::cruising();
    bench.lose(1);
    bench.within(Duration::ZERO, 1, |ack| ack.lost = MSS);
    for _ in 0..3 {
        (0..5).for_each(|_| {
            let prior = bench.delivered;
            bench.ack(RTT, 10, 8, prior, |_| {});
        });
        bench.lose(2);
        let prior = bench.delivered;
        bench.ack(RTT, 10, 8, prior, |ack| ack.lost = 2 * MSS);
    }
    assert_eq!(bench.bbr.long_term.policed(), None);
}
