//! How much a sender may have in flight.
//!
//! A [`Controller`] moves a [`Window`]. It is told of acknowledged octets and asked for a slow-start threshold when there was
//! loss; what to retransmit is not its business. One controller is one file here and one arm of [`Algorithm`] and
//! [`Controller`].

mod newreno;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A congestion controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// RFC 5681: slow start, congestion avoidance, half the window on loss.
    #[serde(rename = "newreno", alias = "reno")]
    NewReno,
}

impl Algorithm {
    /// Its name, as scenarios spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NewReno => "newreno",
        }
    }
}

/// What a window grows by: where stacks differ most when ACKs are thinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// By the ACK, however much it covers: one segment an ACK in slow start, MSS²/cwnd in congestion avoidance (RFC 5681, §3.1,
    /// eq. 3; ns-2, ns-3's `TcpNewReno`).
    PerAck,
    /// By the segment that is acknowledged (Linux's `tcp_slow_start` and `tcp_cong_avoid_ai`).
    PerSegment,
    /// By the octet, at most two segments an ACK in slow start (RFC 3465, L = 2).
    ByteCounting,
}

/// What is halved on loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlightMeasure {
    /// Octets sent and not cumulatively acknowledged: FlightSize (RFC 5681, §3.1, eq. 4).
    FlightSize,
    /// Octets believed to be in the network: pipe (RFC 6675, §4), as ns-3 takes it.
    Pipe,
    /// The congestion window, as Linux's `tcp_reno_ssthresh` takes it.
    Window,
}

/// The congestion window, in octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: u64,
    /// Slow-start threshold.
    pub ssthresh: u64,
    /// Payload of a full-sized segment.
    pub mss: u64,
}

impl Window {
    /// Below the threshold the window grows exponentially.
    #[must_use]
    pub const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
}

/// What an ACK acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acked {
    /// Octets of the stream that were cumulatively acknowledged.
    pub bytes: u64,
    /// Those in full-sized segments; what is left of a segment is carried to the next ACK.
    pub segments: u64,
}

/// A controller at work.
#[derive(Clone, Copy, Debug)]
pub enum Controller {
    /// RFC 5681.
    NewReno(newreno::NewReno),
}

impl Controller {
    /// The controller of this configuration.
    #[must_use]
    pub fn new(algorithm: Algorithm, growth: Growth) -> Self {
        match algorithm {
            Algorithm::NewReno => Self::NewReno(newreno::NewReno::new(growth)),
        }
    }

    /// New data was acknowledged outside recovery.
    pub fn on_ack(&mut self, window: &mut Window, acked: Acked) {
        match self {
            Self::NewReno(controller) => controller.on_ack(window, acked),
        }
    }

    /// The threshold after a loss, given the `flight` that is to be reduced.
    #[must_use]
    pub fn ssthresh(&self, window: &Window, flight: u64) -> u64 {
        match self {
            Self::NewReno(controller) => controller.ssthresh(window, flight),
        }
    }

    /// The window was reduced: growth that had been saved up is forgotten.
    pub fn on_reduction(&mut self) {
        match self {
            Self::NewReno(controller) => controller.on_reduction(),
        }
    }
}
