//! What a packet carries.

use super::{ConnectionId, Parameters, PktSeq, Timestamp, varint};
use std::ops::Range;

/// Types of frames, each its first octet.
pub(super) mod kind {
    pub(crate) const PADDING: u8 = 0x00;
    pub(crate) const PING: u8 = 0x01;
    pub(crate) const STREAM: u8 = 0x02;
    pub(crate) const STREAM_END: u8 = 0x03;
    pub(crate) const TACK: u8 = 0x04;
    pub(crate) const LOSS: u8 = 0x05;
    pub(crate) const WINDOW: u8 = 0x06;
    pub(crate) const BLOCKED: u8 = 0x07;
    pub(crate) const SYNC: u8 = 0x08;
    pub(crate) const FORGET: u8 = 0x09;
    pub(crate) const RESET: u8 = 0x0a;
    pub(crate) const CLOSE: u8 = 0x0b;
    pub(crate) const OPEN: u8 = 0x0c;
    pub(crate) const ACCEPT: u8 = 0x0d;
    pub(crate) const ECN_COUNTS: u8 = 0x0e;
    pub(crate) const STREAMS: u8 = 0x0f;
    pub(crate) const CRYPTO: u8 = 0x10;
    pub(crate) const TOKEN: u8 = 0x11;
    pub(crate) const CHALLENGE: u8 = 0x12;
    pub(crate) const RESPONSE: u8 = 0x13;
    pub(crate) const STOP: u8 = 0x14;
    pub(crate) const LARGEST: u8 = STOP;
}

/// A frame. Which of them must arrive, and what then leaves again, is the transport's affair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Octets of padding, at least one.
    Padding(u16),
    /// Asks for a TACK at once.
    Ping,
    /// Octets of a stream.
    Stream(Stream),
    /// A TACK: what has arrived, and how.
    Tack(Box<Tack>),
    /// A loss-event-driven IACK.
    Loss(Loss),
    /// How packets have arrived by their ECN field, beside a TACK.
    EcnCounts(EcnCounts),
    /// How far the receiver of a stream lets it be sent; in a packet of its own, a window-driven
    /// IACK.
    Window {
        /// The stream.
        stream: u32,
        /// Offsets below this may be sent.
        limit: u64,
    },
    /// The window of a stream is used up, and there is more to send: asks for its window.
    Blocked {
        /// The stream.
        stream: u32,
    },
    /// What the sender of data tells their receiver, so that both go by the same: an RTTmin-driven
    /// IACK.
    Sync(Sync),
    /// The sender has drawn its conclusions about everything below: what has not arrived of it is
    /// not waited for any more.
    Forget {
        /// The lowest number that is still outstanding.
        below: PktSeq,
    },
    /// No more of a stream will be sent, though not all of it has been.
    Reset {
        /// The stream.
        stream: u32,
        /// Octets of it that were ever sent.
        size: u64,
        /// Why.
        code: u32,
    },
    /// The connection is over.
    Close {
        /// Why: zero if both ends have said all.
        code: u32,
    },
    /// Opens a connection.
    Open {
        /// What packets to this end are to be addressed to.
        source: ConnectionId,
        /// What this end offers.
        parameters: Box<Parameters>,
    },
    /// Accepts a connection.
    Accept {
        /// What packets to this end are to be addressed to.
        source: ConnectionId,
        /// What this end offers.
        parameters: Box<Parameters>,
        /// The time of departure of what opened it.
        echo: Timestamp,
        /// Microseconds from its arrival to this.
        delay: u32,
    },
    /// How many streams the peer may open in all (RFC 9000, §19.11).
    Streams {
        /// The most streams.
        limit: u32,
    },
    /// Octets of the cryptographic handshake, by their offset (RFC 9000, §19.6).
    Crypto(Crypto),
    /// What a server gives a client that has to show that it receives at its address, and what the
    /// client gives back with its next Open (RFC 9000, §8.1.2).
    Token(Box<[u8]>),
    /// Asks the peer for a [`Response`](Self::Response), to see whether the path carries packets
    /// both ways (RFC 9000, §19.17).
    Challenge(u64),
    /// Returns the value of a [`Challenge`](Self::Challenge) (RFC 9000, §19.18).
    Response(u64),
    /// Nobody reads a stream any more: asks its sender to reset it (RFC 9000, §19.5).
    Stop {
        /// The stream.
        stream: u32,
        /// Why.
        code: u32,
    },
    /// A frame of a type that this version does not know and skips.
    Extension(Box<Extension>),
    /// The versions that a server knows: all that a packet of version 0 carries.
    Versions(Box<[u8]>),
}

