//! Tests, packet by packet, the presets of implementations, whose sources are in the table of
//! presets.

use crate::timelines::{Bench, DELAY, MS, acks, offsets};
use acklab_base::{Ecn, Machine, StreamPort};
use acklab_transport::pacing;
use acklab_transport::quic::ask::{self, fixed::Fixed};
use acklab_transport::quic::{Preset, Settings};
use acklab_wire::quic::{Datagram, Frame};

fn preset(preset: Preset) -> Settings {
    Settings {
        preset,
        ask: Some(ask::AskConfig::None),
        pacing: Some(pacing::PacingConfig::Never),
        ..Settings::default()
    }
}

/// Returns the number of ACK frames that the server sends immediately after each of these packets,
/// which arrive in this order.
fn acks_behind(bench: &mut Bench, sent: &[Datagram], order: &[usize]) -> Vec<usize> {
    let behind = |index: &usize| {
        bench.arrives(1, sent[*index].clone());
        acks(&bench.sent(1)).len()
    };
    order.iter().map(behind).collect()
}

/// neqo, `tracking.rs`, `RecvdPackets::ack_now`: a packet is acknowledged immediately a round-trip
/// time (40 ms) after the last ACK.
#[test]
fn neqo_acknowledges_at_once_after_a_round_trip_of_silence() {
    for (of, pause, expected) in [(Preset::Neqo, 39, 0), (Preset::Neqo, 40, 1), (Preset::Rfc, 40, 0)] {
        let mut bench = Bench::new(&preset(of));
        let sent = bench.write(4);
        assert_eq!(acks_behind(&mut bench, &sent, &[0, 1]), [0, 1]);
        bench.pass(MS * pause);
        assert_eq!(acks_behind(&mut bench, &sent, &[2]), [expected], "{of:?}, {pause} ms");
    }
}

/// picoquic, `frames.c`, `picoquic_ack_gap_override_if_needed`: below 128 packets, every second
/// packet is acknowledged, independent of the peer's request.
#[test]
fn picoquic_acknowledges_by_twos_at_first() {
    let ask = Fixed { ack_eliciting_threshold: 7, max_ack_delay: MS * 10, reordering_threshold: 1 };
    let mut bench = Bench::new(&Settings { ask: Some(ask::AskConfig::Fixed(ask)), ..preset(Preset::Picoquic) });
    let mut covered = Vec::new();
    while covered.iter().sum::<usize>() < 200 {
        bench.ends[0].write(bench.now, 8 * 1439);
        let mut packets = 0;
        for datagram in bench.sent(0) {
            packets += 1;
            bench.arrives(1, datagram);
            for report in bench.sent(1) {
                covered.push(std::mem::take(&mut packets));
                bench.arrives(0, report);
            }
        }
        // The remaining packets wait for the timer.
        bench.pass(MS * 10);
        for report in bench.sent(1) {
            covered.push(std::mem::take(&mut packets));
            bench.arrives(0, report);
        }
    }
    let mut arrived = 0;
    for packets in covered {
        // Packets of the handshake are also counted.
        assert!(packets <= if arrived < 120 { 2 } else { 8 }, "{packets} packets after {arrived}");
        arrived += packets;
    }
    assert!(bench.ends[0].in_flight() == 0 && arrived >= 200);
}

/// quicly at f8dc5179, `record_receipt`: it counts packets, in order or not.
#[test]
fn quicly_acknowledges_by_twos_whatever_the_order() {
    let order = [0, 1, 3, 2, 7, 5];
    let mut bench = Bench::new(&preset(Preset::Quicly));
    let sent = full(&mut bench, 8);
    assert_eq!(acks_behind(&mut bench, &sent, &order), [0, 1, 0, 1, 0, 1]);
    assert_eq!(sent[0].udp_payload(), 1280, "its packets");
    let mut bench = Bench::new(&preset(Preset::Rfc));
    let sent = full(&mut bench, 8);
    assert_eq!(acks_behind(&mut bench, &sent, &order), [0, 1, 1, 1, 1, 1]);
}

/// Returns this number of full-sized packets.
fn full(bench: &mut Bench, packets: usize) -> Vec<Datagram> {
    bench.ends[0].write(bench.now, 1 << 20);
    let mut sent = bench.sent(0);
    assert!(sent.len() >= packets, "{}", sent.len());
    sent.truncate(packets);
    sent
}

