//! Decodes packets.
//!
//! The decoder is strict: [`encode`](super::encode) restores the decoded octets exactly, except
//! reserved bits and the octets of streams and of the handshake.

use super::frame::kind;
use super::{
    ConnectionId, Crypto, EcnCounts, Extension, Frame, Frames, HEADER, Loss, Packet, Parameters, PktSeq, Run, Stream,
    Sync, TAG, Tack, Timestamp, VERSION, version,
};
use crate::Endpoints;
use crate::ipv4::Checksums;
use crate::octets::Octets;
use crate::udp::header::{self, HeaderError, Received};
use crate::varint::short as varint;
use acklab_base::Ecn;

/// The largest offset of a stream (RFC 9000, §4.5).
pub const LARGEST_OFFSET: u64 = (1 << 62) - 1;

/// The reasons why octets are not a packet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The octets are not a UDP datagram in IPv4.
    #[error(transparent)]
    Udp(#[from] HeaderError),
    /// Octets are missing.
    #[error("found {present} of {length} octets of the datagram, expected all to read its frames")]
    Cut {
        /// Octets of the datagram.
        length: usize,
        /// Octets that are present.
        present: usize,
    },
    /// The datagram is too short for header and tag.
    #[error("found {present} octets of the datagram, expected at least 33 for header and tag")]
    TooShort {
        /// Octets of the datagram.
        present: usize,
    },
    /// The packet has another version: see [`version::answer`].
    #[error("found version {0}, expected 1")]
    Version(u8),
    /// The tag of an unprotected packet is not zero.
    #[error("the packet is protected")]
    Protected,
    /// The packet has no frame.
    #[error("the packet has no frame")]
    Empty,
    /// The frame type is unknown.
    #[error("unknown frame type {0:#04x}")]
    Type(u8),
    /// The contents of a frame do not match its type.
    #[error("a frame of type {kind:#04x} is truncated or has an invalid value")]
    Malformed {
        /// The type of the frame.
        kind: u8,
    },
}

/// Decodes the unprotected packet in the IPv4 packet at the start of `octets`, and its endpoints.
///
/// # Errors
/// If the octets are not a whole, well-formed packet.
pub fn decode(octets: &[u8], checksums: Checksums) -> Result<(Endpoints, Packet), DecodeError> {
    let Received { endpoints, ecn, payload, length } = header::read(octets, checksums)?;
    if payload.len() < length {
        return Err(DecodeError::Cut { length, present: payload.len() });
    }
    Ok((endpoints, decode_datagram(payload, ecn, |_, _| ())?))
}

/// Decodes the unprotected packet in a UDP datagram with this ECN field. Calls `take` with each
/// frame that carries octets of a stream or of the handshake, and with these octets.
///
/// # Errors
/// If the datagram is not a well-formed packet. `take` may already have been called.
pub fn decode_datagram(datagram: &[u8], ecn: Ecn, take: impl FnMut(&Frame, &[u8])) -> Result<Packet, DecodeError> {
    let too_short = DecodeError::TooShort { present: datagram.len() };
    let Some((rest, tag)) = datagram.split_last_chunk::<{ TAG as usize }>() else { return Err(too_short) };
    let Some((head, frames)) = rest.split_first_chunk::<{ HEADER as usize }>() else { return Err(too_short) };
    let version = version::of(head[0]);
    if !matches!(version, VERSION | version::NEGOTIATION) {
        return Err(DecodeError::Version(version));
    }
    if *tag != [0; TAG as usize] {
        return Err(DecodeError::Protected);
    }
    let mut fields = Octets(&head[1..]);
    let malformed = DecodeError::Malformed { kind: head[0] };
    let (Some(connection), Some(number), Some(departed)) = (fields.word(), fields.half(), fields.half()) else {
        return Err(malformed);
    };
    let frames = match version {
        VERSION => decode_frames(frames, take)?,
        _ if frames.is_empty() => return Err(DecodeError::Empty),
        _ => std::iter::once(Frame::Versions(frames.into())).collect(),
    };
    let (connection, number, departed) = (ConnectionId(connection), PktSeq(number), Timestamp(departed));
    Ok(Packet { ecn, connection, number, departed, frames })
}

/// Decodes the frames in `octets`.
///
/// # Errors
/// If they are not well-formed frames.
pub fn decode_frames(octets: &[u8], take: impl FnMut(&Frame, &[u8])) -> Result<Frames, DecodeError> {
    let mut frames = Frames::default();
    decode_frames_into(octets, &mut frames, take)?;
    Ok(frames)
}

/// Like [`decode_frames`], but appends the frames to `frames`, so that they need not be moved.
///
/// # Errors
/// If they are not well-formed frames.
#[inline]
pub fn decode_frames_into(
    octets: &[u8],
    frames: &mut Frames,
    mut take: impl FnMut(&Frame, &[u8]),
) -> Result<(), DecodeError> {
    let mut octets = Octets(octets);
    while let Some(kind) = octets.octet() {
        let Some(frame) = octets.frame(kind, &mut take) else {
            return Err(match kind {
                ..=kind::LARGEST | Extension::FIRST.. => DecodeError::Malformed { kind },
                _ => DecodeError::Type(kind),
            });
        };
        frames.push(frame);
    }
    if frames.is_empty() { Err(DecodeError::Empty) } else { Ok(()) }
}

