//! Cells as a black box: packets in, exchanges on the air and packets out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bianchi;
mod common;
mod dialect;
mod distribution;
mod edca;
mod forms;
mod hack_properties;
mod hack_timelines;
mod hidden;
mod ns2;
mod phy;
mod properties;
mod reception;
mod rules;
mod saturation;
#[path = "../../../fuzz/seeds.rs"]
mod seeds;
