//! By event: which ACK goes, and what then leaves in which order.

use super::cake::Cake;
use super::newest::{Keeps, Newest, Place};
use super::*;
use crate::queue::sample::{Packet, ack, data};
use acklab_base::{Bytes, Duration};
use proptest::prelude::*;

/// A queue at work. One event a millisecond.
struct Bench<R> {
    filter: AckFilter<Packet, R>,
    now: Instant,
}

impl<R: Rule> Bench<R> {
    fn new(rule: R, limit: Option<Limit>) -> Self {
        Self { filter: AckFilter::new(limit, rule), now: Instant::ZERO }
    }

    /// With these waiting, whatever the filter.
    fn with(rule: R, waiting: &[Packet]) -> Self {
        let mut bench = Self::new(rule, None);
        waiting.iter().for_each(|packet| bench.filter.chain.push(Instant::ZERO, *packet, false));
        bench
    }

    fn offer(&mut self, packet: Packet) -> Verdict<Packet> {
        self.now += Duration::from_millis(1);
        self.filter.offer(self.now, packet, true, &mut Tally::new())
    }

    /// The one that goes when `packet` comes.
    fn gone(&mut self, packet: Packet) -> Option<Packet> {
        match self.offer(packet) {
            Verdict::Replaced(older) => Some(older),
            Verdict::Queued => None,
            Verdict::Dropped(packet) => panic!("no room for {packet:?}"),
        }
    }

    /// Offer pure ACKs of flow 1 with these numbers.
    fn acks(&mut self, numbers: &[u32]) {
        for number in numbers {
            let _ = self.offer(ack(1, *number));
        }
    }

    /// Flow and number of what leaves.
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

/// Kim et al., VTC 2006, Figure 2: seven slots and flows a to g. The text names who is sent and who is replaced; where b and d stand
/// is ours.
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
fn what_stands_beside_the_newest_is_what_the_filter_keeps() {
    // Three of a kind, a larger number, an older one that comes late, and one across the wrap.
    let offered = [10, 10, 10, 20, 30, 25, 5u32.wrapping_sub(10)];
    let left = |keeps| {
        let mut queue = Bench::new(newest(keeps, Place::InPlace), None);
        queue.acks(&offered);
        queue.numbers()
    };
    assert_eq!(left(Keeps::News), [10, 10, 10, 30, 25, 5u32.wrapping_sub(10)]);
    // 20 takes the place of the first 10, 30 that of 20, and 25 that of the next 10: Figure 1 looks from the head on.
    assert_eq!(left(Keeps::Duplicates), [30, 25, 10, 5u32.wrapping_sub(10)]);
    assert_eq!(left(Keeps::Nothing), [30, 25, 5u32.wrapping_sub(10)]);
}

#[test]
fn at_the_tail_the_newer_one_waits_behind_those_who_came_before_it() {
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
    assert_eq!(order(Place::InPlace), ((1, 20), 1_000_000, 3, 2_000_000), "the place has waited since the first");
    assert_eq!(order(Place::Tail), ((3, 10), 2_000_000, 1, 3_000_000), "it has waited since it came");
}

#[test]
fn news_is_blocks_and_flags_and_duplicates() {
    let news = newest(Keeps::News, Place::InPlace);
    let sacked = ack(1, 10).with(|header| header.sack = [(30, 40)].into_iter().collect());
    let echoes = ack(1, 10).with(|header| header.ecn = 0b001);
    for older in [sacked, echoes] {
        assert_eq!(Bench::with(news, &[older]).gone(ack(1, 20)), None, "{older:?}");
        assert_eq!(Bench::with(KIM, &[older]).gone(ack(1, 20)), Some(older), "Figure 1 does not look at it");
    }
    assert_eq!(Bench::with(news, &[echoes]).gone(echoes.with(|header| header.ack = 20)), Some(echoes));
    assert_eq!(Bench::with(news, &[ack(1, 10)]).gone(ack(1, 20).with(|header| header.is_pure = false)), None);
}

const CAKE: Cake = Cake { aggressive: false };
const AGGRESSIVE: Cake = Cake { aggressive: true };

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
fn cake_takes_no_duplicate_unless_it_sacks_less() {
    let sack = |end| ack(1, 10).with(|header| header.sack = [(30, end)].into_iter().collect());
    let mut queue = Bench::new(AGGRESSIVE, None);
    queue.acks(&[10, 10]);
    assert_eq!(queue.numbers(), [10, 10]);
    assert_eq!(Bench::with(AGGRESSIVE, &[sack(40)]).gone(sack(50)), Some(sack(40)), "the same number, more octets");
    assert_eq!(Bench::with(AGGRESSIVE, &[sack(40)]).gone(sack(40)), None, "the same");
    assert_eq!(Bench::with(AGGRESSIVE, &[sack(50)]).gone(sack(40)), None, "it holds more");
    let later = sack(50).with(|header| header.ack = 20);
    assert_eq!(Bench::with(AGGRESSIVE, &[sack(50)]).gone(later), Some(sack(50)), "the same blocks, a larger number");
    assert_eq!(Bench::with(AGGRESSIVE, &[sack(50)]).gone(ack(1, 20)), None, "blocks that are not repeated");
    let both = ack(1, 10).with(|header| header.sack = [(60, 70), (30, 40)].into_iter().collect());
    let elsewhere = ack(1, 20).with(|header| header.sack = [(30, 55)].into_iter().collect());
    assert_eq!(Bench::with(AGGRESSIVE, &[both]).gone(elsewhere), None, "one of two is not repeated");
    let d_sack = ack(1, 10).with(|header| header.sack = [(4, 8)].into_iter().collect());
    assert_eq!(Bench::with(AGGRESSIVE, &[d_sack]).gone(d_sack.with(|header| header.ack = 20)), None, "a D-SACK");
}

#[test]
fn cake_takes_nothing_that_it_does_not_understand() {
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
        assert_eq!(Bench::with(AGGRESSIVE, &[kept]).gone(clocked), None, "{kept:?}");
    }
    let goes = older(|header| header.timestamps = Some((7, 7)));
    assert_eq!(Bench::with(AGGRESSIVE, &[goes]).gone(clocked), Some(goes));
    assert_eq!(Bench::with(AGGRESSIVE, &[goes]).gone(ack(1, 20)), None, "without clocks the newer one's are zero");
    let with_data = ack(1, 20).with(|header| header.is_pure = false);
    assert_eq!(Bench::with(AGGRESSIVE, &[ack(1, 10)]).gone(with_data), Some(ack(1, 10)), "data acknowledges as well");
}

