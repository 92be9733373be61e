//! The streams of a connection.
//!
//! A stream runs both ways. The end that opens the connection opens streams of even ids, its peer those of odd ids (RFC 9000, §2.1);
//! stream 0 is there from the start. Streams that have something to send take turns, packet by packet.

pub use crate::streams::{Lifetime, ResetCode};

pub(super) use crate::streams::{Incoming, Outgoing, Piece, Violation};

use super::refusal::Refusal;
use super::settings::Settings;
use crate::tcp::receiver::Reading;
use acklab_base::Instant;

/// Both halves of a stream.
#[derive(Debug)]
pub(super) struct Stream {
    id: u32,
    pub(super) outgoing: Outgoing,
    pub(super) incoming: Incoming,
}

/// Which end of the connection this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It opens the connection.
    Opener,
    /// It is opened.
    Answerer,
}

impl Side {
    /// The lowest id of the streams that this side opens.
    const fn first_id(self) -> u32 {
        match self {
            Self::Opener => 0,
            Self::Answerer => 1,
        }
    }

    const fn opens(self, id: u32) -> bool {
        id % 2 == self.first_id()
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
    receive_buffer: u64,
    reading: Reading,
    /// How many streams the peer may open, and how many it lets this end open.
    of_peer: u32,
    of_this_end: u32,
    /// The window with which the peer lets a stream begin.
    first_window: u64,
    /// Octets that have arrived on all streams.
    received: u64,
}

impl Streams {
    pub(super) fn new(side: Side, settings: &Settings) -> Self {
        let mut streams = Self {
            side,
            all: Vec::new(),
            turn: 0,
            send_buffer: settings.send_buffer.get(),
            receive_buffer: settings.receive_buffer.get(),
            reading: Reading::AtOnce,
            of_peer: settings.streams,
            of_this_end: 0,
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
            stream.incoming = Incoming::new(reading, self.receive_buffer);
        }
    }

    fn add(&mut self, id: u32) -> usize {
        let outgoing = Outgoing::new(id, self.send_buffer, self.first_window);
        let incoming = Incoming::new(self.reading, self.receive_buffer);
        let place = self.all.partition_point(|stream| stream.id < id);
        self.all.insert(place, Stream { id, outgoing, incoming });
        place
    }

    /// What the peer offers in the handshake.
    pub(super) fn on_parameters(&mut self, window: u64, streams: u32) {
        (self.first_window, self.of_this_end) = (window, streams);
        self.all.iter_mut().for_each(|stream| stream.outgoing.on_window(window));
    }

