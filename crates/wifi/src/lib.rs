//! The shared medium of 802.11.
//!
//! | module | holds |
//! |---|---|
//! | [`phy`] | the physical layers as data: rates, durations, interframe spaces |
//! | [`reception`] | what becomes of a frame at its receiver: signal and noise, errors, capture, absence |

pub mod phy;
pub mod reception;
