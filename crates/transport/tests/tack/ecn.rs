//! Tests congestion marks, reported by counts as in RFC 9000, §13.4.

use super::network::{Network, Path};
use super::{CLEAN, MS};
use acklab_base::endpoint::counter;
use acklab_base::random::Seed;
use acklab_base::{CounterValue, Duration, Ecn, Endpoint, Instant};
use acklab_transport::cc;
use acklab_transport::tack::{Refusal, Settings};
use acklab_wire::Pdu;
use acklab_wire::tack::{EcnCounts, Frame, Packet, PktSeq};

/// Creates a network in which the first end, with `NewReno`, has sent for this time, in a much
/// longer transfer. The path has no impairments and a round-trip time of 40 ms.
fn transferring(path: Path, time: Duration) -> Network {
    let congestion = cc::ControllerConfig::named("newreno").expect("it is built in");
    let settings = Settings { ecn: true, congestion, ..Settings::default() };
    let mut network = Network::new(&settings, [Path { marks: 0.0, ..path }, path], None, false, Seed(5));
    network.open();
    assert!(network.run(Instant::ZERO + MS * 200, |network| network.is_established()));
    network.write(0, 0, 100_000_000);
    network.run(network.now + time, |_| false);
    network
}

fn count(network: &Network, end: usize, name: &str) -> u64 {
    let mut found = None;
    network.ends[end].report_counters(&mut |counter, _, value| {
        if let CounterValue::Count(count) = value
            && counter == name
        {
            found = Some(count);
        }
    });
    found.expect("there is such a counter")
}

#[test]
fn each_mark_reaches_the_sender_once() {
    let path = Path { marks: 0.3, ..CLEAN };
    let mut network = transferring(path, MS * 500);
    let marked = count(&network, 1, counter::MARKED_PACKETS);
    assert!(marked > 10, "{marked}");
    // Arrivals of the last round trip are not reported yet.
    network.run(network.now + MS * 60, |_| false);
    let reported = count(&network, 0, counter::MARKED_BYTES) / Settings::default().mss();
    assert!(reported >= marked, "{reported} of {marked}");
    assert!(reported <= count(&network, 1, counter::MARKED_PACKETS));
    assert_eq!(count(&network, 0, counter::RETRANSMISSIONS), 0);
}

/// RFC 9002, §7.1: a congestion mark has the effect of a loss, once per round trip of 40 ms. If
/// half of all packets are marked, the window falls to two packets, and three rounds out of four
/// have a mark. With the TACK interval, a round lasts 50 ms.
#[test]
fn the_controller_answers_marks_once_a_round_trip() {
    for (marks, least) in [(0.01, 1), (0.5, 20)] {
        let network = transferring(Path { marks, ..CLEAN }, MS * 2000);
        let reductions = count(&network, 0, counter::MARK_REDUCTIONS);
        assert!((least..=50).contains(&reductions), "{reductions} where {marks} of all packets are marked");
    }
}

/// RFC 9000, §13.4.2.1: on a path that clears the codepoint, the sender stops sending ECN-capable
/// packets, and the transfer continues.
#[test]
fn a_path_that_clears_codepoints_gets_no_more() {
    let network = transferring(Path { clears_ecn: true, ..CLEAN }, MS * 500);
    let last = network.last_to(1).expect("data are under way");
    assert_eq!(last.ecn(), Ecn::NotEct);
    assert_eq!(count(&network, 0, counter::MARK_REDUCTIONS), 0);
    assert!(network.delivered(1, 0) > 1_000_000, "{}", network.delivered(1, 0));
}

/// RFC 9000, §13.4.2.1: counts never decrease.
#[test]
fn counts_of_codepoints_do_not_run_backwards() {
    let marked = Path { marks: 0.2, ..CLEAN };
    let mut network = Network::new(&Settings { ecn: true, ..Settings::default() }, [marked; 2], None, false, Seed(5));
    network.open();
    network.run(Instant::ZERO + MS * 200, |network| network.is_established());
    network.write(0, 0, 500_000);
    network.run(network.now + MS * 130, |_| false);
    let last = network.last_to(0).expect("a TACK is under way");
    let mut refused = |number: u32, change: fn(&mut EcnCounts)| {
        let mut forged = Packet { number: PktSeq(last.number.0 + number), ..last.clone() };
        let mut frames: Vec<Frame> = forged.frames.iter().cloned().collect();
        let counts = frames.iter_mut().find_map(|frame| match frame {
            Frame::EcnCounts(counts) => Some(counts),
            _ => None,
        });
        let counts = counts.expect("counts come with each TACK");
        assert!(counts.ce > 1 && counts.ect0 > 1, "{counts:?}");
        change(counts);
        forged.frames = frames.into_iter().collect();
        network.give(0, forged);
        network.ends[0].refusals().of(Refusal::Counts)
    };
    assert_eq!(refused(1, |_| {}), 0, "counts that are so");
    assert_eq!(refused(2, |counts| counts.ce -= 1), 1);
    assert_eq!(refused(3, |counts| counts.ect0 -= 1), 2);
    assert_eq!(refused(4, |counts| *counts = EcnCounts::default()), 3);
}
