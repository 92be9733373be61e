//! Builds the packets that are sent.

use super::amplification::MIN_PACKET;
use super::connection::{Connection, Phase};
use super::handshake::NO_CONNECTION;
use super::sender::{Content, Control};
use crate::ack::Reason;
use crate::mtu;
use crate::streams::{Piece, Side};
use acklab_base::{Ecn, Event, Instant};
use acklab_wire::tack::{EcnCounts, Frame, Frames, Loss, OVERHEAD, Packet, PktSeq, Stream};

/// Number of unacknowledged packets after which a Forget frame is sent. The receiver then stops
/// waiting for lost packets.
const FORGET_INTERVAL: u64 = 64;

/// State of output between packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    /// `true` if no packet can be sent until the next event.
    is_idle: bool,
    /// The time of the information in the last packet.
    told: Instant,
    /// Packets sent with an acknowledgment and without data.
    acks: u64,
    /// `true` if the application has more data than fit into the send buffer.
    has_backlog: bool,
}

impl Default for Output {
    fn default() -> Self {
        Self { is_idle: false, told: Instant::ZERO, acks: 0, has_backlog: false }
    }
}

impl Output {
    /// Records a change, after which a packet may be due.
    #[inline]
    pub(super) const fn note_change(&mut self) {
        self.is_idle = false;
    }

    #[inline]
    pub(super) const fn is_idle(&self) -> bool {
        self.is_idle
    }

    /// Returns the time of the information in the last packet.
    #[inline]
    pub(super) const fn told(&self) -> Instant {
        self.told
    }

    /// Returns the number of packets sent with an acknowledgment and without data.
    pub(super) const fn acks(&self) -> u64 {
        self.acks
    }
}

/// Minimum number of bytes for frames. A TACK without blocks, some window and loss frames, and a
/// stream frame with one byte fit into these bytes.
const MIN_ROOM: u64 = 128;

impl Connection {
    pub(super) fn next_packet(&mut self, now: Instant) -> Option<Packet> {
        if self.output.is_idle {
            return None;
        }
        let packet = match self.phase {
            Phase::Idle | Phase::Listening => None,
            Phase::Opening | Phase::Accepting => self.handshake_packet(now),
            Phase::Established => self.established_packet(now),
            Phase::Closed { .. } => self.close_packet(now),
        };
        self.output.is_idle = packet.is_none() || !self.has_more(now);
        packet
    }

    /// Builds each packet in memory that the caller provides. The processor would stall if recently
    /// written bytes were copied with another access size.
    #[inline]
    fn established_packet(&mut self, now: Instant) -> Option<Packet> {
        if self.owes_acknowledgment() {
            Some(self.acknowledgment(now))
        } else if self.path.owes() {
            self.path_packet(now)
        } else {
            self.data(now)
        }
    }

    /// Returns `true` if a due acknowledgment may wait until the host has processed the packets
    /// that it has received. The acknowledgment then reports these packets too. A periodic TACK may
    /// wait, an IACK for a loss may not.
    #[must_use]
    pub fn may_acknowledge_together(&self) -> bool {
        self.receiver.acknowledger.goes_by_time() && !self.receiver.loss().has_unreported()
    }

    /// Returns `true` if a TACK or an IACK is due.
    #[inline]
    fn owes_acknowledgment(&self) -> bool {
        self.receiver.acknowledger.due().is_some() || self.receiver.loss().has_unreported()
    }

    /// Returns `true` if another packet may be due now. A wrong `true` costs only a poll.
    #[inline]
    fn has_more(&self, now: Instant) -> bool {
        if self.phase != Phase::Established {
            return true;
        }
        let is_due = self.owes_acknowledgment() || self.path.owes() || self.sender.probe().is_due();
        is_due || self.sender.holds_until(now).is_none()
    }

    /// Limits the packet size to the maximum that the peer accepts.
    pub(super) fn limit_packets(&mut self, most: u64) {
        // A packet with an acknowledgment must fit, even if the peer announces a smaller limit.
        let most = most.max(OVERHEAD + MIN_ROOM).min(self.settings.packet.get());
        self.mtu = mtu::Search::new(self.settings.base_packet().min(most), most);
        self.mtu.start(most);
    }

