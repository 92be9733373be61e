//! RACK-TLP (RFC 8985): detects losses by time.
//!
//! A transmission is lost if a later one has been delivered, and it has been outstanding for longer
//! than the reordering window. The scoreboard marks losses; [`Rack`] stores the most recent
//! delivery and the reordering window. [`TailLossProbe`] sends a probe to elicit an ACK when no
//! ACKs arrive.

use super::DUP_THRESH;
use super::alarm::Alarm;
use acklab_base::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RFC 8985, §6.2, step 4: the number of recoveries for which a widened window lasts.
pub(super) const WIDE_FOR_RECOVERIES: u32 = 16;
/// RFC 8985, §7.2: `WCDelAckT`, the maximum delay of the ACK of a single segment; Linux uses its
/// `TCP_RTO_MIN`.
const WORST_DELAYED_ACK: Duration = Duration::from_millis(200);
/// RFC 8985, §7.2: the probe timeout before the first measurement.
const PROBE_WITHOUT_RTT: Duration = Duration::from_secs(1);

/// The segment whose round-trip time is `RACK.rtt` if an ACK delivers several segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoundTrip {
    /// The segment that was sent last (RFC 8985, §6.2, step 2).
    Newest,
    /// The last cumulatively acknowledged segment, if any, even if SACK reports later ones. Linux's
    /// `tcp_rack_advance` stores each round-trip time, and `tcp_clean_rtx_queue` runs after
    /// `tcp_sacktag_write_queue`.
    LastEntered,
}

/// The most recent delivery, and the reordering window.
#[derive(Clone, Copy, Debug)]
pub struct Rack {
    /// The number of the last delivered transmission, in place of `RACK.xmit_ts` and
    /// `RACK.end_seq`.
    newest: Option<u64>,
    /// `RACK.rtt`.
    rtt: Duration,
    reordering_seen: bool,
    /// `RACK.reo_wnd_mult`.
    steps: u64,
    /// `RACK.reo_wnd_persist`.
    wide_for: u32,
    /// `RACK.dsack_round`: snd.nxt at the last widening. The window widens once per round trip.
    widened_until: Option<u64>,
    /// The reordering timer (§6.2, step 5).
    pub reordering_timer: Alarm,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            newest: None,
            rtt: Duration::ZERO,
            reordering_seen: false,
            steps: 1,
            wide_for: 0,
            widened_until: None,
            reordering_timer: Alarm::default(),
        }
    }
}

impl Rack {
    /// Processes a delivery (§6.2, steps 2 and 3). `newest` is the number of the delivered
    /// transmission that was sent last, and `rtt` is the round-trip time for the detection.
    pub fn on_delivery(&mut self, newest: u64, rtt: Duration, is_reordered: bool) {
        self.reordering_seen |= is_reordered;
        self.rtt = rtt;
        self.newest = self.newest.max(Some(newest));
    }

    /// Processes a D-SACK of a spurious retransmission: the window was too short (§6.2, step 4).
    pub fn on_dsack(&mut self, una: u64, nxt: u64) {
        if self.widened_until.is_none_or(|until| una >= until) {
            self.widened_until = Some(nxt);
            self.steps += 1;
            self.wide_for = WIDE_FOR_RECOVERIES;
        }
    }

    /// Records reordering that was detected elsewhere than in [`on_delivery`](Self::on_delivery).
    pub const fn on_reordering(&mut self) {
        self.reordering_seen = true;
    }

    /// Returns `true` if reordering has been seen.
    #[must_use]
    pub const fn has_seen_reordering(&self) -> bool {
        self.reordering_seen
    }

    /// Processes a D-SACK that undoes a recovery: the window stays wide for one more recovery
    /// (Linux's `tcp_try_undo_dsack`).
    pub fn on_undone_by_dsack(&mut self) {
        self.wide_for = (self.wide_for + 1).min(WIDE_FOR_RECOVERIES);
    }

    /// Processes the end of a recovery whose reduction was not undone.
    pub fn on_recovered(&mut self) {
        self.wide_for = self.wide_for.saturating_sub(1);
        if self.wide_for == 0 {
            self.steps = 1;
        }
    }

    /// Returns the reordering window (§6.2, step 4). The window is zero during a recovery or with
    /// `DupThresh` segments SACKed, unless reordering was detected.
    #[must_use]
    pub fn window(
        &self,
        min_rtt: Option<Duration>,
        srtt: Option<Duration>,
        in_recovery: bool,
        sacked_segments: u32,
    ) -> Duration {
        if !self.reordering_seen && (in_recovery || sacked_segments >= DUP_THRESH) {
            return Duration::ZERO;
        }
        let allowed = min_rtt.unwrap_or_default() / 4 * self.steps;
        srtt.map_or(allowed, |srtt| allowed.min(srtt))
    }

