//! Encodes packets.

use super::frame::kind;
use super::{Frame, HEADER, Packet, Run, Stream, TAG, Tack, VERSION, version};
use crate::Endpoints;
use crate::ipv4::{self, Carried, Extent, IPV4_HEADER, Ipv4Fields, TooLong};
use crate::pdu::Pdu as _;
use crate::udp::{self, UDP_HEADER};
use crate::varint::short as varint;
use etherparse::IpNumber;

/// Replaces the contents of `octets` with the octets of `packet`, unprotected and with zeros for
/// the octets of streams and of the handshake. The memory is reused. [`Extent::Headers`] omits the
/// octets of the last stream frame and the octets after this frame, if only the tag follows.
pub(super) fn encode(
    packet: &Packet,
    endpoints: Endpoints,
    fields: Ipv4Fields,
    extent: Extent,
    octets: &mut Vec<u8>,
) -> Result<(), TooLong> {
    octets.clear();
    let wire_len = packet.wire_len().get();
    let length = u16::try_from(wire_len).map_err(|_| TooLong { octets: wire_len })? - IPV4_HEADER as u16;
    let mut carried = vec![0; UDP_HEADER as usize];
    append_header(packet, &mut carried);
    let mut zeros = 0;
    for frame in packet.frames.iter() {
        carried.resize(carried.len() + zeros, 0);
        append_frame(frame, &mut carried);
        zeros = match frame {
            Frame::Stream(stream) => stream.length.into(),
            Frame::Crypto(crypto) => crypto.length.into(),
            _ => 0,
        };
    }
    let (udp, datagram) = carried.split_at_mut(UDP_HEADER as usize);
    udp.copy_from_slice(&udp::header::header(endpoints, datagram, length));
    let payload = (zeros + TAG as usize) as u32;
    let carried = Carried { protocol: IpNumber::UDP.0, ecn: packet.ecn, header: &carried, payload };
    ipv4::encode(&carried, endpoints, fields, extent, octets)
}

/// Like [`encode`], but with the octets of streams from `carried`, which contains them in the order
/// of the frames.
pub(super) fn encode_with(
    packet: &Packet,
    mut carried: &[u8],
    endpoints: Endpoints,
    fields: Ipv4Fields,
    octets: &mut Vec<u8>,
) -> Result<(), TooLong> {
    let mut datagram = Vec::new();
    append_header(packet, &mut datagram);
    for frame in packet.frames.iter() {
        append_frame(frame, &mut datagram);
        match frame {
            Frame::Stream(stream) => {
                let length = carried.len().min(stream.length as usize);
                let (own, rest) = carried.split_at(length);
                datagram.extend_from_slice(own);
                datagram.resize(datagram.len() + (stream.length as usize - length), 0);
                carried = rest;
            }
            Frame::Crypto(crypto) => datagram.resize(datagram.len() + crypto.length as usize, 0),
            _ => {}
        }
    }
    datagram.resize(datagram.len() + TAG as usize, 0);
    udp::octets::encode_payload(&datagram, packet.ecn, endpoints, fields, octets)
}

/// Appends the header of `packet`, up to its frames. The first nine octets of the header remain
/// readable in a protected packet.
pub fn append_header(packet: &Packet, octets: &mut Vec<u8>) {
    octets.reserve(HEADER as usize);
    let is_answer = packet.frames.iter().any(|frame| matches!(frame, Frame::Versions(_)));
    octets.push(version::first_octet(if is_answer { version::NEGOTIATION } else { VERSION }, packet.number));
    octets.extend_from_slice(&packet.connection.0.to_be_bytes());
    octets.extend_from_slice(&packet.number.0.to_be_bytes());
    octets.extend_from_slice(&packet.departed.0.to_be_bytes());
}

