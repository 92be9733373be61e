//! Tests impossible feedback.

use super::network::{Network, Path};
use super::{CLEAN, MS};
use crate::hostile::cases;
use acklab_base::random::Seed;
use acklab_base::{Bytes, Duration, Ecn, Endpoint, Instant, StreamPort};
use acklab_transport::tack::{Phase, Refusal, Settings};
use acklab_wire::tack::{
    ConnectionId, EcnCounts, Frame, Loss, Packet, PktSeq, Run, Stream, Sync, Tack, Timestamp, decode::LARGEST_OFFSET,
};
use proptest::prelude::*;

/// Creates a network in the middle of a transfer, and the last packet that the second end has sent.
fn amid() -> (Network, Packet) {
    let network = transferring(CLEAN);
    let last = network.last_to(0).expect("a TACK is under way");
    (network, last)
}

fn transferring(path: Path) -> Network {
    let mut network = Network::new(&Settings::default(), [path; 2], None, false, Seed(5));
    network.open();
    network.run(Instant::ZERO + MS * 200, |network| network.is_established());
    if network.phases() == [Phase::Established; 2] {
        network.write(0, 0, 500_000);
    }
    network.run(network.now + MS * 130, |_| false);
    network
}

/// Returns the first end's refusals of `frame`, in a packet that follows all packets in flight.
fn refused(frame: Frame) -> Vec<Refusal> {
    let (mut network, last) = amid();
    let number = PktSeq(last.number.0.wrapping_add(1));
    let forged = Packet { number, frames: std::iter::once(frame).collect(), ..last };
    let before = *network.ends[0].refusals();
    let flight = network.ends[0].in_flight();
    network.give(0, forged);
    let after = network.ends[0].refusals();
    let refused: Vec<_> =
        Refusal::ALL.into_iter().map(|(refusal, _)| refusal).filter(|of| after.of(*of) > before.of(*of)).collect();
    assert!(refused.is_empty() || network.ends[0].in_flight() == flight, "it has no effect");
    refused
}

fn tack(change: impl Fn(&mut Tack)) -> Frame {
    let (_, last) = amid();
    let mut forged = last.frames.iter().find_map(|frame| match frame {
        Frame::Tack(tack) => Some(tack.clone()),
        _ => None,
    });
    let forged_tack = forged.as_mut().expect("it is a TACK");
    change(forged_tack);
    Frame::Tack(forged.expect("it is a TACK"))
}

#[test]
fn what_was_never_sent_is_not_acknowledged() {
    assert_eq!(refused(tack(|_| {})), [], "a TACK that is so");
    assert_eq!(refused(tack(|tack| tack.next = PktSeq(tack.next.0 + 100_000))), [Refusal::NeverSent]);
    let far = vec![Run { skip: 1, length: 100_000 }];
    assert_eq!(refused(tack(|tack| tack.acked = far.clone())), [Refusal::NeverSent]);
    assert_eq!(refused(tack(|tack| tack.lost = far.clone())), [Refusal::NeverSent]);
    assert_eq!(refused(loss([5, 100_000, 1])), [Refusal::NeverSent]);
    assert_eq!(refused(loss([9, 9, 1])), [Refusal::NeverSent]);
    assert_eq!(refused(loss([5, 9, 100_000])), [Refusal::NeverSent]);
    assert_eq!(refused(loss([5, 9, 0])), [Refusal::NeverSent], "a loss shows by what has arrived behind it");
    assert_eq!(refused(Frame::Forget { below: PktSeq(100_000) }), [Refusal::NeverSent]);
}

#[test]
fn time_does_not_run_backwards() {
    let later = |tack: &Tack| Timestamp(tack.echo.0.wrapping_add(1_000_000));
    assert_eq!(refused(tack(|tack| tack.echo = later(tack))), [Refusal::Time]);
    assert_eq!(refused(tack(|tack| tack.delay += 10_000_000)), [Refusal::Time]);
    assert_eq!(refused(Frame::Sync(Sync { rtt_min: 0, ack_loss: 0, packets: 2, beta: 4 })), [Refusal::Time]);
}

#[test]
fn no_rate_is_zero_or_infinite() {
    assert_eq!(refused(tack(|tack| tack.interval = 0)), [Refusal::Rate]);
    assert_eq!(refused(tack(|tack| tack.delivered = 0)), [Refusal::Rate]);
    assert_eq!(refused(tack(|tack| tack.delivered = u32::MAX)), [Refusal::Rate]);
}

/// 20,000 bytes per round-trip time of 40 ms are 4 Mbps; Startup paces at 2.89 times this rate. All
/// TACKs claim that their data took a microsecond to arrive.
#[test]
fn a_receiver_that_claims_any_rate_is_sent_no_more() {
    let settings = Settings { receive_buffer: Bytes(20_000), ..Settings::default() };
    let mut network = Network::new(&settings, [CLEAN; 2], None, false, Seed(5));
    network.open();
    network.run(Instant::ZERO + MS * 200, |network| network.is_established());
    network.write(0, 0, 2_000_000);
    for _ in 0..1000 {
        for place in 0..network.under_way() {
            network.with_packet(place, |packet| vec![(Duration::ZERO, hastened(&packet))]);
        }
        network.run(network.now + MS, |_| false);
    }
    assert!(network.delivered(1, 0) > 300_000, "some 25 round trips");
    assert_eq!(network.ends[0].refusals().total(), 0);
    let rate = network.ends[0].pacing_rate().expect("it is paced").bits_per_second();
    assert!(rate < 12_000_000, "{rate}");
}

fn hastened(packet: &Packet) -> Packet {
    let frames = packet.frames.iter().cloned().map(|frame| match frame {
        Frame::Tack(tack) if tack.interval > 0 => Frame::Tack(Box::new(Tack { interval: 1, ..*tack })),
        frame => frame,
    });
    Packet { frames: frames.collect(), ..packet.clone() }
}

