//! The shared medium of 802.11.
//!
//! | module | holds |
//! |---|---|
//! | [`phy`] | the physical layers as data: rates, durations, interframe spaces |

pub mod phy;
