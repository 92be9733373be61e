//! The streams of a TACK connection.
//!
//! A stream is bidirectional. The client opens streams with even IDs, the server with odd IDs. A
//! message is a stream with a lifetime. The stream is removed once it has ended. Stream 0 is open
//! from the start. Each end limits the number of other streams that the peer has open at a time. It
//! announces the total number of streams that the peer may open, and raises this limit once half of
//! them have ended (RFC 9000, §4.6).

use super::refusal::Refusal;
use super::settings::Settings;
use crate::ack::Ranges;
use crate::streams::{Outgoing, ResetCode, Side, Table};
use acklab_base::{Arrival, Instant, StreamEvent};
use acklab_wire::tack::frame;

/// The state of a stream that may carry a message.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Message {
    /// Number of bytes whose arrival was reported to the application.
    told: u64,
    /// The request to stop sending, if the application no longer reads the stream.
    stop: Option<Stop>,
}

/// A request that the peer stop sending on a stream (RFC 9000, §3.5).
#[derive(Clone, Copy, Debug)]
struct Stop {
    code: u32,
    /// `true` if the request must be sent, for the first time or after a loss.
    is_due: bool,
}

type Stream = crate::streams::Stream<Message>;

/// Returns the position of a stream among the streams that the same side opens, without stream 0.
const fn rank(id: u32) -> u64 {
    id as u64 / 2 - (id > 0 && id.is_multiple_of(2)) as u64
}

/// All streams.
#[derive(Debug)]
pub(super) struct Streams {
    pub(super) table: Table<Message>,
    /// The maximum number of open streams of the peer, the announced total number, and whether the
    /// total must be announced.
    concurrent: u32,
    offered: u64,
    owes_offer: bool,
    /// The total number of streams that the peer has opened, derived from the largest position.
    opened_by_peer: u64,
    /// `true` if a request that the peer stop sending on a stream may be due.
    owes_stop: bool,
    /// The total number of streams that the peer permits this end to open.
    allowed: u64,
    /// The ID of the next stream that this end opens.
    next_id: u32,
    /// Removed streams of messages, by [`rank`]: streams opened by this end, and streams opened by
    /// the peer.
    over: [Ranges; 2],
    /// Bytes written to streams that were removed.
    written_before: u64,
    /// `true` if streams carry messages.
    has_messages: bool,
}

impl Streams {
    pub(super) fn new(side: Side, settings: &Settings) -> Self {
        let (send_buffer, receive_buffer) = (settings.send_buffer.get(), settings.receive_buffer.get());
        Self {
            table: Table::new(side, send_buffer, receive_buffer, Message::default()),
            concurrent: settings.streams,
            offered: settings.streams.into(),
            owes_offer: false,
            opened_by_peer: 0,
            owes_stop: false,
            allowed: 0,
            // Stream 0 is open.
            next_id: side.first_id() + if side.opens(0) { 2 } else { 0 },
            over: Default::default(),
            written_before: 0,
            has_messages: false,
        }
    }

    const fn opens(&self, id: u32) -> bool {
        self.table.side.opens(id as u64)
    }

    /// Applies the limits that the peer announced in the handshake.
    pub(super) fn on_parameters(&mut self, window: u64, streams: u32) {
        self.allowed = self.allowed.max(streams.into());
        self.table.set_first_window(window);
    }

    /// Raises the total number of streams that this end may open to `limit`.
    pub(super) fn on_limit(&mut self, limit: u32) {
        self.allowed = self.allowed.max(limit.into());
    }

    /// Raises the limits of the peer. Returns `true` if the limits must be announced.
    pub(super) fn raise(&mut self, streams: u32, receive_buffer: u64) {
        self.owes_offer |= streams > self.concurrent;
        self.concurrent = self.concurrent.max(streams);
        self.table.raise_receive_buffer(receive_buffer);
    }

    /// Returns the total number of streams that the peer may open, if the number must be announced.
    pub(super) fn take_offer(&mut self) -> Option<u32> {
        if !self.owes_offer() {
            return None;
        }
        self.owes_offer = false;
        self.offered = self.limit();
        u32::try_from(self.offered).ok()
    }

    /// Schedules the announcement again because it was lost.
    pub(super) const fn owe_offer(&mut self) {
        self.owes_offer = true;
    }

    /// Returns `true` if a new limit of streams should be announced to the peer, because half of
    /// the permitted streams have ended.
    #[inline]
    pub(super) fn owes_offer(&self) -> bool {
        let half = u64::from(self.concurrent.div_ceil(2));
        // While the peer may still open more than half of its streams, the ended streams need not
        // be counted.
        self.owes_offer || (self.offered - self.opened_by_peer <= half && self.limit() - self.offered >= half)
    }

