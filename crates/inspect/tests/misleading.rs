//! Misleading captures: duplicated packets, reused ports, reordering, and gaps of the capture.

use acklab_base::Instant;
use acklab_inspect::report::{Connection, Position, Report};
use acklab_inspect::{Inspector, LinkType, Options as Bounds};
use acklab_wire::ipv4::{Extent, Ipv4Fields};
use acklab_wire::tcp::{Flags, Options, Segment, SeqNumber};
use acklab_wire::{Endpoints, Pdu};

pub(crate) const MSS: u32 = 1448;
pub(crate) const MS: u64 = 1_000_000;
/// The transmission time of a packet of 1500 bytes at 12 Mbps.
const PACKET: u64 = MS;
pub(crate) const RTT: u64 = 50 * MS;

/// A packet of a capture: its time, sent by the server or its client, and its identification.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Captured {
    pub(crate) at: u64,
    pub(crate) is_servers: bool,
    pub(crate) segment: Segment,
    identification: u16,
}

/// Returns a download of `segments` over a path of 12 Mbps; the client acknowledges each second
/// segment. The server has the numbers from `first` on. `behind` is the part of the round trip
/// between the point of capture and the server.
pub(crate) fn download(start: u64, first: u32, segments: u32, behind: u64) -> Vec<Captured> {
    let packet = |at, is_servers, flags, seq, ack, payload| {
        let options = Options { mss: flags_mss(flags), ..Options::default() };
        let segment = Segment {
            seq: SeqNumber(seq),
            ack: SeqNumber(ack),
            flags,
            window: 60_000,
            options,
            payload,
            ..Segment::default()
        };
        Captured { at: start + at, is_servers, segment, identification: 0 }
    };
    let ahead = RTT - behind;
    let mut packets = vec![
        packet(0, false, Flags::SYN, 99, 0, 0),
        packet(behind, true, Flags::SYN | Flags::ACK, first.wrapping_sub(1), 100, 0),
        packet(RTT, false, Flags::ACK, 100, first, 0),
    ];
    for number in 0..segments {
        let at = RTT + behind + u64::from(number) * PACKET;
        packets.push(packet(at, true, Flags::ACK, first.wrapping_add(number * MSS), 100, MSS));
        if number % 2 == 1 {
            packets.push(packet(at + ahead, false, Flags::ACK, 100, first.wrapping_add((number + 1) * MSS), 0));
        }
    }
    number(&mut packets);
    packets
}

fn flags_mss(flags: Flags) -> Option<u16> {
    flags.contains(Flags::SYN).then_some(MSS as u16)
}

/// Orders packets by time, and numbers those of each end in the order of sending.
fn number(packets: &mut [Captured]) {
    packets.sort_by_key(|packet| packet.at);
    let mut next = [700_u16, 30_000];
    for packet in packets {
        let next = &mut next[usize::from(packet.is_servers)];
        packet.identification = *next;
        *next += 1;
    }
}

pub(crate) fn inspect(packets: &[Captured]) -> Report {
    let client = Endpoints::of_nodes(0, 1, 0);
    let mut inspector = Inspector::new(Bounds::default());
    for packet in packets {
        let ends = if packet.is_servers { client.reverse() } else { client };
        let mut octets = Vec::new();
        let fields = Ipv4Fields { identification: packet.identification, ..Ipv4Fields::default() };
        packet.segment.encode(ends, fields, Extent::Headers, &mut octets).unwrap();
        let length = packet.segment.wire_len().get() as u32;
        inspector.frame(Instant::from_nanos(packet.at), LinkType::IP, &octets, length);
    }
    inspector.finish()
}

pub(crate) fn only(mut report: Report) -> Connection {
    assert_eq!((report.connections.len(), report.connections[0].directions.len()), (1, 1));
    report.connections.remove(0)
}