    /// Returns the number of the delivered transmission that was sent last.
    #[must_use]
    pub const fn newest(&self) -> Option<u64> {
        self.newest
    }

    /// Returns the round-trip time of that transmission.
    #[must_use]
    pub const fn rtt(&self) -> Duration {
        self.rtt
    }

    /// Sets the reordering timer to expire after `wait`, or clears it.
    pub fn wait(&mut self, now: Instant, wait: Option<Duration>, slack: Duration) {
        self.reordering_timer.set(wait.map(|wait| now + wait + slack));
    }
}

/// A probe in flight (§7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Episode {
    /// `TLP.end_seq`: snd.nxt when the probe was sent.
    pub until: u64,
    /// `TLP.is_retrans`: the probe repeated the last segment, because there was no new data.
    pub is_retransmission: bool,
}

/// Tail loss probes (§7).
#[derive(Clone, Copy, Debug, Default)]
pub struct TailLossProbe {
    /// The probe timeout.
    pub timeout: Alarm,
    /// The probe in flight, if there is one.
    pub episode: Option<Episode>,
    /// `true` if no round-trip time was measured since the last probe was sent.
    pub awaits_measurement: bool,
}

/// The inputs of the probe timeout (§7.2).
#[derive(Clone, Copy, Debug)]
pub struct ProbeTiming {
    /// SRTT, if it was measured.
    pub srtt: Option<Duration>,
    /// The unit of the clock that measures SRTT. Round-trip times of less than a unit usually
    /// measure as zero.
    pub granularity: Duration,
    /// `true` if exactly one segment is outstanding.
    pub lone: bool,
    /// The additional slack of the timer itself.
    pub slack: Duration,
    /// The expiry of the retransmission timer. The probe is sent no later than this.
    pub timeout: Option<Instant>,
}

impl TailLossProbe {
    /// Starts the probe timeout (§7.2): two round-trip times, each at least the granularity of the
    /// clock (as in RFC 6298, §2, for the RTO).
    pub fn schedule(&mut self, now: Instant, timing: &ProbeTiming) {
        let ProbeTiming { srtt, granularity, lone, slack, timeout } = *timing;
        let timeout_after = match srtt {
            None => PROBE_WITHOUT_RTT,
            Some(srtt) => srtt.max(granularity) * 2 + if lone { WORST_DELAYED_ACK } else { slack },
        };
        let deadline = now + timeout_after;
        self.timeout.set(Some(timeout.map_or(deadline, |timeout| deadline.min(timeout))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + MS(ms)
    }

    #[test]
    fn the_window_is_zero_with_three_sacked_segments_unless_there_is_reordering() {
        let mut rack = Rack::default();
        let window = |rack: &Rack, sacked| rack.window(Some(MS(40)), Some(MS(50)), false, sacked);
        assert_eq!((window(&rack, 2), window(&rack, 3)), (MS(10), Duration::ZERO));
        assert_eq!(rack.window(Some(MS(40)), Some(MS(50)), true, 0), Duration::ZERO);
        rack.on_delivery(1, MS(40), true);
        assert_eq!((window(&rack, 3), rack.rtt()), (MS(10), MS(40)));
    }

    #[test]
    fn each_round_with_a_needless_retransmission_widens_the_window() {
        let mut rack = Rack { reordering_seen: true, ..Rack::default() };
        let window = |rack: &Rack| rack.window(Some(MS(40)), Some(MS(25)), true, 9);
        rack.on_dsack(100, 500);
        rack.on_dsack(499, 900);
        assert_eq!(window(&rack), MS(20), "once a round trip");
        rack.on_dsack(500, 900);
        assert_eq!(window(&rack), MS(25), "but never above SRTT");
        (0..WIDE_FOR_RECOVERIES).for_each(|_| rack.on_recovered());
        assert_eq!(window(&rack), MS(10));
    }

    #[test]
    fn the_probe_timeout() {
        let mut probe = TailLossProbe::default();
        let mut after = |srtt, lone, timeout| {
            let (granularity, slack) = (MS(1), Duration::ZERO);
            probe.schedule(at(0), &ProbeTiming { srtt, granularity, lone, slack, timeout });
            probe.timeout.at()
        };
        assert_eq!(after(None, false, None), Some(at(1000)));
        assert_eq!(after(Some(MS(30)), false, None), Some(at(60)));
        assert_eq!(after(Some(MS(30)), true, None), Some(at(260)));
        assert_eq!(after(Some(Duration::ZERO), false, None), Some(at(2)), "two ticks of the clock");
        assert_eq!(after(Some(MS(30)), true, Some(at(230))), Some(at(230)));
        assert!(!probe.timeout.expire(at(229)) && probe.timeout.expire(at(230)) && !probe.timeout.expire(at(230)));
    }
}