/// Appends the octets of `frame`. The octets of a stream or of the handshake are not included; they
/// follow the frame.
pub fn append_frame(frame: &Frame, octets: &mut Vec<u8>) {
    match frame {
        Frame::Padding(count) => octets.resize(octets.len() + usize::from(*count), kind::PADDING),
        Frame::Ping => octets.push(kind::PING),
        Frame::Stream(stream) => append_stream(stream, octets),
        Frame::Tack(tack) => append_tack(tack, octets),
        Frame::Loss(loss) => {
            octets.push(kind::LOSS);
            octets.extend_from_slice(&loss.after.0.to_be_bytes());
            octets.extend_from_slice(&loss.before.0.to_be_bytes());
            varint::append(loss.arrived, octets);
        }
        Frame::EcnCounts(counts) => {
            octets.push(kind::ECN_COUNTS);
            varint::append(counts.ect0, octets);
            varint::append(counts.ce, octets);
        }
        Frame::Window { stream, limit } => {
            octets.push(kind::WINDOW);
            varint::append(*stream, octets);
            octets.extend_from_slice(&limit.to_be_bytes());
        }
        Frame::Blocked { stream } => {
            octets.push(kind::BLOCKED);
            varint::append(*stream, octets);
        }
        Frame::Sync(sync) => {
            octets.push(kind::SYNC);
            varint::append(sync.rtt_min, octets);
            octets.extend_from_slice(&sync.ack_loss.to_be_bytes());
            varint::append(sync.packets, octets);
            varint::append(sync.beta, octets);
        }
        Frame::Forget { below } => {
            octets.push(kind::FORGET);
            octets.extend_from_slice(&below.0.to_be_bytes());
        }
        Frame::Reset { stream, size, code } => {
            octets.push(kind::RESET);
            varint::append(*stream, octets);
            octets.extend_from_slice(&size.to_be_bytes());
            varint::append(*code, octets);
        }
        Frame::Close { code } => {
            octets.push(kind::CLOSE);
            varint::append(*code, octets);
        }
        Frame::Open { source, parameters } => {
            octets.push(kind::OPEN);
            octets.extend_from_slice(&source.0.to_be_bytes());
            parameters.append(octets);
        }
        Frame::Accept { source, parameters, echo, delay } => {
            octets.push(kind::ACCEPT);
            octets.extend_from_slice(&source.0.to_be_bytes());
            parameters.append(octets);
            octets.extend_from_slice(&echo.0.to_be_bytes());
            varint::append(*delay, octets);
        }
        Frame::Streams { limit } => {
            octets.push(kind::STREAMS);
            varint::append(*limit, octets);
        }
        Frame::Crypto(crypto) => {
            octets.push(kind::CRYPTO);
            varint::append(crypto.offset, octets);
            octets.extend_from_slice(&crypto.length.to_be_bytes());
        }
        Frame::Token(token) => {
            octets.push(kind::TOKEN);
            varint::append(token.len() as u32, octets);
            octets.extend_from_slice(token);
        }
        Frame::Challenge(value) => {
            octets.push(kind::CHALLENGE);
            octets.extend_from_slice(&value.to_be_bytes());
        }
        Frame::Response(value) => {
            octets.push(kind::RESPONSE);
            octets.extend_from_slice(&value.to_be_bytes());
        }
        Frame::Stop { stream, code } => {
            octets.push(kind::STOP);
            varint::append(*stream, octets);
            varint::append(*code, octets);
        }
        Frame::Extension(extension) => {
            octets.push(extension.kind);
            varint::append(extension.octets.len() as u32, octets);
            octets.extend_from_slice(&extension.octets);
        }
        Frame::Versions(versions) => octets.extend_from_slice(versions),
    }
}

fn append_stream(stream: &Stream, octets: &mut Vec<u8>) {
    octets.push(if stream.is_end { kind::STREAM_END } else { kind::STREAM });
    varint::append(stream.id, octets);
    octets.extend_from_slice(&stream.offset.to_be_bytes());
    octets.extend_from_slice(&stream.length.to_be_bytes());
}

fn append_tack(tack: &Tack, octets: &mut Vec<u8>) {
    octets.push(kind::TACK);
    octets.extend_from_slice(&tack.next.0.to_be_bytes());
    append_list(&tack.acked, octets);
    append_list(&tack.lost, octets);
    varint::append(tack.unlisted, octets);
    varint::append(tack.late, octets);
    octets.extend_from_slice(&tack.echo.0.to_be_bytes());
    varint::append(tack.delay, octets);
    varint::append(tack.delivered, octets);
    varint::append(tack.interval, octets);
}

fn append_list(list: &[Run], octets: &mut Vec<u8>) {
    varint::append(list.len() as u32, octets);
    for run in list {
        varint::append(run.skip, octets);
        varint::append(run.length, octets);
    }
}
