//! Transport endpoints: machines that turn segments and time into segments.
//!
//! | module | holds |
//! |---|---|
//! | [`ack`] | when a receiver acknowledges: the ledger of what it owes, and the policies that decide |
//! | [`cc`] | how much a sender may have in flight, and how fast it may send |
//! | [`fault`] | what is wrong with settings |
//! | [`custom`] | policies and controllers that are not built in |
//! | [`pacing`] | when the next segment may leave, if not at once |
//! | [`recovery`] | what a sender believes lost, and what it does about it |
//! | [`send_buffer`] | what the application has written |
//! | [`tack`] | the TACK transport |
//! | `windowed_max` | the greatest of what was measured lately, for receivers and controllers |
//! | [`tcp`] | the TCP sender and receiver, put together from the above |
//! | [`udp`] | the UDP sender and receiver |
//!
//! A mechanism is apart from a policy: a new ACK policy or controller is one file and one line of registration.

pub mod ack;
pub mod cc;
pub mod custom;
pub mod fault;
pub mod pacing;
pub mod recovery;
pub mod send_buffer;
pub mod tack;
pub mod tcp;
pub mod udp;
mod windowed_max;
