//! TCP (RFC 9293): a [`Connection`] at each end. If only one end sends data, half a connection
//! suffices at each end: a [`Sender`] that opens the connection and sends, and a [`Receiver`] that
//! answers.
//!
//! | module | contents |
//! |---|---|
//! | [`settings`] | the settings |
//! | [`config`] | the differences between stacks, and three presets |
//! | [`rules`] | the variants of loss recovery, one rule per field |
//! | [`ecn`] | the negotiation of ECN |
//! | [`sender`] | `input` processes ACKs, `react` drives congestion control, `output` selects the
//! next segment, `probe` sends probes when no ACKs arrive, `timers` handles expiries |
//! | [`receiver`] | reassembles the stream, consults the ACK policy, sends ACKs |
//! | [`connection`] | both halves at one end: data, acknowledgments on data and a FIN in both
//! directions |

mod clock;
pub mod config;
pub mod connection;
pub mod ecn;
pub mod kernel;
pub mod receiver;
mod refusal;
pub mod rules;
pub mod sender;
pub mod settings;

pub use config::Preset;
pub use connection::Connection;
pub use kernel::Kernel;
pub use receiver::Receiver;
pub use rules::Rules;
pub use sender::Sender;
pub use settings::{Settings, TcpConfig};

use acklab_base::{Content, Endpoint};
use acklab_wire::tcp::{Flags, Options, Segment, Timestamps};
use std::ops::Range;

/// Returns the bytes of options that may be added to `segment`. Its packet must not become longer
/// than a packet with `mss` bytes of payload, and with timestamps if `segment` has timestamps.
fn room_beside(segment: &Segment, mss: u64) -> u64 {
    (mss + len_of(segment.options.timestamps)).saturating_sub(u64::from(segment.payload)).min(Options::ROOM)
}

/// Returns the size of the timestamps option, in bytes, or zero without timestamps.
fn len_of(timestamps: Option<Timestamps>) -> u64 {
    Options { timestamps, ..Options::default() }.wire_len()
}

/// Reports which bytes of the stream `segment` carries. `end` has just sent or accepted the
/// segment.
fn report_octets(end: &impl Endpoint<Datagram = Segment>, segment: &Segment, to: &mut dyn FnMut(u32, Range<u64>)) {
    if segment.payload > 0 {
        let start = end.offset(segment);
        to(connection::STREAM, start..start + u64::from(segment.payload));
    }
}

/// Returns the content of a segment for measurements. For a SYN, the content is empty.
#[inline]
fn content_of(segment: &Segment) -> Content {
    Content { payload: segment.payload, acknowledges: !segment.flags.contains(Flags::SYN) }
}