/// Google's quiche, `changed_to_ce_marked_`; RFC 9000, §13.2.1, requires an immediate ACK of each
/// mark.
#[test]
fn chrome_tells_only_the_first_mark_at_once() {
    for (of, expected) in [(Preset::Rfc, [1, 1, 1]), (Preset::Chrome, [1, 0, 1])] {
        let mut bench = Bench::new(&Settings { ecn: true, ..preset(of) });
        let mut sent = bench.write(4);
        sent.iter_mut().for_each(|datagram| datagram.ecn = Ecn::Ce);
        assert_eq!(acks_behind(&mut bench, &sent, &[0, 1, 2]), expected, "{of:?}");
    }
}

/// `kInitialCongestionWindow` of quiche, `initialCongestionWindow` of quic-go; RFC 9002, §7.2.
#[test]
fn the_first_flight_is_that_of_the_stack() {
    let packets = |of| Bench::new(&preset(of)).window();
    assert_eq!([packets(Preset::Rfc), packets(Preset::Chrome), packets(Preset::QuicGo)], [14_720, 47_104, 47_104]);
}

/// Returns the fraction of a window of 64 KiB that is read when a server reports its window.
#[test]
fn windows_are_told_after_the_share_of_the_stack() {
    let reported = |of: Preset| {
        let window = acklab_base::Bytes(1 << 16);
        let flow_control =
            acklab_transport::quic::FlowControl::Fixed { stream: window, connection: acklab_base::Bytes(1 << 20) };
        let mut bench = Bench::new(&Settings { flow_control: Some(flow_control), ..preset(of) });
        let mut read = 0;
        loop {
            bench.ends[0].write(bench.now, 1000);
            for datagram in bench.sent(0) {
                read += 1000;
                bench.arrives(1, datagram);
            }
            bench.pass(MS * 30);
            for report in bench.sent(1) {
                if report.frames().any(|frame| matches!(frame, Frame::MaxStreamData { .. })) {
                    return f64::from(read) / f64::from(1 << 16);
                }
                bench.arrives(0, report);
            }
        }
    };
    for (of, share) in [
        (Preset::Rfc, 2.0),
        (Preset::Quicly, 2.0),
        (Preset::Chrome, 2.0),
        (Preset::Mvfst, 2.0),
        (Preset::Neqo, 4.0),
        (Preset::Msquic, 4.0),
        (Preset::QuicGo, 4.0),
        (Preset::Quinn, 8.0),
        (Preset::S2nQuic, 10.0),
    ] {
        let reported = reported(of);
        assert!((0.0..0.016).contains(&(reported - 1.0 / share)), "{of:?}: {reported} of the window");
    }
}

/// mvfst, `scheduleAckTimeout`: a quarter of a round-trip time of 40 ms; s2n-quic: 25 ms. Both
/// acknowledge every tenth packet.
#[test]
fn mvfst_and_s2n_quic_acknowledge_every_tenth_packet() {
    for (of, delay) in [(Preset::Mvfst, 10), (Preset::S2nQuic, 25)] {
        let mut bench = Bench::new(&preset(of));
        let sent = full(&mut bench, 10);
        let order: Vec<usize> = (0..9).collect();
        assert_eq!(acks_behind(&mut bench, &sent, &order), [0; 9], "{of:?}");
        assert_eq!(bench.ends[1].deadline(), Some(bench.now + MS * delay), "{of:?}");
        assert_eq!(acks_behind(&mut bench, &sent, &[9]), [1], "{of:?}");
    }
}

/// RFC 9002, §6.1 and §6.2.2, with the values of a scenario.
#[test]
fn thresholds_are_settings() {
    let lost = |settings: Settings, missing: usize, wait: u64| {
        let mut bench = Bench::new(&Settings { pacing: Some(pacing::PacingConfig::Never), ..settings });
        let mut sent = bench.write(6);
        sent.remove(missing);
        bench.pass(DELAY);
        sent.into_iter().for_each(|datagram| bench.arrives(1, datagram));
        bench.pass(DELAY);
        bench.sent(1).into_iter().for_each(|report| bench.arrives(0, report));
        bench.pass(MS * wait);
        !offsets(&bench.sent(0)).is_empty()
    };
    let five = Settings { packet_threshold: Some(5), time_threshold: Some(2.0), ..Settings::default() };
    assert_eq!([lost(Settings::default(), 2, 0), lost(five, 2, 0), lost(five, 0, 0)], [true, false, true]);
    // The round-trip time was 40 ms, so the packet is lost after 80 ms.
    assert_eq!([lost(five, 2, 39), lost(five, 2, 40)], [false, true]);
    let (now, mut client) =
        Bench::before_the_handshake(&Settings { initial_rtt: Some(MS * 100), ..Settings::default() });
    assert!(client.poll(now).is_some());
    while client.poll(now).is_some() {}
    assert_eq!(client.deadline(), Some(now + MS * 300), "100 + 4 · 50 (§5.3, §6.2.1)");
}
