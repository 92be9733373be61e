//! TCP segments as values (RFC 9293), with the options that acklab's endpoints speak.

mod options;
mod segment;
mod seq;

pub use options::{Options, SackBlock, SackBlocks, Timestamps};
pub use segment::{Flags, IPV4_HEADER, Segment, TCP_HEADER};
pub use seq::SeqNumber;
