use super::*;
use crate::queue::sample::{Packet, ack, data};
use acklab_base::Opening;
use proptest::prelude::*;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// The packets that leave a spacer: (microsecond, acknowledgment number or 0).
struct Run {
    spacer: Spacer<Packet>,
    left: Vec<(u64, u32)>,
}

impl Run {
    fn of(config: SpacerConfig) -> Self {
        Self { spacer: Spacer::new(config), left: Vec::new() }
    }

    fn take(&mut self, now: Instant) {
        while let Some(packet) = self.spacer.poll(now) {
            self.left.push((now.as_nanos() / 1000, packet.header.map_or(0, |header| header.ack)));
        }
    }

    fn until(&mut self, now: Instant) {
        while let Some(due) = self.spacer.deadline().filter(|due| *due < now) {
            self.spacer.wake(due);
            self.take(due);
        }
    }

    fn accepts(&mut self, millis: u64, packet: Packet) -> &mut Self {
        self.until(at(millis));
        self.spacer.accept(at(millis), packet);
        self.take(at(millis));
        self
    }

    fn acks(&mut self, arrivals: &[(u64, u32)]) -> &mut Self {
        arrivals.iter().for_each(|(millis, number)| {
            self.accepts(*millis, ack(0, *number));
        });
        self
    }

    fn left(&mut self) -> Vec<(u64, u32)> {
        self.until(Instant::FAR_FUTURE);
        std::mem::take(&mut self.left)
    }
}

fn reconstruct() -> SpacerConfig {
    SpacerConfig::Reconstruct(Reconstruct { segment: Bytes(1000), ..Reconstruct::default() })
}

#[test]
fn acks_leave_as_far_apart_as_their_data_take() {
    // 1000 octets take 1 ms at 8 Mbps.
    let mut run = Run::of(SpacerConfig::Rate { rate: Rate::from_mbps(8) });
    let left = run.acks(&[(0, 1000), (0, 2000), (0, 4000), (9, 5000)]).left();
    assert_eq!(left, [(0, 1000), (1000, 2000), (3000, 4000), (9000, 5000)]);
}

#[test]
fn acks_leave_an_interval_apart() {
    let mut run = Run::of(SpacerConfig::Interval { interval: Duration::from_millis(2) });
    assert_eq!(run.acks(&[(0, 10), (1, 20), (1, 30), (9, 40)]).left(), [(0, 10), (2000, 20), (4000, 30), (9000, 40)]);
}

/// The example of the paper: there are δa = 8 segments between two ACKs that arrive δt apart. So
/// ⌈8/2⌉ − 1 = 3 ACKs are inserted, δt · 2/8 apart.
#[test]
fn missing_acks_are_put_back() {
    let mut run = Run::of(reconstruct());
    let left = run.acks(&[(0, 1000), (8, 9000)]).left();
    assert_eq!(left, [(0, 1000), (8000, 3000), (10_000, 5000), (12_000, 7000), (14_000, 9000)]);
    assert_eq!(run.spacer.made(), 3);
}

/// A gate passes duplicates together: after the first, the driver must be able to detect that there
/// are more.
#[test]
fn what_may_leave_now_is_due_now() {
    let mut spacer = Spacer::new(SpacerConfig::Interval { interval: Duration::from_millis(2) });
    for number in [1_000, 2_000, 1_000, 1_000] {
        spacer.accept(at(5), ack(0, number));
    }
    for left in [1_000, 2_000, 1_000, 1_000] {
        assert_eq!(spacer.deadline(), Some(at(5)));
        assert_eq!(spacer.poll(at(5)).and_then(|packet| packet.header).map(|header| header.ack), Some(left));
    }
    // The third released the second, whose deadline then passes without it.
    spacer.wake(at(7));
    assert_eq!((spacer.poll(at(7)), spacer.deadline()), (None, None));
}

