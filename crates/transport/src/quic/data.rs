//! Sends and receives stream data within flow control, and sends the control frames that must
//! arrive.

mod control;

pub(super) use control::Control;

use super::draft::Draft;
use super::flow::{Credit, Offer};
use super::handshake::Parameters;
use super::settings::ConnectionConfig;
use super::streams::{Control as StreamControl, Streams};
use crate::streams::{Piece, ResetCode, Side, Table};
use acklab_base::Instant;
use acklab_wire::quic::{Frame, Frames, Stream, TransportError};
use control::Due;

/// Minimum number of free bytes in a packet for another stream frame.
pub(super) const MIN_PIECE: u64 = 16;

/// Streams, their flow control, and the frames that are due for them.
#[derive(Debug)]
pub(super) struct Data {
    streams: Streams,
    /// The bytes that the peer permits this end to send, and the bytes that this end permits the
    /// peer to send.
    credit: Credit,
    offer: Offer,
    due: Due,
}

impl Data {
    pub(super) fn new(side: Side, config: &ConnectionConfig) -> Self {
        let (_, window) = config.flow_control.initial();
        let (_, tuning) = config.flow_control.tunings(config.updates_per_window);
        Self {
            streams: Streams::new(side, config),
            credit: Credit::default(),
            offer: Offer::new(window, tuning),
            due: Due::default(),
        }
    }

    /// Returns all streams.
    #[inline]
    pub(super) const fn table(&self) -> &Table<StreamControl> {
        &self.streams.table
    }

    /// Returns all streams.
    #[inline]
    pub(super) const fn table_mut(&mut self) -> &mut Table<StreamControl> {
        &mut self.streams.table
    }

    /// Applies the limits of the peer once the handshake is complete.
    pub(super) fn on_parameters(&mut self, peer: &Parameters) {
        self.streams.on_parameters(peer.stream_window, peer.streams);
        self.credit.on_limit(peer.connection_window);
    }

    /// Opens a stream, if the peer permits another.
    pub(super) fn open(&mut self) -> Option<u32> {
        self.streams.open()
    }

    /// Reads at most `most` bytes of a stream for the application. Returns the number of bytes
    /// read, or `None` if there is no such stream.
    pub(super) fn read(&mut self, now: Instant, stream: u32, most: u64) -> Option<u64> {
        let delivered = |data: &Self| data.table().get(stream).map_or(0, |stream| stream.incoming.delivered());
        let before = delivered(self);
        let octets = self.streams.read(now, stream, most)?;
        self.offer.on_read(now, delivered(self) - before);
        Some(octets)
    }

    /// Requests that the peer stop sending on a stream. Returns `false` if there is no such stream.
    pub(super) fn stop(&mut self, stream: u32, code: ResetCode) -> bool {
        let Some(stream) = self.streams.table.get_mut(stream) else { return false };
        (stream.own.owes_stop, stream.own.stop_code) = (Some(code.code()), Some(code.code()));
        true
    }

    /// Returns the bytes of all streams that were delivered to applications.
    pub(super) fn delivered(&self) -> u64 {
        self.table().iter().map(|stream| stream.incoming.delivered()).sum()
    }

    /// Returns `true` if the application has closed the first stream, and all bytes and ends of
    /// streams are acknowledged.
    pub(super) fn is_all_acknowledged(&self) -> bool {
        self.table().main().outgoing.is_closed() && self.table().all_sent()
    }

    /// Returns `true` if bytes or ends of streams may be sent.
    #[inline]
    pub(super) fn have_due(&self) -> bool {
        self.streams.table.have_due(self.credit.left())
    }

    /// Returns the number of bytes that may be sent, up to `most`.
    pub(super) fn due_octets(&self, most: u64) -> u64 {
        self.streams.table.due_octets(self.credit.left(), most)
    }

    /// Returns `true` if no data may be sent, and new bytes wait for the flow-control window of the
    /// connection or of their stream.
    pub(super) fn are_blocked(&self) -> bool {
        !self.have_due() && self.table().iter().any(|stream| stream.outgoing.has_new() || stream.outgoing.is_blocked())
    }

    /// Returns `true` if a stream has bytes that were never sent before.
    pub(super) fn have_new(&self) -> bool {
        self.streams.have_new()
    }

