use super::*;
use crate::queue::sample::{Packet, ack, data};
use acklab_base::Opening;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// Segments with ACK numbers, and the packets that leave the thinner with them: (millisecond,
/// number).
struct Run {
    thinner: Thinner<Packet>,
    left: Vec<(u64, u32)>,
    removed: Removed,
}

impl Run {
    fn of(config: impl Into<ThinnerConfig>) -> Self {
        Self { thinner: Thinner::new(config.into()), left: Vec::new(), removed: Removed::default() }
    }

    fn until(&mut self, millis: u64) {
        while let Some(due) = self.thinner.deadline().filter(|due| *due < at(millis)) {
            self.pass(due, None);
        }
    }

    fn pass(&mut self, now: Instant, packet: Option<Packet>) {
        let number = |packet: Packet| packet.header.map_or(0, |header| header.ack);
        let left = &mut self.left;
        let Removed { packets, bytes } =
            self.thinner.pass(now, packet, |packet| left.push((now.as_nanos() / 1_000_000, number(packet))));
        self.removed.packets += packets;
        self.removed.bytes += bytes;
    }

    fn accepts(&mut self, millis: u64, packet: Packet) -> &mut Self {
        self.until(millis);
        self.pass(at(millis), Some(packet));
        self
    }

    fn acks(&mut self, arrivals: &[(u64, u32)]) -> &mut Self {
        for (millis, number) in arrivals {
            self.accepts(*millis, ack(0, *number));
        }
        self
    }

    fn opens(&mut self, options: Opening) -> &mut Self {
        self.accepts(0, Packet { opening: Some(options), ..data(60) });
        self.left.clear();
        self
    }

    /// Returns the packets that have left, including those that are still held.
    fn left(&mut self) -> Vec<(u64, u32)> {
        self.until(u64::from(u32::MAX));
        std::mem::take(&mut self.left)
    }
}

#[test]
fn one_of_several_goes_on_and_the_last_after_a_time() {
    let config = every::Config { acks: 3, hold: Duration::from_millis(20) };
    // The first one shows the position of the flow. Of the next three the third passes; the last
    // leaves 20 ms after its arrival.
    let mut run = Run::of(config);
    assert_eq!(run.acks(&[(0, 10), (1, 11), (2, 12), (3, 13), (4, 14)]).left(), [(0, 10), (3, 13), (24, 14)]);
    assert_eq!(run.removed, Removed { packets: 2, bytes: Bytes(104) });
}

#[test]
fn news_is_never_held() {
    let config = every::Config { acks: 8, hold: Duration::from_millis(20) };
    let mut run = Run::of(config);
    run.acks(&[(0, 10), (1, 11), (2, 11)]);
    run.accepts(3, ack(0, 12).with(|header| header.sack = [(20, 30)].into_iter().collect()));
    run.accepts(4, ack(0, 13).with(|header| header.ecn = 1));
    run.accepts(5, ack(0, 14).with(|header| (header.ecn, header.has_other_content) = (1, true)));
    run.accepts(6, ack(0, 15).with(|header| (header.ecn, header.is_pure) = (1, false)));
    // The duplicate replaces the held ACK with the same number.
    assert_eq!(run.left(), [(0, 10), (2, 11), (3, 12), (4, 13), (5, 14), (6, 15)]);
}

/// An ACK with a lower number than an earlier one passes. It may be the first of a flow whose
/// packets were reordered.
#[test]
fn an_older_ack_changes_nothing() {
    let mut run = Run::of(every::Config { acks: 2, hold: Duration::from_millis(20) });
    assert_eq!(run.acks(&[(0, 10), (1, 11), (2, 9), (3, 12)]).left(), [(0, 10), (2, 9), (3, 12)]);
}

#[test]
fn flows_are_apart_and_other_packets_pass() {
    let mut run = Run::of(every::Config { acks: 2, hold: Duration::from_millis(20) });
    run.accepts(0, ack(1, 1)).accepts(0, ack(2, 1)).accepts(1, ack(1, 2)).accepts(1, ack(2, 2));
    run.accepts(2, data(1500));
    assert_eq!(run.left(), [(0, 1), (0, 1), (2, 0), (21, 2), (21, 2)]);
}

