//! The streams of a connection, by stream id.
//!
//! Streams with bytes to send take turns, packet by packet. Stream 0 belongs to the connection
//! itself: it exists from the start and is never removed. The transport determines which further
//! streams may be opened.

use super::{Incoming, Outgoing, Side};
use crate::reading::Reading;
use acklab_base::StreamEvents;

/// Both halves of a stream.
#[derive(Debug)]
pub(crate) struct Stream<T> {
    id: u32,
    pub(crate) outgoing: Outgoing,
    pub(crate) incoming: Incoming,
    /// The transport's state of the stream.
    pub(crate) own: T,
}

impl<T> Stream<T> {
    pub(crate) const fn id(&self) -> u32 {
        self.id
    }
}

/// All streams of a connection.
#[derive(Debug)]
pub(crate) struct Table<T> {
    pub(crate) side: Side,
    all: Vec<Stream<T>>,
    /// The index of the stream that sends next.
    turn: usize,
    send_buffer: u64,
    receive_buffer: u64,
    /// The initial window of each sending half of the peer, as this end's handshake reported it.
    announced: u64,
    reading: Reading,
    /// The initial window of each sending half of this end, as the peer reported it.
    first_window: u64,
    /// The number of distinct bytes that have arrived on all streams.
    pub(crate) received: u64,
    /// The number of distinct bytes acknowledged on all streams.
    pub(super) acknowledged: u64,
    pub(crate) events: StreamEvents,
}

impl<T> Table<T> {
    /// Creates a table with stream 0. The sizes of buffers are in bytes per stream.
    pub(crate) fn new(side: Side, send_buffer: u64, receive_buffer: u64, own: T) -> Self {
        let mut table = Self {
            side,
            all: Vec::new(),
            turn: 0,
            send_buffer,
            receive_buffer,
            announced: receive_buffer,
            reading: Reading::AtOnce,
            first_window: 0,
            received: 0,
            acknowledged: 0,
            events: StreamEvents::default(),
        };
        table.add(0, own);
        table
    }

    /// Returns the number of distinct bytes acknowledged on all streams.
    pub(crate) const fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Sets how the application reads. Call it before the connection opens.
    pub(crate) fn set_reading(&mut self, reading: Reading) {
        self.reading = reading;
        for stream in &mut self.all {
            stream.incoming = Incoming::new(reading, self.receive_buffer);
        }
    }

    /// Sets the initial window of each stream, as the peer reported it.
    pub(crate) fn set_first_window(&mut self, window: u64) {
        self.first_window = window;
        self.all.iter_mut().for_each(|stream| stream.outgoing.on_window(window));
    }

    /// Returns the initial window that this end reported.
    pub(crate) const fn announced(&self) -> u64 {
        self.announced
    }

    /// Sets the maximum number of unread bytes per stream, unless it is already larger. Reports of
    /// the windows of all streams are then pending.
    pub(crate) fn raise_receive_buffer(&mut self, octets: u64) {
        self.receive_buffer = self.receive_buffer.max(octets);
        for stream in &mut self.all {
            stream.incoming.grow(self.receive_buffer);
            stream.incoming.require_window_update();
        }
    }

    /// Adds a stream with a new id.
    pub(crate) fn add(&mut self, id: u32, own: T) -> &mut Stream<T> {
        let outgoing = Outgoing::new(id, self.send_buffer, self.first_window);
        let incoming = Incoming::new(self.reading, self.receive_buffer).with_window(self.announced);
        let place = self.all.partition_point(|stream| stream.id < id);
        self.all.insert(place, Stream { id, outgoing, incoming, own });
        &mut self.all[place]
    }

    /// Removes the streams that do not satisfy `keeps`, except stream 0.
    pub(crate) fn retain(&mut self, mut keeps: impl FnMut(&Stream<T>) -> bool) {
        let before = self.all.len();
        self.all.retain(|stream| stream.id == 0 || keeps(stream));
        if self.all.len() < before {
            self.turn %= self.all.len();
        }
    }

    /// Returns stream 0, which belongs to the connection itself.
    #[inline]
    pub(crate) fn main(&self) -> &Stream<T> {
        &self.all[0]
    }

