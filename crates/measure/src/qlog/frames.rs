//! Frames of QUIC and TACK in qlog.
//!
//! Frames of TACK that also exist in QUIC get QUIC's names. All other frames of TACK get names that
//! begin with `tack_`.

use super::file::ms;
use super::schema::Schema;
use acklab_wire::quic::frame::{Direction, Frame as QuicFrame};
use acklab_wire::{quic, tack};
use serde_json::{Value, json};
use std::ops::Range;

/// The exponent of ACK Delay fields. An end may announce another exponent (RFC 9000, §18.2), but no
/// endpoint does.
const ACK_DELAY_EXPONENT: u32 = 3;

/// Ranges of packet numbers, including both ends. A range of one number is written as this number.
pub(super) fn acked_ranges(ranges: impl IntoIterator<Item = Range<u64>>) -> Value {
    let one = |range: Range<u64>| match range.end - range.start {
        1 => json!([range.start]),
        _ => json!([range.start, range.end - 1]),
    };
    ranges.into_iter().map(one).collect()
}

/// Converts microseconds to milliseconds.
fn us(micros: u64) -> f64 {
    ms(micros.saturating_mul(1000))
}

fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

const fn stream_type(direction: Direction) -> &'static str {
    match direction {
        Direction::Bidirectional => "bidirectional",
        Direction::Unidirectional => "unidirectional",
    }
}

fn stream(schema: Schema, id: u64, offset: u64, length: u16, is_end: bool) -> Value {
    let mut frame = json!({ "frame_type": "stream", "stream_id": id, "offset": offset });
    if is_end {
        frame["fin"] = true.into();
    }
    schema.with_length(frame, length.into())
}

/// Returns the entry of a frame of QUIC.
pub(super) fn quic(schema: Schema, frame: &QuicFrame) -> Value {
    match frame {
        QuicFrame::Padding(octets) => schema.with_length(json!({ "frame_type": "padding" }), (*octets).into()),
        QuicFrame::Ping => json!({ "frame_type": "ping" }),
        QuicFrame::Ack(ack) => quic_ack(ack),
        QuicFrame::ResetStream { stream, code, size } => reset(schema, *stream, *code, *size),
        QuicFrame::StopSending { stream, code } => {
            with_error(schema, json!({ "frame_type": "stop_sending", "stream_id": stream }), *code)
        }
        QuicFrame::Crypto(crypto) => {
            schema.with_length(json!({ "frame_type": "crypto", "offset": crypto.offset }), crypto.length.into())
        }
        QuicFrame::NewToken(token) => {
            json!({ "frame_type": "new_token", "token": { "raw": { "length": token.len(), "data": hex(token) } } })
        }
        QuicFrame::Stream(piece) => stream(schema, piece.id, piece.offset, piece.length, piece.is_end),
        QuicFrame::MaxData(maximum) => json!({ "frame_type": "max_data", "maximum": maximum }),
        QuicFrame::MaxStreamData { stream, limit } => {
            json!({ "frame_type": "max_stream_data", "stream_id": stream, "maximum": limit })
        }
        QuicFrame::MaxStreams { direction, limit } => {
            json!({ "frame_type": "max_streams", "stream_type": stream_type(*direction), "maximum": limit })
        }
        QuicFrame::DataBlocked(limit) => json!({ "frame_type": "data_blocked", "limit": limit }),
        QuicFrame::StreamDataBlocked { stream, limit } => {
            json!({ "frame_type": "stream_data_blocked", "stream_id": stream, "limit": limit })
        }
        QuicFrame::StreamsBlocked { direction, limit } => {
            json!({ "frame_type": "streams_blocked", "stream_type": stream_type(*direction), "limit": limit })
        }
        QuicFrame::NewConnectionId(new) => json!({
            "frame_type": "new_connection_id",
            "sequence_number": new.sequence,
            "retire_prior_to": new.retire_prior_to,
            "connection_id_length": new.id.octets().len(),
            "connection_id": hex(new.id.octets()),
        }),
        QuicFrame::RetireConnectionId(sequence) => {
            json!({ "frame_type": "retire_connection_id", "sequence_number": sequence })
        }
        QuicFrame::PathChallenge(data) => json!({ "frame_type": "path_challenge", "data": hex(data) }),
        QuicFrame::PathResponse(data) => json!({ "frame_type": "path_response", "data": hex(data) }),
        QuicFrame::Close(close) => {
            let space = if close.frame_type.is_some() { "transport" } else { "application" };
            self::close(schema, space, close.code)
        }
        QuicFrame::HandshakeDone => json!({ "frame_type": "handshake_done" }),
        QuicFrame::AckFrequency(asked) => json!({
            "frame_type": "ack_frequency",
            "sequence_number": asked.sequence,
            "ack_eliciting_threshold": asked.threshold,
            "requested_max_ack_delay": us(asked.max_ack_delay),
            "reordering_threshold": asked.reordering,
        }),
        QuicFrame::ImmediateAck => json!({ "frame_type": "immediate_ack" }),
    }
}

