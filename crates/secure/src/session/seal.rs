//! Converts packets to datagrams.

use super::{Flight, LAST_MESSAGE_INTERVAL, Session};
use crate::Outbox;
use crate::crypto_stream::crypto_frame;
use crate::hello::{seal_open, without_padding};
use crate::protection::{Side, append_level};
use acklab_base::Ecn;
use acklab_wire::tack::encode::append_frame;
use acklab_wire::tack::protected::{LENGTH, Level, first_octet};
use acklab_wire::tack::version::MIN_OPEN;
use acklab_wire::tack::{ConnectionId, Frame, Frames, HEADER, Packet, TAG, Timestamp};
use std::ops::Range;

/// The overhead of a handshake packet in bytes, in addition to the handshake bytes that it
/// contains.
const LEVEL_OVERHEAD: usize = HEADER as usize + LENGTH + 8 + TAG as usize;
/// The maximum size of a packet that fits into a datagram of the base size together with the
/// client's last message.
const ROOM_BESIDE: usize = MIN_OPEN - 160;

impl Session {
    /// Seals a packet of the transport, and appends the datagrams to send. `copy` appends the bytes
    /// of a stream to its argument. Returns `false` if the packet cannot be sent: its keys are
    /// missing or exhausted, or the client's address must be validated first.
    pub fn seal(
        &mut self,
        packet: &Packet,
        copy: &mut impl FnMut(u32, Range<u64>, &mut Vec<u8>),
        out: &mut Outbox,
    ) -> bool {
        match packet.frames.iter().next() {
            _ if self.has_failed => false,
            Some(open @ Frame::Open { .. }) => self.seal_open(packet, open, out),
            Some(Frame::Accept { .. }) => self.seal_accept(packet, out),
            _ => {
                if !self.is_confirmed {
                    self.append_last_message(packet, out);
                }
                self.seal_session(packet, packet.frames.iter(), 0, copy, out)
            }
        }
    }

    fn seal_open(&mut self, packet: &Packet, open: &Frame, out: &mut Outbox) -> bool {
        let mut octets = Vec::new();
        append_frame(open, &mut octets);
        self.begin(&octets);
        let crypto = &self.crypto[0].outgoing;
        !crypto.is_empty() && seal_open(packet, open, crypto, self.token.as_deref(), out)
    }

    /// Seals the server's part of the handshake, followed by the Accept. The size is limited by the
    /// credit of the client's address.
    fn seal_accept(&mut self, packet: &Packet, out: &mut Outbox) -> bool {
        if self.flight.handshake == self.crypto[1].outgoing.len() {
            self.flight = Flight::default();
        }
        let frames: u64 = without_padding(&packet.frames).map(Frame::wire_len).sum();
        let accept = (HEADER + frames + TAG) as usize;
        while self.is_validated || self.credit >= MIN_OPEN as u64 {
            let start = out.start();
            if !self.append_flight(start, packet.departed, out) {
                out.octets.truncate(start);
                return false;
            }
            let has_all = self.flight.handshake == self.crypto[1].outgoing.len();
            let room = MIN_OPEN - (out.octets.len() - start);
            if !has_all || room < accept {
                self.end(Ecn::NotEct, out);
                continue;
            }
            return self.seal_session(packet, without_padding(&packet.frames), room - accept, &mut |_, _, _| (), out);
        }
        false
    }

    fn end(&mut self, ecn: Ecn, out: &mut Outbox) {
        self.credit = self.credit.saturating_sub((out.octets.len() - out.start()) as u64);
        out.end(ecn);
    }

