//! Tests, packet by packet, loss detection, probes, ACK rules, and forbidden behaviour of a peer.

use crate::network::ends_of;
use acklab_base::random::Seed;
use acklab_base::{Duration, Ecn, Endpoint, Event, Instant, Machine, StreamPort};
use acklab_transport::quic::ask::{self, fixed::Fixed};
use acklab_transport::quic::{Connection, Ended, Phase, Preset, Settings};
use acklab_transport::{ack, pacing};
use acklab_wire::quic::{Ack, Datagram, Frame, Stream, TransportError};

pub(crate) const MS: Duration = Duration::from_millis(1);
/// The one-way delay.
pub(crate) const DELAY: Duration = Duration::from_millis(20);

/// Two ends, between which the test carries packets.
pub(crate) struct Bench {
    pub(crate) now: Instant,
    pub(crate) ends: [Connection; 2],
}

impl Bench {
    /// Creates an open connection with a one-way delay of 20 ms, after the complete handshake has
    /// been acknowledged.
    pub(crate) fn new(settings: &Settings) -> Self {
        let mut bench = Self { now: Instant::ZERO, ends: ends_of([settings; 2], None, Seed(5)) };
        bench.ends[0].open(bench.now);
        for round in 0..8 {
            let datagrams = bench.sent(round % 2);
            bench.pass(DELAY);
            datagrams.into_iter().for_each(|datagram| bench.arrives(1 - round % 2, datagram));
        }
        bench.pass(MS * 100);
        for end in [1, 0, 1] {
            let datagrams = bench.sent(end);
            bench.pass(DELAY);
            datagrams.into_iter().for_each(|datagram| bench.arrives(1 - end, datagram));
        }
        assert!(bench.ends.iter().all(Connection::is_confirmed));
        assert_eq!(bench.ends[0].in_flight() + bench.ends[1].in_flight(), 0);
        bench.events(0);
        bench
    }

    /// Creates a client that is opened, before it sends a packet.
    pub(crate) fn before_the_handshake(settings: &Settings) -> (Instant, Connection) {
        let [mut client, _] = ends_of([settings; 2], None, Seed(5));
        client.open(Instant::ZERO);
        (Instant::ZERO, client)
    }

    pub(crate) fn unpaced() -> Self {
        Self::new(&Settings { pacing: Some(pacing::PacingConfig::Never), ..Settings::default() })
    }

    /// Returns the packets that an end sends now.
    pub(crate) fn sent(&mut self, end: usize) -> Vec<Datagram> {
        let now = self.now;
        std::iter::from_fn(|| self.ends[end].poll(now)).collect()
    }

    /// Advances time. Ends are woken at their deadlines; the packets that they then send are not
    /// delivered.
    pub(crate) fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        self.now = until;
        self.ends.iter_mut().for_each(|end| end.wake(until));
    }

    pub(crate) fn arrives(&mut self, end: usize, datagram: Datagram) {
        self.ends[end].accept(self.now, datagram);
    }

    pub(crate) fn events(&mut self, end: usize) -> Vec<Event> {
        std::iter::from_fn(|| self.ends[end].take_event()).collect()
    }

    /// Writes this number of full-sized packets at the client, which are sent now.
    pub(crate) fn write(&mut self, packets: u64) -> Vec<Datagram> {
        self.ends[0].write(self.now, packets * 1439);
        let sent = self.sent(0);
        assert_eq!(sent.len() as u64, packets);
        sent
    }

    /// Delivers these packets to the server. Returns the server's answers.
    fn acknowledged(&mut self, datagrams: Vec<Datagram>) -> Vec<Datagram> {
        datagrams.into_iter().for_each(|datagram| self.arrives(1, datagram));
        self.pass(MS * 30);
        self.sent(1)
    }

    pub(crate) fn window(&self) -> u64 {
        self.ends[0].vitals().window.expect("a sender has a window")
    }
}

pub(crate) fn acks(datagrams: &[Datagram]) -> Vec<&Ack> {
    let frames = datagrams.iter().flat_map(Datagram::frames);
    frames.filter_map(|frame| if let Frame::Ack(ack) = frame { Some(ack) } else { None }).collect()
}

pub(crate) fn offsets(datagrams: &[Datagram]) -> Vec<u64> {
    let offset = |frame: &Frame| if let Frame::Stream(stream) = frame { Some(stream.offset) } else { None };
    datagrams.iter().flat_map(Datagram::frames).filter_map(offset).collect()
}

/// RFC 9002, §6.1.1: a packet is lost once a packet is acknowledged whose number is larger by
/// three.
#[test]
fn a_packet_three_behind_is_lost_at_once() {
    let mut bench = Bench::unpaced();
    let mut sent = bench.write(4);
    sent.remove(0);
    bench.pass(DELAY);
    for datagram in sent {
        bench.arrives(1, datagram);
    }
    let acks = bench.sent(1);
    bench.pass(DELAY);
    acks.into_iter().for_each(|ack| bench.arrives(0, ack));
    assert_eq!(offsets(&bench.sent(0)), [0]);
    let events = bench.events(0);
    assert!(events.iter().any(|event| matches!(event, Event::RecoveryEntered { .. })), "{events:?}");
    assert_eq!(bench.window(), 7360, "half of ten packets of 1472 octets");
}

