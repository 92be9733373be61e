//! Octets of streams within their flow control, and the control frames that must arrive.

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

/// The least room in octets with which another stream frame is begun.
pub(super) const LEAST_PIECE: u64 = 16;

/// Streams, their flow control, and the frames that are due for them.
#[derive(Debug)]
pub(super) struct Data {
    streams: Streams,
    /// How much the peer lets this end send, and the other way round.
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

    /// All streams.
    #[inline]
    pub(super) const fn table(&self) -> &Table<StreamControl> {
        &self.streams.table
    }

    /// All streams.
    #[inline]
    pub(super) const fn table_mut(&mut self) -> &mut Table<StreamControl> {
        &mut self.streams.table
    }

    /// The handshake is complete: the limits of the peer apply.
    pub(super) fn on_parameters(&mut self, peer: &Parameters) {
        self.streams.on_parameters(peer.stream_window, peer.streams);
        self.credit.on_limit(peer.connection_window);
    }

    /// Opens a stream, if the peer allows another.
    pub(super) fn open(&mut self) -> Option<u32> {
        self.streams.open()
    }

    /// The application reads at most `most` octets of a stream. Returns how many it has read;
    /// `None` if there is no such stream.
    pub(super) fn read(&mut self, now: Instant, stream: u32, most: u64) -> Option<u64> {
        let delivered = |data: &Self| data.table().get(stream).map_or(0, |stream| stream.incoming.delivered());
        let before = delivered(self);
        let octets = self.streams.read(now, stream, most)?;
        self.offer.on_read(now, delivered(self) - before);
        Some(octets)
    }

    /// Asks the peer to send no more of a stream. Returns `false` if there is no such stream.
    pub(super) fn stop(&mut self, stream: u32, code: ResetCode) -> bool {
        let Some(stream) = self.streams.table.get_mut(stream) else { return false };
        (stream.own.owes_stop, stream.own.stop_code) = (Some(code.code()), Some(code.code()));
        true
    }

    /// Octets that applications have been given of all streams.
    pub(super) fn delivered(&self) -> u64 {
        self.table().iter().map(|stream| stream.incoming.delivered()).sum()
    }

    /// The application has closed the first stream, and all octets and ends of streams are
    /// acknowledged.
    pub(super) fn is_all_acknowledged(&self) -> bool {
        self.table().main().outgoing.is_closed() && self.table().all_sent()
    }

    /// Returns `true` if octets or ends of streams may leave.
    #[inline]
    pub(super) fn have_due(&self) -> bool {
        self.streams.table.have_due(self.credit.left())
    }

    /// Octets that may leave, up to `most`.
    pub(super) fn due_octets(&self, most: u64) -> u64 {
        self.streams.table.due_octets(self.credit.left(), most)
    }

    /// Returns `true` if nothing may leave, and octets that were never sent wait for the window of
    /// the connection or of their stream.
    pub(super) fn are_blocked(&self) -> bool {
        !self.have_due() && self.table().iter().any(|stream| stream.outgoing.has_new() || stream.outgoing.is_blocked())
    }

    /// Returns `true` if a stream has octets that were never sent.
    pub(super) fn have_new(&self) -> bool {
        self.streams.have_new()
    }

    /// Octets of streams leave in the room of a packet.
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
                // All octets that were to be sent again have been acknowledged meanwhile. Other
                // streams may have octets to send.
                continue;
            };
            if !piece.is_again {
                self.credit.on_used(piece.length.into());
            }
            draft.octets_of_streams += u64::from(piece.length);
            draft.repeats |= piece.is_again;
            let stream =
                Stream { id: piece.id.into(), offset: piece.start, length: piece.length, is_end: piece.is_end };
            // Before another frame, this one needs its length.
            draft.push_measured(frames, Frame::Stream(stream), stream.wire_len());
            draft.content.push(piece);
            if draft.room < LEAST_PIECE {
                break;
            }
        }
    }

    /// Octets of a stream are acknowledged. Returns how many were not before.
    #[inline]
    pub(super) fn on_acked(&mut self, piece: &Piece) {
        self.streams.table.on_acked(piece);
    }

    /// The packet with these octets of a stream was lost.
    pub(super) fn on_lost(&mut self, piece: &Piece) {
        if let Some(stream) = self.streams.table.get_mut(piece.id) {
            stream.outgoing.on_lost(piece);
        }
    }

    /// These octets of a stream, which are outstanding, leave again.
    pub(super) fn repeat(&mut self, piece: &Piece) {
        if let Some(stream) = self.streams.table.get_mut(piece.id) {
            stream.outgoing.repeat(piece);
        }
    }

    /// Octets of a stream have arrived, or its end.
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

    /// The peer sends no more of a stream.
    pub(super) fn on_reset(&mut self, now: Instant, stream: u64, size: u64, code: u64) -> Result<(), TransportError> {
        let offer = &self.offer;
        let (used, read) = self.streams.on_reset(stream, size, code, |octets| offer.admits(octets))?;
        self.offer.on_used(used);
        self.offer.on_read(now, read);
        self.note_stream_end();
        Ok(())
    }

    /// The peer asks this end to send no more of a stream, which is reset with the code that the
    /// peer names (RFC 9000, §3.5).
    pub(super) fn on_stop_sending(&mut self, stream: u64, code: u64) -> Result<(), TransportError> {
        let code = u32::try_from(code).unwrap_or(u32::MAX);
        self.streams.of_peer(stream)?.outgoing.reset(ResetCode::of(code));
        Ok(())
    }

    /// The peer lets this end send up to this limit over all streams.
    pub(super) fn on_max_data(&mut self, limit: u64) {
        self.credit.on_limit(limit);
    }

    /// The peer lets this end send up to this offset of a stream.
    pub(super) fn on_max_stream_data(&mut self, stream: u64, limit: u64) -> Result<(), TransportError> {
        self.streams.of_peer(stream)?.outgoing.on_window(limit);
        Ok(())
    }

    /// The peer lets this end open `limit` streams in all.
    pub(super) fn on_max_streams(&mut self, limit: u64) {
        self.streams.on_max_streams(limit);
    }

    /// The peer says that a stream waits for a window, which this end opens as its application
    /// reads.
    pub(super) fn on_stream_data_blocked(&mut self, stream: u64) -> Result<(), TransportError> {
        self.streams.of_peer(stream).map(|_| ())
    }

    /// A half of a stream has ended.
    pub(super) fn note_stream_end(&mut self) {
        self.due.max_streams |= self.streams.may_offer_more();
    }
}