    /// Returns the number of bytes available for frames.
    #[inline]
    fn room(&self) -> u64 {
        self.mtu.size() - OVERHEAD
    }

    fn packet(&self, now: Instant, number: u64, frames: Frames) -> Packet {
        let connection = if self.phase == Phase::Opening { NO_CONNECTION } else { self.remote };
        Packet { ecn: Ecn::NotEct, connection, number: PktSeq::of(number), departed: self.clock.stamp(now), frames }
    }

    /// Returns a packet that elicits no acknowledgment.
    fn pass(&mut self, now: Instant, frames: Frames) -> Packet {
        let number = self.sender.pass();
        self.packet(now, number, frames)
    }

    fn close_packet(&mut self, now: Instant) -> Option<Packet> {
        let frame = self.close_frame(now)?;
        Some(self.pass(now, std::iter::once(frame).collect()))
    }

    fn handshake_packet(&mut self, now: Instant) -> Option<Packet> {
        if self.side == Side::Server && !self.amplification.lets(MIN_PACKET) {
            return None;
        }
        let frame = self.handshake_frame(now)?;
        let padding = MIN_PACKET.saturating_sub(OVERHEAD + frame.wire_len());
        let padding = u16::try_from(padding).ok().filter(|octets| *octets > 0).map(Frame::Padding);
        let frames = std::iter::once(frame).chain(padding).collect();
        self.amplification.on_sent(MIN_PACKET);
        self.idle.on_asked(now);
        self.output.told = now;
        self.output.acks += u64::from(self.side == Side::Server);
        self.sender.probe_mut().on_sent();
        let number = self.sender.send(now, Content { piece: None, control: Some(Control::Handshake) });
        let packet = self.packet(now, number, frames);
        if self.side == Side::Server {
            self.receiver.acknowledger.count(Reason::Handshake);
        } else {
            self.note_open(&packet);
        }
        Some(packet)
    }

    /// Returns a packet with a TACK, IACKs, or both.
    fn acknowledgment(&mut self, now: Instant) -> Packet {
        let due = self.receiver.acknowledger.due();
        let (mut frames, mut room) = (Frames::default(), self.room());
        let mut push = |frames: &mut Frames, frame: Frame| {
            room = room.saturating_sub(frame.wire_len());
            frames.push(frame);
            room >= MIN_ROOM
        };
        while let Some(lost) = self.receiver.take_loss() {
            let (after, before) = (PktSeq::of(lost.start.wrapping_sub(1)), PktSeq::of(lost.end));
            let arrived = self.receiver.arrived_from(lost.end);
            if !push(&mut frames, Frame::Loss(Loss { after, before, arrived })) {
                break;
            }
        }
        if let Some(reason) = due {
            while let Some((stream, limit)) = self.streams.take_window() {
                if !push(&mut frames, Frame::Window { stream, limit }) {
                    break;
                }
            }
            let next = self.sender.next_number();
            if next.is_multiple_of(FORGET_INTERVAL) || self.sender.owes_forget() {
                push(&mut frames, self.sender.forget(now));
            }
            let stamp = self.clock.stamp(now);
            let counts = self.receiver.counters.ecn;
            if counts != EcnCounts::default() {
                push(&mut frames, Frame::EcnCounts(counts));
            }
            frames.push(Frame::Tack(Box::new(self.receiver.tack(now, stamp, room.saturating_sub(MIN_ROOM / 2)))));
            self.receiver.acknowledger.sent(now, reason);
            self.output.told = self.receiver.acknowledger.newest_reported();
        } else {
            self.receiver.acknowledger.count(Reason::LossEvent);
            self.output.told = self.receiver.acknowledger.ledger().newest;
        }
        self.output.acks += 1;
        self.pass(now, frames)
    }

    /// Returns a packet with only a Challenge or a Response. An end may send only few bytes to an
    /// address that is not validated.
    fn path_packet(&mut self, now: Instant) -> Option<Packet> {
        let mut frames = Frames::default();
        let asks = self.path.take(&mut frames)?;
        self.sender.probe_mut().on_sent();
        self.output.told = now;
        let control = if asks { Control::Challenge } else { Control::Ping };
        let number = self.send(now, Content { piece: None, control: Some(control) });
        Some(self.packet(now, number, frames))
    }