/// RFC 9002, §6.1.2: a packet is lost 9/8 of a round-trip time of 40 ms after it was sent.
#[test]
fn a_packet_two_behind_is_lost_after_nine_eighths_of_a_round_trip() {
    let mut bench = Bench::unpaced();
    let mut sent = bench.write(3);
    sent.remove(0);
    bench.pass(DELAY);
    for datagram in sent {
        bench.arrives(1, datagram);
    }
    let acks = bench.sent(1);
    bench.pass(DELAY);
    acks.into_iter().for_each(|ack| bench.arrives(0, ack));
    assert!(bench.sent(0).is_empty());
    assert_eq!(bench.ends[0].deadline(), Some(bench.now + MS * 5));
    bench.pass(MS * 5);
    assert_eq!(offsets(&bench.sent(0)), [0]);
}

/// RFC 9002, §6.2: two packets are sent after smoothed_rtt + 4 · rttvar + max_ack_delay, then after
/// twice that time.
#[test]
fn without_acks_two_probes_leave_and_the_timeout_doubles() {
    let mut bench = Bench::unpaced();
    bench.write(3);
    let timeout = bench.ends[0].deadline().unwrap().since(bench.now);
    assert_eq!(timeout, MS * 145, "40 + 4 · 20 + 25, after one sample");
    bench.pass(timeout);
    let probes = bench.sent(0);
    assert_eq!(probes.len(), 2, "{probes:?}");
    assert_eq!(offsets(&probes)[0], 0, "the oldest octets");
    assert_eq!(bench.ends[0].deadline().unwrap().since(bench.now), timeout * 2);
    bench.pass(timeout * 2);
    assert_eq!(bench.sent(0).len(), 2);
    assert_eq!(bench.window(), 14_720, "a probe timeout does not reduce the window (§7.5)");
}

/// quinn-proto's `maybe_queue_probe`: a probe carries `IMMEDIATE_ACK`, so that each of the two
/// probes is acknowledged as it arrives. Otherwise the second one elicits one ACK for both.
#[test]
fn probes_of_quinn_are_acknowledged_one_by_one() {
    let acks_of_first_probe = |preset| {
        let mut bench =
            Bench::new(&Settings { preset, pacing: Some(pacing::PacingConfig::Never), ..Settings::default() });
        let sent = bench.write(1);
        bench.pass(DELAY);
        sent.into_iter().for_each(|datagram| bench.arrives(1, datagram));
        bench.pass(MS * 400);
        assert_eq!(bench.sent(1).len(), 1, "the ACK of the packet, which is lost");
        let probes = bench.sent(0);
        assert_eq!(probes.len(), 2, "{probes:?}");
        bench.arrives(1, probes[0].clone());
        bench.sent(1).len()
    };
    assert_eq!(acks_of_first_probe(Preset::Quinn), 1);
    assert_eq!(acks_of_first_probe(Preset::Rfc), 0);
}

/// RFC 9002, §7.6: all packets between two acknowledged packets were lost, for longer than three
/// probe timeouts.
#[test]
fn persistent_congestion_leaves_two_packets() {
    let mut bench = Bench::unpaced();
    bench.write(3);
    for _ in 0..4 {
        let timeout = bench.ends[0].deadline().unwrap().since(bench.now);
        bench.pass(timeout);
        bench.sent(0);
    }
    let timeout = bench.ends[0].deadline().unwrap().since(bench.now);
    bench.pass(timeout);
    let probes = bench.sent(0);
    bench.pass(DELAY);
    let acks = bench.acknowledged(probes);
    assert!(!acks.is_empty());
    bench.pass(DELAY);
    acks.into_iter().for_each(|ack| bench.arrives(0, ack));
    assert!(bench.window() <= 2 * 1472 + 1472, "two packets, and what the ACK itself adds: {}", bench.window());
}

/// RFC 9000, §13.2: every second packet is acknowledged, within 25 ms, and a packet beyond a gap
/// immediately.
#[test]
fn the_receiver_acknowledges_by_the_rules() {
    let mut bench = Bench::unpaced();
    let sent = bench.write(6);
    let mut at_once = Vec::new();
    for index in [0, 1, 2, 4, 3] {
        bench.arrives(1, sent[index].clone());
        at_once.push(acks(&bench.sent(1)).len());
    }
    assert_eq!(at_once, [0, 1, 0, 1, 1], "the second; the gap with what waited; the late one");
    bench.arrives(1, sent[5].clone());
    assert!(bench.sent(1).is_empty());
    assert_eq!(bench.ends[1].deadline(), Some(bench.now + MS * 25));
    bench.pass(MS * 25);
    let ack = bench.sent(1);
    assert_eq!(acks(&ack)[0].delay, 25_000 >> 3, "in units of 8 µs");
    assert_eq!(acks(&ack)[0].ranges.len(), 1, "the gap is closed");
}

