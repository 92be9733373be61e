//! Tests two ends of a TACK connection in a hostile network. Whatever is lost, delayed, reordered
//! or duplicated, every byte is delivered once and in order. Impossible feedback has no effect.

#[path = "tack/ecn.rs"]
mod ecn;
#[path = "tack/forgery.rs"]
mod forgery;
#[path = "tack/host.rs"]
mod host;
#[path = "common/hostile.rs"]
mod hostile;
#[path = "tack/hosts.rs"]
mod hosts;
#[path = "common/look.rs"]
mod look;
#[path = "tack/loss.rs"]
mod loss;
#[path = "tack/network.rs"]
mod network;
#[path = "common/octets.rs"]
mod octets;
#[path = "common/operations.rs"]
mod operations;
#[path = "../../../fuzz/seeds.rs"]
mod seeds;
#[path = "tack/operations.rs"]
mod tack_operations;

use acklab_base::random::Seed;
use acklab_base::units::Segments;
use acklab_base::{Bytes, Duration, Instant, StreamPort};
use acklab_transport::ack::tack::Tack;
use acklab_transport::streams::{Lifetime, ResetCode, StreamOperations as _};
use acklab_transport::tack::lists::Lists;
use acklab_transport::tack::rate::RateSource;
use acklab_transport::tack::timing::Timing;
use acklab_transport::tack::{Phase, Refusal, Settings};
use acklab_transport::{ack, cc};
use hostile::{PATIENCE, cases, path};
use network::{Network, Path};
use proptest::prelude::*;
use proptest::sample::select;
use std::ops::RangeInclusive;

const MS: Duration = Duration::from_millis(1);

fn controllers() -> Vec<cc::ControllerConfig> {
    cc::ControllerConfig::built_in().collect()
}

fn policies() -> Vec<ack::PolicyConfig> {
    let startup = Tack { per_packet_startup: true, ..Tack::default() };
    let sparse = Tack { segments: 16, beta: 2, ..Tack::default() };
    let built_in = ack::PolicyConfig::built_in();
    built_in.chain([startup, sparse].map(ack::PolicyConfig::Tack)).collect()
}

prop_compose! {
    fn settings()(
        (congestion, ack) in (select(controllers()), select(policies())),
        lists in prop_oneof![Just(Lists::Poor), Just(Lists::Rich), (1u32..5).prop_map(|q| Lists::Adaptive { q })],
        timing in select(vec![Timing::MinimumDelay, Timing::Newest]),
        rate in select(vec![RateSource::Receiver, RateSource::Sender]),
        (settling, adaptive_settling, ecn) in (0.0..2.0, any::<bool>(), any::<bool>()),
        (buffers, initial_window) in (2000u64..100_000, 1u32..20),
    ) -> Settings {
        Settings {
            congestion,
            ack,
            lists,
            timing,
            rate,
            settling,
            adaptive_settling,
            ecn,
            send_buffer: Bytes(buffers),
            receive_buffer: Bytes(buffers),
            initial_window: Segments(initial_window),
            mtu_discovery: ecn,
            // If the server closes and all Closes of the client are lost, only the idle timeout
            // ends the client. On paths with a loss rate above a third, this happens in one
            // transfer of about 20,000. Otherwise, a transfer survives any silence.
            idle_timeout: Duration::from_secs(3600),
            ..Settings::default()
        }
    }
}

