//! Test traffic over UDP (RFC 768) as two state machines, as iperf3 sends it with `-u`. A
//! [`Sender`] sends each write of its application as a datagram, without retransmission. A
//! [`Receiver`] sends no response, and measures.
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
