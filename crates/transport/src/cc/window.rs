//! The congestion window, and what it grows and shrinks by.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a window grows by. Stacks differ here most when ACKs are thinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// By the ACK, however much it covers: one segment an ACK in slow start, MSS²/cwnd in
    /// congestion avoidance (RFC 5681, §3.1, eq. 3; ns-2, ns-3's `TcpNewReno`).
    PerAck,
    /// By the segments that an ACK newly acknowledges, cumulatively or selectively, if it advances
    /// at all (Linux's `tcp_slow_start` and `tcp_cong_avoid_ai`, with `tcp_cong_control`'s
    /// `acked_sacked`).
    PerSegment,
    /// By the octet, at most two segments an ACK in slow start (RFC 3465, L = 2).
    ByteCounting,
}

/// What is halved on loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlightMeasure {
    /// Octets sent and not cumulatively acknowledged: `FlightSize` (RFC 5681, §3.1, eq. 4).
    FlightSize,
    /// Octets that are estimated to be in the network: pipe (RFC 6675, §4), which ns-3 halves.
    Pipe,
    /// The congestion window, which Linux's `tcp_reno_ssthresh` halves.
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
    /// Returns `true` if the window is below the threshold, where it grows exponentially.
    #[must_use]
    pub const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Keeps in the threshold three quarters of a window that is about to shrink because it is not
    /// used (RFC 2861, §3.1; Linux's `tcp_current_ssthresh`).
    pub const fn remember_three_quarters(&mut self) {
        let most = self.cwnd / 4 * 3;
        if self.ssthresh < most {
            self.ssthresh = most;
        }
    }

    /// The slow-start threshold. Returns `None` until it is set.
    #[must_use]
    pub fn threshold(&self) -> Option<u64> {
        (self.ssthresh != u64::MAX).then_some(self.ssthresh)
    }
}

/// What an ACK acknowledged, as far as it counts for growth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acked {
    /// Octets of the stream.
    pub bytes: u64,
    /// Full-sized segments among them. The octets of a partial segment are carried to the next ACK.
    pub segments: u64,
}
