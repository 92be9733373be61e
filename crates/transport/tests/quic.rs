//! Tests two ends of a QUIC connection in a hostile network. Whatever is lost, delayed, reordered
//! or duplicated, every byte is delivered once and in order. A peer that violates the protocol ends
//! the connection.

#[path = "quic/asks.rs"]
mod asks;
#[path = "common/hostile.rs"]
#[allow(dead_code, reason = "each transport uses a part of it")]
mod hostile;
#[path = "common/look.rs"]
mod look;
#[path = "quic/network.rs"]
mod network;
#[path = "common/octets.rs"]
mod octets;
#[path = "common/operations.rs"]
mod operations;
#[path = "quic/operations.rs"]
mod quic_operations;
#[path = "quic/rules.rs"]
mod rules;
#[path = "../../../fuzz/seeds.rs"]
mod seeds;
#[path = "quic/stacks.rs"]
mod stacks;
#[path = "quic/timelines.rs"]
mod timelines;

use acklab_base::random::Seed;
use acklab_base::units::Segments;
use acklab_base::{Bytes, Duration, Instant, StreamPort};
use acklab_transport::quic::ask::{self, fixed::Fixed};
use acklab_transport::quic::{Ended, FlowControl, Growth, Phase, Preset, Settings, Tls};
use acklab_transport::streams::{ResetCode, StreamOperations as _};
use acklab_transport::{ack, cc, pacing};
use hostile::{End as _, PATIENCE, cases, path};
use network::{Network, Path};
use proptest::prelude::*;
use proptest::sample::select;

const MS: Duration = Duration::from_millis(1);

fn flow_control() -> impl Strategy<Value = FlowControl> {
    let fixed = (2000u64..100_000, 2000u64..100_000)
        .prop_map(|(stream, connection)| FlowControl::Fixed { stream: Bytes(stream), connection: Bytes(connection) });
    let auto = (2000u64..20_000, 2000u64..20_000, 1u64..20, select(Growth::ALL.to_vec())).prop_map(
        |(stream, connection, factor, growth)| FlowControl::Auto {
            stream: Bytes(stream),
            connection: Bytes(connection),
            largest_stream: Bytes(stream * factor),
            largest_connection: Bytes(connection * factor),
            growth,
        },
    );
    prop_oneof![fixed, auto]
}

prop_compose! {
    fn settings()(
        (preset, congestion, ack, ask) in (
            select(Preset::ALL.to_vec()),
            select(cc::ControllerConfig::built_in().collect::<Vec<_>>()),
            select(ack::PolicyConfig::built_in().collect::<Vec<_>>()),
            select(asks::asks()),
        ),
        flow_control in flow_control(),
        pacing in select(vec![pacing::PacingConfig::Always, pacing::PacingConfig::Controller, pacing::PacingConfig::Never]),
        (ecn, undo, updates) in (any::<bool>(), any::<bool>(), 1u32..10),
        (send_buffer, initial_window, ack_ranges) in (2000u64..100_000, 1u32..20, 1u32..40),
        (packet, server_flight, client_hello) in (1228u64..1501, 1u64..12_000, 1u64..3000),
    ) -> Settings {
        Settings {
            preset,
            congestion: Some(congestion),
            ack: Some(ack),
            ask: Some(ask),
            ack_ranges: Some(ack_ranges),
            packet: Some(Bytes(packet)),
            initial_window: Some(Segments(initial_window)),
            send_buffer: Bytes(send_buffer),
            flow_control: Some(flow_control),
            updates_per_window: Some(updates),
            pacing: Some(pacing),
            ecn,
            undo,
            tls: Tls { server_flight: Bytes(server_flight), client_hello: Bytes(client_hello), ..Tls::default() },
            ..Settings::default()
        }
    }
}

