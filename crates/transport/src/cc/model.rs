//! What controllers share that model the path by its bandwidth and its round-trip time.
//!
//! | module | holds |
//! |---|---|
//! | [`gain`] | gains as fractions, and how much a rate brings in a time |
//! | [`filter`] | a maximum over two periods |
//! | [`rounds`] | round trips, counted by what is delivered |
//! | [`full_pipe`] | whether more sending still brings more delivery |
//! | [`aggregation`] | what was acknowledged in bursts |
//! | [`pacing`] | the rate of sending that follows from an estimate |
//! | [`probe_rtt`] | the pause that lets a queue drain |

pub(super) mod aggregation;
pub(super) mod filter;
pub(super) mod full_pipe;
pub(super) mod gain;
pub(super) mod pacing;
pub(super) mod probe_rtt;
pub(super) mod rounds;