/// Octets of the cryptographic handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crypto {
    /// Where they begin.
    pub offset: u32,
    /// How many there are: at least one.
    pub length: u16,
}

impl Crypto {
    /// Octets before those of the handshake.
    #[must_use]
    pub const fn header(offset: u32) -> u64 {
        1 + varint::len(offset) + 2
    }
}

/// A frame that tells its length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// Its type: at least [`FIRST`](Self::FIRST).
    pub kind: u8,
    /// What it carries.
    pub octets: Vec<u8>,
}

impl Extension {
    /// Types from this on are followed by their length.
    pub const FIRST: u8 = 0x40;
}

/// Octets of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The stream.
    pub id: u32,
    /// Where they begin.
    pub offset: u64,
    /// How many there are.
    pub length: u16,
    /// Does the stream end behind them?
    pub is_end: bool,
}

impl Stream {
    /// The offset behind the last octet.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.length as u64)
    }
}

/// Some numbers in a row, after others that are not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// How many numbers are passed over before.
    pub skip: u32,
    /// How many there are: at least one.
    pub length: u32,
}

/// The ranges of numbers that `runs` from `next` on stand for.
pub fn ranges(next: u64, runs: &[Run]) -> impl Iterator<Item = Range<u64>> + Clone {
    runs.iter().scan(next, |reached, run| {
        let start = *reached + u64::from(run.skip);
        *reached = start + u64::from(run.length);
        Some(start..*reached)
    })
}

/// A TACK (Li et al., SIGCOMM 2020, §5; ToN 2021, §VI).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tack {
    /// Each number below has arrived, or need not arrive any more.
    pub next: PktSeq,
    /// Acked list: runs of numbers that have arrived, from `next` on. Each skips at least one
    /// number.
    pub acked: Vec<Run>,
    /// Unacked list: runs of numbers that are lost, from `next` on. Each but the first skips at
    /// least one number.
    pub lost: Vec<Run>,
    /// Packets that have arrived beyond `next` and that the acked list has no room for.
    pub unlisted: u32,
    /// Packets that were reported lost and have arrived after all, since the connection began.
    pub late: u32,
    /// The time of departure of the packet that is timed.
    pub echo: Timestamp,
    /// Δt*: microseconds from the arrival of that packet to this TACK.
    pub delay: u32,
    /// Octets of streams that arrived in the interval that the delivery rate is measured over; zero
    /// if there is no measurement yet.
    pub delivered: u32,
    /// That interval, in microseconds.
    pub interval: u32,
}

/// A loss-event-driven IACK (Li et al., SIGCOMM 2020, §5.1): what lies between the two is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The second-largest number that has arrived.
    pub after: PktSeq,
    /// The largest.
    pub before: PktSeq,
    /// How many numbers in a row have arrived from `before` on: at least one. The paper's IACK
    /// leaves them to the TACK, which has no room for thousands of runs.
    pub arrived: u32,
}

/// Packets that have to be acknowledged, by the codepoint that they arrived with, since the
/// connection began (RFC 9000, §19.3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounts {
    /// ECT(0).
    pub ect0: u32,
    /// CE.
    pub ce: u32,
}

