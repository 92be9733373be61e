//! TCP segments in the terms of QUIC, for logs.
//!
//! A segment has no packet number. The log therefore numbers sent segments and arriving segments in
//! their order from zero. A cumulative or selective acknowledgment becomes an ACK frame. The frame
//! contains the numbers of the segments that this acknowledgment is the first to cover. The
//! congestion graph of qvis thus shows when each transmission was acknowledged. Data become a
//! STREAM frame of stream 0. The receive window becomes a `MAX_DATA` frame. A SYN becomes a PING
//! frame in an Initial packet. The header's fields are logged in addition to the frames.

use super::frames::acked_ranges;
use super::schema::Schema;
use acklab_wire::tcp::{Flags, Segment, SeqNumber};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::ops::Range;

/// The segments of one direction, as seen by one end.
#[derive(Debug, Default)]
struct Direction {
    /// The sequence number of the SYN.
    initial: Option<SeqNumber>,
    /// Left shift of the window field (RFC 7323, §2.2), from the SYN.
    window_shift: Option<u8>,
    /// The highest sent offset plus one. Offsets are in sequence space, from the SYN.
    end: u64,
    /// The offset after the FIN.
    fin: Option<u64>,
    /// Offsets below this one are acknowledged cumulatively.
    acknowledged: u64,
    next_number: u64,
    /// Unacknowledged segments: offsets and number.
    open: VecDeque<(Range<u64>, u64)>,
}

impl Direction {
    fn offset(&self, number: SeqNumber) -> u64 {
        self.initial.map_or(0, |initial| number.offset_near(initial, self.end))
    }

    /// Adds a segment of this direction. Returns its packet number and its offset in sequence
    /// space.
    fn enter(&mut self, segment: &Segment) -> (u64, u64) {
        if segment.flags.contains(Flags::SYN) {
            self.initial = Some(segment.seq);
            self.window_shift = segment.options.window_scale;
        }
        let number = self.next_number;
        self.next_number += 1;
        let offset = self.offset(segment.seq);
        let range = offset..offset + segment.sequence_len();
        self.end = self.end.max(range.end);
        if segment.flags.contains(Flags::FIN) {
            self.fin = Some(range.end);
        }
        if !range.is_empty() {
            self.open.push_back((range, number));
        }
        (number, offset)
    }

    /// Returns the numbers of the segments that `segment` is the first to acknowledge. `segment`
    /// belongs to the other direction.
    fn acknowledge(&mut self, segment: &Segment) -> Vec<Range<u64>> {
        let cumulative = self.offset(segment.ack);
        self.acknowledged = self.acknowledged.max(cumulative);
        let blocks = segment.options.sack.as_slice().iter();
        let blocks: Vec<Range<u64>> = blocks.map(|block| self.offset(block.start)..self.offset(block.end)).collect();
        let mut numbers: Vec<Range<u64>> = Vec::new();
        let mut is_acked = |(range, number): &(Range<u64>, u64)| {
            let is_selected = |block: &Range<u64>| block.start <= range.start && range.end <= block.end;
            let is_acked = range.end <= cumulative || blocks.iter().any(is_selected);
            if is_acked {
                match numbers.last_mut() {
                    Some(last) if last.end == *number => last.end += 1,
                    _ => numbers.push(*number..number + 1),
                }
            }
            is_acked
        };
        self.open.retain(|segment| !is_acked(segment));
        numbers
    }

    /// Returns `true` if the FIN is acknowledged.
    fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| fin <= self.acknowledged)
    }
}

/// The segments of a connection, as seen by one end.
#[derive(Debug, Default)]
pub(super) struct Segments {
    /// The sending direction and the receiving direction.
    ways: [Direction; 2],
}

impl Segments {
    /// Returns the packet number, the frames and the header of a segment. `way` is 0 for a
    /// departing segment and 1 for an arriving one.
    pub(super) fn describe(&mut self, schema: Schema, segment: &Segment, way: usize) -> (u64, Vec<Value>, Value) {
        let (number, offset) = self.ways[way].enter(segment);
        let has = |flag| segment.flags.contains(flag);
        let mut frames = Vec::new();
        if has(Flags::ACK) {
            let numbers = self.ways[1 - way].acknowledge(segment);
            let mut ack = json!({ "frame_type": "ack" });
            if !numbers.is_empty() {
                ack["acked_ranges"] = acked_ranges(numbers);
            }
            frames.push(ack);
            // The window of a SYN is not scaled. No window is scaled unless both ends offer it (RFC
            // 7323, §2.2).
            let shift = self.ways[way].window_shift.zip(self.ways[1 - way].window_shift).map_or(0, |(own, _)| own);
            let shift = if has(Flags::SYN) { 0 } else { shift };
            let acknowledged = self.ways[1 - way].offset(segment.ack).saturating_sub(1);
            let maximum = acknowledged + (u64::from(segment.window) << shift);
            frames.push(json!({ "frame_type": "max_data", "maximum": maximum }));
        }
        if has(Flags::SYN) {
            frames.push(json!({ "frame_type": "ping" }));
        } else if segment.payload > 0 || has(Flags::FIN) {
            // The SYN is before the first octet of data.
            let mut frame = json!({ "frame_type": "stream", "stream_id": 0, "offset": offset.saturating_sub(1) });
            if has(Flags::FIN) {
                frame["fin"] = true.into();
            }
            frames.push(schema.with_length(frame, segment.payload.into()));
        }
        (number, frames, header(segment))
    }

    /// Returns the number of the last sent segment that contains the octet at stream offset
    /// `offset`.
    pub(super) fn last_with(&self, offset: u64) -> Option<u64> {
        // The SYN is before the first octet of data.
        let has_octet = |(range, _): &&(Range<u64>, u64)| range.contains(&(offset + 1));
        self.ways[0].open.iter().rev().find(has_octet).map(|(_, number)| *number)
    }

    /// Returns `true` if the connection has ended, that is, if the FIN of each direction with data
    /// is acknowledged. `directions` is the number of these directions.
    pub(super) fn are_finished(&self, directions: usize) -> bool {
        self.ways.iter().filter(|way| way.is_finished()).count() >= directions
    }
}

/// Returns the fields of the header, with the names of RFC 9293.
fn header(segment: &Segment) -> Value {
    let mut header = json!({
        "sequence_number": segment.seq.0,
        "flags": format!("{:?}", segment.flags),
        "window": segment.window,
    });
    if segment.flags.contains(Flags::ACK) {
        header["acknowledgment_number"] = segment.ack.0.into();
    }
    let sack = segment.options.sack.as_slice();
    if !sack.is_empty() {
        header["sack"] = sack.iter().map(|block| json!([block.start.0, block.end.0])).collect();
    }
    if let Some(clocks) = segment.options.timestamps {
        header["timestamps"] = json!([clocks.value, clocks.echo]);
    }
    header
}
