//! Parts of the controllers that model the path by its bandwidth and its round-trip time: BBR 1 and
//! BBR 3.
//!
//! | module | holds |
//! |---|---|
//! | [`gain`] | gains as fractions, bandwidth-delay products |
//! | [`filter`] | a maximum filter of two periods |
//! | [`rounds`] | packet-timed round trips |
//! | [`loss_round`] | rounds with losses, and the losses that end Startup |
//! | [`full_pipe`] | detects whether the delivery rate still grows with the sending rate |
//! | [`aggregation`] | ACK aggregation: the data acknowledged beyond the bandwidth |
//! | [`pacing`] | the pacing rate |
//! | [`probe_rtt`] | how long `ProbeRTT` lasts |

pub(super) mod aggregation;
pub(super) mod filter;
pub(super) mod full_pipe;
pub(super) mod gain;
pub(super) mod loss_round;
pub(super) mod pacing;
pub(super) mod probe_rtt;
pub(super) mod rounds;
