//! Recognises QUIC among other flows of UDP, from frames to the report.

use acklab_base::Instant;
use acklab_inspect::report::{Protocol, Report};
use acklab_inspect::{Inspector, LinkType, Options};

const CLIENT: u16 = 50_000;
const SERVER: u16 = 443;
const CLIENT_ID: &[u8] = &[1; 8];
const SERVER_ID: &[u8] = &[2; 8];
const MS: u64 = 1_000_000;

/// Returns an IPv4 packet between 192.0.2.1 (ports from 50000) and 192.0.2.2.
fn packet(from: u16, to: u16, payload: &[u8]) -> Vec<u8> {
    let length = (28 + payload.len()) as u16;
    let host = |port: u16| if port >= CLIENT { 1 } else { 2 };
    let mut octets = vec![0x45, 0];
    octets.extend(length.to_be_bytes());
    octets.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, host(from), 192, 0, 2, host(to)]);
    [from, to, length - 20, 0].iter().for_each(|word| octets.extend(word.to_be_bytes()));
    octets.extend(payload);
    octets
}

/// Returns a datagram with a long header of version 1: an Initial packet without a token, or a
/// Handshake packet.
fn long(first: u8, [destination, source]: [&[u8]; 2], length: usize) -> Vec<u8> {
    let mut octets = vec![first, 0, 0, 0, 1];
    for id in [destination, source] {
        octets.push(id.len() as u8);
        octets.extend(id);
    }
    if first & 0x30 == 0 {
        octets.push(0);
    }
    let left = (length - octets.len() - 2) as u16;
    octets.extend((0x4000 | left).to_be_bytes());
    octets.resize(length, 0xa5);
    octets
}

/// Returns a datagram with a short header: random octets (SplitMix64) after the ID.
fn short(id: &[u8], number: u64, length: usize) -> Vec<u8> {
    let mut state = number.wrapping_mul(0x1234_5678_9abc_def1);
    let mut octet = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 40) as u8
    };
    let mut octets = vec![0x40 | octet() & 0x1f];
    octets.extend(id);
    octets.resize_with(length, octet);
    octets
}

fn inspect(packets: impl IntoIterator<Item = (u64, Vec<u8>)>) -> Report {
    let mut inspector = Inspector::new(Options::default());
    for (at, packet) in packets {
        inspector.frame(Instant::from_nanos(1_000_000_000 + at), LinkType::IP, &packet, packet.len() as u32);
    }
    inspector.finish()
}

/// Returns a handshake of the client at `port` over 20 ms, with these IDs.
fn handshake(at: u64, port: u16, first: &[u8], client: &[u8], server: &[u8]) -> Vec<(u64, Vec<u8>)> {
    vec![
        (at, packet(port, SERVER, &long(0xc0, [first, client], 1200))),
        (at + 20 * MS, packet(SERVER, port, &long(0xc0, [client, server], 1200))),
        (at + 20 * MS, packet(port, SERVER, &long(0xe0, [server, client], 1200))),
    ]
}

#[test]
fn a_handshake_and_short_headers_are_a_connection_with_evidence() {
    let mut packets = handshake(0, CLIENT, &[9; 8], CLIENT_ID, SERVER_ID);
    packets.extend((0..10).map(|number| ((30 + number) * MS, packet(SERVER, CLIENT, &short(CLIENT_ID, number, 1252)))));
    let report = inspect(packets);
    let connection = &report.connections[0];
    assert_eq!((connection.protocol, connection.packets, report.counts.others), (Protocol::Quic, 13, 0));
    let evidence = &connection.directions[0].statements.evidence["protocol"];
    assert!(evidence.starts_with("long header of version 1 (RFC 9000): Initial packet"), "{evidence}");
    assert_eq!(connection.directions[0].round_trip.base.value().copied(), Some(20.0));
}

#[test]
fn a_capture_that_begins_later_needs_32_datagrams() {
    let flow = |count: u64| {
        inspect((0..count).map(|number| (number * MS, packet(SERVER, CLIENT, &short(CLIENT_ID, number, 1252)))))
    };
    let few = flow(31);
    assert_eq!(
        (few.connections.len(), few.counts.others, few.counts.other_udp_packets, few.counts.other_udp_flows),
        (0, 31, 31, 1)
    );
    let enough = flow(40);
    // Packets before the decision belong to the connection as well.
    assert_eq!((enough.connections[0].packets, enough.counts.others, enough.counts.other_udp_flows), (40, 0, 0));
    assert_eq!(enough.connections[0].directions[0].data_segments, 40);
    assert!(
        enough.connections[0].directions[0].statements.evidence["protocol"]
            .starts_with("no handshake in the capture; 32 datagrams")
    );
}

#[test]
fn the_end_that_sent_the_first_datagram_is_first() {
    // The capture begins with data of the server, and then has a Handshake packet of the client.
    let packets = [
        (0, packet(SERVER, CLIENT, &short(CLIENT_ID, 1, 1252))),
        (MS, packet(CLIENT, SERVER, &long(0xe0, [SERVER_ID, CLIENT_ID], 100))),
        (2 * MS, packet(SERVER, CLIENT, &short(CLIENT_ID, 2, 1252))),
    ];
    let connection = inspect(packets).connections.remove(0);
    assert_eq!((connection.ends[0].as_str(), connection.packets), ("192.0.2.2:443", 3));
    assert_eq!(
        (connection.directions[0].from.as_str(), connection.directions[0].data_octets),
        ("192.0.2.2:443", 2 * 1252)
    );
}