/// `dhd_tcpack_hold`: the first of a flow is held, and its time runs from there; duplicates and
/// SACK count as any other.
#[test]
fn dhd_lets_one_of_three_go_on() {
    let mut run = Run::of(dhd::Config::default());
    run.acks(&[(0, 10), (4, 11), (5, 12), (6, 13)]);
    run.accepts(8, ack(0, 13).with(|header| header.sack = [(20, 30)].into_iter().collect()));
    assert_eq!(run.left(), [(5, 12), (16, 13)]);
    run.acks(&[(20, 20), (21, 19)]);
    run.accepts(22, ack(0, 21).with(|header| header.ecn = 1));
    assert_eq!(run.left(), [(22, 21), (30, 20)], "an older one is removed, and ECE overtakes");
}

#[test]
fn dhd_has_four_entries() {
    let mut run = Run::of(dhd::Config::default());
    for flow in 0..5 {
        run.accepts(0, ack(flow, flow));
    }
    assert_eq!(run.left(), [(0, 4), (10, 0), (10, 1), (10, 2), (10, 3)]);
}

/// A window of 65535 × 2⁷ is above 256 KB, but not without its scale.
#[test]
fn unisoc_holds_where_the_window_is_large() {
    let wide = |number| ack(0, number).with(|header| header.window = u16::MAX);
    let mut run = Run::of(unisoc::Config { acks: 3, ..unisoc::Config::default() });
    for (millis, number) in [(0, 10), (1, 11), (2, 12), (3, 13)] {
        run.accepts(millis, wide(number));
    }
    assert_eq!(run.left(), [(0, 10), (1, 11), (2, 12), (3, 13)], "no scale was seen");
    run.opens(Opening { mss: Some(1460), window_scale: Some(7) });
    for (millis, number) in [(20, 20), (21, 21), (22, 22), (23, 23), (24, 23), (25, 22)] {
        run.accepts(millis, wide(number));
    }
    // The first creates the entry, after which the next passes; the last two are a duplicate and an
    // older one.
    assert_eq!(run.left(), [(20, 20), (21, 21), (24, 23)]);
    run.accepts(40, wide(30)).accepts(41, wide(31));
    run.accepts(42, wide(32).with(|header| header.sack = [(40, 50)].into_iter().collect())).accepts(43, wide(33));
    assert_eq!(run.left(), [(42, 32), (43, 33)], "SACK goes on at once, and so does what follows it");
}

/// ACKs of two segments of 1000 octets each millisecond: 16 Mbps, at which one of ten passes, after
/// 512 of the start.
#[test]
fn scsc_thins_by_the_rate_after_slow_start() {
    let mut run = Run::of(scsc::Config::default());
    run.opens(Opening { mss: Some(1000), window_scale: Some(7) });
    let wide = |number: u32| ack(0, 2000 * number).with(|header| header.window = u16::MAX);
    (0..1000).for_each(|number| _ = run.accepts(number, wide(number as u32)));
    let left = run.left();
    let after: Vec<_> = left.iter().filter(|(at, _)| *at >= 512).map(|(at, _)| *at).collect();
    assert_eq!(left.len() - after.len(), 512);
    assert_eq!(after[..3], [521, 531, 541]);
    run.accepts(2000, wide(1001).with(|header| header.sack = [(40, 50)].into_iter().collect()));
    (2001..2100).for_each(|number| _ = run.accepts(number, wide(number as u32 - 900)));
    assert_eq!(run.left().len(), 100, "after SACK all pass again");
}

/// These are ACKs for more than two segments, such as delayed ACKs; duplicates; and all packets of
/// a flow whose SYN was not seen.
#[test]
fn scsc_passes_what_it_does_not_know() {
    let wide = |number: u32| ack(0, number).with(|header| header.window = u16::MAX);
    let config = scsc::Config { slow_start_acks: 0, interval: Duration::from_millis(10), ..scsc::Config::default() };
    let mut run = Run::of(config);
    (0..100).for_each(|number| _ = run.accepts(number, wide(2000 * number as u32)));
    assert_eq!(run.left().len(), 100);
    run.opens(Opening { mss: Some(1000), window_scale: Some(7) });
    (0..100).for_each(|number| _ = run.accepts(number + 200, wide(3000 * number as u32)));
    assert_eq!(run.left().len(), 100);
    run.opens(Opening { mss: Some(1000), window_scale: Some(7) });
    (0..100).for_each(|number| _ = run.accepts(number + 400, wide(2000 * number as u32)));
    run.accepts(500, wide(2000 * 99));
    let left = run.left();
    assert!((15..40).contains(&left.len()), "{} left", left.len());
    assert_eq!(left.last(), Some(&(500, 198_000)));
}

