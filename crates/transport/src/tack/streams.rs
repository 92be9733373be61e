//! The streams of a connection.
//!
//! A stream runs both ways. The end that opens the connection opens streams of even ids, its peer those of odd ids (RFC 9000, §2.1);
//! stream 0 is there from the start. Streams that have something to send take turns, packet by packet.

mod incoming;
mod outgoing;

pub use outgoing::{Lifetime, ResetCode};

pub(super) use incoming::Incoming;
pub(super) use outgoing::Outgoing;

use super::refusal::Refusal;
use super::settings::Settings;
use crate::ack::Ranges;
use crate::tcp::receiver::Reading;
use acklab_base::{Arrival, Instant};
use std::ops::Range;

/// Octets of a stream that leave in one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) id: u32,
    pub(super) start: u64,
    pub(super) length: u16,
    /// Does the stream end behind them?
    pub(super) is_end: bool,
    /// Did they leave before?
    pub(super) is_again: bool,
}

impl Piece {
    pub(super) const fn end(&self) -> u64 {
        self.start + self.length as u64
    }

    /// The numbers that it takes, the end of the stream included.
    pub(super) const fn numbers(&self) -> Range<u64> {
        self.start..self.end() + self.is_end as u64
    }
}

/// Both halves of a stream.
#[derive(Debug)]
pub(super) struct Stream {
    id: u32,
    pub(super) outgoing: Outgoing,
    pub(super) incoming: Incoming,
    /// Of a message: octets that its application has been told of.
    told: u64,
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

/// The place of a stream among those that its side opens.
const fn rank(id: u32) -> u64 {
    id as u64 / 2
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
    /// How many streams the peer may have open, and how many it lets this end have open.
    of_peer: u32,
    of_this_end: u32,
    /// The id of the next stream that this end opens.
    next_id: u32,
    /// The streams of messages that are over and were removed, by [`rank`]: those that this end opened, and those of the peer.
    over: [Ranges; 2],
    /// Octets written to streams that were removed.
    written_before: u64,
    /// Whether streams carry messages.
    has_messages: bool,
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
            next_id: side.first_id() + if side.opens(0) { 2 } else { 0 },
            over: Default::default(),
            written_before: 0,
            has_messages: false,
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
        self.all.insert(place, Stream { id, outgoing, incoming, told: 0 });
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
        let after = self.next_id.checked_add(2)?;
        if opened >= self.of_this_end {
            return None;
        }
        let id = std::mem::replace(&mut self.next_id, after);
        self.add(id);
        Some(id)
    }

    /// Opens a stream for a message.
    pub(super) fn open_message(&mut self) -> Option<&mut Outgoing> {
        self.has_messages = true;
        self.remove_if(|side, stream| side.opens(stream.id) && stream.outgoing.is_finished());
        let id = self.open()?;
        self.get_mut(id).map(|stream| &mut stream.outgoing)
    }

    /// The next message of the peer of which something has arrived that its application was not told of.
    pub(super) fn take_arrival(&mut self) -> Option<Arrival> {
        self.has_messages = true;
        let side = self.side;
        let messages = self.all.iter_mut().filter(|stream| stream.id > 0 && !side.opens(stream.id));
        for stream in messages {
            let octets = stream.incoming.received() - stream.told;
            if octets > 0 {
                stream.told += octets;
                // Stream 0 carries no message.
                return Some(Arrival { number: rank(stream.id) - u64::from(side == Side::Answerer), octets });
            }
        }
        self.remove_if(|side, stream| !side.opens(stream.id) && stream.incoming.is_finished());
        None
    }

    /// Removes streams of messages that are over.
    fn remove_if(&mut self, is_over: impl Fn(Side, &Stream) -> bool) {
        let Self { side, all, over, written_before, turn, .. } = self;
        let before = all.len();
        all.retain(|stream| {
            let is_over = stream.id > 0 && is_over(*side, stream);
            if is_over {
                over[usize::from(!side.opens(stream.id))].insert(rank(stream.id)..rank(stream.id) + 1);
                *written_before += stream.outgoing.written();
            }
            !is_over
        });
        if all.len() < before {
            *turn %= all.len();
        }
    }

