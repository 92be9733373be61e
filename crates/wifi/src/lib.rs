//! The shared medium of 802.11.
//!
//! A [`Cell`] is a machine: an access point, its stations, and the shared medium.
//!
//! | module | holds |
//! |---|---|
//! | [`cell`] | the machine, split by verb |
//! | [`config`] | the settings of a cell in a scenario |
//! | [`phy`] | the physical layers as data: rates, durations, interframe spaces |
//! | [`access`] | channel access: categories, contention windows, backoffs |
//! | [`rate`] | rate control: the mode of a PPDU |
//! | [`reception`] | which nodes hear each other, and how well |
//! | [`hack`] | TCP ACKs inside the acknowledgments of the link |
//! | [`airtime`] | the use of every nanosecond of the medium |
//! | [`counters`] | counters of a node |
//! | [`ppdu`] | PPDUs, for captures and timelines |

// Tests inside the crate share packet types with tests outside the crate.
#[cfg(test)]
extern crate self as acklab_wifi;

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
pub use config::CellConfig;
pub use packet::Packet;
