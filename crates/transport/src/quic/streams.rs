//! The streams of a connection (RFC 9000, §2 and §3).
//!
//! All streams are bidirectional. The client opens streams 0, 4, 8 …, the server 1, 5, 9 ….
//! Unidirectional streams are not supported. Streams with data to send take turns, packet by
//! packet. The application's port is stream 0, which exists from the start.

use super::flow::Tuning;
use super::settings::ConnectionConfig;
use crate::streams::{Side, Table, Violation};
use acklab_base::Instant;
use acklab_wire::quic::TransportError;

impl From<Violation> for TransportError {
    fn from(violation: Violation) -> Self {
        match violation {
            Violation::Window => Self::FlowControl,
            Violation::End => Self::FinalSize,
        }
    }
}

/// The state of a stream in addition to its two directions.
#[derive(Debug)]
pub(crate) struct Control {
    pub(super) tuning: Tuning,
    /// `true` if the window must be announced to the peer.
    pub(super) owes_window: bool,
    /// The last limit of the stream that this end has reported as blocking.
    pub(super) complained: Option<u64>,
    /// The code of a due request that the peer stop sending.
    pub(super) owes_stop: Option<u32>,
    /// The code of the request that was sent.
    pub(super) stop_code: Option<u32>,
}

impl Control {
    const fn new(tuning: Tuning) -> Self {
        Self { tuning, owes_window: false, complained: None, owes_stop: None, stop_code: None }
    }
}

pub(super) type Stream = crate::streams::Stream<Control>;

impl Stream {
    /// Returns `true` if the peer's window blocks sending and the peer has not yet received a
    /// report.
    fn owes_complaint(&self) -> bool {
        self.outgoing.is_blocked() && self.own.complained != Some(self.outgoing.limit())
    }

    fn has_control(&self) -> bool {
        self.own.owes_window
            || self.own.owes_stop.is_some()
            || self.outgoing.due_reset().is_some()
            || self.owes_complaint()
    }

    /// Returns `true` if both directions have ended.
    fn is_over(&self) -> bool {
        self.outgoing.is_finished() && self.incoming.is_at_end()
    }

    /// Records that bytes were delivered to the application. `before` is the number of bytes
    /// delivered earlier.
    fn note_read(&mut self, now: Instant, before: u64) {
        if self.incoming.delivered() > before {
            self.own.tuning.begin(now);
        }
        self.own.owes_window |= self.own.tuning.is_worth_telling(self.incoming.released(), self.incoming.buffer());
    }
}

/// All streams.
#[derive(Debug)]
pub(super) struct Streams {
    pub(super) table: Table<Control>,
    /// Tuning of the window of a new stream.
    tuning: Tuning,
    /// The maximum number of open streams of the peer, and the total number that the peer may open.
    concurrent: u64,
    offered: u64,
    /// The total number of streams that the peer permits this end to open.
    allowed: u64,
}

impl Streams {
    pub(super) fn new(side: Side, config: &ConnectionConfig) -> Self {
        let (window, tuning) =
            (config.flow_control.initial().0, config.flow_control.tunings(config.updates_per_window).0);
        Self {
            table: Table::new(side, config.send_buffer.get(), window, Control::new(tuning)),
            tuning,
            concurrent: config.streams.into(),
            offered: config.streams.into(),
            allowed: 0,
        }
    }

    fn add(&mut self, id: u32) -> &mut Stream {
        self.table.add(id, Control::new(self.tuning))
    }

    /// Applies the limits that the peer announced in the handshake.
    pub(super) fn on_parameters(&mut self, window: u64, streams: u64) {
        self.allowed = self.allowed.max(streams);
        self.table.set_first_window(window);
    }

    /// Raises the total number of streams that the peer permits.
    pub(super) fn on_max_streams(&mut self, limit: u64) {
        self.allowed = self.allowed.max(limit);
    }

    /// Opens a stream, if the peer permits another. Returns its ID.
    pub(super) fn open(&mut self) -> Option<u32> {
        let side = self.table.side;
        let id = self.table.of_side(side).next_back().map_or(side.first_id(), |last| last.id() + 4);
        if u64::from(id / 4) >= self.allowed {
            return None;
        }
        self.add(id);
        Some(id)
    }

    /// Returns the stream with the ID in a frame of the peer. Opens the stream if it is new.
    pub(super) fn of_peer(&mut self, id: u64) -> Result<&mut Stream, TransportError> {
        // Neither end may use unidirectional streams.
        if id & 2 != 0 {
            return Err(TransportError::StreamLimit);
        }
        let is_own = self.table.side.opens(id);
        if !is_own && id / 4 >= self.offered {
            return Err(TransportError::StreamLimit);
        }
        let id = u32::try_from(id).map_err(|_| TransportError::StreamState)?;
        if self.table.get(id).is_none() {
            if is_own {
                return Err(TransportError::StreamState);
            }
            self.add(id);
            self.table.on_opened(id);
        }
        self.table.get_mut(id).ok_or(TransportError::StreamState)
    }

