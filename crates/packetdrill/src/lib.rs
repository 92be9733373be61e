//! packetdrill's scripts, played at acklab's TCP in virtual time.
//!
//! A script says what arrives at a TCP, what its application calls, and what is expected to leave,
//! each with its time. packetdrill plays it at a kernel; here it is played at a
//! [`Connection`](acklab_transport::tcp::Connection) with any settings, controller and ACK policy,
//! or at any other [`Stack`].
//!
//! | module | what |
//! |---|---|
//! | `lexer`, [`grammar`], [`script`] | from text to data |
//! | `command_line` | options at the head of a script |
//! | `shell`, `sysctl` | commands that set variables, and variables as settings of a connection |
//! | `code`, `expression`, `names` | assertions over `tcp_info` |
//! | `flags`, `options`, `numbers` | packets as scripts write them, and as they are on the wire |
//! | [`stack`], [`machine`] | what a script is played at |
//! | [`player`], `comparison`, [`tolerance`] | what is expected, beside what comes |
//! | [`verdict`], [`refusal`] | what has become of it |

mod code;
pub mod command_line;
mod comparison;
mod expression;
mod flags;
pub mod grammar;
mod lexer;
pub mod machine;
mod names;
mod numbers;
mod options;
pub mod player;
pub mod refusal;
pub mod script;
mod shell;
pub mod stack;
mod sysctl;
mod time;
pub mod tolerance;
pub mod verdict;

pub use code::Statement;
pub use machine::{Machine, Strategy};
pub use player::play;
pub use refusal::Refusal;
pub use script::Script;
pub use shell::{Include, Order};
pub use stack::Stack;
pub use time::Time;
pub use verdict::{Failure, Verdict};
