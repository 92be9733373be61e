//! Tests the requirements of connections between real hosts: unknown clients, silence, versions,
//! paths of unknown size, and cheating peers.

use super::network::{Network, Path, ends};
use super::{CLEAN, MS};
use acklab_base::random::Seed;
use acklab_base::{Bytes, CounterValue, Duration, Endpoint as _, Event, Instant, Machine as _};
use acklab_transport::ack::{self, tack::Tack};
use acklab_transport::streams::StreamOperations as _;
use acklab_transport::tack::{Connection, Phase, Refusal, Settings};
use acklab_wire::Pdu as _;
use acklab_wire::tack::{Extension, Frame, Packet, PktSeq, VERSION};
use std::cell::Cell;

const SECOND: Duration = Duration::from_secs(1);

fn open(settings: &Settings, paths: [Path; 2]) -> Network {
    let mut network = Network::new(settings, paths, None, true, Seed(7));
    network.open();
    assert!(network.run(Instant::ZERO + MS * 200, |network| network.is_established()));
    network
}

/// Returns the packet with which a client opens the connection.
fn opening(settings: &Settings) -> (Connection, Packet) {
    use acklab_base::StreamPort as _;
    let [mut client, _] = ends(settings, None, Seed(7));
    client.open(Instant::ZERO);
    let open = client.poll(Instant::ZERO).expect("it opens");
    (client, open)
}

fn closings(connection: &mut Connection) -> Vec<&'static str> {
    let events = std::iter::from_fn(|| connection.take_event());
    events
        .filter_map(|event| if let Event::Closed { reason, .. } = event { Some(reason.name()) } else { None })
        .collect()
}

fn counter(connection: &Connection, name: &str) -> u64 {
    let mut found = 0;
    connection.report_counters(&mut |counter, _, value| {
        if let (true, CounterValue::Count(count)) = (counter == name, value) {
            found = count;
        }
    });
    found
}

#[test]
fn silence_ends_a_connection_and_its_probes() {
    let settings = Settings { idle_timeout: SECOND * 20, ..Settings::default() };
    let mut network = open(&settings, [CLEAN; 2]);
    network.run(network.now + SECOND, |_| false);
    network.ends.iter_mut().for_each(|end| assert_eq!(closings(end), [""; 0]));
    let (began, sent) = (network.now, network.sent);
    network.write(0, 0, 5000);
    for _ in 0..400 {
        // Nothing arrives.
        network.lose_all();
        network.run(network.now + MS * 100, |_| false);
    }
    let probes = network.sent[0] - sent[0];
    assert!((8..30).contains(&probes), "timeouts double: {probes}");
    assert!(network.are_closed() && network.ends.iter().all(|end| end.deadline().is_none()));
    network.ends.iter_mut().for_each(|end| assert_eq!(closings(end), ["idle-timeout"]));
    let now_sent = network.sent;
    network.run(began + SECOND * 3600, |_| false);
    assert_eq!(network.sent, now_sent, "nothing more is sent");
}

#[test]
fn a_client_that_nobody_answers_gives_up() {
    let mut network = Network::new(&Settings::default(), [CLEAN; 2], None, false, Seed(7));
    network.open();
    for _ in 0..700 {
        network.lose_all();
        network.run(network.now + SECOND, |_| false);
    }
    assert!(matches!(network.phases()[0], Phase::Closed { .. }));
    assert!((5..20).contains(&network.sent[0]), "{}", network.sent[0]);
}

#[test]
fn a_silent_connection_is_kept_alive() {
    let settings = Settings { idle_timeout: SECOND * 20, keep_alive: SECOND * 5, ..Settings::default() };
    let mut network = open(&settings, [CLEAN; 2]);
    let sent = network.sent[0];
    network.run(network.now + SECOND * 100, |_| false);
    assert!(network.is_established());
    assert!(
        (10..=45).contains(&(network.sent[0] - sent)),
        "each end asks or answers every five seconds: {}",
        network.sent[0]
    );
}

/// RFC 9000, §8.1: at most three times the bytes received.
#[test]
fn a_stranger_is_answered_three_times() {
    let settings = Settings::default();
    let (_, open) = opening(&settings);
    assert_eq!(open.wire_len(), Bytes(1228));
    let [_, mut server] = ends(&settings, None, Seed(7));
    server.accept(Instant::ZERO, open.clone());
    let (mut answers, mut octets) = (0, 0);
    while let Some(at) = server.deadline() {
        while let Some(packet) = server.poll(at) {
            (answers, octets) = (answers + 1, octets + packet.wire_len().get());
        }
        server.wake(at);
    }
    assert_eq!((answers, octets), (3, 3 * 1228));
    assert!(matches!(server.phase(), Phase::Closed { .. }));
    let [_, mut server] = ends(&settings, None, Seed(7));
    let bare = open.frames.iter().take(1).cloned().collect();
    server.accept(Instant::ZERO, Packet { frames: bare, ..open });
    assert_eq!((server.refusals().of(Refusal::Small), server.poll(Instant::ZERO)), (1, None));
}

#[test]
fn a_client_gives_up_if_the_server_knows_other_versions() {
    let (mut client, open) = opening(&Settings::default());
    let versions = |open: &Packet, versions: &[u8]| Packet {
        frames: std::iter::once(Frame::Versions(versions.into())).collect(),
        ..open.clone()
    };
    client.accept(Instant::ZERO, versions(&open, &[VERSION, 9]));
    let forged = Packet { number: PktSeq(open.number.0 + 1), ..open.clone() };
    client.accept(Instant::ZERO, versions(&forged, &[9]));
    assert_eq!((client.phase(), client.refusals().of(Refusal::Phase)), (Phase::Opening, 2));
    client.accept(Instant::ZERO, versions(&open, &[9]));
    assert!(matches!(client.phase(), Phase::Closed { .. }));
    assert_eq!(closings(&mut client), ["failed"]);
}