    fn limit(&self) -> u64 {
        let peer = self.table.side.other();
        let is_over = |stream: &&Stream| {
            stream.id() > 0
                && stream.incoming.is_finished()
                && (self.has_messages || (stream.incoming.is_at_end() && stream.outgoing.is_finished()))
        };
        let over = self.table.of_side(peer).filter(is_over).count() as u64;
        u64::from(self.concurrent) + over + self.over[1].received()
    }

    /// Opens a stream, if the peer permits it.
    pub(super) fn open(&mut self) -> Option<u32> {
        let after = self.next_id.checked_add(2)?;
        if rank(self.next_id) >= self.allowed {
            return None;
        }
        let id = std::mem::replace(&mut self.next_id, after);
        self.table.add(id, Message::default());
        Some(id)
    }

    /// Opens a stream for a message.
    pub(super) fn open_message(&mut self) -> Option<&mut Outgoing> {
        self.has_messages = true;
        self.remove_if(|side, stream| side.opens(stream.id().into()) && stream.outgoing.is_finished());
        let id = self.open()?;
        self.table.get_mut(id).map(|stream| &mut stream.outgoing)
    }

    /// Returns the number of the next message of the peer with unreported data, and the number of
    /// those bytes.
    pub(super) fn take_arrival(&mut self) -> Option<Arrival> {
        self.has_messages = true;
        let side = self.table.side;
        let messages = self.table.iter_mut().filter(|stream| stream.id() > 0 && !side.opens(stream.id().into()));
        for stream in messages {
            let octets = stream.incoming.received() - stream.own.told;
            if octets > 0 {
                stream.own.told += octets;
                return Some(Arrival { number: rank(stream.id()), octets });
            }
        }
        self.remove_if(|side, stream| !side.opens(stream.id().into()) && stream.incoming.is_finished());
        None
    }

    /// Removes a stream that has ended. Returns `false` if the stream has not ended.
    pub(super) fn discard(&mut self, id: u32) -> bool {
        let is_over = |stream: &Stream| stream.incoming.is_at_end() && stream.outgoing.is_finished();
        let is_known = id > 0 && self.table.get(id).is_some_and(is_over);
        if is_known {
            self.remove_if(|_, stream| stream.id() == id);
        }
        is_known
    }

    /// Removes streams that have ended.
    fn remove_if(&mut self, is_over: impl Fn(Side, &Stream) -> bool) {
        let Self { table, over, written_before, .. } = self;
        let side = table.side;
        table.retain(|stream| {
            let is_over = is_over(side, stream);
            if is_over {
                let rank = rank(stream.id());
                over[usize::from(!side.opens(stream.id().into()))].insert(rank..rank + 1);
                *written_before += stream.outgoing.written();
            }
            !is_over
        });
    }

    /// Returns `true` if the stream with this ID carried a message and was removed.
    fn is_over(&self, id: u32) -> bool {
        let over = &self.over[usize::from(!self.opens(id))];
        over.first_duplicate(rank(id)..rank(id) + 1).is_some()
    }

    /// Checks that the peer may use the stream ID `id`. Returns the stream if it is open. Never
    /// opens a stream.
    pub(super) fn check_id(&self, id: u32) -> Result<Option<&Stream>, Refusal> {
        match self.table.get(id) {
            Some(stream) => Ok(Some(stream)),
            None if self.is_over(id) => Ok(None),
            None if !self.opens(id) && rank(id) < self.offered => Ok(None),
            None => Err(Refusal::Stream),
        }
    }

    /// Checks that the stream can accept these bytes.
    pub(super) fn check(&self, piece: &frame::Stream) -> Result<(), Refusal> {
        match self.check_id(piece.id)? {
            Some(stream) if stream.incoming.is_fragmented(piece.offset) => Err(Refusal::Gaps),
            Some(stream) => Ok(stream.incoming.check(piece.end(), piece.is_end)?),
            None if piece.end() > self.table.announced() => Err(Refusal::Window),
            None => Ok(()),
        }
    }

    /// Returns `true` if reading has released so much of a window that it must be announced
    /// immediately.
    #[inline]
    pub(super) fn has_released(&self, id: u32, mss: u64) -> bool {
        self.table.get(id).is_some_and(|stream| stream.incoming.has_released(mss))
    }

