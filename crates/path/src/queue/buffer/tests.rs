//! Tests which packets are accepted, which leave, and which are counted.

use super::*;
use crate::queue::ack_filter::{cake, newest};
use crate::queue::sample::{Packet, ack, data, draws};
use crate::queue::{codel, fifo};
use Verdict::{Dropped, Queued, Replaced};
use acklab_base::units::Limit;
use acklab_base::{Duration, Ecn};

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn empty(config: QueueConfig) -> Buffer<Packet> {
    Buffer::new(config, draws())
}

fn take(buffer: &mut Buffer<Packet>, at: u64) -> Option<(Instant, Packet)> {
    buffer.take(ms(at), &mut HeadDrops::default())
}

fn fifo(limit: Limit) -> QueueConfig {
    QueueConfig::default().with_limit(Some(limit))
}

#[test]
fn packets_leave_in_order_with_their_arrival_times() {
    let mut buffer = empty(QueueConfig::default());
    assert_eq!(take(&mut buffer, 0), None);
    assert_eq!(buffer.offer(ms(1), data(1500), true), Queued);
    assert_eq!(buffer.offer(ms(2), data(40), true), Queued);
    assert_eq!((buffer.len(), buffer.bytes()), (2, Bytes(1540)));
    assert_eq!((buffer.head(), buffer.head_arrived()), (Some(&data(1500)), Some(ms(1))));
    assert_eq!(take(&mut buffer, 5), Some((ms(1), data(1500))));
    assert_eq!(take(&mut buffer, 9), Some((ms(2), data(40))));
    assert!(buffer.is_empty());
    let counters = buffer.counters();
    assert_eq!((counters.packets_in, counters.served, counters.waited), (2, 2, Duration::from_millis(4 + 7)));
    assert_eq!((counters.bytes_in, counters.bytes_served), (Bytes(1540), Bytes(1540)));
}

#[test]
fn a_dropped_packet_is_returned() {
    let mut buffer = empty(fifo(Limit::Packets(1)));
    assert_eq!(buffer.offer(ms(0), data(1500), true), Queued);
    assert_eq!(buffer.offer(ms(1), data(41), true), Dropped(data(41)));
    assert_eq!((buffer.counters().dropped, buffer.counters().bytes_dropped), (1, Bytes(41)));
    assert_eq!((buffer.take_drop(), buffer.take_drop()), (Some(FlowKey(0)), None));

    let mut buffer = empty(fifo(Limit::Bytes(Bytes(100))));
    assert_eq!(buffer.offer(ms(0), data(60), true), Queued);
    assert_eq!(buffer.offer(ms(1), data(41), true), Dropped(data(41)));
    assert_eq!(buffer.offer(ms(1), data(40), true), Queued);
}

#[test]
fn without_room_only_an_ack_that_replaces_another_is_queued() {
    // CAKE's filter leaves two ACKs of a flow unless it is aggressive.
    let aggressive = cake::Config { aggressive: true, ..Default::default() };
    for config in QueueConfig::built_in().chain([aggressive.into()]) {
        let mut buffer = empty(config);
        assert_eq!(buffer.offer(ms(0), ack(1, 10), true), Queued);
        let verdict = buffer.offer(ms(1), ack(1, 20), false);
        let is_filter = config == newest::Config::default().into() || config == aggressive.into();
        let expected = if is_filter { Replaced(ack(1, 10)) } else { Dropped(ack(1, 20)) };
        assert_eq!(verdict, expected, "{config:?}");
        assert_eq!(buffer.len(), 1);
    }
}

#[test]
fn an_ack_in_place_of_another_keeps_its_arrival_time() {
    let mut buffer = empty(newest::Config::default().into());
    assert_eq!(buffer.offer(ms(0), ack(1, 10), true), Queued);
    assert_eq!(buffer.offer(ms(1), ack(3, 10), true), Queued);
    assert_eq!(buffer.offer(ms(4), Packet { size: 64, ..ack(1, 20) }, true), Replaced(ack(1, 10)));
    assert_eq!((buffer.len(), buffer.bytes()), (2, Bytes(64 + 52)));
    assert_eq!((buffer.counters().filtered, buffer.counters().bytes_filtered), (1, Bytes(52)));
    assert_eq!(take(&mut buffer, 5), Some((ms(0), Packet { size: 64, ..ack(1, 20) })));
    assert_eq!(take(&mut buffer, 5), Some((ms(1), ack(3, 10))));
}

#[test]
fn only_ecn_capable_packets_are_marked() {
    let mut buffer = empty(fifo::Config { limit: None, mark_above: Some(Limit::Packets(1)) }.into());
    let capable = Packet { ecn: Ecn::Ect0, ..data(1500) };
    for packet in [capable, capable, data(1500), capable] {
        assert_eq!(buffer.offer(ms(0), packet, true), Queued);
    }
    let ecn: Vec<_> = std::iter::from_fn(|| take(&mut buffer, 1)).map(|(_, packet)| packet.ecn).collect();
    assert_eq!(ecn, [Ecn::Ect0, Ecn::Ect0, Ecn::NotEct, Ecn::Ce], "the second finds only one queued");
    assert_eq!((buffer.counters().marked, buffer.counters().bytes_marked), (1, Bytes(1500)));
}

#[test]
fn codel_drops_packets_at_the_head() {
    let mut buffer = empty(codel::Config::default().into());
    for size in 1000..1020 {
        assert_eq!(buffer.offer(ms(0), data(size), true), Queued);
    }
    assert_eq!(take(&mut buffer, 10), Some((ms(0), data(1000))), "above the target for the first time");
    assert_eq!(buffer.head(), Some(&data(1001)));
    let mut dropped = HeadDrops::default();
    assert_eq!(buffer.take(ms(110), &mut dropped), Some((ms(0), data(1002))), "an interval later");
    assert_eq!(dropped, HeadDrops { packets: 1, bytes: Bytes(1001) });
    assert_eq!((buffer.counters().dropped, buffer.counters().bytes_dropped), (1, Bytes(1001)));
    assert_eq!(buffer.take_drop(), Some(FlowKey(0)));
    // Due after 100/√1, 100/√2, … more: at 210, 281, 338 and 388 ms.
    assert_eq!(take(&mut buffer, 400), Some((ms(0), data(1007))));
    assert_eq!((buffer.counters().dropped, buffer.counters().served, buffer.len()), (5, 3, 12));
}

#[test]
fn only_the_window_counts_and_the_length_is_logged_on_request() {
    let mut buffer = empty(QueueConfig::default());
    buffer.measure(ms(10)..ms(20));
    buffer.log_queue();
    for at in [5, 15, 25] {
        assert_eq!(buffer.offer(ms(at), data(1500), true), Queued);
    }
    assert_eq!(take(&mut buffer, 30).map(|(arrived, _)| arrived), Some(ms(5)));
    assert_eq!((buffer.counters().packets_in, buffer.counters().served), (1, 0));
    assert_eq!(buffer.queue_log(), [(ms(15), 2)]);
    let mean = buffer.counters().queue.mean(&(ms(10)..ms(20)));
    assert!((mean - 1.5).abs() < 1e-12, "{mean}");
}
