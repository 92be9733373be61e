//! The published constants of BBR, version 3.

use crate::cc::constants::constants;
use crate::cc::model::gain::Gain;
use acklab_base::Duration;

constants! {
    /// The constants of BBR, version 3, with their names in the draft.
    Config {
        /// BBR.StartupPacingGain, 4 ln 2: the minimum at which the rate doubles each round (§2.5).
        #[schemars(range(min = 1.0, max = 100.0))]
        startup_gain: Gain = Gain::percent(277),
        /// BBR.DrainPacingGain (§2.5, §5.6.1).
        #[schemars(range(min = 0.01, max = 1.0))]
        drain_gain: Gain = Gain::percent(50),
        /// The pacing gain of `ProbeBW_DOWN` (§5.6.1).
        #[schemars(range(min = 0.01, max = 1.0))]
        down_gain: Gain = Gain::percent(90),
        /// The pacing gain of `ProbeBW_UP` (§5.6.1).
        #[schemars(range(min = 1.0, max = 100.0))]
        up_gain: Gain = Gain::percent(125),
        /// BBR.DefaultCwndGain: the window in bandwidth-delay products (§2.5, §5.6.1).
        #[schemars(range(min = 1.0, max = 100.0))]
        cwnd_gain: Gain = Gain::percent(200),
        /// The window in bandwidth-delay products in `ProbeBW_UP` (§5.6.1).
        #[schemars(range(min = 1.0, max = 100.0))]
        up_cwnd_gain: Gain = Gain::percent(225),
        /// BBR.ProbeRTTCwndGain: the window of `ProbeRTT` in bandwidth-delay products (§2.16.2).
        #[schemars(range(min = 0.01, max = 1.0))]
        probe_rtt_cwnd_gain: Gain = Gain::percent(50),
        /// BBR.LossThresh: the maximum loss rate of a round, as a share of the data in flight
        /// (§2.8).
        #[schemars(range(min = 0.0, max = 0.99))]
        loss_threshold: Gain = Gain::percent(2),
        /// BBR.Beta: the minimum fraction of a bound that remains after a reduction (§2.8).
        #[schemars(range(min = 0.01, max = 1.0))]
        beta: Gain = Gain::percent(70),
        /// BBR.Headroom: the fraction of the long-term bound that is left for other flows (§2.8).
        #[schemars(range(min = 0.0, max = 0.99))]
        headroom: Gain = Gain::percent(15),
        /// BBR.MinPipeCwnd: the minimum window, in segments (§2.8).
        #[schemars(range(min = 1, max = 1_000_000))]
        min_window: u32 = 4,
        /// BBR.MinRTTFilterLen: length of the minimum filter of the round-trip time (§2.16.1).
        min_rtt_window: Duration = Duration::from_secs(10),
        /// BBR.ProbeRTTDuration: duration of `ProbeRTT` (§2.16.2).
        probe_rtt_duration: Duration = Duration::from_millis(200),
        /// BBR.PacingMarginPercent: the fraction by which the pacing rate is below the estimate
        /// (§5.6.2).
        #[schemars(range(min = 0.0, max = 0.99))]
        pacing_margin: Gain = Gain::percent(1),
        /// The minimum growth of the bandwidth per round while the pipe is not full, as a factor
        /// (§5.3.1.2).
        #[schemars(range(min = 1.0, max = 100.0))]
        full_bandwidth_growth: Gain = Gain::percent(125),
        /// The number of rounds without such growth after which the pipe is full (§5.3.1.2).
        #[schemars(range(min = 1))]
        full_bandwidth_rounds: u32 = 3,
        /// BBRStartupFullLossCnt: a round with this many lost ranges may end Startup (§5.3.1.3).
        #[schemars(range(min = 1))]
        full_loss_count: u32 = 6,
        /// The maximum number of rounds of Drain (§5.3.2).
        #[schemars(range(min = 1))]
        drain_rounds: u32 = 3,
        /// The minimum time between probes (§5.3.3.8.2: T_bbr is two to three seconds).
        probe_wait: Duration = Duration::from_secs(2),
        /// The maximum of the random time that is added to the minimum time between probes
        /// (§5.3.3.8.2).
        probe_wait_range: Duration = Duration::from_secs(1),
        /// The maximum number of round trips between probes. It is lower if Reno would grow by the
        /// bandwidth-delay product in fewer round trips (§5.3.3.8.2: T_reno).
        #[schemars(range(min = 1))]
        reno_rounds: u32 = 63,
        /// BBR.ExtraAckedFilterLen: length of the maximum filter of the ACK aggregation, in rounds.
        /// The length is one round before the pipe was full (§2.12).
        #[schemars(range(min = 1))]
        extra_acked_window: u32 = 10,
    }
}
