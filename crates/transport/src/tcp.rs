//! TCP (RFC 9293): a [`Connection`] at each end, or, where data go one way, half of one: a
//! [`Sender`] that opens and fills it, and a [`Receiver`] that answers.
//!
//! | module | verb |
//! |---|---|
//! | [`settings`] | what can be set |
//! | [`config`] | what stacks do differently, and three presets |
//! | [`rules`] | how loss recovery is read, a rule a field |
//! | [`ecn`] | what both agree on about marks |
//! | [`sender`] | `input` takes ACKs, `react` moves congestion control on, `output` decides what leaves, `probe` asks where ACKs run dry, `timers` wakes |
//! | [`receiver`] | reassembles, asks the ACK policy, answers |
//! | [`connection`] | both halves at one end: data both ways, acknowledgments on data, a FIN each way |

mod clock;
pub mod config;
pub mod connection;
pub mod ecn;
pub mod receiver;
mod refusal;
pub mod rules;
pub mod sender;
pub mod settings;

pub use config::Preset;
pub use connection::Connection;
pub use receiver::Receiver;
pub use rules::Rules;
pub use sender::Sender;
pub use settings::{Settings, TcpConfig};

use acklab_base::{Content, Endpoint};
use acklab_wire::tcp::{Flags, Options, Segment, Timestamps};
use std::ops::Range;

/// The options that `segment` may have so that its packet is no longer than one with a payload of
/// `mss` and timestamps, if it has those.
fn room_beside(segment: &Segment, mss: u64) -> u64 {
    (mss + len_of(segment.options.timestamps)).saturating_sub(u64::from(segment.payload)).min(Options::ROOM)
}

/// What timestamps take among the options.
fn len_of(timestamps: Option<Timestamps>) -> u64 {
    Options { timestamps, ..Options::default() }.wire_len()
}

/// Tells the octets of the connection's one stream that `segment`, which `end` has just sent or
/// accepted, carries.
fn report_octets(end: &impl Endpoint<Datagram = Segment>, segment: &Segment, to: &mut dyn FnMut(u32, Range<u64>)) {
    if segment.payload > 0 {
        let start = end.offset(segment);
        to(connection::STREAM, start..start + u64::from(segment.payload));
    }
}

/// What a segment is to those who measure. One with SYN reports no data yet.
#[inline]
fn content_of(segment: &Segment) -> Content {
    Content { payload: segment.payload, acknowledges: !segment.flags.contains(Flags::SYN) }
}
