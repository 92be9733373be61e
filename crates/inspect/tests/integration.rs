//! Inspection from outside: packets to a report.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod clock;
mod connections;
mod misleading;
mod properties {
    pub(crate) mod frames;
    mod plausible;
    mod soundness;
}
