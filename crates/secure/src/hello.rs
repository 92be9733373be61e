//! The first datagram of a client, and the stateless answers to it. A server reads the datagram
//! before it stores any state.

use crate::Outbox;
use crate::crypto_stream::crypto_frame;
use crate::protection::{Side, append_level, encipher, initial_keys};
use crate::refused::Refused;
use acklab_base::Ecn;
use acklab_wire::tack::decode::decode_frames;
use acklab_wire::tack::encode::append_frame;
use acklab_wire::tack::protected::{Head, Level, first_octet, head};
use acklab_wire::tack::version::MIN_OPEN;
use acklab_wire::tack::{ConnectionId, Frame, Frames, Packet, PktSeq, Timestamp};

/// The size in octets of the header of a packet that opens a connection. The header is not
/// encrypted.
pub(crate) const HEADER: usize = 17;

/// The content of a client's first datagram. It is not authenticated.
#[derive(Debug)]
pub struct Hello {
    /// The packet, for the transport.
    pub packet: Packet,
    /// The client's connection id, to which packets to the client are addressed.
    pub source: ConnectionId,
    /// The token from a server's earlier answer.
    pub token: Option<Box<[u8]>>,
    /// The bytes of the Open frame.
    pub(crate) open: Vec<u8>,
    /// The bytes of the ClientHello.
    pub(crate) crypto: Vec<u8>,
}

/// Returns `true` if a datagram opens a connection of this version.
#[must_use]
pub fn opens(datagram: &[u8]) -> bool {
    head(datagram).is_some_and(|head| head.level == Level::Initial && head.connection == ConnectionId(0))
}

impl Hello {
    /// Reads the datagram of a client, which arrived with this ECN field.
    ///
    /// # Errors
    /// If the datagram does not open a connection.
    pub fn read(datagram: &mut [u8], ecn: Ecn) -> Result<Self, Refused> {
        let Head { level, connection, number_at, .. } = head(datagram).ok_or(Refused::Form)?;
        if level != Level::Initial || connection != ConnectionId(0) {
            return Err(Refused::Form);
        }
        if datagram.len() < MIN_OPEN {
            return Err(Refused::Hello);
        }
        let (header, payload) = datagram.split_at_mut(HEADER);
        let seed = header[number_at..].first_chunk::<8>().ok_or(Refused::Form)?;
        let number = u32::from_be_bytes([seed[0], seed[1], seed[2], seed[3]]);
        let departed = u32::from_be_bytes([seed[4], seed[5], seed[6], seed[7]]);
        let keys = initial_keys(seed, Side::Server).ok_or(Refused::Form)?;
        let opened = keys.remote.packet.decrypt_in_place(number.into(), header, payload);
        let payload = opened.map_err(|_| Refused::Forged)?;
        let mut crypto = Vec::new();
        let frames = decode_frames(payload, |frame, octets| {
            if let Frame::Crypto(part) = frame
                && part.offset as usize == crypto.len()
            {
                crypto.extend_from_slice(octets);
            }
        });
        let frames = frames.map_err(|_| Refused::Frames)?;
        let mut open = Vec::new();
        let source = match frames.iter().next() {
            Some(frame @ Frame::Open { source, .. }) => {
                append_frame(frame, &mut open);
                *source
            }
            _ => return Err(Refused::Hello),
        };
        let has_other = |frame: &Frame| !matches!(frame, Frame::Crypto(_) | Frame::Token(_) | Frame::Padding(_));
        if crypto.is_empty() || source == ConnectionId(0) || frames.iter().skip(1).any(has_other) {
            return Err(Refused::Hello);
        }
        let token =
            frames.iter().find_map(|frame| if let Frame::Token(token) = frame { Some(token.clone()) } else { None });
        let (number, departed) = (PktSeq(number), Timestamp(departed));
        Ok(Self { packet: Packet { ecn, connection, number, departed, frames }, source, token, open, crypto })
    }

    /// Appends an answer with this token. The client must repeat its request with the token.
    pub fn answer_with_token(&self, token: &[u8], out: &mut Outbox) {
        self.answer(Frame::Token(token.into()), out);
    }

    /// Appends an answer that refuses the connection with the code `code`.
    pub fn answer_with_close(&self, code: u32, out: &mut Outbox) {
        self.answer(Frame::Close { code }, out);
    }

    fn answer(&self, frame: Frame, out: &mut Outbox) {
        let Some(keys) = initial_keys(&self.source.0.to_be_bytes(), Side::Server) else { return };
        let frames = std::iter::once(frame).collect();
        if append_level(&mut out.octets, Level::Initial, self.source, 0, Timestamp(0), &frames, &[], &keys.local) {
            out.end(Ecn::NotEct);
        }
    }
}

/// Seals the packet of a client that opens a connection. Adds the ClientHello and the server's
/// token, if present. Returns `false` if they do not fit into a datagram.
pub(crate) fn seal_open(packet: &Packet, open: &Frame, crypto: &[u8], token: Option<&[u8]>, out: &mut Outbox) -> bool {
    let (start, octets) = (out.start(), &mut out.octets);
    octets.push(first_octet(Level::Initial, false, packet.number.0));
    octets.extend_from_slice(&[0; 8]);
    octets.extend_from_slice(&packet.number.0.to_be_bytes());
    octets.extend_from_slice(&packet.departed.0.to_be_bytes());
    let seed = [packet.number.0.to_be_bytes(), packet.departed.0.to_be_bytes()].concat();
    append_frame(open, octets);
    if let Some(token) = token {
        append_frame(&Frame::Token(token.into()), octets);
    }
    append_frame(&crypto_frame(0, crypto), octets);
    octets.extend_from_slice(crypto);
    let length = octets.len() - start + acklab_wire::tack::TAG as usize;
    if length > MIN_OPEN {
        octets.truncate(start);
        return false;
    }
    octets.resize(octets.len() + MIN_OPEN - length, 0);
    let sealed = initial_keys(&seed, Side::Client)
        .is_some_and(|keys| encipher(octets, start, HEADER, packet.number.0.into(), &*keys.local.packet));
    if sealed {
        out.end(Ecn::NotEct);
    } else {
        octets.truncate(start);
    }
    sealed
}

/// Returns the frames of a packet except padding.
pub(crate) fn without_padding(frames: &Frames) -> impl Iterator<Item = &Frame> {
    frames.iter().filter(|frame| !matches!(frame, Frame::Padding(_)))
}