/// Checks that all written data are delivered, and that both ends detect it. The second end may
/// miss the close.
fn transfer(network: &mut Network, sizes: &[u64], back: u64) -> Result<(), TestCaseError> {
    hostile::transfer(network, sizes, back, |network| network.ends[0].is_closed())?;
    for end in &network.ends {
        let phase = end.phase();
        prop_assert!(matches!(phase, Phase::Established | Phase::Closed(Ended::Application(0))), "{phase:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_octet_is_delivered_once_and_in_order(
        settings in settings(),
        paths in (path(), path()),
        sizes in proptest::collection::vec(1u64..150_000, 1..4),
        (back, reads, octets, seed) in (0u64..80_000, 0u64..5000, any::<bool>(), any::<u64>()),
    ) {
        // Half of the applications read immediately.
        let reads = (reads >= 2500).then_some(reads);
        let mut network = Network::new(&settings, [paths.0, paths.1], reads, octets, Seed(seed));
        transfer(&mut network, &sizes, back)?;
    }
}

/// The body of the fuzz target `quic_endpoints`, on bytes of seeded streams.
#[test]
fn connections_keep_their_promises_to_any_network() {
    look::look(20_000, quic_operations::endpoints_keep_their_promises);
}

fn network(settings: &Settings, path: Path) -> Network {
    Network::new(settings, [path; 2], None, true, Seed(7))
}

const CLEAN: Path = Path::CLEAN;

#[test]
fn a_client_may_send_after_one_round_trip_and_its_server_after_one_and_a_half() {
    let mut network = network(&Settings::default(), CLEAN);
    network.open();
    let is_open = |network: &Network, end: usize| network.ends[end].is_open();
    assert!(network.run(Instant::ZERO + MS * 40, |network| is_open(network, 0)) && !is_open(&network, 1));
    assert!(network.run(Instant::ZERO + MS * 60, |network| is_open(network, 1)));
    network.run(Instant::ZERO + MS * 80, |_| false);
    assert!(network.ends.iter().all(|end| end.is_confirmed()), "HANDSHAKE_DONE has come");
}

/// RFC 9000, §8.1: a server with a flight of 12,000 bytes sends 3600 bytes before its client
/// answers.
#[test]
fn a_large_certificate_takes_another_round_trip() {
    let tls = Tls { server_flight: Bytes(12_000), ..Tls::default() };
    let settings = Settings { packet: Some(Bytes(1228)), tls, ..Settings::default() };
    let mut network = network(&settings, CLEAN);
    network.open();
    network.run(Instant::ZERO + MS * 39, |_| false);
    assert_eq!(network.sent, [1, 3], "three datagrams of 1200 octets for one");
    assert!(!network.run(Instant::ZERO + MS * 79, |network| network.ends[0].is_open()));
    assert!(network.run(Instant::ZERO + MS * 80, |network| network.ends[0].is_open()));
}

#[test]
fn at_ten_percent_of_loss_both_ways_and_200_ms_the_stream_moves() {
    let mut network =
        Network::new(&Settings::default(), [Path { delay: MS * 100, loss: 0.1, ..CLEAN }; 2], None, false, Seed(1));
    network.open();
    assert!(network.run(Instant::ZERO + PATIENCE, |network| network.is_established()));
    network.write(0, 0, 1_000_000);
    assert!(
        network.run(network.now + Duration::from_secs(120), |network| network.delivered(1, 0) == 1_000_000),
        "{}",
        network.state()
    );
}

#[test]
fn a_stream_is_reset_and_the_others_go_on() {
    let mut network = network(&Settings::default(), CLEAN);
    network.open();
    network.run(Instant::ZERO + MS * 200, |_| false);
    let other = network.write(0, 1, 200_000);
    network.write(0, 0, 100_000);
    network.run(network.now + MS * 30, |_| false);
    network.ends[0].reset_stream(other, 3).unwrap();
    network.poll();
    network.run(network.now + MS * 3000, |_| false);
    assert_eq!(network.ends[1].reset_of(other), Some(ResetCode::Application(3)));
    assert_eq!(network.delivered(1, 0), 100_000);
    assert!(network.delivered(1, other) < 200_000);
}

#[test]
fn a_reader_that_stops_makes_its_peer_reset_the_stream() {
    let mut network = network(&Settings::default(), CLEAN);
    network.open();
    network.run(Instant::ZERO + MS * 200, |_| false);
    let other = network.write(0, 1, 3_000_000);
    network.run(network.now + MS * 50, |_| false);
    network.ends[1].stop_stream(other, 9).unwrap();
    network.poll();
    network.run(network.now + MS * 500, |_| false);
    assert_eq!(network.ends[1].reset_of(other), Some(ResetCode::Application(9)));
}

#[test]
fn an_end_that_closes_answers_for_a_while_and_its_peer_is_silent() {
    let mut network = network(&Settings::default(), CLEAN);
    network.open();
    network.run(Instant::ZERO + MS * 200, |_| false);
    network.ends[0].abort(network.now, 9);
    network.poll();
    network.lose_all();
    network.write(1, 0, 3000);
    network.run(Instant::ZERO + MS * 400, |_| false);
    assert!(network.ends.iter().all(|end| end.phase() == Phase::Closed(Ended::Application(9))), "told again");
    let sent = network.sent;
    network.run(Instant::ZERO + MS * 60_000, |_| false);
    assert_eq!((network.under_way(), network.sent), (0, sent));
}

#[test]
fn a_connection_without_traffic_ends_after_the_idle_timeout() {
    let settings = Settings { idle_timeout: Duration::from_secs(30), ..Settings::default() };
    let mut network = network(&settings, CLEAN);
    network.open();
    network.run(Instant::ZERO + MS * 29_000, |_| false);
    assert!(network.is_established());
    network.run(Instant::ZERO + MS * 31_000, |_| false);
    assert!(network.ends.iter().all(|end| end.phase() == Phase::Closed(Ended::IdleTimeout)));
}

#[test]
fn windows_grow_only_if_they_are_tuned() {
    let delivered = |flow_control, updates_per_window| {
        let settings = Settings { flow_control: Some(flow_control), updates_per_window, ..Settings::default() };
        let mut network = network(&settings, CLEAN);
        network.open();
        network.run(Instant::ZERO + MS * 200, |_| false);
        network.write(0, 0, 20_000_000);
        network.run(network.now + MS * 1000, |_| false);
        network.delivered(1, 0)
    };
    let (stream, connection) = (Bytes(64 << 10), Bytes(96 << 10));
    // The window advances once half of it is read. Pacing spreads the following data, so 32 KiB of
    // 64 KiB pass in a round trip of 40 ms.
    let fixed = FlowControl::Fixed { stream, connection };
    let halves = delivered(fixed, Some(2));
    assert!((700_000..820_000).contains(&halves), "{halves}");
    // If the window advances by eighths, seven of eight parts pass.
    let eighths = delivered(fixed, Some(8));
    assert!((1_250_000..1_640_000).contains(&eighths), "{eighths}");
    let most = Bytes(6 << 20);
    for growth in Growth::ALL {
        let tuned = FlowControl::Auto { stream, connection, largest_stream: most, largest_connection: most, growth };
        // neqo grows by the data in excess of three quarters of a window, and therefore by updates
        // of quarters.
        let tuned = delivered(tuned, Some(4));
        assert!(tuned > 4 * halves, "{growth:?}: {tuned} and {halves}");
    }
}

/// The peers differ: the server has small windows, and does not support the ACK extension.
#[test]
fn the_parameters_of_the_peer_count() {
    let small = Settings {
        flow_control: Some(FlowControl::Fixed { stream: Bytes(5000), connection: Bytes(4000) }),
        min_ack_delay: Duration::ZERO,
        ..Settings::default()
    };
    let eager = Settings { ask: Some(ask::AskConfig::Fixed(Fixed::default())), ..Settings::default() };
    let mut network =
        Network::of(network::ends_of([&eager, &small], Some(0), Seed(3)), [CLEAN; 2], Some(0), true, Seed(3));
    network.open();
    network.run(Instant::ZERO + MS * 200, |_| false);
    network.write(0, 0, 20_000);
    network.run(network.now + MS * 500, |_| false);
    assert_eq!(network.ends[1].readable(), 4000, "the window of the connection is used up");
    network.reads = Some(5000);
    assert!(network.run(network.now + Duration::from_secs(30), |network| network.delivered(1, 0) == 20_000));
}

#[test]
fn promises_are_kept_on_the_seeds_of_the_fuzz_target() {
    seeds::replay("quic_endpoints", |octets| {
        quic_operations::endpoints_keep_their_promises(octets);
    });
}