#[test]
fn packets_that_are_there_twice_are_counted_once() {
    let once = download(1000 * MS, 1, 200, 0);
    let mut twice: Vec<Captured> =
        once.iter().flat_map(|&packet| [packet, Captured { at: packet.at + 3000, ..packet }]).collect();
    twice.sort_by_key(|packet| packet.at);
    for without_identifications in [false, true] {
        let [mut once, mut twice] = [once.clone(), twice.clone()];
        if without_identifications {
            once.iter_mut().chain(&mut twice).for_each(|packet| packet.identification = 0);
        }
        let (expected, found) = (only(inspect(&once)), inspect(&twice));
        assert_eq!(found.counts.duplicates, once.len() as u64);
        let found = only(found);
        assert_eq!((found.packets, found.duplicates), (expected.packets, once.len() as u64));
        assert!((found.duplicate_distance.unwrap() - 0.003).abs() < 1e-9);
        let [expected, found] = [&expected.directions[0], &found.directions[0]];
        assert_eq!((found.losses.retransmitted, found.losses.reordered), (0, 0));
        assert_eq!(found.acks.unwrap().count, expected.acks.unwrap().count);
        assert_eq!((found.data_segments, found.round_trip.base.value()), (200, Some(&50.0)));
    }
}

/// The numbers of the second connection are 1.5 billion ahead. No window shows that they belong to
/// another connection.
#[test]
fn a_syn_with_another_number_is_another_connection() {
    let mut packets = download(1000 * MS, 1, 100, 0);
    packets.extend(download(10_000 * MS, 1_500_000_000, 100, 0).into_iter().map(|mut packet| {
        packet.segment.seq.0 += u32::from(!packet.is_servers) * 77;
        packet.segment.ack.0 += u32::from(packet.is_servers) * 77;
        packet
    }));
    let report = inspect(&packets);
    assert_eq!((report.counts.connections, report.connections.len()), (2, 2));
    for connection in &report.connections {
        let direction = &connection.directions[0];
        assert_eq!(
            (direction.data_segments, direction.losses.retransmitted, direction.losses.uncaptured_octets),
            (100, 0, 0)
        );
        assert_eq!(connection.packets, 153);
    }
}

/// At the receiver, each tenth segment is overtaken by the next one, half a millisecond before it.
/// The round trip is 50 ms. The receiver acknowledges within 2 ms.
#[test]
fn what_is_overtaken_at_the_receiver_is_not_lost() {
    let mut packets = download(1000 * MS, 1, 200, RTT - 2 * MS);
    let data = |packet: &&mut Captured| packet.segment.payload > 0;
    packets.iter_mut().filter(data).skip(5).step_by(10).for_each(|packet| packet.at += PACKET + PACKET / 2);
    packets.sort_by_key(|packet| packet.at);
    for identifications in [true, false] {
        let mut packets = packets.clone();
        if !identifications {
            packets.iter_mut().for_each(|packet| packet.identification = 0);
        }
        let direction = only(inspect(&packets)).directions.remove(0);
        assert_eq!(direction.position, Position::Receiver);
        assert_eq!(
            (direction.losses.reordered, direction.losses.retransmitted, direction.losses.lost_before),
            (20, 0, 0)
        );
        assert!(direction.losses.share.abs() < 1e-12);
    }
}

/// At the receiver, data that have passed have arrived. So their retransmission is spurious,
/// although their ACK has not passed yet.
#[test]
fn what_comes_again_at_the_receiver_is_spurious() {
    let mut packets = download(1000 * MS, 1, 200, RTT);
    // Segment 50, which is acknowledged with segment 51.
    let mut again = packets.iter().copied().filter(|packet| packet.segment.payload > 0).nth(50).unwrap();
    again.at += PACKET / 2;
    again.identification += 10_000;
    packets.push(again);
    packets.sort_by_key(|packet| packet.at);
    let losses = only(inspect(&packets)).directions.remove(0).losses;
    assert_eq!((losses.retransmitted, losses.spurious, losses.lost_behind), (1, 1, 0));
}

