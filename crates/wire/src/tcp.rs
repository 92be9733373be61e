//! TCP segments as values (RFC 9293), with the options that acklab's endpoints use, and their
//! octets over IPv4.

pub mod octets;
mod options;
mod segment;
mod seq;

pub use octets::{DecodeError, EncodeError, Headers, decode, encode_with, headers, payload_of};
pub use options::{AccurateEcn, AckRate, FieldOrder, Options, SackBlock, SackBlocks, Timestamps};
pub use segment::{Flags, Segment, TCP_HEADER};
pub use seq::SeqNumber;