fn quic_ack(ack: &quic::Ack) -> Value {
    let mut frame = json!({
        "frame_type": "ack",
        "ack_delay": us(ack.delay << ACK_DELAY_EXPONENT),
        "acked_ranges": acked_ranges(ack.ranges.iter().cloned()),
    });
    if let Some(counts) = ack.ecn() {
        (frame["ect1"], frame["ect0"], frame["ce"]) = (counts.ect1.into(), counts.ect0.into(), counts.ce.into());
    }
    frame
}

fn reset(schema: Schema, stream: u64, code: u64, size: u64) -> Value {
    with_error(schema, json!({ "frame_type": "reset_stream", "stream_id": stream, "final_size": size }), code)
}

/// Adds an application error. The names of these errors are unknown in this crate.
fn with_error(schema: Schema, mut frame: Value, code: u64) -> Value {
    match schema {
        Schema::V03 => frame["error_code"] = code.into(),
        Schema::Draft13 => (frame["error"], frame["error_code"]) = ("unknown".into(), code.into()),
    }
    frame
}

fn close(schema: Schema, space: &str, code: u64) -> Value {
    let frame = json!({ "frame_type": "connection_close", "error_space": space });
    with_error(schema, frame, code)
}

/// Returns the parameters that an end of a TACK connection offers in the handshake.
fn offer(frame_type: &str, source: tack::ConnectionId, parameters: &tack::Parameters) -> Value {
    json!({
        "frame_type": frame_type,
        "connection_id": hex(&source.0.to_be_bytes()),
        "window": parameters.window,
        "streams": parameters.streams,
        "max_udp_payload_size": parameters.payload,
        "max_idle_timeout": parameters.idle,
    })
}

/// Frames of TACK, and the state needed to expand their short packet numbers.
#[derive(Debug, Default)]
pub(super) struct Tack {
    /// The first number that has not been acknowledged cumulatively, in the frames that this end
    /// has sent and received.
    cumulative: [u64; 2],
}

impl Tack {
    /// Returns the frames of a packet. `way` is 0 for a departing packet and 1 for an arriving one.
    /// `largest` is the largest packet number that its acknowledgments cover.
    pub(super) fn frames(&mut self, schema: Schema, frames: &tack::Frames, way: usize, largest: u64) -> Vec<Value> {
        let counts = frames.iter().find_map(|frame| match frame {
            tack::Frame::EcnCounts(counts) => Some(*counts),
            _ => None,
        });
        // The counts are in the ACK frame, as in QUIC.
        let others = frames.iter().filter(|frame| !matches!(frame, tack::Frame::EcnCounts(_)));
        others.map(|frame| self.frame(schema, frame, way, largest, counts)).collect()
    }

