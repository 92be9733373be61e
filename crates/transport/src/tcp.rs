//! TCP (RFC 9293) as two machines: a [`Sender`] that opens and fills a connection, and a [`Receiver`] that answers.
//!
//! | module | verb |
//! |---|---|
//! | [`settings`] | what can be set |
//! | [`config`] | what stacks do differently, and three presets |
//! | [`rules`] | how loss recovery is read, a rule a field |
//! | [`ecn`] | what both agree on about marks |
//! | [`sender`] | `input` takes ACKs, `react` moves congestion control on, `output` decides what leaves, `probe` asks where ACKs run dry, `timers` wakes |
//! | [`receiver`] | reassembles, asks the ACK policy, answers |

mod clock;
pub mod config;
pub mod ecn;
pub mod receiver;
pub mod rules;
pub mod sender;
pub mod settings;

pub use config::Preset;
pub use receiver::Receiver;
pub use rules::Rules;
pub use sender::Sender;
pub use settings::{Config, Settings};