    /// Inserts bytes that have arrived. Returns the increase of the highest offset, and the number
    /// of bytes delivered to the application.
    pub(super) fn insert(
        &mut self,
        now: Instant,
        id: u64,
        start: u64,
        end: u64,
        is_end: bool,
        admits: impl FnOnce(u64) -> bool,
    ) -> Result<(u64, u64), TransportError> {
        let stream = self.of_peer(id)?;
        stream.incoming.check(end, is_end)?;
        let (highest, delivered) = (stream.incoming.highest(), stream.incoming.delivered());
        if stream.incoming.reset_code().is_some() {
            return Ok((0, 0));
        }
        if !admits(end.saturating_sub(highest)) {
            return Err(TransportError::FlowControl);
        }
        let id = stream.id();
        self.table.on_arrived(id, start, end, is_end);
        let stream = self.table.get_mut(id).ok_or(TransportError::StreamState)?;
        stream.note_read(now, delivered);
        Ok((stream.incoming.highest() - highest, stream.incoming.delivered() - delivered))
    }

    /// Handles the peer's reset of a stream. Returns the increase of the highest offset, and the
    /// number of bytes that flow control treats as read.
    pub(super) fn on_reset(
        &mut self,
        id: u64,
        size: u64,
        code: u64,
        admits: impl FnOnce(u64) -> bool,
    ) -> Result<(u64, u64), TransportError> {
        let stream = self.of_peer(id)?;
        stream.incoming.check_reset(size)?;
        if stream.incoming.reset_code().is_some() {
            return Ok((0, 0));
        }
        let (highest, delivered) = (stream.incoming.highest(), stream.incoming.delivered());
        if !admits(size.saturating_sub(highest)) {
            return Err(TransportError::FlowControl);
        }
        let id = stream.id();
        self.table.on_reset(id, size, u32::try_from(code).unwrap_or(u32::MAX));
        Ok((size - highest, size - delivered))
    }

    /// Reads for the application. Returns the number of bytes read.
    pub(super) fn read(&mut self, now: Instant, id: u32, most: u64) -> Option<u64> {
        let stream = self.table.get_mut(id)?;
        if stream.incoming.reset_code().is_some() {
            return Some(0);
        }
        let before = stream.incoming.delivered();
        let octets = stream.incoming.read(most);
        stream.note_read(now, before);
        Some(octets)
    }

    /// Returns `true` if a stream has bytes that were never sent before.
    pub(super) fn have_new(&self) -> bool {
        self.table.iter().any(|stream| stream.outgoing.has_new())
    }

    /// Returns `true` if a control frame of a stream is due.
    pub(super) fn have_control(&self) -> bool {
        self.table.iter().any(Stream::has_control)
    }

    /// Returns the first stream for which a frame is due.
    pub(super) fn with_control(&self) -> Option<u32> {
        self.table.iter().find(|stream| stream.has_control()).map(Stream::id)
    }

    /// Returns `true` if a new limit of streams should be announced to the peer, because half of
    /// the permitted streams have ended.
    pub(super) fn may_offer_more(&self) -> bool {
        self.limit() - self.offered >= self.concurrent.div_ceil(2)
    }

    /// Permits the peer to open as many more streams as have ended. Returns the new total number.
    pub(super) fn offer_more(&mut self) -> u64 {
        self.offered = self.limit();
        self.offered
    }

    fn limit(&self) -> u64 {
        let peer = if self.table.side == Side::Client { Side::Server } else { Side::Client };
        let over = self.table.of_side(peer).filter(|stream| stream.is_over()).count();
        self.concurrent + over as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quic::Settings;

    fn streams(side: Side) -> Streams {
        let mut streams = Streams::new(side, &Settings { streams: 2, ..Settings::default() }.config());
        streams.on_parameters(10_000, 3);
        streams
    }

    #[test]
    fn sides_open_streams_of_their_own() {
        let (mut client, mut server) = (streams(Side::Client), streams(Side::Server));
        assert_eq!([(); 3].map(|()| client.open()), [Some(4), Some(8), None], "stream 0 is one of three");
        assert_eq!([(); 4].map(|()| server.open()), [Some(1), Some(5), Some(9), None]);
        client.on_max_streams(4);
        assert_eq!(client.open(), Some(12));
        let refused = |streams: &mut Streams, id| streams.of_peer(id).map(|stream| stream.id()).unwrap_err();
        assert_eq!(client.of_peer(5).map(|stream| stream.id()), Ok(5));
        assert_eq!(refused(&mut client, 9), TransportError::StreamLimit, "the peer may open two");
        assert_eq!(refused(&mut client, 3), TransportError::StreamLimit, "no unidirectional streams");
        assert_eq!(refused(&mut client, 400), TransportError::StreamState, "this end would open it");
    }

    #[test]
    fn the_connection_has_a_window_besides_those_of_streams() {
        let mut server = streams(Side::Server);
        assert_eq!(server.insert(Instant::ZERO, 0, 50, 100, false, |octets| octets == 100), Ok((100, 0)));
        assert_eq!(server.insert(Instant::ZERO, 0, 0, 50, false, |octets| octets == 0), Ok((0, 100)));
        assert_eq!(server.insert(Instant::ZERO, 4, 0, 50, false, |_| false), Err(TransportError::FlowControl));
        assert_eq!(server.on_reset(0, 150, 7, |octets| octets == 50), Ok((50, 50)));
        assert_eq!(
            server.insert(Instant::ZERO, 0, 100, 120, false, |_| true),
            Ok((0, 0)),
            "after a reset, nothing counts"
        );
    }
}
