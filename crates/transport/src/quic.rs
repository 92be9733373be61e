//! The QUIC transport: RFC 9000 and RFC 9002, version 1, with draft-ietf-quic-ack-frequency and
//! draft-ietf-quic-receive-ts. Its packets are defined in [`acklab_wire::quic`].
//!
//! A [`Connection`] is one end. Both ends send and receive any number of bidirectional streams. No
//! packet is encrypted, but the sizes of packets include the bytes that TLS and the AEAD add.
//!
//! | concept | module |
//! |---|---|
//! | the cryptographic handshake, in the form of TLS | `handshake` |
//! | packet number spaces | `space` |
//! | packet numbers that have arrived, and ACK frames | `arrived` |
//! | arrival times of packets, if the peer requests them | `receive_times` |
//! | the times at which 1-RTT packets are acknowledged | `acks` |
//! | requests by which the sender of data controls its peer's ACKs | [`ask`] |
//! | streams, and the flow control of a stream and of the connection | `streams`, `flow` |
//! | sent packets, and the feedback of ACKs and timers on them | `sender`, with the [manager](crate::recovery::manager) |
//! | data of streams and frames to send | `data` |
//! | a packet under construction | `draft` |
//! | the probe timeout and the loss timer | `timers` |
//! | connection IDs | `ids` |
//! | ECN counts and their validation | `ecn` |
//! | the size of datagrams | `mtu` |
//! | the latency spin bit | `spin` |
//! | the idle timeout | `idle` |
//! | the end of a connection | `close` |
//!
//! | event | module |
//! |---|---|
//! | a datagram arrives | `input`; `feedback` for its ACK frames |
//! | time passes | `timers` |
//! | a datagram is sent | `output` |
//! | an application writes and reads | `port` |
//! | the connection is observed | `vitals` |

mod acks;
mod arrived;
pub mod ask;
mod close;
mod connection;
mod data;
mod draft;
mod ecn;
mod feedback;
mod flow;
mod handshake;
mod idle;
mod ids;
mod input;
mod mtu;
mod output;
mod port;
mod preset;
mod receive_times;
mod sender;
pub mod settings;
mod space;
mod spin;
mod streams;
mod timers;
mod vitals;

pub use close::Ended;
pub use connection::{Connection, Phase};
pub use flow::{FlowControl, Growth};
pub use handshake::Tls;
pub use preset::Preset;
pub use receive_times::Timestamps;
pub use settings::{ConnectionConfig, Settings};