    /// Returns a packet with stream data and control frames. A probe ignores the congestion window
    /// and pacing.
    fn data(&mut self, now: Instant) -> Option<Packet> {
        let is_probe = self.sender.probe().is_due();
        if !is_probe && self.sender.holds_until(now).is_some() {
            self.note_limit(true);
            // The pacing timer runs only for streams with data to send. A stream that is blocked by
            // its window needs the persist timer.
            self.await_windows(now);
            return None;
        }
        let has_room = is_probe || self.sender.has_room();
        let has_data = self.streams.have_due() || (is_probe && self.repeat_outstanding());
        // An end that sends no data needs no larger packets.
        if has_data
            && has_room
            && !is_probe
            && let Some(size) = self.mtu.due(now)
        {
            return Some(self.mtu_probe(now, size));
        }
        let sends_data = has_data && has_room && (is_probe || !self.forgets_alone());
        let mut frames = Frames::default();
        // Control frames reduce the room for new data. Retransmitted data would have to be split.
        let sends_new = sends_data && !self.streams.repeat_next();
        let control = self.control(now, sends_new, is_probe, &mut frames);
        if !sends_data && control.is_none() {
            self.note_limit(false);
            if !has_data {
                self.note_app_limited();
                self.await_windows(now);
            }
            return None;
        }
        let piece = if sends_data { self.piece(&mut frames) } else { None };
        if piece.is_none() && control.is_none() {
            // The stream had data to retransmit, but all of them have been acknowledged meanwhile.
            if !frames.is_empty() {
                self.sender.owe_forget();
            }
            return self.data(now);
        }
        self.sender.probe_mut().on_sent();
        self.output.told = now;
        let number = self.send(now, Content { piece, control });
        if piece.is_some() && !self.streams.have_due() {
            self.note_last();
        }
        let ecn = if piece.is_some() { self.sender.mark_capable() } else { Ecn::NotEct };
        Some(Packet { ecn, ..self.packet(now, number, frames) })
    }

    /// Records that the last available data are sent. From then on, the application or a closed
    /// window of the peer limits sending, even if pacing would delay the next packet.
    fn note_last(&mut self) {
        if self.sender.has_room() {
            self.note_app_limited();
        }
    }

    /// Records whether the application has more data than its buffer accepted. If so, the host
    /// limits sending until the application runs. A host limit does not invalidate rate samples, as
    /// a path limit does not. An application limit does.
    pub const fn note_backlog(&mut self, has_more: bool) {
        self.output.has_backlog = has_more;
    }

    fn note_app_limited(&mut self) {
        if !self.output.has_backlog {
            self.sender.on_app_limited();
        }
    }

    /// Records that no packet can be sent now.
    fn note_limit(&mut self, is_paced: bool) {
        let room = self.sender.window().cwnd.saturating_sub(self.sender.in_flight());
        let delayed = if is_paced { self.streams.due_octets(room) } else { 0 };
        self.sender.note_limit(delayed);
    }

    /// Returns the data that a stream sends next.
    #[inline]
    fn piece(&mut self, frames: &mut Frames) -> Option<Piece> {
        let room = self.room() - frames.wire_len();
        let stream = self.streams.table.next_due(u64::MAX)?;
        let piece = stream.outgoing.take(room.saturating_sub(Frame::stream_header(stream.id())))?;
        let Piece { id, start, length, is_end, .. } = piece;
        frames.push(Frame::Stream(Stream { id, offset: start, length, is_end }));
        Some(piece)
    }

    /// Records that an ack-eliciting packet is sent. Returns its number.
    #[inline]
    fn send(&mut self, now: Instant, content: Content) -> u64 {
        if self.skip.takes(self.sender.next_number()) {
            self.sender.skip_number();
        }
        self.idle.on_asked(now);
        self.sender.send(now, content)
    }

