//! Control frames. If the packet of a control frame is lost, the frame is retransmitted with its
//! present value (RFC 9000, §13.3).

use super::Data;
use crate::quic::ask::Requester;
use crate::quic::flow::Window;
use crate::quic::streams::Streams;
use acklab_base::{Duration, Instant};
use acklab_wire::quic::{Direction, Frame};

/// A frame that must arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::quic) enum Control {
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

impl Control {
    /// Handles the acknowledgment of the packet with this control frame.
    pub(in crate::quic) fn acknowledge(self, data: &mut Data, requester: &mut Requester) {
        match self {
            Self::AckFrequency { sequence } => requester.on_acked(sequence),
            Self::Reset(id) => {
                if let Some(stream) = data.streams.table.get_mut(id) {
                    stream.outgoing.on_reset_acked();
                }
            }
            _ => {}
        }
    }

    /// Handles the loss of the packet with this control frame. The frame is due again, with its
    /// present value.
    pub(in crate::quic) fn lose(self, data: &mut Data, requester: &mut Requester) {
        match self {
            Self::HandshakeDone => data.due.handshake_done = true,
            Self::AckFrequency { sequence } => requester.on_lost(sequence),
            Self::MaxData => data.offer.on_lost(),
            Self::MaxStreams => data.due.max_streams = true,
            Self::DataBlocked => data.credit.on_lost(),
            Self::MaxStreamData(id) => {
                if let Some(stream) = data.streams.table.get_mut(id) {
                    stream.incoming.require_window_update();
                    stream.own.owes_window = true;
                }
            }
            Self::StreamDataBlocked(id) => {
                if let Some(stream) = data.streams.table.get_mut(id) {
                    stream.own.complained = None;
                }
            }
            Self::Reset(id) => {
                if let Some(stream) = data.streams.table.get_mut(id) {
                    stream.outgoing.on_reset_lost();
                }
            }
            Self::StopSending(id) => {
                if let Some(stream) = data.streams.table.get_mut(id) {
                    stream.own.owes_stop = stream.own.stop_code;
                }
            }
        }
    }
}

/// Control frames of the connection that are due.
#[derive(Debug, Default)]
pub(super) struct Due {
    handshake_done: bool,
    pub(super) max_streams: bool,
    path_responses: Vec<[u8; 8]>,
}

impl Data {
    /// Schedules `HANDSHAKE_DONE`, which notifies the client that the handshake is confirmed.
    pub(in crate::quic) const fn owe_handshake_done(&mut self) {
        self.due.handshake_done = true;
    }

    /// Schedules the echo of a path challenge (RFC 9000, §8.2).
    pub(in crate::quic) fn on_path_challenge(&mut self, data: [u8; 8]) {
        self.due.path_responses.push(data);
    }

    /// Returns `true` if a control frame of the connection, of its streams or of `asker` is due.
    pub(in crate::quic) fn has_control(&self, requester: &Requester) -> bool {
        let due = &self.due;
        due.handshake_done
            || due.max_streams
            || !due.path_responses.is_empty()
            || requester.is_due()
            || self.offer.is_due()
            || (self.credit.complaint().is_some() && self.streams.have_new())
            || self.streams.have_control()
    }

    /// Returns the next control frame that fits into `room` bytes, and its record for
    /// retransmission.
    pub(in crate::quic) fn next_control(
        &mut self,
        now: Instant,
        room: u64,
        srtt: Option<Duration>,
        requester: &mut Requester,
    ) -> Option<(Frame, Option<Control>)> {
        // Maximum size of the frames below, in bytes.
        const MOST: u64 = 1 + 8 + 8 + 8;
        if room < MOST {
            return None;
        }
        if std::mem::take(&mut self.due.handshake_done) {
            return Some((Frame::HandshakeDone, Some(Control::HandshakeDone)));
        }
        if let Some(data) = self.due.path_responses.pop() {
            return Some((Frame::PathResponse(data), None));
        }
        if room >= 2 * MOST
            && let Some(frequency) = requester.take()
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
}

/// Returns the next control frame of a stream.
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
        stream.incoming.require_window_update();
        if let Some(limit) = stream.incoming.take_window() {
            return Some((Frame::MaxStreamData { stream: id.into(), limit }, Control::MaxStreamData(id)));
        }
        // All data of the stream have arrived meanwhile, so no request to stop is necessary.
        return stream_control(streams, now, srtt);
    }
    let limit = stream.outgoing.limit();
    stream.own.complained = Some(limit);
    Some((Frame::StreamDataBlocked { stream: id.into(), limit }, Control::StreamDataBlocked(id)))
}
