//! Tests which ACK is removed, and the order of the others.

use super::cake::Cake;
use super::newest::{Keeps, Newest, Place};
use super::*;
use crate::queue::sample::{Packet, ack, data};
use acklab_base::{Bytes, Duration};
use proptest::prelude::*;

mod kernel;

/// A queue with one event per millisecond.
struct Bench<R> {
    filter: AckFilter<Packet, R>,
    now: Instant,
}

impl<R: Rule> Bench<R> {
    fn new(rule: R, limit: Option<Limit>) -> Self {
        Self { filter: AckFilter::new(limit, rule), now: Instant::ZERO }
    }

    /// Returns a queue with these packets, which are not filtered.
    fn with(rule: R, waiting: &[Packet]) -> Self {
        let mut bench = Self::new(rule, None);
        waiting.iter().for_each(|packet| bench.filter.chain.push(Instant::ZERO, *packet, false));
        bench
    }

    fn offer(&mut self, packet: Packet) -> Verdict<Packet> {
        self.now += Duration::from_millis(1);
        self.filter.offer(self.now, packet, true, &mut Tally::new())
    }

    /// Returns the ACK that is removed when `packet` arrives.
    fn removed(&mut self, packet: Packet) -> Option<Packet> {
        match self.offer(packet) {
            Verdict::Replaced(older) => Some(older),
            Verdict::Queued => None,
            Verdict::Dropped(packet) => panic!("no room for {packet:?}"),
        }
    }

    /// Offers pure ACKs of flow 1 with these numbers.
    fn acks(&mut self, numbers: &[u32]) {
        for number in numbers {
            let _ = self.offer(ack(1, *number));
        }
    }

    /// Dequeues a packet, and returns its flow and acknowledgment number.
    fn leave(&mut self) -> Option<(u32, u32)> {
        let (_, packet) = self.filter.chain.pop()?;
        Some((packet.flow, packet.header.map_or(0, |header| header.ack)))
    }

    fn numbers(&mut self) -> Vec<u32> {
        std::iter::from_fn(|| self.leave()).map(|(_, number)| number).collect()
    }
}

const fn newest(keeps: Keeps, place: Place) -> Newest {
    Newest { keeps, place }
}

const KIM: Newest = newest(Keeps::Duplicates, Place::InPlace);

/// Kim et al., VTC 2006, Figure 2: seven slots and flows a to g. The text names the packets that
/// are sent and replaced; the positions of b and d are chosen here.
#[test]
fn the_example_of_kim_et_al() {
    let [a, b, c, d, e, f, g] = [0, 1, 2, 3, 4, 5, 6];
    let mut queue = Bench::new(KIM, Some(Limit::Packets(7)));
    for flow in [a, f, g, c, b, d] {
        assert_eq!(queue.offer(ack(flow, 1)), Verdict::Queued);
    }
    assert_eq!(queue.offer(ack(c, 2)), Verdict::Replaced(ack(c, 1)));
    assert_eq!(queue.leave(), Some((a, 1)));
    assert_eq!(queue.offer(ack(e, 1)), Verdict::Queued);
    assert_eq!(queue.leave(), Some((f, 1)));
    assert_eq!(queue.offer(ack(b, 2)), Verdict::Replaced(ack(b, 1)));
    assert_eq!(queue.leave(), Some((g, 1)));
    assert_eq!(queue.offer(ack(b, 3)), Verdict::Replaced(ack(b, 2)));
    assert_eq!(queue.leave(), Some((c, 2)), "in the place of c1");
    let rest: Vec<_> = std::iter::from_fn(|| queue.leave()).collect();
    assert_eq!(rest, [(b, 3), (d, 1), (e, 1)]);
}

