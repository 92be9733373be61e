//! The shared medium of 802.11.
//!
//! A [`Cell`] is a machine: an access point, its stations, and the air between them.
//!
//! | module | holds |
//! |---|---|
//! | [`cell`] | the machine, split by verb |
//! | [`config`] | a cell as it stands in a scenario |
//! | [`phy`] | the physical layers as data: rates, durations, interframe spaces |
//! | [`access`] | who may send next: lanes of backoffs, categories, contention windows |
//! | [`rate`] | in which mode a PPDU is sent |
//! | [`reception`] | who hears whom, and how well |
//! | [`hack`] | TCP's ACKs inside the acknowledgements of the link |
//! | [`airtime`] | where every nanosecond of the medium went |
//! | [`counters`] | what a node has done |
//! | [`ppdu`] | what was on the air, for captures and timelines |

pub mod access;
pub mod airtime;
pub mod cell;
pub mod config;
pub mod counters;
mod frame;
pub mod hack;
mod originator;
mod packet;
mod payload;
pub mod phy;
pub mod ppdu;
pub mod rate;
pub mod reception;
mod recipient;

pub use cell::Cell;
pub use config::Config;
pub use packet::Packet;