#[test]
fn an_unknown_frame_is_skipped_and_its_packet_acknowledged() {
    let mut network = open(&Settings::default(), [CLEAN; 2]);
    network.run(network.now + SECOND, |_| false);
    network.write(0, 0, 100);
    let packet = network.last_to(1).expect("the octets are under way");
    let unknown = Frame::Extension(Box::new(Extension { kind: 0x55, octets: vec![1, 2] }));
    network.lose_all();
    let frames = std::iter::once(unknown).chain(packet.frames.iter().cloned()).collect();
    network.give(1, Packet { frames, ..packet });
    network.poll();
    network.run(network.now + MS * 100, |_| false);
    assert_eq!((network.delivered(1, 0), network.ends[0].in_flight()), (100, 0));
    assert_eq!(network.ends[1].refusals().total(), 0);
}

/// The receiver immediately acknowledges everything that has arrived.
#[test]
fn a_receiver_that_acknowledges_what_has_not_arrived_is_found_out() {
    let cheat = |skip_numbers| {
        let mut network = open(&Settings { skip_numbers, ..Settings::default() }, [CLEAN; 2]);
        network.write(0, 0, 4_000_000);
        network.run(network.now + MS * 150, |_| false);
        for _ in 0..10 {
            let Some(mut packet) = network.last_to(0) else { break };
            let sent = network.ends[0].packets_sent();
            packet.number = PktSeq(packet.number.0.wrapping_add(1));
            packet.frames = packet
                .frames
                .iter()
                .cloned()
                .map(|frame| match frame {
                    Frame::Tack(mut tack) => {
                        (tack.next, tack.unlisted) = (PktSeq::of(sent), 0);
                        (tack.acked, tack.lost) = (Vec::new(), Vec::new());
                        Frame::Tack(tack)
                    }
                    frame => frame,
                })
                .collect();
            network.give_wildly(0, packet);
            network.run(network.now + MS * 20, |_| false);
        }
        (network.ends[0].refusals().of(Refusal::Skipped), closings(&mut network.ends[0]))
    };
    assert_eq!(cheat(true), (1, vec!["failed"]));
    assert_eq!(cheat(false), (0, vec![]));
}

#[test]
fn the_largest_packet_of_the_path_is_found() {
    let settings = Settings { mtu_discovery: true, send_buffer: Bytes(1 << 26), ..Settings::default() };
    for (mtu, least) in [(1500, 1500), (1400, 1381), (1228, 1228)] {
        let path = Path { mtu, ..CLEAN };
        let mut network = open(&settings, [path; 2]);
        // The first round trips use the base size.
        network.write(0, 0, 20_000_000);
        let largest = Cell::new(0);
        let is_done = |network: &Network| {
            if let Some(packet) = network.last_to(1).filter(|_| network.delivered(1, 0) > 5_000_000) {
                largest.set(largest.get().max(packet.wire_len().get()));
            }
            network.delivered(1, 0) > 15_000_000
        };
        assert!(network.run(network.now + SECOND * 60, is_done), "{mtu}");
        let size = largest.get();
        assert!((least..=mtu).contains(&size), "{size} of {mtu}");
        let lost = counter(&network.ends[0], "retransmissions");
        assert_eq!(lost, 0, "a probe that is lost is no loss of data");
    }
}

#[test]
fn a_path_that_does_not_carry_the_base_size_opens_no_connection() {
    let path = Path { mtu: 1200, ..CLEAN };
    let mut network = Network::new(&Settings::default(), [path; 2], None, false, Seed(7));
    network.open();
    network.run(Instant::ZERO + SECOND * 1000, |_| false);
    assert!(matches!(network.phases()[0], Phase::Closed { .. }));
}

#[test]
fn streams_are_limited_at_a_time_and_not_in_all() {
    let settings = Settings { streams: 10, ..Settings::default() };
    let mut network = open(&settings, [CLEAN; 2]);
    let mut opened = 0;
    while opened < 100 {
        match network.ends[0].open_stream() {
            Ok(id) => {
                opened += 1;
                network.ends[0].write_to(id, 1000).expect("it is open");
                network.ends[0].close_stream(id).expect("it is open");
                network.poll();
            }
            Err(_) => {
                let until = network.now + MS * 200;
                network.run(until, |_| false);
                // The other end has nothing to send.
                for id in network.ends[1].stream_ids().into_iter().filter(|id| *id > 0) {
                    network.ends[1].close_stream(id).expect("it is known");
                }
                network.poll();
                network.run(network.now + MS * 200, |_| false);
            }
        }
        assert!(network.now < Instant::ZERO + SECOND * 60, "{opened} were opened");
    }
}

/// The receiver waits for L packets, but the window permits only one, so the receiver would wait
/// for half a second.
#[test]
fn a_window_of_one_packet_waits_for_nobody() {
    let settings =
        Settings { receive_buffer: Bytes(1427), ack: ack::PolicyConfig::Tack(Tack::default()), ..Settings::default() };
    let mut network = open(&settings, [CLEAN; 2]);
    network.write(0, 0, 10 * 1427);
    let began = network.now;
    assert!(network.run(network.now + SECOND * 60, |network| network.delivered(1, 0) == 10 * 1427));
    let took = network.now.since(began);
    assert!(took < MS * 450, "a round trip each: {took:?}");
}