/// RFC 9000, §13.2.1: ACKs elicit no ACKs.
#[test]
fn acks_are_not_acknowledged() {
    let mut bench = Bench::unpaced();
    let sent = bench.write(4);
    let acks = bench.acknowledged(sent);
    acks.into_iter().for_each(|ack| bench.arrives(0, ack));
    bench.pass(MS * 500);
    assert!(bench.sent(0).is_empty());
}

#[test]
fn the_sender_of_data_chooses_how_often_it_is_acknowledged() {
    let ask =
        ask::AskConfig::Fixed(Fixed { ack_eliciting_threshold: 4, max_ack_delay: MS * 100, reordering_threshold: 0 });
    let settings = Settings { ask: Some(ask), pacing: Some(pacing::PacingConfig::Never), ..Settings::default() };
    let mut bench = Bench::new(&settings);
    let sent = bench.write(9);
    bench.pass(DELAY);
    let mut counts = Vec::new();
    for index in [0, 1, 2, 3, 4, 5, 8, 7, 6] {
        bench.arrives(1, sent[index].clone());
        counts.push(acks(&bench.sent(1)).len());
    }
    assert_eq!(counts, [0, 0, 0, 0, 1, 0, 0, 0, 0], "every fifth, whatever the order");
    assert_eq!(bench.ends[1].deadline(), Some(bench.now + MS * 100));
}

#[test]
fn a_mark_is_reported_at_once_and_reduces_the_window_once() {
    let mut bench =
        Bench::new(&Settings { ecn: true, pacing: Some(pacing::PacingConfig::Never), ..Settings::default() });
    let mut sent = bench.write(6);
    assert!(sent.iter().all(|datagram| datagram.ecn == Ecn::Ect0));
    bench.pass(DELAY);
    for index in [2, 4] {
        sent[index].ecn = Ecn::Ce;
    }
    let mut reports = Vec::new();
    for datagram in sent {
        bench.arrives(1, datagram);
        reports.extend(bench.sent(1));
    }
    let marks: Vec<u64> = acks(&reports).iter().filter_map(|ack| ack.ecn()).map(|counts| counts.ce).collect();
    assert_eq!(marks, [0, 1, 2], "after two packets, and with each mark");
    bench.pass(DELAY);
    reports.into_iter().for_each(|report| bench.arrives(0, report));
    let reduced = bench.events(0).into_iter().filter(|event| matches!(event, Event::WindowReduced { .. })).count();
    assert_eq!(reduced, 1);
    assert!(
        (7000..9000).contains(&bench.window()),
        "half of what was a little more than ten packets: {}",
        bench.window()
    );
}

#[test]
fn a_peer_that_violates_the_protocol_is_told_why() {
    let ends_with = |frame: Frame| {
        let mut bench = Bench::unpaced();
        let mut datagram = bench.write(1).remove(0);
        let packet = datagram.packets.last_mut().unwrap();
        packet.frames = frame.into();
        bench.arrives(1, datagram);
        let close = bench.sent(1);
        let says = close.iter().flat_map(Datagram::frames).find_map(|frame| match frame {
            Frame::Close(close) => Some(close.code),
            _ => None,
        });
        let Phase::Closed(Ended::Transport(code)) = bench.ends[1].phase() else { return None };
        assert_eq!(says, Some(code));
        TransportError::ALL.into_iter().find(|error| error.code() == code)
    };
    let stream = |id, offset, length, is_end| Frame::Stream(Stream { id, offset, length, is_end });
    let never_sent = Ack::new((1000..1001).into(), 0);
    assert_eq!(ends_with(Frame::Ack(never_sent)), Some(TransportError::ProtocolViolation));
    assert_eq!(ends_with(stream(0, 4 << 20, 1, false)), Some(TransportError::FlowControl));
    assert_eq!(ends_with(stream(401, 0, 1, false)), Some(TransportError::StreamState), "the server would open it");
    assert_eq!(ends_with(stream(400, 0, 1, false)), Some(TransportError::StreamLimit));
    assert_eq!(ends_with(stream(2, 0, 1, false)), Some(TransportError::StreamLimit), "a unidirectional one");
    assert_eq!(ends_with(Frame::HandshakeDone), Some(TransportError::ProtocolViolation));
    assert_eq!(ends_with(Frame::Ping), None);
}

/// A receiver with a policy that is not one of QUIC's.
#[test]
fn other_policies_count_packets_by_number() {
    let delayed = ack::delayed::Delayed::default();
    let mut bench = Bench::new(&Settings {
        ack: Some(delayed.into()),
        pacing: Some(pacing::PacingConfig::Never),
        ..Settings::default()
    });
    let mut sent = bench.write(8);
    sent.remove(2);
    let counts: Vec<usize> = sent
        .into_iter()
        .map(|datagram| {
            bench.arrives(1, datagram);
            acks(&bench.sent(1)).len()
        })
        .collect();
    assert_eq!(counts, [0, 1, 1, 0, 1, 0, 1], "the gap at once, then by twos though it stays open");
}
