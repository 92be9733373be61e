//! Tests the measurement through its public interface: it observes endpoints, and writes tables,
//! logs and captures.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod metrics;
mod recorder;
