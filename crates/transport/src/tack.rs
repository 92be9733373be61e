//! The TACK transport: Li et al., *TACK: Improving Wireless Transport Performance by Taming
//! Acknowledgments*, SIGCOMM 2020, and its extended version, IEEE/ACM ToN 2021. TACK is a separate
//! protocol over UDP. Its packets are defined in [`acklab_wire::tack`].
//!
//! A [`Connection`] is one end. Both ends send and receive any number of streams. An end knows only
//! the state of its peer that packets have carried.
//!
//! | concept | module |
//! |---|---|
//! | opening and closing a connection | `handshake`, `close` |
//! | streams and their flow control | `streams` |
//! | sent packets, and the feedback on them | `sender`, with the [manager](crate::recovery::manager) |
//! | arrived packets, and the pending feedback | `receiver` |
//! | receiver-based loss detection, and the IACKs that follow | `loss` |
//! | blocks of acked and unacked lists, and lists too long for one TACK | [`lists`], `sweep` |
//! | round-trip timing by one-way delays | [`timing`] |
//! | delivery rate and loss rates | [`rate`] |
//! | RTTmin, ρ′, L and β, reported to the receiver | `sync` |
//! | congestion control and pacing (Li et al., SIGCOMM 2020, §5.3: always) | [`congestion`](crate::congestion) |
//! | marks of congestion, reports of them and reactions | `ecn` |
//! | probes without feedback from the peer | `probe` |
//! | the idle timeout, and keep-alives | `idle` |
//! | the limit of answers to an unvalidated address | `amplification` |
//! | validation of the path in both directions | `path` |
//! | skipped numbers, which detect acknowledgments of packets not yet received | `skip` |
//! | refused packets of a peer | [`refusal`] |
//!
//! | event | module |
//! |---|---|
//! | a packet arrives | `input`; `feedback` for TACKs and IACKs |
//! | time passes | `timers` |
//! | a packet is sent | `output` |
//! | an application writes and reads | `port` |
//! | the connection is observed | `vitals` |
//!
//! TACK's law is the formula for the frequency of ACKs: [`ack::tack::Law`](crate::ack::tack::Law).

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
