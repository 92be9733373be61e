//! Runs packetdrill's scripts against acklab's TCP in virtual time.
//!
//! A script specifies packets that arrive at a TCP, calls of its application, and packets that the
//! TCP is expected to send, each with its time. packetdrill runs the script against a kernel. This
//! crate runs it against a [`Connection`](acklab_transport::tcp::Connection) with any settings,
//! controller and ACK policy, or against any other [`Stack`].
//!
//! | module | contents |
//! |---|---|
//! | `lexer`, [`grammar`], [`script`] | reads the text as data |
//! | `command_line` | options at the head of a script |
//! | `shell`, `sysctl` | commands that set variables, and variables as settings of a connection |
//! | `code`, `expression`, `names` | assertions over `tcp_info` |
//! | `flags`, `options`, `numbers` | packets in scripts, and on the wire |
//! | [`stack`], [`machine`] | the stack that runs a script |
//! | [`player`], `comparison`, [`tolerance`] | the expected packets, compared with the actual ones |
//! | [`verdict`], [`refusal`] | the result |

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
