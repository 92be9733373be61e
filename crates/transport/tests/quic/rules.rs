//! Tests, packet by packet, the duties of a receiver with any policy, the validation of ECN, the
//! backoff of timeouts, and requests that a peer must not make.

use crate::timelines::{Bench, MS, acks};
use acklab_base::{Duration, Ecn, Endpoint, Machine};
use acklab_transport::quic::{Ended, Phase, Settings};
use acklab_transport::{ack, pacing};
use acklab_wire::quic::{AckFrequency, Datagram, EcnCounts, Frame, TransportError};
use acklab_wire::varint::LARGEST;

fn unpaced() -> Settings {
    Settings { pacing: Some(pacing::PacingConfig::Never), ..Settings::default() }
}

/// RFC 9000, §13.2.1: an ACK is sent within the advertised max_ack_delay, also with a policy
/// without a timer.
#[test]
fn an_ack_leaves_within_the_announced_delay() {
    let bytes = ack::byte_counting::ByteCounting { segments: 100, timer: None };
    for (announced, expected) in [(None, MS * 25), (Some(MS * 40), MS * 40)] {
        let mut bench = Bench::new(&Settings { ack: Some(bytes.into()), max_ack_delay: announced, ..unpaced() });
        let sent = bench.write(2);
        let began = bench.now;
        for datagram in sent {
            bench.arrives(1, datagram);
            assert!(bench.sent(1).is_empty());
            bench.pass(MS * 10);
        }
        assert_eq!(bench.ends[1].deadline(), Some(began + expected), "after the first of them");
        bench.pass(expected - MS * 20);
        assert_eq!(acks(&bench.sent(1)).len(), 1);
    }
}

/// An ACK for PING frames alone counts packets, because they carry no stream bytes.
#[test]
fn packets_without_octets_are_unacknowledged_too() {
    let delayed = ack::delayed::Delayed::default();
    let mut bench = Bench::new(&Settings { ack: Some(delayed.into()), ..unpaced() });
    let mut datagrams = bench.write(2);
    for datagram in &mut datagrams {
        let packet = datagram.packets.last_mut().unwrap();
        packet.frames = Frame::Ping.into();
    }
    let counts: Vec<usize> = datagrams
        .into_iter()
        .map(|datagram| {
            bench.arrives(1, datagram);
            acks(&bench.sent(1)).len()
        })
        .collect();
    assert_eq!(counts, [0, 1]);
}

/// RFC 9002, §6.2.1: each expiry doubles the timeout, without a bound.
#[test]
fn the_timeout_doubles_without_a_bound() {
    let mut bench = Bench::new(&unpaced());
    bench.write(1);
    for expiries in 0..12 {
        let timeout = bench.ends[0].deadline().unwrap().since(bench.now);
        assert_eq!(timeout, MS * 145 * (1 << expiries));
        bench.pass(timeout);
        bench.sent(0);
    }
}

/// RFC 9000, §10.1: three probe timeouts after the restart of the idle timer, whatever has expired
/// since.
#[test]
fn a_peer_that_is_silent_is_given_up() {
    let mut bench = Bench::new(&Settings { idle_timeout: Duration::from_secs(1), ..unpaced() });
    bench.write(1);
    let began = bench.now;
    while !matches!(bench.ends[0].phase(), Phase::Closed(Ended::IdleTimeout)) {
        let deadline = bench.ends[0].deadline().unwrap();
        let wait = deadline.since(bench.now);
        bench.pass(wait);
        bench.sent(0);
        assert!(bench.now.since(began) <= Duration::from_secs(1), "it goes on probing");
    }
}

/// Returns `true` if the client continues to send ECT after two packets whose ACK reports these
/// increments of the counts.
fn with_counts(counts: Option<EcnCounts>) -> bool {
    let mut bench = Bench::new(&Settings { ecn: true, ..unpaced() });
    let before = {
        let sent = bench.write(2);
        let reports: Vec<Datagram> = sent
            .into_iter()
            .flat_map(|datagram| {
                bench.arrives(1, datagram);
                bench.sent(1)
            })
            .collect();
        let counts = *acks(&reports)[0].ecn().expect("marks are counted");
        reports.into_iter().for_each(|report| bench.arrives(0, report));
        counts
    };
    let sent = bench.write(2);
    assert!(sent.iter().all(|datagram| datagram.ecn == Ecn::Ect0));
    sent.into_iter().for_each(|datagram| bench.arrives(1, datagram));
    for mut report in bench.sent(1) {
        let ecn = counts.map(|more| EcnCounts { ect0: before.ect0 + more.ect0, ect1: more.ect1, ce: more.ce });
        let ack = acks(std::slice::from_ref(&report))[0].clone().with_ecn(ecn);
        report.packets.last_mut().expect("a datagram has packets").frames = Frame::Ack(ack).into();
        bench.arrives(0, report);
    }
    bench.write(1)[0].ecn == Ecn::Ect0
}

/// RFC 9000, §13.4.2.1: an ACK of packets with ECT(0) must count all of them, and no other packets.
#[test]
fn marks_are_believed_while_the_counts_can_be_true() {
    let counts = |ect0, ect1, ce| with_counts(Some(EcnCounts { ect0, ect1, ce }));
    assert!(counts(2, 0, 0) && counts(1, 0, 1) && counts(0, 0, 2));
    assert!(!with_counts(None), "absent");
    assert!(!counts(1, 0, 0), "too few");
    assert!(!counts(1, 1, 0), "a codepoint that was not sent");
    assert!(!counts(100, 0, 0), "more than were sent");
}

/// draft-ietf-quic-ack-frequency, §4: a max_ack_delay of 2¹⁴ ms and more is invalid (RFC 9000,
/// §18.2).
#[test]
fn a_delay_that_no_parameter_can_name_is_refused() {
    let ends_with = |max_ack_delay| {
        let mut bench = Bench::new(&unpaced());
        let mut datagram = bench.write(1).remove(0);
        let request = AckFrequency { sequence: 0, threshold: 1, max_ack_delay, reordering: 1 };
        datagram.packets.last_mut().unwrap().frames = Frame::AckFrequency(request).into();
        bench.arrives(1, datagram);
        bench.ends[1].phase()
    };
    let violation = Phase::Closed(Ended::Transport(TransportError::ProtocolViolation.code()));
    assert_eq!(ends_with(16_383_999), Phase::Established);
    // In microseconds, the largest integer of a frame is 146,000 years.
    assert_eq!([ends_with(16_384_000), ends_with(LARGEST)], [violation; 2]);
}

/// Unidirectional streams are refused, so none are announced; the extension for ACK frequency is
/// announced.
#[test]
fn what_is_announced_is_what_is_kept() {
    let mut parameters = std::collections::BTreeMap::new();
    Bench::new(&unpaced()).ends[0].report_parameters(&mut |name, value| _ = parameters.insert(name, value));
    assert_eq!((parameters["initial_max_streams_uni"], parameters["initial_max_stream_data_uni"]), (0, 0));
    assert_eq!((parameters["max_ack_delay"], parameters["min_ack_delay"]), (25, 1000), "in ms, and in µs");
}