    /// Opens a stream, if the peer lets it.
    pub(super) fn open(&mut self) -> Option<u32> {
        let opened = self.all.iter().filter(|stream| self.side.opens(stream.id)).count() as u32;
        if opened >= self.of_this_end {
            return None;
        }
        let last = self.all.iter().rev().find(|stream| self.side.opens(stream.id)).map(|stream| stream.id);
        let id = last.map_or(self.side.first_id(), |last| last + 2);
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

    /// May the peer speak of this stream? Nothing is opened by that.
    pub(super) fn check_id(&self, id: u32) -> Result<Option<&Stream>, Refusal> {
        match self.get(id) {
            Some(stream) => Ok(Some(stream)),
            None if !self.side.opens(id) && id / 2 < self.of_peer => Ok(None),
            None => Err(Refusal::Stream),
        }
    }

    /// Would the stream take what ends there?
    pub(super) fn check(&self, id: u32, end: u64, is_end: bool) -> Result<(), Refusal> {
        match self.check_id(id)? {
            Some(stream) => Ok(stream.incoming.check(end, is_end)?),
            None if end > self.receive_buffer => Err(Refusal::Window),
            None => Ok(()),
        }
    }

    /// The stream of this id, which was [checked](Self::check_id). The peer opens it if it is new.
    fn of_peer(&mut self, id: u32) -> &mut Stream {
        let place = self.place(id).unwrap_or_else(|| self.add(id));
        &mut self.all[place]
    }

    /// Octets have arrived that were checked. Returns how many of them are new.
    #[inline]
    pub(super) fn insert(&mut self, id: u32, start: u64, end: u64, is_end: bool) -> u64 {
        let incoming = &mut self.of_peer(id).incoming;
        let fresh = incoming.insert(start, end, is_end);
        if end > start {
            incoming.owe_window();
        }
        self.received += fresh;
        fresh
    }

    /// The peer has reset a stream that was checked.
    pub(super) fn on_reset(&mut self, id: u32, size: u64, code: u32) {
        self.of_peer(id).incoming.on_reset(size, code);
    }

    /// The peer asks for the window of a stream that was checked.
    pub(super) fn owe_window(&mut self, id: u32) {
        self.of_peer(id).incoming.owe_window();
    }

    /// Octets that have arrived on all streams, each counted once.
    #[inline]
    pub(super) const fn received(&self) -> u64 {
        self.received
    }

    /// Has any stream something that may be sent?
    #[inline]
    pub(super) fn have_due(&self) -> bool {
        self.all.iter().any(|stream| stream.outgoing.has_due())
    }

    /// The stream whose turn it is, if any has something to send.
    #[inline]
    pub(super) fn next_due(&mut self) -> Option<&mut Outgoing> {
        let count = self.all.len();
        let place =
            (0..count).map(|step| (self.turn + step) % count).find(|place| self.all[*place].outgoing.has_due())?;
        self.turn = (place + 1) % count;
        Some(&mut self.all[place].outgoing)
    }

    /// Does the stream whose turn it is send something again?
    #[inline]
    pub(super) fn repeat_next(&self) -> bool {
        let count = self.all.len();
        let mut in_turn = (0..count).map(|step| &self.all[(self.turn + step) % count].outgoing);
        in_turn.find(|outgoing| outgoing.has_due()).is_some_and(Outgoing::repeats)
    }

    /// When the first lifetime ends.
    #[inline]
    pub(super) fn expires_at(&self) -> Option<Instant> {
        self.all.iter().filter_map(|stream| stream.outgoing.expires_at()).min()
    }

    /// Gives up the streams whose lifetime is over.
    pub(super) fn expire(&mut self, now: Instant) {
        for stream in &mut self.all {
            if stream.outgoing.expires_at().is_some_and(|at| at <= now) {
                stream.outgoing.reset(ResetCode::Expired);
            }
        }
    }

    /// The next reset that is to be sent: of which stream, its size and code.
    pub(super) fn due_reset(&self) -> Option<(u32, u64, ResetCode)> {
        self.all.iter().find_map(|stream| Some((stream.id, stream.outgoing.sent(), stream.outgoing.due_reset()?)))
    }

    /// Is something written that a window holds back, and nothing else to be sent?
    pub(super) fn are_blocked(&self) -> bool {
        !self.have_due() && self.all.iter().any(|stream| stream.outgoing.is_blocked())
    }

    /// Ask for the windows of all that are blocked.
    pub(super) fn ask_for_windows(&mut self) {
        for stream in self.all.iter_mut().filter(|stream| stream.outgoing.is_blocked()) {
            stream.outgoing.ask_for_window();
        }
    }

    /// The next stream whose window is to be asked for.
    pub(super) fn take_question(&mut self) -> Option<u32> {
        self.all.iter_mut().find_map(|stream| stream.outgoing.take_question().then_some(stream.id))
    }

    /// Is any window to be asked for?
    pub(super) fn have_questions(&self) -> bool {
        self.all.iter().any(|stream| stream.outgoing.has_question())
    }

    /// The next stream whose window is to be told, and the window.
    pub(super) fn take_window(&mut self) -> Option<(u32, u64)> {
        self.all.iter_mut().find_map(|stream| Some((stream.id, stream.incoming.take_window()?)))
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

impl Stream {
    pub(super) const fn id(&self) -> u32 {
        self.id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streams(side: Side) -> Streams {
        let mut streams = Streams::new(side, &Settings { streams: 2, ..Settings::default() });
        streams.on_parameters(10_000, 3);
        streams
    }

    #[test]
    fn sides_open_streams_of_their_own() {
        let (mut opener, mut answerer) = (streams(Side::Opener), streams(Side::Answerer));
        assert_eq!([(); 3].map(|()| opener.open()), [Some(2), Some(4), None], "stream 0 is one of three");
        assert_eq!([(); 4].map(|()| answerer.open()), [Some(1), Some(3), Some(5), None]);
        assert_eq!(opener.check(3, 10, false), Ok(()));
        assert_eq!(opener.check(5, 10, false), Err(Refusal::Stream), "the peer may open two");
        assert_eq!(opener.check(6, 10, false), Err(Refusal::Stream), "this end would open it");
        assert_eq!(opener.check(3, 5 << 20, false), Err(Refusal::Window));
        assert_eq!((opener.insert(3, 5, 10, false), opener.received()), (5, 5));
    }

    #[test]
    fn streams_take_turns() {
        let mut streams = streams(Side::Opener);
        let other = streams.open().unwrap();
        for id in [0, other] {
            streams.get_mut(id).unwrap().outgoing.write(2500);
        }
        let order: Vec<(u32, u16)> = std::iter::from_fn(|| {
            let piece = streams.next_due()?.take(1000)?;
            Some((piece.id, piece.length))
        })
        .collect();
        assert_eq!(order, [(0, 1000), (2, 1000), (0, 1000), (2, 1000), (0, 500), (2, 500)]);
    }
}
