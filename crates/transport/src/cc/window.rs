//! The congestion window, and its growth and reduction.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The unit of the window's growth. Stacks differ most in this unit if drivers or receivers remove
/// ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// Per ACK, whatever it acknowledges: one segment per ACK in slow start, MSS²/cwnd in
    /// congestion avoidance (RFC 5681, §3.1, eq. 3; ns-2, ns-3's `TcpNewReno`).
    PerAck,
    /// Per segment that an ACK newly acknowledges, cumulatively or selectively, if it advances
    /// snd.una (Linux's `tcp_slow_start` and `tcp_cong_avoid_ai`, with `tcp_cong_control`'s
    /// `acked_sacked`).
    PerSegment,
    /// Per byte, at most two segments per ACK in slow start (RFC 3465, L = 2).
    ByteCounting,
}

/// The quantity that a loss halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlightMeasure {
    /// Bytes sent and not cumulatively acknowledged: `FlightSize` (RFC 5681, §3.1, eq. 4).
    FlightSize,
    /// The estimated bytes in the network: pipe (RFC 6675, §4), which ns-3 halves.
    Pipe,
    /// The congestion window, which Linux's `tcp_reno_ssthresh` halves.
    Window,
}

/// The congestion window, in bytes.
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

    /// Raises the threshold to three quarters of a window that is about to shrink because it is
    /// unused (RFC 2861, §3.1; Linux's `tcp_current_ssthresh`).
    pub const fn remember_three_quarters(&mut self) {
        let most = self.cwnd / 4 * 3;
        if self.ssthresh < most {
            self.ssthresh = most;
        }
    }

    /// Returns the slow-start threshold, or `None` until it is set.
    #[must_use]
    pub fn threshold(&self) -> Option<u64> {
        (self.ssthresh != u64::MAX).then_some(self.ssthresh)
    }
}

/// The acknowledged data by which the window may grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acked {
    /// The number of acknowledged bytes of the stream.
    pub bytes: u64,
    /// The number of full-sized segments among these bytes. The bytes of a partial segment are
    /// carried over to the next ACK.
    pub segments: u64,
}
