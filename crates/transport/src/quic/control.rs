//! What must be said besides octets of streams: frames that are sent again, in their present form, if their packet is lost
//! (RFC 9000, §13.3).

use super::connection::Connection;
use super::flow::Window;
use super::streams::Streams;
use acklab_base::{Duration, Instant};
use acklab_wire::quic::{Direction, Frame};

/// A frame that must arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    HandshakeDone,
    AckFrequency { sequence: u64 },
    MaxData,
    MaxStreamData(u32),
    MaxStreams,
    DataBlocked,
    StreamDataBlocked(u32),
    Reset(u32),
    StopSending(u32),
}

/// Frames that are due, besides those of streams.
#[derive(Debug, Default)]
pub(super) struct Due {
    pub(super) handshake_done: bool,
    pub(super) max_streams: bool,
    pub(super) path_responses: Vec<[u8; 8]>,
}

impl Connection {
    /// Returns `true` if a control frame is due.
    pub(super) fn has_control(&self) -> bool {
        let due = &self.due;
        due.handshake_done
            || due.max_streams
            || !due.path_responses.is_empty()
            || self.asker.is_due()
            || self.offer.is_due()
            || (self.credit.complaint().is_some() && self.streams.have_new())
            || self.streams.have_control()
    }

    /// The next control frame that fits into `room`, and what it is remembered as.
    pub(super) fn next_control(&mut self, now: Instant, room: u64) -> Option<(Frame, Option<Control>)> {
        // No frame below takes more.
        const MOST: u64 = 1 + 8 + 8 + 8;
        if room < MOST {
            return None;
        }
        let srtt = self.estimator.srtt();
        if std::mem::take(&mut self.due.handshake_done) {
            return Some((Frame::HandshakeDone, Some(Control::HandshakeDone)));
        }
        if let Some(data) = self.due.path_responses.pop() {
            return Some((Frame::PathResponse(data), None));
        }
        if room >= 2 * MOST
            && let Some(frequency) = self.asker.take()
        {
            let sequence = frequency.sequence;
            return Some((Frame::AckFrequency(frequency), Some(Control::AckFrequency { sequence })));
        }
        if let Some(limit) = self.offer.take(now, srtt) {
            return Some((Frame::MaxData(limit), Some(Control::MaxData)));
        }
        if std::mem::take(&mut self.due.max_streams) {
            let limit = self.streams.offer_more();
            let frame = Frame::MaxStreams { direction: Direction::Bidirectional, limit };
            return Some((frame, Some(Control::MaxStreams)));
        }
        if let Some(limit) = self.credit.complaint().filter(|_| self.streams.have_new()) {
            self.credit.on_complained();
            return Some((Frame::DataBlocked(limit), Some(Control::DataBlocked)));
        }
        stream_control(&mut self.streams, now, srtt).map(|(frame, control)| (frame, Some(control)))
    }

    /// The packet with this frame was acknowledged.
    pub(super) fn on_control_acked(&mut self, now: Instant, control: Control) {
        match control {
            Control::Reset(id) => {
                if let Some(stream) = self.streams.table.get_mut(id) {
                    stream.outgoing.on_reset_acked();
                }
            }
            Control::AckFrequency { sequence } => self.asker.on_acked(now, sequence),
            _ => {}
        }
    }

    /// The packet with this frame was lost.
    pub(super) fn on_control_lost(&mut self, control: Control) {
        match control {
            Control::HandshakeDone => self.due.handshake_done = true,
            Control::AckFrequency { sequence } => self.asker.on_lost(sequence),
            Control::MaxData => self.offer.on_lost(),
            Control::MaxStreams => self.due.max_streams = true,
            Control::DataBlocked => self.credit.on_lost(),
            Control::MaxStreamData(id) => {
                if let Some(stream) = self.streams.table.get_mut(id) {
                    stream.incoming.owe_window();
                    stream.own.owes_window = true;
                }
            }
            Control::StreamDataBlocked(id) => {
                if let Some(stream) = self.streams.table.get_mut(id) {
                    stream.own.complained = None;
                }
            }
            Control::Reset(id) => {
                if let Some(stream) = self.streams.table.get_mut(id) {
                    stream.outgoing.on_reset_lost();
                }
            }
            Control::StopSending(id) => {
                if let Some(stream) = self.streams.table.get_mut(id) {
                    stream.own.owes_stop = stream.own.stop_code;
                }
            }
        }
    }
}

/// The next control frame of a stream.
fn stream_control(streams: &mut Streams, now: Instant, srtt: Option<Duration>) -> Option<(Frame, Control)> {
    let id = streams.with_control()?;
    let stream = streams.table.get_mut(id)?;
    if let Some(code) = stream.outgoing.due_reset() {
        stream.outgoing.on_reset_sent();
        let frame = Frame::ResetStream { stream: id.into(), code: code.code().into(), size: stream.outgoing.sent() };
        return Some((frame, Control::Reset(id)));
    }
    if let Some(code) = stream.own.owes_stop.take() {
        return Some((Frame::StopSending { stream: id.into(), code: code.into() }, Control::StopSending(id)));
    }
    if std::mem::take(&mut stream.own.owes_window) {
        let (size, read, released) =
            (stream.incoming.buffer(), stream.incoming.delivered(), stream.incoming.released());
        let size = stream.own.tuning.resized(now, srtt, Window { size, read, released });
        stream.incoming.grow(size);
        stream.incoming.owe_window();
        if let Some(limit) = stream.incoming.take_window() {
            return Some((Frame::MaxStreamData { stream: id.into(), limit }, Control::MaxStreamData(id)));
        }
        // The end of the stream is known meanwhile.
        return stream_control(streams, now, srtt);
    }
    let limit = stream.outgoing.limit();
    stream.own.complained = Some(limit);
    Some((Frame::StreamDataBlocked { stream: id.into(), limit }, Control::StreamDataBlocked(id)))
}
