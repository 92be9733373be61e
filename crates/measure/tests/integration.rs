//! Tests of the measurement through its public interface: endpoints in; tables, logs and captures
//! out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod metrics;
mod recorder;