/// Segment 80 is missing in the file and is not retransmitted, but its ACK is present.
#[test]
fn data_that_were_acknowledged_and_not_captured_are_no_loss() {
    let mut packets = download(1000 * MS, 1, 200, 0);
    let missing = packets.iter().enumerate().filter(|(_, packet)| packet.segment.payload > 0).nth(80).unwrap().0;
    packets.remove(missing);
    let losses = only(inspect(&packets)).directions.remove(0).losses;
    assert_eq!((losses.uncaptured_octets, losses.retransmitted, losses.reordered), (u64::from(MSS), 0, 0));
}

/// Another queue of the NIC delivered ACKs before their data, and data after later data. Their
/// times of capture show this.
#[test]
fn what_is_out_of_order_in_the_file_is_no_retransmission() {
    let mut packets = download(1000 * MS, 1, 200, RTT);
    for place in (20..200).step_by(20) {
        packets.swap(place, place + 1);
    }
    let direction = only(inspect(&packets)).directions.remove(0);
    assert_eq!(
        (direction.losses.retransmitted, direction.losses.reordered, direction.losses.uncaptured_octets),
        (0, 0, 0)
    );
    assert!(direction.losses.misfiled > 0);
    assert!(direction.round_trip.ahead.is_none_or(|ahead| ahead < 0.001), "{:?}", direction.round_trip);
}

/// Half a second of data at 12 Mbps, without the SYN, and without any packet of the client.
#[test]
fn data_alone_show_what_they_can() {
    let packets: Vec<Captured> =
        download(1000 * MS, 1, 500, 0).into_iter().filter(|packet| packet.segment.payload > 0).collect();
    let direction = only(inspect(&packets)).directions.remove(0);
    assert!((direction.goodput / (f64::from(MSS) * 8e-3) - 1.0).abs() < 0.01, "{}", direction.goodput);
    let [low, high] = direction.goodput_interval.unwrap();
    assert!(low <= direction.goodput && direction.goodput <= high && low > 11.0, "{low} {high}");
    assert_eq!(direction.acks.unwrap().ratio, None);
    assert!(
        direction.statements.not_known.contains_key("ratio") && direction.statements.evidence.contains_key("goodput")
    );
}

/// Packets of two and three segments, captured in mid-flow before a NIC splits them.
#[test]
fn in_mid_flow_the_size_of_segments_is_seen() {
    let mut packets: Vec<Captured> = Vec::new();
    let mut seq = 5000;
    for packet in download(1000 * MS, 1, 300, 0).into_iter().filter(|packet| packet.segment.payload > 0) {
        let payload = MSS * (2 + packets.len() as u32 % 2);
        packets.push(Captured { segment: Segment { seq: SeqNumber(seq), payload, ..packet.segment }, ..packet });
        seq += payload;
    }
    let direction = only(inspect(&packets)).directions.remove(0);
    assert_eq!((direction.mss, direction.data_segments), (MSS, 750));
}

/// Requests and replies whose ACKs ride on data: the only pure ACK is that of the handshake.
#[test]
fn without_pure_acks_there_is_no_ratio() {
    let mut packets = download(1000 * MS, 1, 0, 0);
    for number in 0..100 {
        let at = 2000 * MS + u64::from(number) * RTT;
        let message = |is_servers, seq, ack| {
            let (seq, ack) = (SeqNumber(seq), SeqNumber(ack));
            let segment = Segment { seq, ack, flags: Flags::ACK, payload: 60, window: 60_000, ..Segment::default() };
            Captured { at: at + u64::from(is_servers) * RTT / 2, is_servers, segment, identification: 0 }
        };
        packets.extend([
            message(false, 100 + 60 * number, 1 + 60 * number),
            message(true, 1 + 60 * number, 160 + 60 * number),
        ]);
    }
    number(&mut packets);
    for direction in &inspect(&packets).connections[0].directions {
        assert_eq!(direction.acks.unwrap().ratio, None, "{:?}", direction.acks);
        assert!(direction.statements.not_known.contains_key("ratio"));
    }
}