/// Without the monitor of throughput, one of 16 passes, and each that arrives 16 ms after the last
/// that passed, and all if the window is small.
#[test]
fn scsc_without_its_monitor_counts_to_sixteen() {
    let config = scsc::Config { monitor: false, slow_start_acks: 0, ..scsc::Config::default() };
    let mut run = Run::of(config);
    let mut goes_on = |spacing: u64, octets: u32, window: u16| {
        run.opens(Opening { mss: Some(1000), window_scale: Some(7) });
        for number in 1..40 {
            let number = number as u32;
            run.accepts(
                1000 + u64::from(number) * spacing,
                ack(0, octets * number).with(|header| header.window = window),
            );
        }
        run.left().iter().map(|(at, number)| (*at - 1000, number / octets)).collect::<Vec<_>>()
    };
    assert_eq!(goes_on(0, 2000, u16::MAX), [(0, 1), (0, 17), (0, 33), (16, 39)], "the count");
    assert_eq!(goes_on(5, 2000, u16::MAX)[..4], [(5, 1), (25, 5), (45, 9), (65, 13)], "the time since the last");
    // Twice 511 · 2⁷ octets are less than 128 KB.
    assert_eq!(goes_on(0, 2000, 511).len(), 39, "a small window");
    assert_eq!(goes_on(0, 3000, u16::MAX).len(), 39, "delayed ACKs");
}

/// A receive window of 20 segments: one ACK replaces at most two, a fifth of it.
#[test]
fn scsc_keeps_to_a_fifth_of_the_window() {
    let config = scsc::Config { slow_start_acks: 0, interval: Duration::from_millis(10), ..scsc::Config::default() };
    let mut run = Run::of(config);
    run.opens(Opening { mss: Some(1000), window_scale: None });
    let narrow = |number: u32| ack(0, 2000 * number).with(|header| header.window = 20_000);
    (0..1000).for_each(|number| _ = run.accepts(number, narrow(number as u32)));
    assert!((490..520).contains(&run.left().len()));
}

#[test]
fn flows_that_are_silent_are_forgotten() {
    let mut run = Run::of(every::Config::default());
    let few = FlowTable::<()>::FEW;
    (0..5 * few as u64).for_each(|flow| _ = run.accepts(100 * flow, ack(flow as u32, 1)));
    // Sixty seconds have six hundred flows.
    assert!(run.thinner.flows.len() < 2 * few, "{}", run.thinner.flows.len());
}

#[test]
fn defaults_are_settings_that_may_be_set() {
    for config in ThinnerConfig::built_in() {
        assert_eq!(config.check(), Ok(()), "{}", config.name());
    }
}

proptest::proptest! {
    /// For any packets, each arrived packet either passes or is removed; none is held forever; and
    /// the newest number of each flow passes.
    #[test]
    fn nothing_is_lost(
        rule in 0..4usize,
        steps in proptest::collection::vec((0..3u32, 0..40u32, 0..8u8, 0..30u64), 1..200),
    ) {
        let config = ThinnerConfig::built_in().nth(rule).unwrap();
        let mut run = Run::of(config);
        let (mut now, mut newest) = (0, [0; 3]);
        for flow in 0..3 {
            let opening = Some(Opening { mss: Some(1), window_scale: Some(7) });
            run.accepts(0, Packet { opening, flow, ..data(60) });
        }
        for (flow, number, kind, after) in &steps {
            now += after;
            newest[*flow as usize] = newest[*flow as usize].max(*number);
            run.accepts(now, ack(*flow, *number).with(|header| {
                header.window = u16::MAX;
                header.ecn = u8::from(*kind == 1);
                header.is_pure = *kind != 2;
                header.has_other_content = *kind == 3;
            }));
        }
        let left = run.left();
        proptest::prop_assert_eq!(left.len() as u64 + run.removed.packets, steps.len() as u64 + 3);
        proptest::prop_assert_eq!(run.thinner.held, 0);
        for newest in newest {
            proptest::prop_assert!(newest == 0 || left.iter().any(|(_, number)| *number == newest));
        }
    }
}