    #[inline]
    pub(crate) fn main_mut(&mut self) -> &mut Stream<T> {
        &mut self.all[0]
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> Option<&Stream<T>> {
        self.place(id).map(|place| &self.all[place])
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: u32) -> Option<&mut Stream<T>> {
        self.place(id).map(|place| &mut self.all[place])
    }

    #[inline]
    fn place(&self, id: u32) -> Option<usize> {
        // Most connections have one stream. In other connections, most packets belong to the newest
        // stream.
        match self.all.last() {
            _ if id == 0 => Some(0),
            Some(newest) if newest.id == id => Some(self.all.len() - 1),
            _ => self.all.binary_search_by_key(&id, |stream| stream.id).ok(),
        }
    }

    /// Returns the streams in the order of their ids.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Stream<T>> {
        self.all.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, Stream<T>> {
        self.all.iter_mut()
    }

    /// Returns the streams that one side has opened.
    pub(crate) fn of_side(&self, side: Side) -> impl DoubleEndedIterator<Item = &Stream<T>> {
        self.all.iter().filter(move |stream| side.opens(stream.id.into()))
    }

    /// Returns the number of bytes of stream 0 that applications have read.
    pub(crate) fn delivered(&self) -> u64 {
        self.main().incoming.delivered()
    }

    /// Returns `true` if a stream has bytes that may be sent, of which at most `fresh` are new.
    #[inline]
    pub(crate) fn have_due(&self, fresh: u64) -> bool {
        self.all.iter().any(|stream| stream.outgoing.has_due_within(fresh))
    }

    /// Returns the number of bytes that the streams may send, of which at most `fresh` are new.
    /// Stops counting at `enough`.
    pub(crate) fn due_octets(&self, mut fresh: u64, enough: u64) -> u64 {
        let mut due = 0;
        for stream in &self.all {
            let new = stream.outgoing.due_new(fresh);
            (due, fresh) = (due + new, fresh - new);
            if due < enough {
                due += stream.outgoing.due_again(enough - due);
            }
            if due >= enough {
                break;
            }
        }
        due
    }

    /// Returns the index of the next stream in turn that has bytes to send, if any.
    #[inline]
    fn due_place(&self, fresh: u64) -> Option<usize> {
        let is_due = |place: &usize| self.all[*place].outgoing.has_due_within(fresh);
        // Most connections have one stream.
        if is_due(&self.turn) {
            return Some(self.turn);
        }
        (self.turn + 1..self.all.len()).chain(0..self.turn).find(is_due)
    }

    /// Returns the next stream in turn that has bytes to send, if any. Does not advance the turn.
    #[inline]
    pub(crate) fn peek_due(&self, fresh: u64) -> Option<&Stream<T>> {
        self.due_place(fresh).map(|place| &self.all[place])
    }

    /// Returns the next stream in turn that has bytes to send, if any. Advances the turn.
    #[inline]
    pub(crate) fn next_due(&mut self, fresh: u64) -> Option<&mut Stream<T>> {
        let place = self.due_place(fresh)?;
        self.turn = if place + 1 < self.all.len() { place + 1 } else { 0 };
        Some(&mut self.all[place])
    }

    /// Returns `true` if all streams of this end are acknowledged, including their ends.
    pub(crate) fn all_sent(&self) -> bool {
        self.all.iter().all(|stream| stream.outgoing.is_finished())
    }

    /// Returns `true` if all streams of the peer are read up to their ends.
    pub(crate) fn all_received(&self) -> bool {
        self.all.iter().all(|stream| stream.incoming.is_at_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_take_turns() {
        let mut table = Table::new(Side::Client, 10_000, 10_000, ());
        table.set_first_window(10_000);
        table.add(2, ());
        for stream in table.iter_mut() {
            stream.outgoing.write(2500);
        }
        let order: Vec<(u32, u16)> = std::iter::from_fn(|| {
            let next = table.peek_due(u64::MAX)?.id();
            let piece = table.next_due(u64::MAX)?.outgoing.take(1000)?;
            assert_eq!(piece.id, next);
            Some((piece.id, piece.length))
        })
        .collect();
        assert_eq!(order, [(0, 1000), (2, 1000), (0, 1000), (2, 1000), (0, 500), (2, 500)]);
    }

    #[test]
    fn the_turn_stays_inside_the_table_when_streams_are_removed() {
        let mut table = Table::new(Side::Client, 10_000, 10_000, ());
        table.set_first_window(10_000);
        table.add(4, ());
        table.add(2, ()).outgoing.write(1);
        assert_eq!(table.next_due(u64::MAX).map(|stream| stream.id()), Some(2), "the turn passes to stream 4");
        table.retain(|_| false);
        assert_eq!(table.iter().map(Stream::id).collect::<Vec<_>>(), [0], "stream 0 stays");
        table.main_mut().outgoing.write(1);
        assert_eq!(table.next_due(u64::MAX).map(|stream| stream.id()), Some(0));
    }
}
