//! The streams of a connection (RFC 9000, §2 and §3).
//!
//! All are bidirectional. The client opens streams 0, 4, 8 …, the server 1, 5, 9 …; unidirectional streams are not offered. Streams that
//! have something to send take turns, packet by packet. The port of an application is that of stream 0, which is there from the start.

use super::connection::Side;
use super::flow::{self, Tuning};
use super::settings::Config;
use crate::streams::{Incoming, Outgoing, Violation};
use crate::tcp::receiver::Reading;
use acklab_wire::quic::TransportError;

impl From<Violation> for TransportError {
    fn from(violation: Violation) -> Self {
        match violation {
            Violation::Window => Self::FlowControl,
            Violation::End => Self::FinalSize,
        }
    }
}

/// Both halves of a stream.
#[derive(Debug)]
pub(super) struct Stream {
    id: u32,
    pub(super) outgoing: Outgoing,
    pub(super) incoming: Incoming,
    pub(super) tuning: Tuning,
    /// The peer is to be told the window.
    pub(super) owes_window: bool,
    /// The limit of which the peer was last told that it holds back sending.
    pub(super) complained: Option<u64>,
    /// The peer is to be asked to stop sending, with this code.
    pub(super) owes_stop: Option<u32>,
    /// It was asked so.
    pub(super) stop_code: Option<u32>,
}

impl Stream {
    pub(super) const fn id(&self) -> u32 {
        self.id
    }

    /// Does the window of the peer hold back sending, and does it not know?
    fn owes_complaint(&self) -> bool {
        self.outgoing.is_blocked() && self.complained != Some(self.outgoing.limit())
    }

    fn has_control(&self) -> bool {
        self.owes_window || self.owes_stop.is_some() || self.outgoing.due_reset().is_some() || self.owes_complaint()
    }

    /// Have both halves ended?
    fn is_over(&self) -> bool {
        self.outgoing.is_finished() && self.incoming.is_at_end()
    }

    /// The application has been given octets.
    fn note_read(&mut self) {
        self.owes_window |= flow::is_worth_telling(self.incoming.released(), self.incoming.buffer());
    }
}

/// All streams, by their ids.
#[derive(Debug)]
pub(super) struct Streams {
    side: Side,
    all: Vec<Stream>,
    /// Which of them is to send first.
    turn: usize,
    send_buffer: u64,
    windows: (u64, u64),
    reading: Reading,
    /// How many streams the peer may have open at a time, and how many it was allowed to open in all.
    concurrent: u64,
    offered: u64,
    /// How many streams the peer lets this end open.
    allowed: u64,
    /// The window with which the peer lets a stream begin.
    first_window: u64,
    /// Octets that have arrived on all streams.
    received: u64,
}

impl Streams {
    pub(super) fn new(side: Side, config: &Config) -> Self {
        let windows = (config.flow_control.initial().0, config.flow_control.largest().0);
        let mut streams = Self {
            side,
            all: Vec::new(),
            turn: 0,
            send_buffer: config.send_buffer.get(),
            windows,
            reading: Reading::AtOnce,
            concurrent: config.streams.into(),
            offered: config.streams.into(),
            allowed: 0,
            first_window: 0,
            received: 0,
        };
        streams.add(0);
        streams
    }

    /// To be said before the connection opens.
    pub(super) fn set_reading(&mut self, reading: Reading) {
        self.reading = reading;
        for stream in &mut self.all {
            stream.incoming = Incoming::new(reading, self.windows.0);
        }
    }

    fn add(&mut self, id: u32) -> usize {
        let stream = Stream {
            id,
            outgoing: Outgoing::new(id, self.send_buffer, self.first_window),
            incoming: Incoming::new(self.reading, self.windows.0),
            tuning: Tuning::new(self.windows.1),
            owes_window: false,
            complained: None,
            owes_stop: None,
            stop_code: None,
        };
        let place = self.all.partition_point(|stream| stream.id < id);
        self.all.insert(place, stream);
        place
    }

    /// What the peer offers in the handshake.
    pub(super) fn on_parameters(&mut self, window: u64, streams: u64) {
        (self.first_window, self.allowed) = (window, self.allowed.max(streams));
        self.all.iter_mut().for_each(|stream| stream.outgoing.on_window(window));
    }

    /// The peer lets more streams be opened.
    pub(super) fn on_max_streams(&mut self, limit: u64) {
        self.allowed = self.allowed.max(limit);
    }

    /// Opens a stream, if the peer lets it. Returns its id.
    pub(super) fn open(&mut self) -> Option<u32> {
        let last = self.all.iter().rev().find(|stream| self.side.opens(stream.id.into()));
        let id = last.map_or(self.side.first_id(), |last| last.id + 4);
        if u64::from(id / 4) >= self.allowed {
            return None;
        }
        self.add(id);
        Some(id)
    }

    /// The stream that applications know as that of the connection.
    #[inline]
    pub(super) fn main(&self) -> &Stream {
        &self.all[0]
    }

    #[inline]
    pub(super) fn main_mut(&mut self) -> &mut Stream {
        &mut self.all[0]
    }