#[test]
fn streams_stay_within_their_bounds() {
    let stream = |id, offset, is_end| Frame::Stream(Stream { id, offset, length: 100, is_end });
    assert_eq!(refused(stream(0, 0, false)), []);
    assert_eq!(refused(stream(0, LARGEST_OFFSET - 100, false)), [Refusal::Window]);
    assert_eq!(refused(stream(2, 0, false)), [Refusal::Stream], "this end would open it");
    assert_eq!(refused(stream(201, 0, false)), [Refusal::Stream], "a hundred may be open");
    assert_eq!(refused(Frame::Window { stream: 77, limit: 1 }), [Refusal::Stream]);
    assert_eq!(refused(Frame::Blocked { stream: 4 }), [Refusal::Stream]);
}

#[test]
fn packets_of_others_and_of_the_past_are_refused() {
    let (mut network, last) = amid();
    let count = |network: &Network, refusal| network.ends[0].refusals().of(refusal);
    network.give(0, Packet { connection: ConnectionId(last.connection.0 ^ 1), ..last.clone() });
    assert_eq!(count(&network, Refusal::Connection), 1);
    network.give(0, last.clone());
    network.give(0, last.clone());
    assert_eq!(count(&network, Refusal::Replayed), 1);
    network.give(0, Packet { number: PktSeq(last.number.0.wrapping_add(1 << 30)), ..last.clone() });
    assert_eq!(count(&network, Refusal::Ahead), 1);
    network.give(0, Packet { connection: ConnectionId(0), ..last });
    assert_eq!(count(&network, Refusal::Phase), 1);
}

fn loss([after, before, arrived]: [u32; 3]) -> Frame {
    Frame::Loss(Loss { after: PktSeq(after), before: PktSeq(before), arrived })
}

fn wild() -> impl Strategy<Value = Frame> {
    let runs = || proptest::collection::vec((0u32..50, 1u32..50), 0..5);
    let tack = (any::<[u32; 7]>(), 0u32..600, runs(), runs()).prop_map(|(words, near, acked, lost)| {
        let runs =
            |runs: Vec<(u32, u32)>| runs.into_iter().map(|(skip, length)| Run { skip: skip + 1, length }).collect();
        let [far, unlisted, late, echo, delay, delivered, interval] = words;
        let next = PktSeq(if far % 2 == 0 { near } else { far });
        let (acked, lost, echo) = (runs(acked), runs(lost), Timestamp(echo));
        Frame::Tack(Box::new(Tack { next, acked, lost, unlisted, late, echo, delay, delivered, interval }))
    });
    prop_oneof![
        tack,
        any::<[u32; 3]>().prop_map(loss),
        [0u32..600, 0..600, 0..60].prop_map(loss),
        (0u32..6, 0..=LARGEST_OFFSET).prop_map(|(stream, limit)| Frame::Window { stream, limit }),
        (any::<[u32; 3]>(), any::<u16>()).prop_map(|([rtt_min, packets, beta], ack_loss)| {
            Frame::Sync(Sync { rtt_min, ack_loss, packets, beta })
        }),
        any::<[u32; 2]>().prop_map(|[ect0, ce]| Frame::EcnCounts(EcnCounts { ect0, ce })),
        any::<u32>().prop_map(|below| Frame::Forget { below: PktSeq(below) }),
        (0u32..300, any::<u32>()).prop_map(|(stream, code)| Frame::Stop { stream, code }),
        (0u32..300, any::<u32>(), 0..=LARGEST_OFFSET).prop_map(|(stream, code, size)| Frame::Reset {
            stream,
            size,
            code
        }),
        (0u32..300, 0u64..9_000_000, 1u16..2000, any::<bool>())
            .prop_map(|(id, offset, length, is_end)| Frame::Stream(Stream { id, offset, length, is_end })),
        Just(Frame::Ping),
        (0u32..300).prop_map(|stream| Frame::Blocked { stream }),
        any::<u32>().prop_map(|limit| Frame::Streams { limit }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    /// Whatever arrives, no end panics or sends forever.
    #[test]
    fn wild_frames_do_no_harm(
        frames in proptest::collection::vec((0usize..2, wild(), 0u64..30), 1..60),
        loss in 0.0..0.2f64,
    ) {
        let mut network = transferring(Path { loss, ..CLEAN });
        for (end, frame, pause) in frames {
            let Some(last) = network.last_to(end) else { continue };
            let number = PktSeq(last.number.0.wrapping_add(1));
            let forged = Packet { ecn: Ecn::NotEct, number, frames: std::iter::once(frame).collect(), ..last };
            network.give_wildly(end, forged);
            network.run(network.now + MS * pause, |_| false);
        }
        let _ = network.ends[0].room();
    }
}

/// Each end concludes that the other closed the connection first.
#[test]
fn ends_that_are_both_told_that_it_is_over_fall_silent() {
    let (mut network, last) = amid();
    let close: Packet = Packet { frames: std::iter::once(Frame::Close { code: 64 }).collect(), ..last };
    let to_client = Packet { number: PktSeq(close.number.0.wrapping_add(1)), ..close.clone() };
    let sent_by_client = network.last_to(1).expect("data is under way");
    let to_server = Packet { frames: close.frames, ..sent_by_client };
    network.give(0, to_client);
    network.give(1, to_server);
    network.poll();
    assert_eq!(network.phases(), [Phase::Closed { code: 64 }; 2]);
    network.run(network.now + MS * 10_000, |network| network.under_way() == 0);
    assert_eq!(network.under_way(), 0, "no report repeats forever");
}
