//! Converts datagrams to packets.

use super::{Piece, Session};
use crate::protection::{self, Side};
use crate::refused::Refused;
use acklab_base::Ecn;
use acklab_wire::tack::decode::{decode_frames, decode_frames_into};
use acklab_wire::tack::protected::{Head, Level, head};
use acklab_wire::tack::{Frame, Frames, Packet, Timestamp};

/// The maximum number of datagrams that are stored until their keys are available. They may be the
/// reordered first flight of a peer (RFC 9000, §5.2.2).
const MAX_EARLY: usize = 10;

impl Session {
    /// Opens a datagram in place. The datagram arrived with this ECN field. Returns `true` if there
    /// is a packet for the transport. Writes it into `packet`, and the places of its stream bytes
    /// into `pieces`. The packet is written where the caller needs it, because copying recently
    /// written data in smaller parts stalls the processor.
    ///
    /// # Errors
    /// If the whole datagram has no effect. The refusal is counted.
    #[inline]
    pub fn open(
        &mut self,
        datagram: &mut [u8],
        ecn: Ecn,
        packet: &mut Packet,
        pieces: &mut Vec<Piece>,
    ) -> Result<bool, Refused> {
        let opened = self.open_packets(datagram, ecn, packet, pieces);
        if let Err(refused) = &opened {
            self.refused.count(*refused);
        }
        opened
    }

    /// Returns a datagram that arrived before its keys, if they are now available.
    pub fn take_early(&mut self) -> Option<(Vec<u8>, Ecn)> {
        if self.is_complete { self.early.pop_front() } else { None }
    }

    fn open_packets(
        &mut self,
        datagram: &mut [u8],
        ecn: Ecn,
        opened: &mut Packet,
        pieces: &mut Vec<Piece>,
    ) -> Result<bool, Refused> {
        pieces.clear();
        let (mut at, mut result) = (0, Err(Refused::Form));
        while at < datagram.len() {
            let head = match head(&datagram[at..]) {
                Some(head) => head,
                None => return result,
            };
            if head.level == Level::Session && at == 0 {
                return self.open_session(datagram, &head, at, ecn, opened, pieces);
            }
            if head.level == Level::Session {
                let has_opened = self.open_session(&mut datagram[at..], &head, at, ecn, opened, pieces);
                // A datagram may contain a handshake packet and a packet after it. One of them may
                // be refused while the other is accepted.
                return has_opened.or_else(|refused| {
                    if result.is_ok() {
                        self.refused.count(refused);
                    }
                    result.and(Ok(false)).or(Err(refused))
                });
            }
            match self.open_level(&mut datagram[at..at + head.end], &head, head.level) {
                Ok(()) => result = Ok(false),
                Err(refused) => result = result.or(Err(refused)),
            }
            at += head.end;
        }
        result
    }

    /// Opens a packet of the handshake.
    fn open_level(&mut self, packet: &mut [u8], head: &Head, level: Level) -> Result<(), Refused> {
        if head.connection != self.local {
            return Err(Refused::Connection);
        }
        // At this level, a server accepts only the first datagram. A confirmed client needs no
        // further packet at this level.
        let is_over =
            if self.side == Side::Server { level == Level::Initial || self.is_complete } else { self.is_confirmed };
        if is_over {
            return Err(Refused::Late);
        }
        let keys = if level == Level::Initial { &self.initial } else { &self.handshake };
        let keys = keys.as_ref().ok_or(Refused::Early)?;
        let opened = protection::unmask(packet, head.number_at, &*keys.remote.header).ok_or(Refused::Form)?;
        let number = u64::from(opened.1.0);
        let payload =
            protection::decipher(packet, head.number_at, number, &*keys.remote.packet).ok_or(Refused::Forged)?;
        let mut crypto = Vec::new();
        let frames = decode_frames(payload.get(4..).unwrap_or_default(), |frame, octets| {
            if let Frame::Crypto(part) = frame {
                crypto.push((u64::from(part.offset), octets.to_vec()));
            }
        });
        let frames = frames.map_err(|_| Refused::Frames)?;
        self.take_frames(&frames)?;
        let all = crypto.into_iter().all(|(offset, octets)| self.hear(level, offset, &octets));
        if all { Ok(()) } else { Err(Refused::Crypto) }
    }

    /// Handles the content of a handshake packet, except the bytes of TLS.
    fn take_frames(&mut self, frames: &Frames) -> Result<(), Refused> {
        for frame in frames.iter() {
            match frame {
                Frame::Crypto(_) | Frame::Padding(_) => {}
                Frame::Close { code } => self.fail(*code, format!("the peer closes with code {code:#x}")),
                // A client repeats its request with a token only once (RFC 9000, §17.2.5.2).
                Frame::Token(token)
                    if self.side == Side::Client && self.token.is_none() && self.handshake.is_none() =>
                {
                    self.token = Some(token.clone());
                    self.steps.push_back(super::Step::Repeat);
                }
                _ => return Err(Refused::Frames),
            }
        }
        Ok(())
    }

    /// Opens a packet of the transport. Returns `false` if the packet is stored until its keys are
    /// available.
    #[inline]
    fn open_session(
        &mut self,
        packet: &mut [u8],
        head: &Head,
        at: usize,
        ecn: Ecn,
        opened: &mut Packet,
        pieces: &mut Vec<Piece>,
    ) -> Result<bool, Refused> {
        if head.connection != self.local {
            return Err(Refused::Connection);
        }
        let phases = match &mut self.phases {
            Some(phases) if self.is_complete => phases,
            _ if self.early.len() < MAX_EARLY && !self.has_failed => {
                self.early.push_back((packet.to_vec(), ecn));
                return Ok(false);
            }
            _ => return Err(Refused::Early),
        };
        let end = packet.len();
        let (number, payload) = phases.open(packet, head).ok_or(Refused::Forged)?;
        let departed = payload.first_chunk().map(|octets| u32::from_be_bytes(*octets)).ok_or(Refused::Frames)?;
        let octets = payload.get(4..).unwrap_or_default();
        // The offset of the frames in the datagram. The tag follows them.
        let base = at + end - acklab_wire::tack::TAG as usize - octets.len();
        let origin = octets.as_ptr() as usize;
        opened.frames.clear();
        (opened.ecn, opened.connection, opened.number, opened.departed) =
            (ecn, head.connection, number, Timestamp(departed));
        let decoded = decode_frames_into(octets, &mut opened.frames, |frame, octets| {
            if let Frame::Stream(stream) = frame {
                let start = base + (octets.as_ptr() as usize - origin);
                pieces.push(Piece { stream: stream.id, offset: stream.offset, at: start..start + octets.len() });
            }
        });
        if decoded.is_err() {
            return Err(Refused::Frames);
        }
        self.confirm(&opened.frames);
        Ok(true)
    }

    /// Records that the server has received the client's last message, if the server sends more
    /// than its Accept.
    #[inline]
    fn confirm(&mut self, frames: &Frames) {
        if !self.is_confirmed {
            self.is_confirmed = !frames.iter().any(|frame| matches!(frame, Frame::Accept { .. }));
            if self.is_confirmed {
                (self.initial, self.handshake) = (None, None);
            }
        }
    }
}
