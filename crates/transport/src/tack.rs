//! The TACK transport: Li et al., *TACK: Improving Wireless Transport Performance by Taming
//! Acknowledgments*, SIGCOMM 2020, and its extended version, IEEE/ACM ToN 2021, as a protocol of
//! its own over UDP, whose packets stand in [`acklab_wire::tack`].
//!
//! A [`Connection`] is either end: it sends and receives any number of streams. What it knows of
//! its peer came in packets.
//!
//! | concept | module |
//! |---|---|
//! | opening and closing a connection | `handshake`, `close` |
//! | streams and their flow control | `streams` |
//! | what was sent, and what feedback says of it | `sender`, with the [manager](crate::recovery::manager) |
//! | what has arrived, and what is owed for it | `receiver` |
//! | receiver-based loss detection, and the IACKs that follow | `loss` |
//! | blocks of acked and unacked lists, and TACKs that they do not fit | [`lists`], `sweep` |
//! | round-trip timing by one-way delays | [`timing`] |
//! | delivery rate and loss rates | [`rate`] |
//! | RTTmin, ρ′, L and β, told to the receiver | `sync` |
//! | congestion control and pacing (Li et al., SIGCOMM 2020, §5.3: always) | [`congestion`](crate::congestion) |
//! | marks of congestion, told and answered | `ecn` |
//! | probes where nothing comes back | `probe` |
//! | the end of a connection that nothing comes back on, and signs of life | `idle` |
//! | how much a stranger is answered | `amplification` |
//! | the largest packet of the path | `mtu` |
//! | whether the path carries packets both ways | `path` |
//! | numbers that find out who acknowledges what has not arrived | `skip` |
//! | what is refused of a peer | [`refusal`] |
//!
//! | verb | module |
//! |---|---|
//! | a packet arrives | `input`; `feedback` for TACKs and IACKs |
//! | time passes | `timers` |
//! | a packet leaves | `output` |
//! | an application writes and reads | `port` |
//! | the connection is observed | `vitals` |
//!
//! The frequency of TACKs is that of [`ack::tack::Law`](crate::ack::tack::Law).

mod amplification;
mod clock;
mod close;
mod connection;
mod ecn;
mod feedback;
mod handshake;
mod idle;
mod input;
pub mod lists;
mod loss;
mod mtu;
mod output;
mod path;
mod port;
mod probe;
pub mod rate;
mod receiver;
pub mod refusal;
mod sender;
pub mod settings;
mod skip;
mod streams;
mod sweep;
mod sync;
mod timers;
pub mod timing;
mod vitals;

pub use connection::{Connection, Phase};
pub use refusal::{Refusal, Refusals};
pub use settings::Settings;
