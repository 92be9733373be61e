//! Handles datagrams that arrive.

use super::connection::{Connection, Phase};
use super::space::{self, Keys};
use crate::streams::Side;
use acklab_base::{Ecn, Fate, Instant};
use acklab_wire::quic::{Datagram, Direction, Frame, Header, MIN_INITIAL, Packet, PacketType, TransportError};

/// Reason for ignoring a packet: the packet belongs to no connection of this end.
pub(super) const STRANGER: &str = "refused_connection";
/// Reason: the keys of the packet are unavailable.
pub(super) const UNREADABLE: &str = "refused_unreadable";
/// Reason: the connection has ended.
const CLOSED: &str = "refused_phase";
/// Reason: the packet violates the protocol, which ends the connection.
const VIOLATION: &str = "refused_violation";

/// Counts of ignored packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Refused {
    /// Packets that belong to no connection of this end, or that open a connection in too small a
    /// datagram.
    pub(super) strangers: u64,
    /// Packets whose keys are not available yet or were discarded.
    pub(super) unreadable: u64,
}

impl Connection {
    pub(super) fn input(&mut self, now: Instant, datagram: &Datagram) -> Fate {
        self.output.note_change();
        if let Phase::Closed(_) = self.phase {
            self.take_after_end(datagram);
            return Fate::Refused(CLOSED);
        }
        if self.phase == Phase::Idle || (self.phase == Phase::Listening && !self.accepts(datagram)) {
            self.refused.strangers += 1;
            return Fate::Refused(STRANGER);
        }
        let was_confirmed = self.is_confirmed();
        self.count_arrived(datagram);
        let acknowledges = datagram.acknowledges();
        if acknowledges {
            self.sender.count_ack();
        }
        let mut packets = datagram.packets.iter();
        let first =
            packets.next().map_or(Fate::Refused(UNREADABLE), |packet| self.take_packet(now, datagram.ecn, packet));
        let fate = packets.fold(first, |fate, packet| fate.with(self.take_packet(now, datagram.ecn, packet)));
        while self.spaces.take_waiting() {
            for id in space::Id::ALL {
                if self.spaces[id].is_usable() {
                    for packet in std::mem::take(&mut self.spaces[id].waiting) {
                        self.take_packet(now, datagram.ecn, &packet);
                    }
                }
            }
        }
        if !was_confirmed || acknowledges {
            self.wake_overdue(now);
        }
        self.note_finished(now);
        fate
    }

    /// Returns `true` if the datagram opens a connection (RFC 9000, §14.1).
    fn accepts(&mut self, datagram: &Datagram) -> bool {
        let initial = datagram.packets.iter().find(|packet| packet.header.packet_type() == PacketType::Initial);
        let Some(Packet { header, .. }) = initial.filter(|_| datagram.udp_payload() >= MIN_INITIAL) else {
            return false;
        };
        self.ids.accept(*header.destination());
        self.phase = Phase::Handshaking;
        true
    }

    fn take_packet(&mut self, now: Instant, ecn: Ecn, packet: &Packet) -> Fate {
        if let Phase::Closed(_) = self.phase {
            return Fate::Refused(CLOSED);
        }
        if !self.ids.are_mine(packet.header.destination()) {
            self.refused.strangers += 1;
            return Fate::Refused(STRANGER);
        }
        let id = space::Id::of(packet.header.packet_type());
        let space = &mut self.spaces[id];
        if space.keys != Keys::Available {
            let waits = space.keys == Keys::NotYet && space.wait(packet);
            self.refused.unreadable += u64::from(!waits);
            return if waits { Fate::Waits } else { Fate::Refused(UNREADABLE) };
        }
        let largest = space.arrived.largest();
        let number = packet.number.expand(largest);
        let is_newest = largest.is_none_or(|largest| number > largest);
        if !is_newest && !space.arrived.is_new(number) {
            space.arrived.duplicates += 1;
            return Fate::Duplicate;
        }
        if let Header::Short(short) = &packet.header
            && is_newest
        {
            self.spin.on_newest(short.spin);
        }
        self.note_header(now, &packet.header);
        match self.take_frames(now, id, ecn, number, packet) {
            Ok(()) => Fate::Taken,
            Err(error) => {
                self.fail(now, error);
                Fate::Refused(VIOLATION)
            }
        }
    }