#[test]
fn cake_keeps_the_last_ack_before_the_flags_change() {
    let echo = |number| ack(1, number).with(|header| header.ecn = 0b001);
    assert_eq!(Bench::with(CAKE, &[ack(1, 10), ack(1, 20)]).gone(echo(30)), Some(ack(1, 10)), "20 says the same");
    assert_eq!(Bench::with(CAKE, &[ack(1, 10), echo(20)]).gone(echo(30)), None, "only 10 is without");
    assert_eq!(Bench::with(CAKE, &[ack(1, 10), echo(20), echo(30)]).gone(echo(40)), Some(echo(20)));
    assert_eq!(Bench::with(AGGRESSIVE, &[ack(1, 10)]).gone(echo(20)), None);
    assert_eq!(Bench::with(AGGRESSIVE, &[echo(10)]).gone(echo(20)), Some(echo(10)));
    let between = ack(1, 30).with(|header| header.is_pure = false);
    assert_eq!(Bench::with(AGGRESSIVE, &[ack(1, 10), between]).gone(ack(1, 20)), None, "not next to the tail");
    assert_eq!(Bench::with(AGGRESSIVE, &[ack(1, 10), ack(3, 10)]).gone(ack(1, 20)), Some(ack(1, 10)), "of its flow");
}

proptest! {
    /// Against a plain list: whoever is taken from wherever, the rest leaves in order, by flow and in all.
    #[test]
    fn a_chain_is_a_list(steps in proptest::collection::vec((0u32..4, 0usize..6), 1..200)) {
        let mut chain = Chain::new();
        let mut list: Vec<Packet> = Vec::new();
        for (number, (flow, step)) in steps.into_iter().enumerate() {
            let packet = Packet { size: 40 + number as u64, ..ack(flow, number as u32) };
            let mut of_flow: Vec<_> = chain.of_flow(FlowKey(flow.into())).collect();
            match of_flow.get(step).copied() {
                Some(at) => {
                    let (_, gone) = chain.remove(at).unwrap();
                    let place = list.iter().enumerate().filter(|(_, packet)| packet.flow == flow).nth(step).unwrap().0;
                    prop_assert_eq!(gone, list.remove(place));
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
