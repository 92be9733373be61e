//! The shared medium of 802.11.
//!
//! | module | holds |
//! |---|---|
//! | [`phy`] | the physical layers as data: rates, durations, interframe spaces |
//! | [`rate`] | in which mode a PPDU is sent |

pub mod phy;
pub mod rate;
