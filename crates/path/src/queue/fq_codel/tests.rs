//! Tests the order of service, and which flows lose packets.

use super::*;
use crate::queue::sample::{Packet, data, draws};

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn of_flow(flow: u32, size: u64) -> Packet {
    Packet { flow, ..data(size) }
}

fn queue(config: Config) -> FqCodel<Packet> {
    config.discipline(draws())
}

fn fill(queue: &mut FqCodel<Packet>, now: Instant, flow: u32, size: u64, packets: usize) {
    for _ in 0..packets {
        assert_eq!(queue.offer(now, of_flow(flow, size), true, &mut Tally::new()), Verdict::Queued);
    }
}

fn served(queue: &mut FqCodel<Packet>, now: Instant, packets: usize) -> Vec<u32> {
    let next = || {
        let head = queue.head().map(|(_, packet)| *packet);
        let taken = queue.take_head(now, &mut Tally::new()).map(|(_, packet)| packet);
        assert_eq!(head, taken, "the head is what leaves");
        taken.map(|packet| packet.flow)
    };
    std::iter::from_fn(next).take(packets).collect()
}

#[test]
fn a_new_flow_goes_ahead_of_flows_that_have_used_their_quantum() {
    let mut queue = queue(Config::default());
    fill(&mut queue, ms(0), 1, 1500, 4);
    // A quantum of 1514 octets is left with 14 after the first packet, so that a second one leaves.
    assert_eq!(served(&mut queue, ms(0), 2), [1, 1]);
    fill(&mut queue, ms(0), 2, 100, 1);
    assert_eq!(served(&mut queue, ms(0), 9), [2, 1, 1], "flow 1 is old now");
}

#[test]
fn a_flow_that_ran_empty_is_not_new_again_while_others_wait() {
    let mut queue = queue(Config::default());
    fill(&mut queue, ms(0), 1, 1500, 20);
    assert_eq!(served(&mut queue, ms(0), 2), [1, 1]);
    // RFC 8290, §4.2: it moves to the old list when it is found empty, so each of its packets then
    // waits for a turn of flow 1.
    let mut order = Vec::new();
    for _ in 0..4 {
        fill(&mut queue, ms(0), 2, 1500, 1);
        order.extend(served(&mut queue, ms(0), 2));
    }
    assert_eq!(order, [2, 1, 2, 1, 2, 1, 2, 1]);
}

#[test]
fn flows_with_packets_of_different_sizes_get_the_same_octets() {
    let mut queue = queue(Config::default());
    fill(&mut queue, ms(0), 1, 1500, 300);
    fill(&mut queue, ms(0), 2, 300, 1500);
    let order = served(&mut queue, ms(0), 600);
    let octets = |flow, size| order.iter().filter(|served| **served == flow).count() as i64 * size;
    // Shreedhar and Varghese (SIGCOMM 1995), Theorem 2: DRR's deviation is below three of the
    // largest packet and quantum.
    let difference = octets(1, 1500) - octets(2, 300);
    assert!(difference.abs() < 3 * 1514, "{difference}");
}

#[test]
fn the_longest_queue_loses_half_at_its_head_when_there_is_no_room() {
    let mut queue = queue(Config { limit: Some(Limit::Packets(50)), ..Config::default() });
    fill(&mut queue, ms(0), 2, 100, 10);
    fill(&mut queue, ms(1), 1, 1500, 40);
    assert_eq!(queue.len(), 50);
    let mut tally = Tally::new();
    assert_eq!(queue.offer(ms(2), of_flow(2, 100), true, &mut tally), Verdict::Queued);
    assert_eq!((tally.counters.dropped, tally.counters.bytes_dropped), (20, Bytes(20 * 1500)), "half of 40 packets");
    assert_eq!((queue.len(), queue.bytes()), (31, Bytes(20 * 1500 + 11 * 100)));
    assert!(tally.dropped_flows.iter().all(|flow| *flow == FlowKey(1)), "the flow with few octets loses nothing");
}

#[test]
fn a_standing_queue_of_one_flow_costs_another_nothing() {
    let mut queue = queue(Config { ecn: false, ..Config::default() });
    let mut tally = Tally::new();
    // Flow 1 keeps 40 packets, and one packet leaves each millisecond. Flow 2 sends a packet every
    // 10 ms.
    fill(&mut queue, ms(0), 1, 1500, 40);
    let mut waits = Vec::new();
    for at in 1..1000 {
        fill(&mut queue, ms(at), 1, 1500, 1);
        if at % 10 == 0 {
            fill(&mut queue, ms(at), 2, 200, 1);
        }
        let taken = queue.take_head(ms(at), &mut tally);
        waits.extend(taken.filter(|(_, packet)| packet.flow == 2).map(|(arrived, _)| ms(at).since(arrived)));
    }
    assert!(tally.counters.dropped > 10, "CoDel drops: {}", tally.counters.dropped);
    assert!(tally.dropped_flows.iter().all(|flow| *flow == FlowKey(1)));
    assert!(waits.len() > 95 && waits.iter().all(|wait| *wait <= Duration::from_millis(2)), "{waits:?}");
}

#[test]
fn a_threshold_marks_what_has_waited_longer() {
    let config = Config { ce_threshold: Some(Duration::from_millis(1)), ..Config::default() };
    let mut queue = queue(config);
    let capable = Packet { ecn: acklab_base::Ecn::Ect1, ..of_flow(1, 1500) };
    let mut tally = Tally::new();
    for _ in 0..2 {
        assert_eq!(queue.offer(ms(0), capable, true, &mut tally), Verdict::Queued);
    }
    let marks: Vec<_> = [1, 2].map(|at| queue.take_head(ms(at), &mut tally).map(|(_, packet)| packet.ecn)).into();
    assert_eq!(marks, [Some(acklab_base::Ecn::Ect1), Some(acklab_base::Ecn::Ce)], "1 ms is not longer than 1 ms");
}