impl Octets<'_> {
    fn offset(&mut self) -> Option<u64> {
        self.word().filter(|offset| *offset <= LARGEST_OFFSET)
    }

    fn varint(&mut self) -> Option<u32> {
        varint::take(&mut self.0)
    }

    fn frame(&mut self, kind: u8, take: &mut impl FnMut(&Frame, &[u8])) -> Option<Frame> {
        Some(match kind {
            kind::PADDING => self.padding()?,
            kind::PING => Frame::Ping,
            kind::STREAM | kind::STREAM_END => self.stream(kind == kind::STREAM_END, take)?,
            kind::TACK => Frame::Tack(Box::new(self.tack()?)),
            kind::LOSS => {
                let (after, before) = (PktSeq(self.half()?), PktSeq(self.half()?));
                Frame::Loss(Loss { after, before, arrived: self.varint()? })
            }
            kind::ECN_COUNTS => Frame::EcnCounts(EcnCounts { ect0: self.varint()?, ce: self.varint()? }),
            kind::WINDOW => Frame::Window { stream: self.varint()?, limit: self.offset()? },
            kind::BLOCKED => Frame::Blocked { stream: self.varint()? },
            kind::SYNC => {
                let (rtt_min, ack_loss) = (self.varint()?, self.quarter()?);
                Frame::Sync(Sync { rtt_min, ack_loss, packets: self.varint()?, beta: self.varint()? })
            }
            kind::FORGET => Frame::Forget { below: PktSeq(self.half()?) },
            kind::RESET => Frame::Reset { stream: self.varint()?, size: self.offset()?, code: self.varint()? },
            kind::CLOSE => Frame::Close { code: self.varint()? },
            kind::OPEN => Frame::Open { source: ConnectionId(self.word()?), parameters: self.parameters()? },
            kind::ACCEPT => {
                let (source, parameters) = (ConnectionId(self.word()?), self.parameters()?);
                Frame::Accept { source, parameters, echo: Timestamp(self.half()?), delay: self.varint()? }
            }
            kind::STREAMS => Frame::Streams { limit: self.varint()? },
            kind::CRYPTO => self.crypto(take)?,
            kind::TOKEN => {
                let length = self.varint().filter(|length| *length > 0)? as usize;
                Frame::Token(self.take(length)?.into())
            }
            kind::CHALLENGE => Frame::Challenge(self.word()?),
            kind::RESPONSE => Frame::Response(self.word()?),
            kind::STOP => Frame::Stop { stream: self.varint()?, code: self.varint()? },
            Extension::FIRST.. => self.extension(kind)?,
            _ => return None,
        })
    }

    /// Returns the run of padding whose first octet was already consumed.
    fn padding(&mut self) -> Option<Frame> {
        let more = self.0.iter().take_while(|octet| **octet == kind::PADDING).count();
        self.take(more)?;
        Some(Frame::Padding(u16::try_from(more + 1).ok()?))
    }

    /// Reads a stream frame. An empty frame is valid only if the stream ends with it.
    fn stream(&mut self, is_end: bool, take: &mut impl FnMut(&Frame, &[u8])) -> Option<Frame> {
        let stream = Stream { id: self.varint()?, offset: self.word()?, length: self.quarter()?, is_end };
        if stream.end() > LARGEST_OFFSET || (stream.length == 0 && !is_end) {
            return None;
        }
        let frame = Frame::Stream(stream);
        take(&frame, self.take(stream.length.into())?);
        Some(frame)
    }

    fn crypto(&mut self, take: &mut impl FnMut(&Frame, &[u8])) -> Option<Frame> {
        let crypto = Crypto { offset: self.varint()?, length: self.quarter().filter(|length| *length > 0)? };
        let frame = Frame::Crypto(crypto);
        take(&frame, self.take(crypto.length.into())?);
        Some(frame)
    }

    fn extension(&mut self, kind: u8) -> Option<Frame> {
        let length = self.varint()? as usize;
        Some(Frame::Extension(Box::new(Extension { kind, octets: self.take(length)?.to_vec() })))
    }

    fn tack(&mut self) -> Option<Tack> {
        let next = PktSeq(self.half()?);
        let (acked, lost) = (self.list(1)?, self.list(0)?);
        let (unlisted, late, echo) = (self.varint()?, self.varint()?, Timestamp(self.half()?));
        let (delay, delivered, interval) = (self.varint()?, self.varint()?, self.varint()?);
        Some(Tack { next, acked, lost, unlisted, late, echo, delay, delivered, interval })
    }

    /// Decodes runs. The first run skips at least `minimum` numbers, and each other run at least
    /// one number. All runs lie within half of the number space.
    fn list(&mut self, minimum: u32) -> Option<Vec<Run>> {
        let count = self.varint()? as usize;
        // A run has at least two octets, so the memory is limited by the remaining octets, not only
        // by the count.
        let mut list = Vec::with_capacity(count.min(self.0.len() / 2));
        let mut reach = 0u32;
        for index in 0..count {
            let run = Run { skip: self.varint()?, length: self.varint()? };
            reach = reach.checked_add(run.skip)?.checked_add(run.length)?;
            if run.length == 0 || (run.skip < minimum.max(u32::from(index > 0))) || reach > i32::MAX as u32 {
                return None;
            }
            list.push(run);
        }
        Some(list)
    }

    fn parameters(&mut self) -> Option<Box<Parameters>> {
        Parameters::take(&mut self.0).map(Box::new)
    }
}