    /// Fills the free bytes of a packet with stream data.
    #[inline]
    pub(super) fn take(&mut self, draft: &mut Draft, frames: &mut Frames) {
        loop {
            let fresh = self.credit.left();
            let Some(stream) = self.streams.table.next_due(fresh) else { break };
            let header = Frame::stream_header(stream.id().into(), stream.outgoing.next_offset());
            let Some(piece) = stream.outgoing.take_within(draft.room.saturating_sub(header), fresh) else {
                if stream.outgoing.has_due_within(fresh) {
                    break;
                }
                // The stream had data to retransmit, but all of them have been acknowledged
                // meanwhile. Other streams may have bytes to send.
                continue;
            };
            if !piece.is_again {
                self.credit.on_used(piece.length.into());
            }
            draft.octets_of_streams += u64::from(piece.length);
            draft.repeats |= piece.is_again;
            let stream =
                Stream { id: piece.id.into(), offset: piece.start, length: piece.length, is_end: piece.is_end };
            // A stream frame needs a Length field if another frame follows.
            draft.push_measured(frames, Frame::Stream(stream), stream.wire_len());
            draft.content.push(piece);
            if draft.room < MIN_PIECE {
                break;
            }
        }
    }

    /// Handles the acknowledgment of bytes of a stream. Returns the number of newly acknowledged
    /// bytes.
    #[inline]
    pub(super) fn on_acked(&mut self, piece: &Piece) {
        self.streams.table.on_acked(piece);
    }

    /// Handles the loss of a packet with these bytes of a stream.
    pub(super) fn on_lost(&mut self, piece: &Piece) {
        if let Some(stream) = self.streams.table.get_mut(piece.id) {
            stream.outgoing.on_lost(piece);
        }
    }

    /// Schedules the retransmission of these outstanding bytes of a stream.
    pub(super) fn repeat(&mut self, piece: &Piece) {
        if let Some(stream) = self.streams.table.get_mut(piece.id) {
            stream.outgoing.repeat(piece);
        }
    }

    /// Handles the arrival of bytes of a stream, or of its end.
    pub(super) fn on_stream(&mut self, now: Instant, frame: &Stream) -> Result<(), TransportError> {
        let was_over = frame.is_end && self.streams.of_peer(frame.id)?.incoming.is_finished();
        let offer = &self.offer;
        let (used, read) = self
            .streams
            .insert(now, frame.id, frame.offset, frame.end(), frame.is_end, |octets| offer.admits(octets))?;
        self.offer.on_used(used);
        self.offer.on_read(now, read);
        if frame.is_end && !was_over {
            self.note_stream_end();
        }
        Ok(())
    }

    /// Handles the peer's reset of a stream.
    pub(super) fn on_reset(&mut self, now: Instant, stream: u64, size: u64, code: u64) -> Result<(), TransportError> {
        let offer = &self.offer;
        let (used, read) = self.streams.on_reset(stream, size, code, |octets| offer.admits(octets))?;
        self.offer.on_used(used);
        self.offer.on_read(now, read);
        self.note_stream_end();
        Ok(())
    }

    /// Handles the peer's request to stop sending on a stream. The stream is reset with the code
    /// that the peer sent (RFC 9000, §3.5).
    pub(super) fn on_stop_sending(&mut self, stream: u64, code: u64) -> Result<(), TransportError> {
        let code = u32::try_from(code).unwrap_or(u32::MAX);
        self.streams.of_peer(stream)?.outgoing.reset(ResetCode::of(code));
        Ok(())
    }

    /// Raises the total number of bytes that this end may send on all streams.
    pub(super) fn on_max_data(&mut self, limit: u64) {
        self.credit.on_limit(limit);
    }

    /// Raises the offset up to which this end may send on a stream.
    pub(super) fn on_max_stream_data(&mut self, stream: u64, limit: u64) -> Result<(), TransportError> {
        self.streams.of_peer(stream)?.outgoing.on_window(limit);
        Ok(())
    }

    /// Raises the total number of streams that this end may open to `limit`.
    pub(super) fn on_max_streams(&mut self, limit: u64) {
        self.streams.on_max_streams(limit);
    }

    /// Handles the peer's report that a stream is blocked. No answer is necessary: the window is
    /// announced as the application reads.
    pub(super) fn on_stream_data_blocked(&mut self, stream: u64) -> Result<(), TransportError> {
        self.streams.of_peer(stream).map(|_| ())
    }

    /// Records that one direction of a stream has ended.
    pub(super) fn note_stream_end(&mut self) {
        self.due.max_streams |= self.streams.may_offer_more();
    }
}