/// Protocols whose first octet has the two high bits of a long or of a short header.
#[test]
fn other_protocols_are_counted_and_are_no_connection() {
    let dns = |id: u16| {
        [
            &id.to_be_bytes()[..],
            b"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03www\x07example\x03com\x00\x00\x01\x00\x01",
        ]
        .concat()
    };
    let ntp = [&[0xe3, 0, 6, 0xec][..], &[0; 44]].concat();
    // An IKE_SA_INIT whose initiator has a random SPI (RFC 7296, §3.1).
    let ike =
        |spi: u8| [&[spi, 0x13, 0x57, 0x9b, 0xdf, 4, 8, 2][..], &[0; 8], &[0x21, 0x20, 0x22, 0x08], &[0; 300]].concat();
    // A call of NFS over UDP: the first word is a counter (RFC 5531, §9).
    let nfs = |xid: u32| [&xid.to_be_bytes()[..], &[0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0x86, 0xa3], &[0; 100]].concat();
    let rtp = |number: u8| [&[0x80, 0x60, 0, number][..], &[0x5a; 160]].concat();
    let mut packets = Vec::new();
    for number in 0..64_u8 {
        let at = u64::from(number) * MS;
        packets.push((at, packet(CLIENT, 53, &dns(0xc000 + 0x31 * u16::from(number)))));
        packets.push((at, packet(53, CLIENT, &dns(0xc000 + 0x31 * u16::from(number)))));
        packets.push((at, packet(123, CLIENT, &ntp)));
        packets.push((at, packet(CLIENT + 1, 500, &ike(0xc0 + number))));
        packets.push((at, packet(500, CLIENT + 1, &ike(0xc0 + number))));
        packets.push((at, packet(CLIENT + 2, 2049, &nfs(0xc400_0000 + u32::from(number)))));
        packets.push((at, packet(CLIENT + 3, SERVER, &rtp(number))));
        packets.push((
            at,
            packet(
                CLIENT + 4,
                SERVER,
                format!("{}OTIFY * HTTP/1.1\r\nHOST: 239.255.255.250\r\n", char::from(b'A' + number % 32)).as_bytes(),
            ),
        ));
    }
    let report = inspect(packets);
    assert!(report.connections.is_empty(), "{:?}", report.connections);
    assert_eq!((report.counts.other_udp_packets, report.counts.other_udp_flows), (64 * 8, 6));
    assert_eq!(report.counts.others, 64 * 8);
}

/// A NAT maps the client to another port, and the server responds to that port. The IDs do not
/// change.
#[test]
fn a_connection_goes_on_from_another_port() {
    let mut packets = handshake(0, CLIENT, &[9; 8], CLIENT_ID, SERVER_ID);
    for number in 0..5 {
        let at = (40 + number) * MS;
        packets.push((at, packet(CLIENT + 7, SERVER, &short(SERVER_ID, number, 60))));
        packets.push((at, packet(SERVER, CLIENT + 7, &short(CLIENT_ID, number + 50, 1252))));
    }
    let report = inspect(packets);
    assert_eq!(report.connections.len(), 1);
    assert_eq!((report.connections[0].packets, report.counts.other_udp_flows), (13, 0));
    // From the server: a datagram of 1,200 bytes and five of 1,252.
    let from_server =
        report.connections[0].directions.iter().find(|direction| direction.from.ends_with(":443")).unwrap();
    assert_eq!(from_server.data_octets, 1200 + 5 * 1252);
}

/// Two connections share both sockets. Short headers contain the ID of their connection.
#[test]
fn connections_between_the_same_sockets_are_distinguished_by_ids() {
    let mut packets = handshake(0, CLIENT, &[9; 8], CLIENT_ID, SERVER_ID);
    packets.extend(handshake(100 * MS, CLIENT, &[8; 8], &[3; 8], &[4; 8]));
    for number in 0..6 {
        packets.push((
            (200 + number) * MS,
            packet(SERVER, CLIENT, &short(if number % 3 == 0 { CLIENT_ID } else { &[3; 8] }, number, 1252)),
        ));
    }
    let report = inspect(packets);
    let packets: Vec<u64> = report.connections.iter().map(|connection| connection.packets).collect();
    assert_eq!(packets, [3 + 4, 3 + 2]);
}

#[test]
fn datagrams_that_a_card_cuts_later_count_as_several() {
    let mut packets = handshake(0, CLIENT, &[9; 8], CLIENT_ID, SERVER_ID);
    packets.push((40 * MS, packet(SERVER, CLIENT, &short(CLIENT_ID, 1, 1252))));
    packets.push((41 * MS, packet(SERVER, CLIENT, &short(CLIENT_ID, 2, 10 * 1252 + 300))));
    let connection = inspect(packets).connections.remove(0);
    let direction = connection.directions.iter().find(|direction| direction.from.ends_with(":443")).unwrap();
    assert_eq!(
        (direction.data_segments, direction.data_octets, connection.packets),
        (1 + 1 + 11, 1200 + 1252 + 12_820, 5)
    );
}