    /// Whether this stream carried a message and was removed.
    fn is_over(&self, id: u32) -> bool {
        let over = &self.over[usize::from(!self.side.opens(id))];
        over.first_duplicate(rank(id)..rank(id) + 1).is_some()
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
            None if self.is_over(id) => Ok(None),
            None if !self.side.opens(id) && rank(id) < u64::from(self.of_peer) + self.over[1].received() => Ok(None),
            None => Err(Refusal::Stream),
        }
    }

    /// Would the stream take what ends there?
    pub(super) fn check(&self, id: u32, end: u64, is_end: bool) -> Result<(), Refusal> {
        match self.check_id(id)? {
            Some(stream) => stream.incoming.check(end, is_end),
            None if end > self.receive_buffer => Err(Refusal::Window),
            None => Ok(()),
        }
    }

    /// The stream of this id, which was [checked](Self::check_id). The peer opens it if it is new. Returns `None` if it is over.
    fn of_peer(&mut self, id: u32) -> Option<&mut Stream> {
        let place = match self.place(id) {
            Some(place) => place,
            None if self.is_over(id) => return None,
            None => self.add(id),
        };
        Some(&mut self.all[place])
    }

    /// Octets have arrived that were checked. Returns how many of them are new.
    #[inline]
    pub(super) fn insert(&mut self, id: u32, start: u64, end: u64, is_end: bool) -> u64 {
        let fresh = self.of_peer(id).map_or(0, |stream| stream.incoming.insert(start, end, is_end));
        self.received += fresh;
        fresh
    }

    /// The peer has reset a stream that was checked.
    pub(super) fn on_reset(&mut self, id: u32, size: u64, code: u32) {
        if let Some(stream) = self.of_peer(id) {
            stream.incoming.on_reset(size, code);
        }
    }

    /// The peer asks for the window of a stream that was checked.
    pub(super) fn owe_window(&mut self, id: u32) {
        if let Some(stream) = self.of_peer(id) {
            stream.incoming.owe_window();
        }
    }

    /// The peer tells the window of a stream.
    pub(super) fn on_window(&mut self, id: u32, limit: u64) -> Result<(), Refusal> {
        if let Some(place) = self.place(id) {
            self.all[place].outgoing.on_window(limit);
        } else if !self.is_over(id) {
            return Err(Refusal::Stream);
        }
        Ok(())
    }

    /// Octets written to all streams.
    pub(super) fn written(&self) -> u64 {
        self.written_before + self.all.iter().map(|stream| stream.outgoing.written()).sum::<u64>()
    }

    /// Whether streams carry messages, so that octets have no order.
    pub(super) const fn has_messages(&self) -> bool {
        self.has_messages
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
    fn a_message_that_is_over_makes_room_for_the_next() {
        let settings = Settings { streams: 3, ..Settings::default() };
        let (mut opener, mut answerer) = (streams(Side::Opener), Streams::new(Side::Answerer, &settings));
        let send = |opener: &mut Streams| {
            let message = opener.open_message()?;
            message.write(100);
            message.close();
            message.take(1000)
        };
        let pieces: Vec<Piece> = std::iter::from_fn(|| send(&mut opener)).collect();
        assert_eq!(pieces.iter().map(|piece| piece.id).collect::<Vec<_>>(), [2, 4], "the peer accepts three streams");
        // The second arrives first.
        assert_eq!((answerer.check(4, 100, true), answerer.insert(4, 0, 100, true)), (Ok(()), 100));
        assert_eq!(answerer.take_arrival(), Some(Arrival { number: 1, octets: 100 }));
        assert_eq!((answerer.take_arrival(), answerer.get(4).is_some()), (None, false));
        assert_eq!((answerer.check(4, 100, true), answerer.insert(4, 0, 100, true)), (Ok(()), 0), "again");
        assert_eq!((answerer.take_arrival(), answerer.received()), (None, 100));
        opener.get_mut(4).unwrap().outgoing.on_acked(&pieces[1]);
        assert_eq!(send(&mut opener).map(|piece| piece.id), Some(6));
        assert_eq!((opener.on_window(4, 9), opener.on_window(12, 9)), (Ok(()), Err(Refusal::Stream)));
        assert_eq!((answerer.check(6, 100, true), answerer.check(8, 100, true)), (Ok(()), Err(Refusal::Stream)));
        assert_eq!(opener.written(), 300);
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