#[test]
fn a_full_queue_takes_what_replaces_another_and_turns_away_the_rest() {
    fn full(rule: impl Rule + Copy + std::fmt::Debug) {
        let mut queue = Bench::new(rule, Some(Limit::Packets(2)));
        assert_eq!(queue.offer(ack(1, 10)), Verdict::Queued);
        assert_eq!(queue.offer(data(1500)), Verdict::Queued);
        assert_eq!(queue.offer(ack(1, 20)), Verdict::Replaced(ack(1, 10)), "{rule:?}");
        assert_eq!(queue.offer(ack(3, 10)), Verdict::Dropped(ack(3, 10)), "{rule:?}");
        assert_eq!((queue.filter.chain.len(), queue.filter.chain.bytes()), (2, Bytes(1552)));
    }
    full(KIM);
    full(newest(Keeps::News, Place::Tail));
    full(AGGRESSIVE);
}

#[test]
fn beside_the_newest_ack_only_those_stay_that_the_filter_keeps() {
    // Three duplicates, larger numbers, an older one that arrives late, and one beyond the wrap.
    let offered = [10, 10, 10, 20, 30, 25, 5u32.wrapping_sub(10)];
    let left = |keeps| {
        let mut queue = Bench::new(newest(keeps, Place::InPlace), None);
        queue.acks(&offered);
        queue.numbers()
    };
    assert_eq!(left(Keeps::News), [10, 10, 10, 30, 25, 5u32.wrapping_sub(10)]);
    // 20 takes the position of the first 10, 30 that of 20, and 25 that of the next 10, because
    // Figure 1 searches from the head.
    assert_eq!(left(Keeps::Duplicates), [30, 25, 10, 5u32.wrapping_sub(10)]);
    assert_eq!(left(Keeps::Nothing), [30, 25, 5u32.wrapping_sub(10)]);
}

#[test]
fn at_the_tail_the_newer_ack_waits_behind_earlier_arrivals() {
    let order = |place| {
        let mut queue = Bench::new(newest(Keeps::News, place), None);
        queue.acks(&[10]);
        assert_eq!(queue.offer(ack(3, 10)), Verdict::Queued);
        queue.acks(&[20]);
        let arrived = queue.filter.chain.head().unwrap().0;
        let first = queue.leave().unwrap();
        let second = queue.filter.chain.head().unwrap();
        (first, arrived.as_nanos(), second.1.flow, second.0.as_nanos())
    };
    assert_eq!(order(Place::InPlace), ((1, 20), 1_000_000, 3, 2_000_000), "the arrival time of the first ACK stays");
    assert_eq!(order(Place::Tail), ((3, 10), 2_000_000, 1, 3_000_000), "its own arrival time");
}

#[test]
fn news_is_blocks_and_flags_and_duplicates() {
    let news = newest(Keeps::News, Place::InPlace);
    let sacked = ack(1, 10).with(|header| header.sack = [(30, 40)].into_iter().collect());
    let echoes = ack(1, 10).with(|header| header.ecn = 0b001);
    for older in [sacked, echoes] {
        assert_eq!(Bench::with(news, &[older]).removed(ack(1, 20)), None, "{older:?}");
        assert_eq!(Bench::with(KIM, &[older]).removed(ack(1, 20)), Some(older), "Figure 1 ignores SACK and ECN");
    }
    assert_eq!(Bench::with(news, &[echoes]).removed(echoes.with(|header| header.ack = 20)), Some(echoes));
    assert_eq!(Bench::with(news, &[ack(1, 10)]).removed(ack(1, 20).with(|header| header.is_pure = false)), None);
}

const CAKE: Cake = Cake { aggressive: false, accurate_ecn: false };
const AGGRESSIVE: Cake = Cake { aggressive: true, accurate_ecn: false };

#[test]
fn cake_leaves_two_acks_and_the_aggressive_one_leaves_one() {
    fn left(rule: impl Rule) -> Vec<u32> {
        let mut queue = Bench::new(rule, None);
        queue.acks(&[10, 20, 30, 40]);
        queue.numbers()
    }
    assert_eq!(left(CAKE), [30, 40]);
    assert_eq!(left(AGGRESSIVE), [40]);
    assert_eq!(left(Newest { keeps: Keeps::News, place: Place::Tail }), [40]);
}