    /// Returns the stream with this ID, which was [checked](Self::check_id). Opens the stream if it
    /// is new. Returns `None` if it has ended.
    fn of_peer(&mut self, id: u32) -> Option<&mut Stream> {
        if self.table.get(id).is_none() {
            if self.is_over(id) {
                return None;
            }
            self.table.add(id, Message::default());
            self.table.on_opened(id);
            self.opened_by_peer = self.opened_by_peer.max(rank(id) + 1);
        }
        self.table.get_mut(id)
    }

    /// Inserts bytes that have arrived and were checked. Returns the number of new bytes.
    #[inline]
    pub(super) fn insert(&mut self, id: u32, start: u64, end: u64, is_end: bool) -> u64 {
        let Some(stream) = self.of_peer(id) else { return 0 };
        if end > start {
            stream.incoming.require_window_update();
        }
        self.table.on_arrived(id, start, end, is_end)
    }

    /// Handles the peer's reset of a stream. The stream ID was checked.
    pub(super) fn on_reset(&mut self, id: u32, size: u64, code: u32) {
        if self.of_peer(id).is_some() {
            self.table.on_reset(id, size, code);
        }
    }

    /// Schedules a request that the peer stop sending on a stream that is no longer read. No
    /// request is necessary if all data have arrived.
    pub(super) fn stop(&mut self, id: u32, code: u32) {
        if let Some(stream) = self.table.get_mut(id).filter(|stream| !stream.incoming.is_finished()) {
            stream.own.stop.get_or_insert(Stop { code, is_due: true });
            self.owes_stop = true;
        }
    }

    /// Returns `true` if a request that the peer stop sending on a stream may be due.
    #[inline]
    pub(super) const fn owe_stop(&self) -> bool {
        self.owes_stop
    }

    /// Returns the ID of the next stream with a due request to stop sending, and its code.
    #[inline]
    pub(super) fn take_stop(&mut self) -> Option<(u32, u32)> {
        if !self.owes_stop {
            return None;
        }
        for stream in self.table.iter_mut().filter(|stream| !stream.incoming.is_finished()) {
            let id = stream.id();
            if let Some(stop) = &mut stream.own.stop
                && std::mem::take(&mut stop.is_due)
            {
                return Some((id, stop.code));
            }
        }
        self.owes_stop = false;
        None
    }

    /// Schedules the request to stop sending again because it was lost.
    pub(super) fn on_stop_lost(&mut self, id: u32) {
        if let Some(stop) = self.table.get_mut(id).and_then(|stream| stream.own.stop.as_mut()) {
            stop.is_due = true;
            self.owes_stop = true;
        }
    }

    /// Handles the peer's request to stop sending on a stream. The stream ID was checked. The
    /// stream is reset with the peer's code (RFC 9000, §3.5).
    pub(super) fn on_stop(&mut self, id: u32, code: u32) {
        let Some(stream) = self.of_peer(id) else { return };
        if !stream.outgoing.is_finished() && !stream.outgoing.is_reset() {
            stream.outgoing.reset(ResetCode::Application(code));
            self.table.events.push(id, StreamEvent::Stopped { code });
        }
    }

    /// Handles the peer's request for the window of a stream. The stream ID was checked.
    pub(super) fn require_window_update(&mut self, id: u32) {
        if let Some(stream) = self.of_peer(id) {
            stream.incoming.require_window_update();
        }
    }

    /// Applies the window of a stream that the peer has announced.
    pub(super) fn on_window(&mut self, id: u32, limit: u64) -> Result<(), Refusal> {
        if let Some(stream) = self.table.get_mut(id) {
            stream.outgoing.on_window(limit);
        } else if !self.is_over(id) {
            return Err(Refusal::Stream);
        }
        Ok(())
    }

    /// Returns the total of bytes written to streams.
    pub(super) fn written(&self) -> u64 {
        self.written_before + self.table.iter().map(|stream| stream.outgoing.written()).sum::<u64>()
    }

    /// Returns `true` if streams carry messages. Then the bytes of the connection have no order.
    pub(super) const fn has_messages(&self) -> bool {
        self.has_messages
    }

    /// Returns `true` if a stream has bytes that may be sent.
    #[inline]
    pub(super) fn have_due(&self) -> bool {
        self.table.have_due(u64::MAX)
    }

    /// Returns the number of bytes that may be sent. Stops counting at `enough`.
    pub(super) fn due_octets(&self, enough: u64) -> u64 {
        self.table.due_octets(u64::MAX, enough)
    }

    /// Returns `true` if the next stream in turn has data to retransmit.
    #[inline]
    pub(super) fn repeat_next(&self) -> bool {
        self.table.peek_due(u64::MAX).is_some_and(|stream| stream.outgoing.repeats())
    }

