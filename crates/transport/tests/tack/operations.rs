//! The invariants of two TACK connections, whatever the network does to the packets between them.

use crate::network::ends;
use crate::octets::Octets;
use crate::operations::{self, Forgeable};
use acklab_base::units::Segments;
use acklab_base::{Bytes, Duration};
use acklab_transport::ack::tack::Tack as Law;
use acklab_transport::tack::lists::Lists;
use acklab_transport::tack::rate::RateSource;
use acklab_transport::tack::timing::Timing;
use acklab_transport::tack::{Connection, Settings};
use acklab_transport::{ack, cc};
use acklab_wire::tack::decode::LARGEST_OFFSET;
use acklab_wire::tack::{
    Crypto, EcnCounts, Extension, Frame, Loss, Packet, PktSeq, Run, Stream, Sync, Tack, Timestamp,
};

/// The bytes determine the settings of a connection and a list of
/// [operations](operations::connections_keep_their_promises).
///
/// # Panics
/// If an invariant fails.
pub(crate) fn endpoints_keep_their_promises(octets: &[u8]) -> (u64, u64) {
    let mut octets = Octets::new(octets);
    let settings = settings(&mut octets);
    let network = operations::network(&mut octets, |reads, seed| ends(&settings, reads, seed));
    operations::connections_keep_their_promises(network, &mut octets)
}

fn settings(octets: &mut Octets<'_>) -> Settings {
    let congestions: Vec<_> = cc::ControllerConfig::built_in().collect();
    let sparse = Law { segments: 16, beta: 2, per_packet_startup: true, ..Law::default() };
    let policies: Vec<_> = ack::PolicyConfig::built_in().chain([ack::PolicyConfig::Tack(sparse)]).collect();
    Settings {
        congestion: congestions[octets.below(congestions.len() as u64) as usize],
        ack: policies[octets.below(policies.len() as u64) as usize],
        lists: octets.one_of(&[Lists::Adaptive { q: 4 }, Lists::Poor, Lists::Rich, Lists::Adaptive { q: 1 }]),
        timing: octets.one_of(&[Timing::MinimumDelay, Timing::Newest]),
        rate: octets.one_of(&[RateSource::Receiver, RateSource::Sender]),
        settling: octets.below(256) as f64 / 128.0,
        adaptive_settling: octets.once_in(2),
        loss_iacks: !octets.once_in(4),
        ecn: octets.once_in(2),
        send_buffer: Bytes(2000 + octets.below(1 << 16)),
        receive_buffer: Bytes(2000 + octets.below(1 << 16)),
        initial_window: Segments(1 + octets.below(20) as u32),
        idle_timeout: Duration::ZERO,
        ..Settings::default()
    }
}

impl Forgeable for Connection {
    fn forge(packet: &mut Packet, octets: &mut Octets<'_>) {
        packet.number = PktSeq(packet.number.0.wrapping_add(octets.below(4) as u32));
        if octets.once_in(4) {
            packet.departed = Timestamp(octets.word());
        }
        let frame = frame(octets);
        packet.frames = if octets.once_in(2) {
            packet.frames.iter().cloned().chain([frame]).collect()
        } else {
            std::iter::once(frame).collect()
        };
    }
}

/// Returns a number that is small with the probability 1/2.
fn number(octets: &mut Octets<'_>) -> u32 {
    if octets.once_in(2) { octets.octet().into() } else { octets.word() }
}

fn offset(octets: &mut Octets<'_>) -> u64 {
    let near = u64::from(number(octets));
    if octets.once_in(2) { near } else { LARGEST_OFFSET.saturating_sub(near) }
}

fn frame(octets: &mut Octets<'_>) -> Frame {
    let stream = octets.below(8) as u32;
    match octets.octet() % 16 {
        0..3 => {
            let runs = |octets: &mut Octets<'_>| -> Vec<Run> {
                (0..octets.below(6))
                    .map(|_| Run { skip: 1 + u32::from(octets.octet()), length: 1 + octets.below(40) as u32 })
                    .collect()
            };
            let (acked, lost) = (runs(octets), runs(octets));
            Frame::Tack(Box::new(Tack {
                next: PktSeq(number(octets)),
                acked,
                lost,
                unlisted: number(octets),
                late: number(octets),
                echo: Timestamp(number(octets)),
                delay: number(octets),
                delivered: number(octets),
                interval: number(octets),
            }))
        }
        3 | 4 => {
            Frame::Loss(Loss { after: PktSeq(number(octets)), before: PktSeq(number(octets)), arrived: number(octets) })
        }
        5 => Frame::Window { stream, limit: offset(octets) },
        6 => Frame::Sync(Sync {
            rtt_min: number(octets),
            ack_loss: octets.word() as u16,
            packets: number(octets),
            beta: number(octets),
        }),
        7 => Frame::EcnCounts(EcnCounts { ect0: number(octets), ce: number(octets) }),
        8 => Frame::Forget { below: PktSeq(number(octets)) },
        9 => Frame::Reset { stream, size: offset(octets), code: number(octets) },
        10 => Frame::Stream(Stream {
            id: stream,
            offset: offset(octets).min(LARGEST_OFFSET - 2000),
            length: 1 + octets.below(1400) as u16,
            is_end: octets.once_in(4),
        }),
        11 if octets.once_in(2) => Frame::Stop { stream, code: number(octets) },
        11 => Frame::Blocked { stream },
        12 => Frame::Streams { limit: number(octets) },
        13 => Frame::Extension(Box::new(Extension { kind: Extension::FIRST, octets: vec![octets.octet()] })),
        14 => Frame::Crypto(Crypto { offset: number(octets), length: 1 + octets.below(1400) as u16 }),
        _ if octets.once_in(8) => Frame::Close { code: number(octets) },
        _ => Frame::Ping,
    }
}