    /// Appends packets with bytes of the handshake to the datagram that begins at `start`, as many
    /// packets as fit.
    fn append_flight(&mut self, start: usize, departed: Timestamp, out: &mut Outbox) -> bool {
        for level in [Level::Initial, Level::Handshake] {
            let index = usize::from(level == Level::Handshake);
            let sent = if index == 0 { self.flight.initial } else { self.flight.handshake };
            let rest = &self.crypto[index].outgoing[sent..];
            let room = (MIN_OPEN - (out.octets.len() - start)).saturating_sub(LEVEL_OVERHEAD);
            let length = rest.len().min(room);
            if length == 0 {
                continue;
            }
            let frames: Frames = std::iter::once(crypto_frame(sent, &rest[..length])).collect();
            let keys = if index == 0 { &self.initial } else { &self.handshake };
            let Some(keys) = keys else { return false };
            let number = self.numbers[index];
            if !append_level(
                &mut out.octets,
                level,
                self.remote,
                number,
                departed,
                &frames,
                &rest[..length],
                &keys.local,
            ) {
                return false;
            }
            self.numbers[index] += 1;
            if index == 0 {
                self.flight.initial += length;
            } else {
                self.flight.handshake += length;
            }
        }
        true
    }

    /// Appends the last message of the client. It is in the datagram of `packet` if both fit into
    /// the base size, otherwise in a datagram before it.
    fn append_last_message(&mut self, packet: &Packet, out: &mut Outbox) {
        let (Some(keys), octets) = (&self.handshake, &self.crypto[1].outgoing) else { return };
        let is_turn = self.unconfirmed.is_multiple_of(LAST_MESSAGE_INTERVAL);
        self.unconfirmed += 1;
        if octets.is_empty() || (packet.frames.payload() > 0 && !is_turn) {
            return;
        }
        let frames: Frames = std::iter::once(crypto_frame(0, octets)).collect();
        let number = self.numbers[1];
        if append_level(
            &mut out.octets,
            Level::Handshake,
            packet.connection,
            number,
            packet.departed,
            &frames,
            octets,
            &keys.local,
        ) {
            self.numbers[1] += 1;
            if packet.frames.wire_len() as usize > ROOM_BESIDE {
                out.end(Ecn::NotEct);
            }
        }
    }

    /// Seals a packet with the keys of the connection and with this padding. Then ends the
    /// datagram.
    #[inline]
    fn seal_session<'a>(
        &mut self,
        packet: &Packet,
        frames: impl Iterator<Item = &'a Frame>,
        padding: usize,
        copy: &mut impl FnMut(u32, Range<u64>, &mut Vec<u8>),
        out: &mut Outbox,
    ) -> bool {
        let Some(phases) = &mut self.phases else { return false };
        if self.is_complete {
            phases.update_after(self.update_after);
        }
        let octets = &mut out.octets;
        let start = octets.len();
        let mut head = [0; HEADER as usize];
        head[0] = first_octet(Level::Session, phases.phase(), packet.number.0);
        head[1..9].copy_from_slice(&packet.connection.0.to_be_bytes());
        head[9..13].copy_from_slice(&packet.number.0.to_be_bytes());
        head[13..17].copy_from_slice(&packet.departed.0.to_be_bytes());
        octets.extend_from_slice(&head);
        for frame in frames {
            append_frame(frame, octets);
            if let Frame::Stream(stream) = frame {
                copy(stream.id, stream.offset..stream.end(), octets);
            }
        }
        if padding > 0 {
            octets.resize(octets.len() + padding, 0);
        }
        if !phases.seal(octets, start, 9, packet.number) {
            octets.truncate(start);
            return false;
        }
        self.end(packet.ecn, out);
        true
    }

    /// Reports to the peer that the connection is refused with this code, in all packets that the
    /// peer may be able to read.
    pub fn seal_failure(&mut self, code: u32, out: &mut Outbox) {
        let frames: Frames = std::iter::once(Frame::Close { code }).collect();
        let (level, keys) = match (self.side, &self.handshake) {
            (Side::Server, _) => (Level::Initial, &self.initial),
            (Side::Client, Some(_)) => (Level::Handshake, &self.handshake),
            // A server keeps no state of a client that it has not answered.
            (Side::Client, None) => return,
        };
        let index = usize::from(level == Level::Handshake);
        if let Some(keys) = keys
            && self.remote != ConnectionId(0)
            && append_level(
                &mut out.octets,
                level,
                self.remote,
                self.numbers[index],
                Timestamp(0),
                &frames,
                &[],
                &keys.local,
            )
        {
            self.numbers[index] += 1;
            self.end(Ecn::NotEct, out);
        }
    }
}