    fn frame(
        &mut self,
        schema: Schema,
        frame: &tack::Frame,
        way: usize,
        largest: u64,
        counts: Option<tack::EcnCounts>,
    ) -> Value {
        match frame {
            tack::Frame::Padding(octets) => schema.with_length(json!({ "frame_type": "padding" }), (*octets).into()),
            tack::Frame::Ping => json!({ "frame_type": "ping" }),
            tack::Frame::Stream(piece) => stream(schema, piece.id.into(), piece.offset, piece.length, piece.is_end),
            tack::Frame::Tack(tack) => self.ack(tack, way, largest, counts),
            tack::Frame::Loss(loss) => json!({
                "frame_type": "tack_loss",
                "after": loss.after.near(largest),
                "before": loss.before.near(largest),
                "arrived": loss.arrived,
            }),
            tack::Frame::EcnCounts(counts) => {
                json!({ "frame_type": "tack_ecn_counts", "ect0": counts.ect0, "ce": counts.ce })
            }
            tack::Frame::Window { stream, limit } => {
                json!({ "frame_type": "max_stream_data", "stream_id": stream, "maximum": limit })
            }
            tack::Frame::Blocked { stream } => json!({ "frame_type": "tack_blocked", "stream_id": stream }),
            tack::Frame::Sync(sync) => json!({
                "frame_type": "tack_sync",
                "min_rtt": us(sync.rtt_min.into()),
                "ack_loss": f64::from(sync.ack_loss) / 65536.0,
                "packets": sync.packets,
                "beta": sync.beta,
            }),
            tack::Frame::Forget { below } => json!({ "frame_type": "tack_forget", "below": below.near(largest) }),
            tack::Frame::Reset { stream, size, code } => reset(schema, (*stream).into(), (*code).into(), *size),
            tack::Frame::Close { code } => close(schema, "application", (*code).into()),
            tack::Frame::Open { source, parameters } => offer("tack_open", *source, parameters),
            tack::Frame::Accept { source, parameters, delay, .. } => {
                let mut accept = offer("tack_accept", *source, parameters);
                accept["delay"] = us((*delay).into()).into();
                accept
            }
            tack::Frame::Streams { limit } => {
                json!({ "frame_type": "max_streams", "stream_type": "bidirectional", "maximum": limit })
            }
            tack::Frame::Crypto(crypto) => {
                let frame = json!({ "frame_type": "crypto", "offset": crypto.offset });
                schema.with_length(frame, crypto.length.into())
            }
            tack::Frame::Token(token) => json!({ "frame_type": "new_token", "token_length": token.len() }),
            tack::Frame::Stop { stream, code } => {
                with_error(schema, json!({ "frame_type": "stop_sending", "stream_id": stream }), (*code).into())
            }
            tack::Frame::Challenge(_) => json!({ "frame_type": "path_challenge" }),
            tack::Frame::Response(_) => json!({ "frame_type": "path_response" }),
            tack::Frame::Extension(extension) => {
                json!({ "frame_type": "unknown", "frame_type_bytes": extension.kind })
            }
            tack::Frame::Versions(versions) => json!({ "frame_type": "tack_versions", "versions": versions }),
        }
    }

    /// Returns a TACK as an ACK frame. The frame's ranges are the numbers that this TACK is the
    /// first to acknowledge cumulatively, and the runs of its acked list. Fields that only TACK has
    /// are added to the frame.
    fn ack(&mut self, tack: &tack::Tack, way: usize, largest: u64, counts: Option<tack::EcnCounts>) -> Value {
        let next = tack.next.near(largest);
        let before = self.cumulative[way].min(next);
        self.cumulative[way] = self.cumulative[way].max(next);
        let listed = tack::ranges(next, &tack.acked);
        let all = std::iter::once(before..next).filter(|range| !range.is_empty()).chain(listed);
        let mut frame = json!({ "frame_type": "ack", "ack_delay": us(tack.delay.into()) });
        if let Some(counts) = counts {
            (frame["ect0"], frame["ce"]) = (counts.ect0.into(), counts.ce.into());
        }
        let ranges = acked_ranges(all);
        if ranges != json!([]) {
            frame["acked_ranges"] = ranges;
        }
        frame["tack"] = json!({
            "next": next,
            "lost_ranges": acked_ranges(tack::ranges(next, &tack.lost)),
            "unlisted": tack.unlisted,
            "late": tack.late,
            "delivered": tack.delivered,
            "interval": us(tack.interval.into()),
        });
        frame
    }
}