#[test]
fn cake_removes_no_duplicate_unless_it_sacks_less() {
    let sack = |end| ack(1, 10).with(|header| header.sack = [(30, end)].into_iter().collect());
    let mut queue = Bench::new(AGGRESSIVE, None);
    queue.acks(&[10, 10]);
    assert_eq!(queue.numbers(), [10, 10]);
    assert_eq!(
        Bench::with(AGGRESSIVE, &[sack(40)]).removed(sack(50)),
        Some(sack(40)),
        "equal numbers, but more octets sacked"
    );
    assert_eq!(Bench::with(AGGRESSIVE, &[sack(40)]).removed(sack(40)), None, "equal");
    assert_eq!(Bench::with(AGGRESSIVE, &[sack(50)]).removed(sack(40)), None, "the older one sacks more");
    let later = sack(50).with(|header| header.ack = 20);
    assert_eq!(Bench::with(AGGRESSIVE, &[sack(50)]).removed(later), Some(sack(50)), "the same blocks, a larger number");
    assert_eq!(Bench::with(AGGRESSIVE, &[sack(50)]).removed(ack(1, 20)), None, "blocks that are not repeated");
    let both = ack(1, 10).with(|header| header.sack = [(60, 70), (30, 40)].into_iter().collect());
    let elsewhere = ack(1, 20).with(|header| header.sack = [(30, 55)].into_iter().collect());
    assert_eq!(Bench::with(AGGRESSIVE, &[both]).removed(elsewhere), None, "one of two is not repeated");
    let d_sack = ack(1, 10).with(|header| header.sack = [(4, 8)].into_iter().collect());
    assert_eq!(Bench::with(AGGRESSIVE, &[d_sack]).removed(d_sack.with(|header| header.ack = 20)), None, "a D-SACK");
}

#[test]
fn cake_removes_nothing_that_it_cannot_interpret() {
    let older = |change: fn(&mut AckHeader)| ack(1, 10).with(change);
    let clocked = ack(1, 20).with(|header| header.timestamps = Some((7, 7)));
    for kept in [
        older(|header| header.has_other_content = true),
        older(|header| header.is_pure = false),
        older(|header| header.ecn = 0b100),
        older(|header| header.timestamps = Some((8, 7))),
        older(|header| header.timestamps = Some((7, 8))),
        ack(1, 21),
        ack(3, 10),
        data(52),
    ] {
        assert_eq!(Bench::with(AGGRESSIVE, &[kept]).removed(clocked), None, "{kept:?}");
    }
    let superseded = older(|header| header.timestamps = Some((7, 7)));
    assert_eq!(Bench::with(AGGRESSIVE, &[superseded]).removed(clocked), Some(superseded));
    assert_eq!(
        Bench::with(AGGRESSIVE, &[superseded]).removed(ack(1, 20)),
        None,
        "missing timestamps of the newer one count as zero"
    );
    let with_data = ack(1, 20).with(|header| header.is_pure = false);
    assert_eq!(
        Bench::with(AGGRESSIVE, &[ack(1, 10)]).removed(with_data),
        Some(ack(1, 10)),
        "a data segment acknowledges as well"
    );
}

#[test]
fn cake_keeps_the_last_ack_before_the_flags_change() {
    let echo = |number| ack(1, number).with(|header| header.ecn = 0b001);
    assert_eq!(
        Bench::with(CAKE, &[ack(1, 10), ack(1, 20)]).removed(echo(30)),
        Some(ack(1, 10)),
        "20 has the same flags"
    );
    assert_eq!(Bench::with(CAKE, &[ack(1, 10), echo(20)]).removed(echo(30)), None, "10 is the only one without ECE");
    assert_eq!(Bench::with(CAKE, &[ack(1, 10), echo(20), echo(30)]).removed(echo(40)), Some(echo(20)));
    assert_eq!(Bench::with(AGGRESSIVE, &[ack(1, 10)]).removed(echo(20)), None);
    assert_eq!(Bench::with(AGGRESSIVE, &[echo(10)]).removed(echo(20)), Some(echo(10)));
    let between = ack(1, 30).with(|header| header.is_pure = false);
    assert_eq!(Bench::with(AGGRESSIVE, &[ack(1, 10), between]).removed(ack(1, 20)), None, "not the last of its flow");
    assert_eq!(
        Bench::with(AGGRESSIVE, &[ack(1, 10), ack(3, 10)]).removed(ack(1, 20)),
        Some(ack(1, 10)),
        "the last of its flow"
    );
}