#[test]
fn acks_for_two_segments_pass() {
    let mut run = Run::of(reconstruct());
    assert_eq!(run.acks(&[(0, 1000), (1, 3000), (2, 5000)]).left(), [(0, 1000), (1000, 3000), (2000, 5000)]);
    assert_eq!(run.spacer.made(), 0);
}

/// The mean of the times between ACKs has the weight 0.25 for the newest: 0.25 · 4 ms + 0.75 · 8 ms
/// = 7 ms, of which each of four ACKs has a quarter.
#[test]
fn the_time_between_acks_is_smoothed() {
    let mut run = Run::of(reconstruct());
    run.acks(&[(0, 1000), (8, 3000), (12, 11_000)]);
    assert_eq!(run.left(), [(0, 1000), (8000, 3000), (12_000, 5000), (13_750, 7000), (15_500, 9000), (17_250, 11_000)]);
}

#[test]
fn the_size_of_a_segment_is_that_of_the_handshake() {
    let mut run = Run::of(reconstruct());
    run.accepts(0, Packet { opening: Some(Opening { mss: Some(512), window_scale: None }), ..data(60) });
    run.left();
    run.acks(&[(0, 0), (4, 2048)]);
    assert_eq!(run.left(), [(0, 0), (4000, 1024), (6000, 2048)]);
}

/// A duplicate releases the waiting ACKs immediately, in order. The ACK that ends the recovery
/// arrives alone.
#[test]
fn losses_end_the_spacing() {
    let mut run = Run::of(reconstruct());
    run.acks(&[(0, 1000), (8, 9000), (9, 9000), (10, 9000), (20, 29_000), (28, 33_000)]);
    let expected = [
        (0, 1000),
        (8000, 3000),
        (9000, 5000),
        (9000, 7000),
        (9000, 9000),
        (9000, 9000),
        (10_000, 9000),
        (20_000, 29_000),
    ];
    let left = run.left();
    assert_eq!(left[..8], expected);
    assert_eq!((left[8], left[9].1), ((28_000, 31_000), 33_000));
}

#[test]
fn everything_else_passes_behind_what_waits() {
    let mut run = Run::of(SpacerConfig::Interval { interval: Duration::from_millis(5) });
    run.acks(&[(0, 10), (1, 20)]);
    run.accepts(2, ack(1, 77)).accepts(2, data(1500));
    assert_eq!(run.left(), [(0, 10), (2000, 77), (2000, 20), (2000, 0)]);
}

proptest! {
    /// Numbers never decrease, and each arrived ACK leaves no later than the ACKs behind it permit.
    #[test]
    fn nothing_is_reordered_or_lost(steps in proptest::collection::vec((0u64..6, 0u32..30), 1..80), rule in 0usize..3) {
        let config = SpacerConfig::built_in().nth(rule).unwrap();
        let mut run = Run::of(config);
        let (mut now, mut number) = (0, 0);
        let mut sent = Vec::new();
        for (wait, segments) in steps {
            now += wait;
            number += segments * 1448;
            sent.push(number);
            run.accepts(now, ack(0, number));
        }
        let left = run.left();
        prop_assert!(left.is_sorted());
        let made = run.spacer.made() as usize;
        prop_assert_eq!(left.len(), sent.len() + made);
        let mut numbers = left.iter().map(|(_, number)| *number);
        prop_assert!(sent.iter().all(|number| numbers.any(|other| other == *number)));
    }
}

#[test]
fn impossible_settings_are_named() {
    for (config, name) in [
        (SpacerConfig::Interval { interval: Duration::ZERO }, "interval"),
        (SpacerConfig::Reconstruct(Reconstruct { segments: 0, ..Reconstruct::default() }), "segments"),
        (SpacerConfig::Reconstruct(Reconstruct { weight: 0.0, ..Reconstruct::default() }), "weight"),
    ] {
        assert_eq!(config.check().unwrap_err().0, name);
    }
    assert!(SpacerConfig::built_in().all(|config| config.check().is_ok()));
}