    /// Handles the header of a readable packet, independently of its frames.
    fn note_header(&mut self, now: Instant, header: &Header) {
        self.idle.on_arrival(now);
        if let Header::Long(long) = header {
            self.ids.learn(long.source);
            if self.side == Side::Server && header.packet_type() == PacketType::Handshake {
                // A Handshake packet validates the client's address (RFC 9000, §8.1) and ends the
                // use of Initial keys (RFC 9001, §4.9.1).
                self.handshake.on_validated();
                self.discard(now, space::Id::Initial);
            }
        }
    }

    fn take_frames(
        &mut self,
        now: Instant,
        id: space::Id,
        ecn: Ecn,
        number: u64,
        packet: &Packet,
    ) -> Result<(), TransportError> {
        let kind = packet.header.packet_type();
        if kind != PacketType::OneRtt && !packet.frames.iter().all(|frame| frame.is_permitted_in(kind)) {
            return Err(TransportError::ProtocolViolation);
        }
        let space = &mut self.spaces[id];
        let arrival = space.arrived.insert(now, number, ecn);
        if packet.frames.is_ack_eliciting() {
            if id == space::Id::Application {
                self.acks.on_packet(now, number, packet.wire_len(), arrival, space.arrived.numbers(), ecn);
            } else {
                space.owes_ack = true;
            }
        } else if id == space::Id::Application {
            self.acks.on_silent_packet();
        }
        for frame in packet.frames.iter() {
            self.take_frame(now, id, frame)?;
            if let Phase::Closed(_) = self.phase {
                return Ok(());
            }
        }
        Ok(())
    }

    fn take_frame(&mut self, now: Instant, id: space::Id, frame: &Frame) -> Result<(), TransportError> {
        match frame {
            Frame::Padding(_) | Frame::Ping => {}
            Frame::Stream(stream) => self.data.on_stream(now, stream)?,
            Frame::Ack(ack) => self.on_ack(now, id, ack)?,
            Frame::Crypto(crypto) => {
                let end = crypto.offset + u64::from(crypto.length);
                let space = &mut self.spaces[id];
                if !space.buffers(end) {
                    return Err(TransportError::ProtocolViolation);
                }
                let _ = space.crypto_arrived.insert(crypto.offset..end);
                self.advance_handshake(now);
            }
            Frame::ResetStream { stream, code, size } => self.data.on_reset(now, *stream, *size, *code)?,
            Frame::StopSending { stream, code } => self.data.on_stop_sending(*stream, *code)?,
            Frame::MaxData(limit) => self.data.on_max_data(*limit),
            Frame::MaxStreamData { stream, limit } => self.data.on_max_stream_data(*stream, *limit)?,
            Frame::MaxStreams { direction: Direction::Bidirectional, limit } => self.data.on_max_streams(*limit),
            // Neither end opens unidirectional streams, so their limit has no effect.
            Frame::MaxStreams { direction: Direction::Unidirectional, .. } => {}
            Frame::StreamDataBlocked { stream, .. } => self.data.on_stream_data_blocked(*stream)?,
            Frame::DataBlocked(_) | Frame::StreamsBlocked { .. } => {}
            Frame::HandshakeDone if self.side == Side::Client => self.confirm(now),
            // Only a server sends `HANDSHAKE_DONE` and `NEW_TOKEN` (RFC 9000, §19.7 and §19.20).
            Frame::HandshakeDone => return Err(TransportError::ProtocolViolation),
            Frame::NewToken(_) if self.side == Side::Server => return Err(TransportError::ProtocolViolation),
            // Connections do not migrate, so these frames have no effect.
            Frame::NewToken(_) | Frame::NewConnectionId(_) => {}
            Frame::RetireConnectionId(_) => return Err(TransportError::ProtocolViolation),
            Frame::PathChallenge(data) => self.data.on_path_challenge(*data),
            Frame::PathResponse(_) => return Err(TransportError::ProtocolViolation),
            Frame::Close(close) => self.on_close(close),
            Frame::AckFrequency(request) => self.acks.on_request(request)?,
            Frame::ImmediateAck => self.acks.on_demand(now),
        }
        Ok(())
    }
}