    #[inline]
    pub(super) fn get(&self, id: u32) -> Option<&Stream> {
        self.place(id).map(|place| &self.all[place])
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut Stream> {
        self.place(id).map(|place| &mut self.all[place])
    }

    #[inline]
    fn place(&self, id: u32) -> Option<usize> {
        // Most connections have one.
        if id == 0 { Some(0) } else { self.all.binary_search_by_key(&id, |stream| stream.id).ok() }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Stream> {
        self.all.iter()
    }

    /// The stream of this id, of which the peer speaks and which it opens if it is new.
    pub(super) fn of_peer(&mut self, id: u64) -> Result<&mut Stream, TransportError> {
        // Unidirectional streams are not offered, and this end opens none.
        if id & 2 != 0 {
            return Err(TransportError::StreamLimit);
        }
        let is_own = self.side.opens(id);
        if !is_own && id / 4 >= self.offered {
            return Err(TransportError::StreamLimit);
        }
        let id = u32::try_from(id).map_err(|_| TransportError::StreamState)?;
        match self.place(id) {
            Some(place) => Ok(&mut self.all[place]),
            None if is_own => Err(TransportError::StreamState),
            None => {
                let place = self.add(id);
                Ok(&mut self.all[place])
            }
        }
    }

    /// Octets have arrived. Returns by how much the highest offset grew, and how many octets the application has been given.
    pub(super) fn insert(
        &mut self,
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
        let fresh = stream.incoming.insert(start, end, is_end);
        stream.note_read();
        let grown = (stream.incoming.highest() - highest, stream.incoming.delivered() - delivered);
        self.received += fresh;
        Ok(grown)
    }

    /// The peer has reset a stream. Returns by how much the highest offset grew, and how many octets count as read.
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
        stream.incoming.on_reset(size, u32::try_from(code).unwrap_or(u32::MAX));
        Ok((size - highest, size - delivered))
    }

    /// The application reads. Returns how much it was.
    pub(super) fn read(&mut self, id: u32, most: u64) -> Option<u64> {
        let stream = self.get_mut(id)?;
        if stream.incoming.reset_code().is_some() {
            return Some(0);
        }
        let octets = stream.incoming.read(most);
        stream.note_read();
        Some(octets)
    }

    /// Octets that have arrived on all streams, each counted once.
    #[inline]
    pub(super) const fn received(&self) -> u64 {
        self.received
    }

    /// Has any stream something that may be sent, with at most `fresh` octets that were never sent?
    #[inline]
    pub(super) fn have_due(&self, fresh: u64) -> bool {
        self.all.iter().any(|stream| stream.outgoing.has_due_within(fresh))
    }

    /// Has any stream something that was never sent?
    pub(super) fn have_new(&self) -> bool {
        self.all.iter().any(|stream| stream.outgoing.has_new())
    }

    /// The stream whose turn it is, if any has something to send.
    #[inline]
    pub(super) fn next_due(&mut self, fresh: u64) -> Option<&mut Stream> {
        let count = self.all.len();
        let mut places = (0..count).map(|step| (self.turn + step) % count);
        let place = places.find(|place| self.all[*place].outgoing.has_due_within(fresh))?;
        self.turn = (place + 1) % count;
        Some(&mut self.all[place])
    }

    /// Is a frame due that speaks of a stream?
    pub(super) fn have_control(&self) -> bool {
        self.all.iter().any(Stream::has_control)
    }

    /// The first stream of which a frame is due.
    pub(super) fn with_control(&self) -> Option<u32> {
        self.all.iter().find(|stream| stream.has_control()).map(|stream| stream.id)
    }

    /// May the peer be allowed to open more streams, because half of those that it was allowed are over?
    pub(super) fn may_offer_more(&self) -> bool {
        self.limit() - self.offered >= self.concurrent.div_ceil(2)
    }

    /// Allows the peer to open as many streams as it has ended. Returns how many it may open in all.
    pub(super) fn offer_more(&mut self) -> u64 {
        self.offered = self.limit();
        self.offered
    }

    fn limit(&self) -> u64 {
        let over = self.all.iter().filter(|stream| !self.side.opens(stream.id.into()) && stream.is_over()).count();
        self.concurrent + over as u64
    }

    /// Has everything been sent and acknowledged that this end will ever send?
    pub(super) fn all_sent(&self) -> bool {
        self.all.iter().all(|stream| stream.outgoing.is_finished())
    }

    /// Has everything arrived and been read that will ever come?
    pub(super) fn all_received(&self) -> bool {
        self.all.iter().all(|stream| stream.incoming.is_at_end())
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
        assert_eq!(server.insert(0, 50, 100, false, |octets| octets == 100), Ok((100, 0)));
        assert_eq!(server.insert(0, 0, 50, false, |octets| octets == 0), Ok((0, 100)));
        assert_eq!(server.insert(4, 0, 50, false, |_| false), Err(TransportError::FlowControl));
        assert_eq!(server.on_reset(0, 150, 7, |octets| octets == 50), Ok((50, 50)));
        assert_eq!(server.insert(0, 100, 120, false, |_| true), Ok((0, 0)), "after a reset, nothing counts");
    }
}
