//! The invariants of two QUIC connections, whatever the network does to the packets between them.

use crate::asks;
use crate::network::ends;
use crate::octets::Octets;
use crate::operations::{self, Forgeable};
use acklab_base::units::Segments;
use acklab_base::{Bytes, Duration};
use acklab_transport::quic::{Connection, FlowControl, Growth, Preset, Settings, Tls};
use acklab_transport::{ack, cc, pacing};
use acklab_wire::quic::{
    Ack, AckFrequency, AckRanges, Close, Crypto, Datagram, Direction, EcnCounts, Frame, OlderRanges, PacketNumber,
    Stream, TimestampRange,
};
use acklab_wire::varint::LARGEST;
use std::ops::Range;

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
    let policies: Vec<_> = ack::PolicyConfig::built_in().collect();
    Settings {
        preset: octets.one_of(&Preset::ALL),
        congestion: Some(octets.one_of(&congestions)),
        ack: Some(octets.one_of(&policies)),
        ask: Some(octets.one_of(&asks::asks())),
        // Some peers do not support the extension.
        min_ack_delay: Duration::from_millis(octets.below(3)),
        ack_ranges: Some(1 + octets.below(40) as u32),
        packet: Some(Bytes(1228 + octets.below(273))),
        initial_window: Some(Segments(1 + octets.below(20) as u32)),
        send_buffer: Bytes(2000 + octets.below(1 << 16)),
        flow_control: Some(flow_control(octets)),
        updates_per_window: Some(1 + octets.below(10) as u32),
        streams: 1 + octets.below(8) as u32,
        pacing: Some(octets.one_of(&[
            pacing::PacingConfig::Always,
            pacing::PacingConfig::Controller,
            pacing::PacingConfig::Never,
        ])),
        ecn: octets.once_in(2),
        undo: octets.once_in(2),
        tls: Tls {
            server_flight: Bytes(1 + octets.below(12_000)),
            client_hello: Bytes(1 + octets.below(3000)),
            ..Tls::default()
        },
        ..Settings::default()
    }
}

fn flow_control(octets: &mut Octets<'_>) -> FlowControl {
    let (stream, connection) = (Bytes(2000 + octets.below(1 << 16)), Bytes(2000 + octets.below(1 << 16)));
    if octets.once_in(2) {
        return FlowControl::Fixed { stream, connection };
    }
    let factor = 1 + octets.below(16);
    FlowControl::Auto {
        stream,
        connection,
        largest_stream: Bytes(stream.get() * factor),
        largest_connection: Bytes(connection.get() * factor),
        growth: octets.one_of(&Growth::ALL),
    }
}

impl Forgeable for Connection {
    /// Puts another frame into one of the packets, with a new packet number. The frame may be
    /// invalid in packets of this type.
    fn forge(datagram: &mut Datagram, octets: &mut Octets<'_>) {
        let place = octets.below(datagram.packets.len() as u64) as usize;
        let frame = frame(octets);
        let change = |(at, packet): (usize, &acklab_wire::quic::Packet)| {
            let mut packet = packet.clone();
            if at == place {
                let number = packet.number.value().wrapping_add(octets.below(4) as u32);
                packet.number = PacketNumber::new(number, packet.number.length());
                packet.frames = if octets.once_in(2) {
                    packet.frames.iter().cloned().chain([frame.clone()]).collect()
                } else {
                    std::iter::once(frame.clone()).collect()
                };
            }
            packet
        };
        datagram.packets = datagram.packets.iter().enumerate().map(change).collect();
    }
}

/// Returns a number that is small with the probability 1/2.
fn number(octets: &mut Octets<'_>) -> u64 {
    if octets.once_in(2) { octets.octet().into() } else { octets.word().into() }
}

/// Returns a number that is near the maximum with the probability 1/2.
fn extreme(octets: &mut Octets<'_>) -> u64 {
    let near = number(octets);
    if octets.once_in(2) { near } else { LARGEST - near }
}

/// Returns ranges as an ACK frame lists them: from the highest down, with gaps.
fn ranges(octets: &mut Octets<'_>) -> AckRanges {
    let mut above = 1 + number(octets);
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for _ in 0..=octets.below(6) {
        let range = above.saturating_sub(1 + octets.below(40))..above;
        above = range.start.saturating_sub(1 + octets.below(40));
        ranges.push(range);
        if above == 0 {
            break;
        }
    }
    AckRanges::new(ranges.remove(0), OlderRanges::new(ranges))
}

fn frame(octets: &mut Octets<'_>) -> Frame {
    let stream = octets.below(10);
    match octets.octet() % 24 {
        0..4 => {
            let ack = Ack::new(ranges(octets), extreme(octets));
            let ecn =
                octets.once_in(2).then(|| EcnCounts { ect0: number(octets), ect1: number(octets), ce: number(octets) });
            let timestamps = octets.once_in(4).then(|| {
                (0..octets.below(3))
                    .map(|_| {
                        let below = number(octets);
                        TimestampRange { below, deltas: (0..octets.below(4)).map(|_| extreme(octets)).collect() }
                    })
                    .collect()
            });
            Frame::Ack(ack.with_ecn(ecn).with_timestamps(timestamps))
        }
        4 | 5 => Frame::AckFrequency(AckFrequency {
            sequence: number(octets),
            threshold: extreme(octets),
            max_ack_delay: extreme(octets),
            reordering: extreme(octets),
        }),
        6 => Frame::ImmediateAck,
        7 | 8 => Frame::Stream(Stream {
            id: stream,
            offset: extreme(octets).min(LARGEST - 2000),
            length: octets.below(1400) as u16,
            is_end: octets.once_in(4),
        }),
        9 => Frame::ResetStream { stream, code: number(octets), size: extreme(octets) },
        10 => Frame::StopSending { stream, code: number(octets) },
        11 => Frame::Crypto(Crypto { offset: extreme(octets).min(LARGEST - 2000), length: octets.below(1400) as u16 }),
        12 => Frame::MaxData(extreme(octets)),
        13 => Frame::MaxStreamData { stream, limit: extreme(octets) },
        14 => Frame::MaxStreams { direction: Direction::Bidirectional, limit: extreme(octets).min(1 << 60) },
        15 => Frame::DataBlocked(extreme(octets)),
        16 => Frame::StreamDataBlocked { stream, limit: extreme(octets) },
        17 => Frame::StreamsBlocked { direction: Direction::Unidirectional, limit: extreme(octets).min(1 << 60) },
        18 => Frame::PathChallenge([octets.octet(); 8]),
        19 => Frame::HandshakeDone,
        20 => Frame::RetireConnectionId(number(octets)),
        21 => Frame::Padding(1 + octets.below(1200) as u16),
        22 if octets.once_in(4) => Frame::Close(Close {
            code: number(octets),
            frame_type: octets.once_in(2).then_some(0),
            reason: octets.octet().into(),
        }),
        _ => Frame::Ping,
    }
}