/// What the sender of data measures and the receiver goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sync {
    /// RTTmin, in microseconds.
    pub rtt_min: u32,
    /// ρ′, the share of packets lost on the way from the receiver, in 65536ths.
    pub ack_loss: u16,
    /// L: full-sized packets a TACK, where byte counting governs.
    pub packets: u32,
    /// β: TACKs in an RTTmin, where time governs.
    pub beta: u32,
}

impl Tack {
    /// Octets of the frame.
    #[must_use]
    pub fn wire_len(&self) -> u64 {
        let fields =
            [self.unlisted, self.late, self.delay, self.delivered, self.interval].map(varint::len).iter().sum::<u64>();
        1 + 4 + 4 + fields + list_len(&self.acked) + list_len(&self.lost)
    }
}

fn list_len(list: &[Run]) -> u64 {
    varint::len(list.len() as u32) + list.iter().map(Run::wire_len).sum::<u64>()
}

impl Run {
    /// Octets that it takes in a list.
    #[must_use]
    pub const fn wire_len(&self) -> u64 {
        varint::len(self.skip) + varint::len(self.length)
    }
}

impl Frame {
    /// Octets that it takes, those of a stream included.
    #[must_use]
    #[inline]
    pub fn wire_len(&self) -> u64 {
        match self {
            Self::Stream(stream) => Self::stream_header(stream.id) + u64::from(stream.length),
            Self::Padding(octets) => u64::from(*octets),
            Self::Ping => 1,
            Self::Tack(tack) => tack.wire_len(),
            Self::Loss(loss) => 1 + 4 + 4 + varint::len(loss.arrived),
            Self::EcnCounts(counts) => 1 + varint::len(counts.ect0) + varint::len(counts.ce),
            Self::Window { stream, .. } => 1 + varint::len(*stream) + 8,
            Self::Blocked { stream } => 1 + varint::len(*stream),
            Self::Sync(sync) => 1 + varint::len(sync.rtt_min) + 2 + varint::len(sync.packets) + varint::len(sync.beta),
            Self::Forget { .. } => 1 + 4,
            Self::Reset { stream, code, .. } => 1 + varint::len(*stream) + 8 + varint::len(*code),
            Self::Close { code } => 1 + varint::len(*code),
            Self::Open { parameters, .. } => 1 + 8 + parameters.wire_len(),
            Self::Accept { parameters, delay, .. } => 1 + 8 + parameters.wire_len() + 4 + varint::len(*delay),
            Self::Streams { limit } => 1 + varint::len(*limit),
            Self::Crypto(crypto) => Crypto::header(crypto.offset) + u64::from(crypto.length),
            Self::Token(token) => 1 + varint::len(token.len() as u32) + token.len() as u64,
            Self::Challenge(_) | Self::Response(_) => 1 + 8,
            Self::Stop { stream, code } => 1 + varint::len(*stream) + varint::len(*code),
            Self::Extension(extension) => {
                let octets = extension.octets.len() as u64;
                1 + varint::len(octets as u32) + octets
            }
            Self::Versions(versions) => versions.len() as u64,
        }
    }

    /// Octets before those of a stream: type, stream, offset, length.
    #[must_use]
    #[inline]
    pub const fn stream_header(id: u32) -> u64 {
        1 + varint::len(id) + 8 + 2
    }

    /// Does it acknowledge: is it a TACK or one of the receiver's IACKs?
    #[must_use]
    #[inline]
    pub const fn acknowledges(&self) -> bool {
        matches!(self, Self::Tack(_) | Self::Loss(_) | Self::Window { .. } | Self::Accept { .. })
    }

    /// Must a packet with it be acknowledged?
    #[must_use]
    #[inline]
    pub const fn is_ack_eliciting(&self) -> bool {
        !matches!(
            self,
            Self::Padding(_)
                | Self::Tack(_)
                | Self::Loss(_)
                | Self::EcnCounts(_)
                | Self::Window { .. }
                | Self::Forget { .. }
                | Self::Close { .. }
                | Self::Versions(_)
        )
    }
}
