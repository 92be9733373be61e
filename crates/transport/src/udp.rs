//! Test traffic over UDP (RFC 768) as two machines: a [`Sender`] that sends what its application
//! writes, a datagram a write, whatever becomes of it, and a [`Receiver`] that answers nothing and
//! measures, as iperf3 does with `-u`.
//!
//! | module | verb |
//! |---|---|
//! | [`settings`] | what can be set |
//! | [`sender`] | sends |
//! | [`receiver`] | counts, and measures delay and jitter |

pub mod receiver;
pub mod sender;
pub mod settings;
mod vitals;

pub use receiver::Receiver;
pub use sender::Sender;
pub use settings::Settings;
