//! The purpose for which a controller needs feedback at present. A sender may adapt its requests
//! for ACKs to it.

/// The phase of a controller (draft-ietf-ccwg-bbr, section on the impact of changing ACK
/// frequency).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It searches for bandwidth, and needs frequent samples of the delivery rate: BBR's Startup,
    /// `ProbeBW_REFILL` and `ProbeBW_UP`.
    Probes,
    /// It relies on its estimates: BBR's Drain, `ProbeBW_DOWN` and `ProbeBW_CRUISE`.
    Cruises,
    /// It has drained the queue to measure the minimum round trip: BBR's `ProbeRTT`.
    ProbesRtt,
}