    /// Returns when the first lifetime of a stream ends.
    #[inline]
    pub(super) fn expires_at(&self) -> Option<Instant> {
        self.table.iter().filter_map(|stream| stream.outgoing.expires_at()).min()
    }

    /// Abandons streams whose lifetime has ended.
    pub(super) fn expire(&mut self, now: Instant) {
        for stream in self.table.iter_mut() {
            if stream.outgoing.expires_at().is_some_and(|at| at <= now) {
                stream.outgoing.reset(ResetCode::Expired);
            }
        }
    }

    /// Returns the next reset that is due: stream ID, size and code.
    pub(super) fn due_reset(&self) -> Option<(u32, u64, ResetCode)> {
        self.table.iter().find_map(|stream| Some((stream.id(), stream.outgoing.sent(), stream.outgoing.due_reset()?)))
    }

    /// Returns `true` if data are written, and windows block all of them.
    pub(super) fn are_blocked(&self) -> bool {
        !self.have_due() && self.table.iter().any(|stream| stream.outgoing.is_blocked())
    }

    /// Returns `true` if a stream waits for a window, and no feedback will report that window.
    pub(super) fn await_windows(&self) -> bool {
        self.table.iter().any(|stream| stream.outgoing.awaits_window())
    }

    /// Requests the window of each stream that waits for a window which no feedback will report.
    pub(super) fn ask_for_windows(&mut self) {
        for stream in self.table.iter_mut().filter(|stream| stream.outgoing.awaits_window()) {
            stream.outgoing.ask_for_window();
        }
    }

    /// Returns the next stream whose window should be requested.
    pub(super) fn take_question(&mut self) -> Option<u32> {
        self.table.iter_mut().find_map(|stream| stream.outgoing.take_question().then_some(stream.id()))
    }

    /// Returns `true` if a Blocked frame is due.
    pub(super) fn have_questions(&self) -> bool {
        self.table.iter().any(|stream| stream.outgoing.has_question())
    }

