//! Tests of the inspection through its public interface: packets in, a report out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod clock;
mod connections;
mod misleading;
mod thinning;
mod properties {
    pub(crate) mod decapsulation;
    pub(crate) mod frames;
    mod plausible;
    pub(crate) mod qlog;
    mod soundness;
}
mod qlog;
mod quic;
#[path = "../../../fuzz/seeds.rs"]
mod seeds;
mod tunnels;
