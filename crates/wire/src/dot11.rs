//! Frames of 802.11 as values, their octets, and the radiotap header in front of them in a capture.
//!
//! Clause numbers refer to IEEE Std 802.11-2020. The module supports the beacon and the frames of a
//! data exchange: data with and without QoS, A-MSDU, RTS, CTS, ACK, compressed Block ACK and Block
//! ACK request. The delimiters of an A-MPDU belong to the PPDU, not to its frames (9.7).

mod address;
mod block_ack;
mod decode;
mod encode;
mod frame;
pub mod msdu;
pub mod radiotap;

pub use address::MacAddress;
pub use block_ack::{BlockAck, BlockAckRequest, BlockBitmap};
pub use decode::{DecodeError, decode, decode_without_fcs};
pub use encode::{duration_field, encode, encode_with};
pub use frame::{AckPolicy, Beacon, Data, DistributionSystem, Frame, Qos, Response, Rts};