/// Checks that all written data are delivered, that both ends detect it, and that only duplicates
/// were refused.
fn transfer(network: &mut Network, sizes: &[u64], back: u64) -> Result<(), TestCaseError> {
    hostile::transfer(network, sizes, back, Network::are_closed)?;
    for end in 0..2 {
        let refusals = network.ends[end].refusals();
        let replayed = refusals.of(Refusal::Replayed) + refusals.of(Refusal::Phase) + refusals.of(Refusal::Connection);
        prop_assert_eq!(refusals.total(), replayed, "end {}: {:?}", end, refusals);
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

/// The body of the fuzz target `tack_endpoints`, on bytes of seeded streams.
#[test]
fn connections_keep_their_promises_to_any_network() {
    look::look(20_000, tack_operations::endpoints_keep_their_promises);
}

fn network(path: Path) -> Network {
    Network::new(&Settings::default(), [path; 2], None, true, Seed(7))
}

const CLEAN: Path = Path::CLEAN;

#[test]
fn at_ten_percent_of_loss_both_ways_and_200_ms_the_stream_moves() {
    let path = Path { delay: MS * 100, loss: 0.1, ..CLEAN };
    for lists in [Lists::Poor, Lists::Rich, Lists::Adaptive { q: 4 }] {
        let settings = Settings { lists, ..Settings::default() };
        let mut network = Network::new(&settings, [path; 2], None, false, Seed(1));
        network.open();
        assert!(network.run(Instant::ZERO + PATIENCE, |network| network.is_established()));
        network.write(0, 0, 4_000_000);
        let mut before = 0;
        for second in 1..=30 {
            let until = Instant::ZERO + Duration::from_secs(10 * second);
            let is_done = network.run(until, |network| network.delivered(1, 0) == 4_000_000);
            let delivered = network.delivered(1, 0);
            assert!(delivered > before, "{lists:?}: nothing moves in ten seconds: {}", network.state());
            before = delivered;
            if is_done {
                break;
            }
        }
        assert_eq!(before, 4_000_000, "{lists:?}");
    }
}

/// Returns the mean time, over these seeds, until this number of bytes is transferred and the
/// connection has ended. The last retransmissions depend on the seed.
fn mean_time(settings: &Settings, paths: [Path; 2], seeds: RangeInclusive<u64>, octets: u64) -> Duration {
    let count = seeds.end() - seeds.start() + 1;
    let took = seeds.map(|seed| {
        let mut network = Network::new(settings, paths, None, false, Seed(seed));
        network.open();
        assert!(network.run(Instant::ZERO + PATIENCE, |network| network.is_established()));
        let began = network.now;
        network.write(0, 0, octets);
        network.write(1, 0, 0);
        assert!(network.run(Instant::ZERO + PATIENCE, Network::are_closed));
        network.now.since(began).as_nanos()
    });
    Duration::from_nanos(took.sum::<u64>() / count)
}

/// A TACK has space for about 350 runs of each list. IACKs report the arrivals between thousands of
/// losses; TACKs alone take more than 1.5 s.
#[test]
fn ten_thousand_losses_in_a_flight_are_repaired_in_ten_round_trips() {
    let settings = Settings {
        ack: ack::PolicyConfig::Tack(Tack::default()),
        initial_window: Segments(100_000),
        send_buffer: Bytes(1 << 28),
        receive_buffer: Bytes(1 << 28),
        ..Settings::default()
    };
    let mean = mean_time(&settings, [CLEAN, Path { loss: 0.1, ..CLEAN }], 5..=9, 100_000 * 1427);
    assert!(mean < MS * 400, "{mean:?}");
}

/// As above, with losses of acknowledgments. No new arrival makes the receiver repeat the lost
/// lists, because the window is full of packets whose outcome is unknown.
#[test]
fn a_full_window_is_repaired_though_acknowledgments_are_lost() {
    let settings = Settings {
        // NewReno keeps its window in a recovery, instead of conserving packets.
        congestion: cc::ControllerConfig::NEW_RENO,
        ack: ack::PolicyConfig::Tack(Tack::default()),
        initial_window: Segments(20_000),
        send_buffer: Bytes(1 << 28),
        receive_buffer: Bytes(1 << 28),
        ..Settings::default()
    };
    let paths = [Path { loss: 0.05, ..CLEAN }, Path { loss: 0.1, ..CLEAN }];
    // The transfer took half a second or more when TACKs stopped with the last arrival.
    let mean = mean_time(&settings, paths, 1..=20, 20_000 * 1427);
    assert!(mean < MS * 400, "{mean:?}");
}

#[test]
fn a_connection_opens_half_closes_and_closes() {
    let mut network = network(CLEAN);
    network.open();
    assert!(network.run(Instant::ZERO + MS * 100, |network| network.is_established()));
    assert_eq!(network.now, Instant::ZERO + MS * 60, "one and a half round trips");
    network.write(0, 0, 10_000);
    let until = Instant::ZERO + MS * 1000;
    assert!(network.run(until, |network| network.ends[1].is_at_end()));
    network.run(until, |_| false);
    assert!(network.phases().iter().all(|phase| *phase == Phase::Established), "half closed");
    network.write(1, 0, 5000);
    assert!(network.run(until + MS * 1000, Network::are_closed));
    assert_eq!(network.phases(), [Phase::Closed { code: 0 }; 2]);
    assert_eq!(network.delivered(0, 0), 5000);
    network.run(until + MS * 60_000, |_| false);
    assert_eq!(network.under_way(), 0, "nothing is sent after the end");
}

#[test]
fn an_end_that_speaks_after_the_end_is_told_again() {
    let mut network = network(CLEAN);
    network.open();
    network.run(Instant::ZERO + MS * 200, |_| false);
    network.ends[0].abort(9);
    network.poll();
    network.lose_all();
    network.write(1, 0, 3000);
    network.run(Instant::ZERO + MS * 400, |_| false);
    assert_eq!(network.phases(), [Phase::Closed { code: 9 }; 2]);
}

#[test]
fn a_stream_is_reset_and_the_others_go_on() {
    let mut network = network(CLEAN);
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
fn what_is_late_is_given_up() {
    let mut network = network(Path { loss: 0.3, ..CLEAN });
    network.open();
    assert!(network.run(Instant::ZERO + PATIENCE, |network| network.is_established()));
    let until = network.now + MS * 150;
    let late = network.write(0, 1, 90_000);
    network.ends[0].limit_stream(late, Lifetime { until: Some(until), retransmits: true }).unwrap();
    let once = network.write(0, 2, 90_000);
    network.ends[0].limit_stream(once, Lifetime { until: None, retransmits: false }).unwrap();
    network.run(Instant::ZERO + PATIENCE, |network| {
        [late, once].iter().all(|id| network.ends[1].is_stream_at_end(*id)) && network.ends[0].in_flight() == 0
    });
    for id in [late, once] {
        assert_eq!(network.ends[1].reset_of(id), Some(ResetCode::Expired));
        let received = network.ends[1].received_of(id);
        assert!(received > 0 && received < 90_000, "stream {id}: {received}");
    }
    let lost = 90_000 - network.ends[1].received_of(once);
    assert!((9_000..45_000).contains(&lost), "about three packets in ten: {lost}");
}

#[test]
fn a_window_that_is_shut_opens_again_though_news_of_it_are_lost() {
    let settings = Settings { receive_buffer: Bytes(5000), ..Settings::default() };
    let mut network = Network::new(&settings, [CLEAN; 2], Some(0), false, Seed(3));
    network.open();
    network.run(Instant::ZERO + MS * 200, |_| false);
    network.write(0, 0, 20_000);
    network.run(network.now + MS * 500, |_| false);
    assert_eq!(network.ends[1].readable(), 5000, "the window is used up");
    network.reads = Some(5000);
    network.read();
    network.poll();
    network.lose_all();
    assert!(network.run(network.now + Duration::from_secs(30), |network| network.delivered(1, 0) == 20_000));
}

#[test]
fn few_acknowledgments_are_sent() {
    let settings = Settings { ack: ack::PolicyConfig::Tack(Tack::default()), ..Settings::default() };
    let mut network = Network::new(&settings, [CLEAN; 2], None, false, Seed(3));
    network.open();
    network.run(Instant::ZERO + MS * 200, |_| false);
    network.write(0, 0, 3_000_000);
    let (began, before) = (network.now, network.sent[1]);
    assert!(network.run(network.now + Duration::from_secs(60), |network| network.delivered(1, 0) == 3_000_000));
    let tacks = (network.sent[1] - before) as f64 / network.now.since(began).as_secs_f64();
    assert!((50.0..=110.0).contains(&tacks), "4 in 40 ms at most: {tacks}");
}

#[test]
fn promises_are_kept_on_the_seeds_of_the_fuzz_target() {
    seeds::replay("tack_endpoints", |octets| {
        tack_operations::endpoints_keep_their_promises(octets);
    });
}