#[test]
fn a_filter_that_knows_accurate_ecn_removes_what_the_next_ack_repeats() {
    const KNOWS: Cake = Cake { aggressive: true, accurate_ecn: true };
    let counter = |number, ace| ack(1, number).with(|header| header.ecn = ace);
    let option = |number, ace, length| {
        ack(1, number).with(|header| {
            (header.ecn, header.has_other_content, header.accurate_ecn) = (ace, true, length);
        })
    };
    assert_eq!(Bench::with(AGGRESSIVE, &[counter(10, 5)]).removed(counter(20, 5)), None, "the kernel's keeps AE");
    assert_eq!(Bench::with(KNOWS, &[counter(10, 5)]).removed(counter(20, 5)), Some(counter(10, 5)));
    assert_eq!(Bench::with(KNOWS, &[counter(10, 5)]).removed(counter(20, 6)), None, "the counter may wrap");
    assert_eq!(Bench::with(KNOWS, &[counter(10, 5), counter(20, 5)]).removed(counter(30, 6)), Some(counter(10, 5)));
    assert_eq!(Bench::with(AGGRESSIVE, &[option(10, 5, 11)]).removed(option(20, 5, 11)), None);
    assert_eq!(Bench::with(KNOWS, &[option(10, 5, 8)]).removed(option(20, 2, 11)), Some(option(10, 5, 8)));
    assert_eq!(Bench::with(KNOWS, &[option(10, 5, 11)]).removed(option(20, 6, 8)), None, "a counter is missing");
    assert_eq!(Bench::with(KNOWS, &[option(10, 5, 8)]).removed(counter(20, 5)), None, "all are missing");
    let other = option(10, 5, 0);
    assert_eq!(Bench::with(KNOWS, &[other]).removed(option(20, 5, 8)), None, "another option");
}

proptest! {
    /// Compares the chain with a plain list: after any removals, the rest leaves in order, both per
    /// flow and in total.
    #[test]
    fn a_chain_is_a_list(steps in proptest::collection::vec((0u32..4, 0usize..6), 1..200)) {
        let mut chain = Chain::new();
        let mut list: Vec<Packet> = Vec::new();
        for (number, (flow, step)) in steps.into_iter().enumerate() {
            let packet = Packet { size: 40 + number as u64, ..ack(flow, number as u32) };
            let mut of_flow: Vec<_> = chain.of_flow(FlowKey(flow.into())).collect();
            match of_flow.get(step).copied() {
                Some(at) => {
                    let (_, removed) = chain.remove(at).unwrap();
                    let index = list.iter().enumerate().filter(|(_, packet)| packet.flow == flow).nth(step).unwrap().0;
                    prop_assert_eq!(removed, list.remove(index));
                }
                None if step == 5 => {
                    let first = (!list.is_empty()).then(|| list.remove(0));
                    prop_assert_eq!(chain.pop().map(|(_, packet)| packet), first);
                }
                None => {
                    chain.push(Instant::ZERO, packet, false);
                    list.push(packet);
                }
            }
            prop_assert_eq!(chain.len(), list.len());
            prop_assert_eq!(chain.bytes(), Bytes(list.iter().map(|packet| packet.size).sum()));
            prop_assert_eq!(chain.head().map(|(_, packet)| *packet), list.first().copied());
            of_flow = chain.of_flow_newest_first(FlowKey(flow.into())).collect();
            let packets: Vec<_> = of_flow.iter().rev().filter_map(|at| chain.packet(*at)).copied().collect();
            let expected: Vec<_> = list.iter().filter(|packet| packet.flow == flow).copied().collect();
            prop_assert_eq!(packets, expected);
        }
    }
}
