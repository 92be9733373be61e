//! The published constants of BBR, version 1.

use crate::cc::constants::constants;
use crate::cc::model::gain::Gain;
use acklab_base::Duration;

constants! {
    /// The constants of BBR, version 1, with their names in `tcp_bbr.c`.
    Config {
        /// The gain of Startup, 2/ln 2: the minimum at which the rate doubles each round trip
        /// (`bbr_high_gain`).
        #[schemars(range(min = 1.0, max = 100.0))]
        startup_gain: Gain = Gain::over_256(256 * 2885 / 1000 + 1),
        /// The inverse of the gain of Startup: `Drain` empties the queue of Startup in one round
        /// trip (`bbr_drain_gain`).
        #[schemars(range(min = 0.01, max = 1.0))]
        drain_gain: Gain = Gain::over_256(256 * 1000 / 2885),
        /// The window in bandwidth-delay products, with an allowance for delayed and stretched ACKs
        /// (`bbr_cwnd_gain`).
        #[schemars(range(min = 1.0, max = 100.0))]
        cwnd_gain: Gain = Gain::over_256(2 * 256),
        /// The pacing gain of the phase that probes for bandwidth (`bbr_pacing_gain`: 5/4).
        #[schemars(range(min = 1.01, max = 100.0))]
        probe_gain: Gain = Gain::over_256(256 * 5 / 4),
        /// The pacing gain of the phase that drains the queue of the probe (`bbr_pacing_gain`:
        /// 3/4).
        #[schemars(range(min = 0.01, max = 0.99))]
        yield_gain: Gain = Gain::over_256(256 * 3 / 4),
        /// The number of phases in a cycle: one probes, one drains, and the others cruise
        /// (`CYCLE_LEN`).
        #[schemars(range(min = 3, max = 1000))]
        cycle_phases: u32 = 8,
        /// Length of the maximum filter of the bandwidth in round trips: a cycle and two more
        /// (`bbr_bw_rtts`).
        #[schemars(range(min = 1))]
        bandwidth_window: u32 = 10,
        /// Length of the minimum filter of the round-trip time (`bbr_min_rtt_win_sec`).
        min_rtt_window: Duration = Duration::from_secs(10),
        /// Duration of `ProbeRTT`, which is long enough that the `ProbeRTT` of several flows
        /// overlap (`bbr_probe_rtt_mode_ms`).
        probe_rtt_duration: Duration = Duration::from_millis(200),
        /// The minimum window, in segments: two in flight and two being acknowledged
        /// (`bbr_cwnd_min_target`).
        #[schemars(range(min = 1, max = 1_000_000))]
        min_window: u32 = 4,
        /// The fraction by which the pacing rate is below the estimate, so that the queue drains on
        /// average (`bbr_pacing_margin_percent`).
        #[schemars(range(min = 0.0, max = 0.99))]
        pacing_margin: Gain = Gain::percent(1),
        /// The minimum growth of the bandwidth per round while the pipe is not full, as a factor
        /// (`bbr_full_bw_thresh`).
        #[schemars(range(min = 1.0, max = 100.0))]
        full_bandwidth_growth: Gain = Gain::percent(125),
        /// The number of rounds without such growth after which the pipe is full
        /// (`bbr_full_bw_cnt`).
        #[schemars(range(min = 1))]
        full_bandwidth_rounds: u32 = 3,
        /// The share of the ACK aggregation that is added to the window; 0 adds none
        /// (`bbr_extra_acked_gain`).
        extra_acked_gain: Gain = Gain::ONE,
        /// The number of rounds in each of the two periods of the maximum filter of the ACK
        /// aggregation (`bbr_extra_acked_win_rtts`).
        #[schemars(range(min = 1))]
        extra_acked_window: u32 = 5,
        /// The time whose delivery at the bandwidth limits the ACK aggregation
        /// (`bbr_extra_acked_max_us`).
        extra_acked_time: Duration = Duration::from_millis(100),
        /// Detection of policers: the minimum number of rounds in a sampling interval; the maximum
        /// is four times as high (`bbr_lt_intvl_min_rtts`).
        #[schemars(range(min = 1, max = 1_000_000))]
        policer_min_rounds: u32 = 4,
        /// Detection of policers: an interval is lossy if the ratio of lost bytes to delivered
        /// bytes reaches this (`bbr_lt_loss_thresh`: 50/256).
        #[schemars(range(min = 0.001, max = 1.0))]
        policer_loss_threshold: Gain = Gain::over_256(50),
        /// Detection of policers: the number of rounds for which a policer's rate is used
        /// (`bbr_lt_bw_max_rtts`).
        #[schemars(range(min = 1))]
        policer_rounds: u32 = 48,
    }
}
