//! Test traffic over UDP (RFC 768) as two state machines, like iperf3 with `-u`. A [`Sender`] sends
//! each write of its application as a datagram, without retransmission. A [`Receiver`] measures and
//! sends no response.
//!
//! | module | contents |
//! |---|---|
//! | [`settings`] | the settings |
//! | [`sender`] | sends datagrams |
//! | [`receiver`] | counts datagrams, and measures delay and jitter |

pub mod receiver;
pub mod sender;
pub mod settings;
mod vitals;

pub use receiver::Receiver;
pub use sender::Sender;
pub use settings::Settings;