    /// Returns the ID of the next stream whose window should be announced, and the window.
    pub(super) fn take_window(&mut self) -> Option<(u32, u64)> {
        self.table.iter_mut().find_map(|stream| Some((stream.id(), stream.incoming.take_window()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::Reading;
    use crate::streams::{MAX_RANGES, Piece};
    use acklab_base::Bytes;

    fn streams(side: Side) -> Streams {
        let mut streams = Streams::new(side, &Settings { streams: 2, ..Settings::default() });
        streams.on_parameters(10_000, 3);
        streams
    }

    fn checked(streams: &Streams, id: u32, length: u64, is_end: bool) -> Result<(), Refusal> {
        // Each piece ends at the offset `length`.
        let length16 = length.min(1000) as u16;
        streams.check(&frame::Stream { id, offset: length - u64::from(length16), length: length16, is_end })
    }

    #[test]
    fn sides_open_streams_of_their_own() {
        let (mut client, mut server) = (streams(Side::Client), streams(Side::Server));
        assert_eq!([(); 4].map(|()| client.open()), [Some(2), Some(4), Some(6), None], "three besides stream 0");
        assert_eq!([(); 4].map(|()| server.open()), [Some(1), Some(3), Some(5), None]);
        assert_eq!(checked(&client, 3, 10, false), Ok(()));
        assert_eq!(checked(&client, 5, 10, false), Err(Refusal::Stream), "the peer may open two");
        assert_eq!(checked(&client, 8, 10, false), Err(Refusal::Stream), "this end would open it");
        assert_eq!(checked(&client, 3, 5 << 20, false), Err(Refusal::Window));
        assert_eq!((client.insert(3, 5, 10, false), client.table.received), (5, 5));
    }

    #[test]
    fn streams_that_are_over_make_room_for_others() {
        let mut server = streams(Side::Server);
        let mut end = |id: u32| {
            server.insert(id, 0, 100, true);
            let outgoing = &mut server.table.get_mut(id).unwrap().outgoing;
            outgoing.close();
            let piece = outgoing.take(1000).unwrap();
            outgoing.on_acked(&piece);
            (server.owes_offer(), server.take_offer())
        };
        assert_eq!(end(0), (false, None), "stream 0 does not count");
        assert_eq!([end(2), end(4)], [(true, Some(3)), (true, Some(4))], "two at a time");
        assert_eq!((checked(&server, 8, 10, false), checked(&server, 10, 10, false)), (Ok(()), Err(Refusal::Stream)));
        server.insert(6, 0, 100, true);
        assert_eq!(server.take_offer(), None, "half open");
        server.owe_offer();
        assert_eq!(server.take_offer(), Some(4), "it is announced again");
        let mut client = Streams::new(Side::Client, &Settings::default());
        client.on_parameters(10_000, 1);
        assert_eq!([client.open(), client.open()], [Some(2), None]);
        client.on_limit(2);
        assert_eq!([client.open(), client.open()], [Some(4), None]);
    }

    #[test]
    fn a_stream_of_too_many_pieces_takes_no_more() {
        let mut server = streams(Side::Server);
        for piece in 0..MAX_RANGES {
            server.insert(2, 2 * piece + 1, 2 * piece + 2, false);
        }
        let check = |offset| server.check(&frame::Stream { id: 2, offset, length: 1, is_end: false });
        assert_eq!((check(1 << 20), check(0)), (Err(Refusal::Gaps), Ok(())), "what fills the first gap is taken");
        let mut small =
            Streams::new(Side::Server, &Settings { receive_buffer: Bytes(16 << 10), ..Settings::default() });
        (0..64u64).for_each(|piece| _ = small.insert(2, 2 * piece + 1, 2 * piece + 2, false));
        let check = small.check(&frame::Stream { id: 2, offset: 200, length: 1, is_end: false });
        assert_eq!(check, Err(Refusal::Gaps), "a small buffer has few ranges");
    }

    #[test]
    fn limits_are_raised_and_told() {
        let settings = Settings { streams: 1, receive_buffer: Bytes(2000), ..Settings::default() };
        let mut server = Streams::new(Side::Server, &settings);
        server.table.set_reading(Reading::OnDemand);
        assert_eq!(
            (checked(&server, 2, 2000, false), checked(&server, 2, 2001, false)),
            (Ok(()), Err(Refusal::Window))
        );
        assert_eq!(checked(&server, 4, 10, false), Err(Refusal::Stream));
        server.insert(2, 0, 100, false);
        server.take_window();
        server.raise(10, 1 << 20);
        assert_eq!((server.take_offer(), server.take_offer()), (Some(10), None));
        let told: Vec<_> = std::iter::from_fn(|| server.take_window()).collect();
        assert_eq!(told, [(0, 1 << 20), (2, 1 << 20)], "nothing was read");
        assert_eq!(checked(&server, 2, 1 << 20, false), Ok(()));
        // New streams of the peer start with the window of the handshake. The new window is
        // announced immediately.
        assert_eq!(
            (checked(&server, 4, 2000, false), checked(&server, 4, 2001, false)),
            (Ok(()), Err(Refusal::Window))
        );
        server.insert(4, 0, 100, false);
        assert!(server.has_released(4, 1400));
        assert_eq!(server.take_window(), Some((4, 1 << 20)));
        server.raise(5, 1000);
        assert_eq!((server.take_offer(), server.concurrent), (None, 10), "limits are never lowered");
    }

    #[test]
    fn a_message_that_is_over_makes_room_for_the_next() {
        let settings = Settings { streams: 2, ..Settings::default() };
        let (mut client, mut server) = (streams(Side::Client), Streams::new(Side::Server, &settings));
        client.allowed = 2;
        let send = |client: &mut Streams| {
            let message = client.open_message()?;
            message.write(100);
            message.close();
            message.take(1000)
        };
        let pieces: Vec<Piece> = std::iter::from_fn(|| send(&mut client)).collect();
        assert_eq!(pieces.iter().map(|piece| piece.id).collect::<Vec<_>>(), [2, 4], "the peer accepts two");
        // The second stream arrives first.
        assert_eq!((checked(&server, 4, 100, true), server.insert(4, 0, 100, true)), (Ok(()), 100));
        assert_eq!(server.take_arrival(), Some(Arrival { number: 1, octets: 100 }));
        assert_eq!((server.take_arrival(), server.table.get(4).is_some()), (None, false));
        assert_eq!((checked(&server, 4, 100, true), server.insert(4, 0, 100, true)), (Ok(()), 0), "again");
        assert_eq!((server.take_arrival(), server.table.received), (None, 100));
        client.table.get_mut(4).unwrap().outgoing.on_acked(&pieces[1]);
        let offer = server.take_offer();
        assert_eq!((offer, send(&mut client).is_some()), (Some(3), false));
        client.on_limit(3);
        assert_eq!(send(&mut client).map(|piece| piece.id), Some(6));
        assert_eq!((client.on_window(4, 9), client.on_window(12, 9)), (Ok(()), Err(Refusal::Stream)));
        assert_eq!((checked(&server, 6, 100, true), checked(&server, 8, 100, true)), (Ok(()), Err(Refusal::Stream)));
        assert_eq!(client.written(), 300);
    }
}