    /// Returns `true` if a Forget frame is due but no new data may be sent with the frame. The
    /// receiver may have received more of the outstanding data than its reports had room for.
    #[inline]
    pub(super) fn forgets_alone(&self) -> bool {
        self.sender.may_forget_alone() && !self.sends_new()
    }

    /// Returns `true` if the next packet may carry new data.
    fn sends_new(&self) -> bool {
        self.sender.has_room() && self.streams.have_due() && !self.streams.repeat_next()
    }

    /// Appends control frames, with at most one frame that must arrive.
    fn control(&mut self, now: Instant, with_new: bool, is_probe: bool, frames: &mut Frames) -> Option<Control> {
        let asks = !with_new && self.forgets_alone();
        if self.sender.owes_forget() && (with_new || asks || is_probe) {
            frames.push(self.sender.forget(now));
        }
        // New data also elicit a TACK, so no Ping is necessary.
        let asks_for_life = self.idle.take_ping() && !with_new;
        if is_probe || asks || asks_for_life || (with_new && self.fills_small_window()) {
            frames.push(Frame::Ping);
            return Some(Control::Ping);
        }
        if let Some(limit) = self.streams.take_offer() {
            frames.push(Frame::Streams { limit });
            return Some(Control::Streams);
        }
        if let Some((stream, size, code)) = self.streams.due_reset() {
            frames.push(Frame::Reset { stream, size, code: code.code() });
            if let Some(stream) = self.streams.table.get_mut(stream) {
                stream.outgoing.on_reset_sent();
            }
            return Some(Control::Reset(stream));
        }
        if let Some((stream, code)) = self.streams.take_stop() {
            frames.push(Frame::Stop { stream, code });
            return Some(Control::Stop(stream));
        }
        if let Some(stream) = self.streams.take_question() {
            self.events.push(Event::WindowProbe);
            frames.push(Frame::Blocked { stream });
            return Some(Control::Blocked);
        }
        if with_new && let Some(sync) = self.sender.take_sync(now) {
            frames.push(Frame::Sync(sync));
            return Some(Control::Sync);
        }
        None
    }

    /// Returns `true` if a control frame is due.
    #[inline]
    pub(super) fn owes_control(&self) -> bool {
        let streams = &self.streams;
        let owes =
            streams.due_reset().is_some() || streams.owe_stop() || streams.have_questions() || streams.owes_offer();
        owes || self.forgets_alone() || self.idle.is_ping_due()
    }

    /// Returns `true` if the next packet fills a congestion window of less than L packets. With
    /// such a window, the receiver never has L unacknowledged packets.
    fn fills_small_window(&self) -> bool {
        let (sender, mss) = (&self.sender, self.sender.mss());
        let filled = sender.in_flight() + mss;
        filled < sender.law().octets(mss) && !sender.has_room_beside(filled)
    }

    /// Returns a probe of the MTU: a packet of the size that the path should carry.
    #[inline(never)]
    fn mtu_probe(&mut self, now: Instant, size: u64) -> Packet {
        self.sender.probe_mut().on_sent();
        self.output.told = now;
        let padding = (size - (OVERHEAD + Frame::Ping.wire_len())) as u16;
        let number = self.send(now, Content { piece: None, control: Some(Control::Mtu(size)) });
        self.mtu.on_sent(number);
        self.packet(now, number, [Frame::Ping, Frame::Padding(padding)].into_iter().collect())
    }

    /// Schedules the retransmission of outstanding data. Returns `false` if there are none.
    fn repeat_outstanding(&mut self) -> bool {
        let Some(piece) = self.sender.piece_for_probe() else { return false };
        let Some(stream) = self.streams.table.get_mut(piece.id) else { return false };
        stream.outgoing.repeat(&piece);
        stream.outgoing.has_due()
    }

    /// Starts the persist timer if the peer's window blocks sending, and stops it otherwise.
    pub(super) fn await_windows(&mut self, now: Instant) {
        if self.streams.await_windows() {
            let timeout = self.sender.probe_timeout();
            self.sender.probe_mut().await_window(now, timeout);
        } else if !self.streams.are_blocked() {
            self.sender.probe_mut().on_window();
        }
    }
}
