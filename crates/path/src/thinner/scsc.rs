//! ACK suppression in Samsung's driver for SCSC: `slsi_netif_tcp_ack_suppression_pkt` in
//! `drivers/net/wireless/scsc/netif.c` (2020 and 2022).
//!
//! The driver removes ACKs of a flow whose SYN it has seen. How many it removes depends on the
//! acknowledged rate, measured every 500 ms. Without this monitor of throughput
//! (`tcp_ack_suppression_monitor`, on by default), one of 16 ACKs passes, or the first after 16 ms.
//! ACKs are then held only if the receive window is large. Duplicates, SACK, ECE, PSH, data, and
//! ACKs for more than two segments (such as delayed ACKs) are never held. The first 512 ACKs of a
//! flow, and the first 512 after each SACK, are not held either, so that they clock slow start and
//! recovery. With the monitor, the timer restarts with each held ACK.
//!
//! Not modelled: the limit of sixteen flows.

use super::{Fate, Rule, Settings};
use acklab_base::{AckHeader, Bytes, Duration, Instant, Opening, is_after};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of Samsung's driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// If `true`, the number of removed ACKs depends on the measured rate
    /// (`tcp_ack_suppression_monitor`).
    pub monitor: bool,
    /// Without the monitor, one ACK passes for each group of this many ACKs
    /// (`tcp_ack_suppression_max`).
    #[schemars(range(min = 1))]
    pub acks: u32,
    /// Without the monitor, an ACK is not held if it arrives this long after the last ACK that
    /// passed, and no ACK is held for longer (`tcp_ack_suppression_timeout`).
    pub hold: Duration,
    /// Without the monitor, no ACK is held while the receive window is smaller than this
    /// (`tcp_ack_suppression_rcv_window`).
    pub least_window: Bytes,
    /// Above 100 Mbps, one ACK passes for each group of this many ACKs
    /// (`tcp_ack_suppression_rate_very_high_acks`).
    #[schemars(range(min = 1))]
    pub very_high_acks: u32,
    /// From 20 Mbps on, one ACK passes for each group of this many ACKs
    /// (`tcp_ack_suppression_rate_high_acks`).
    #[schemars(range(min = 1))]
    pub high_acks: u32,
    /// From 1 Mbps on, one ACK passes for each group of this many ACKs
    /// (`tcp_ack_suppression_rate_low_acks`).
    #[schemars(range(min = 1))]
    pub low_acks: u32,
    /// With the monitor, the held ACK leaves this long after the last ACK was held
    /// (`tcp_ack_suppression_rate_very_high_timeout` and the others).
    pub timeout: Duration,
    /// ACKs of a flow that pass before any is held (`tcp_ack_suppression_slow_start_acks`).
    pub slow_start_acks: u32,
    /// The time between two measurements of the rate (`tcp_ack_suppression_monitor_interval`).
    pub interval: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            monitor: true,
            acks: 16,
            hold: Duration::from_millis(16),
            least_window: Bytes(128 << 10),
            very_high_acks: 20,
            high_acks: 16,
            low_acks: 10,
            timeout: Duration::from_millis(4),
            slow_start_acks: 512,
            interval: Duration::from_millis(500),
        }
    }
}

impl Settings for Config {
    type Rule = Scsc;

    fn rule(self) -> Scsc {
        Scsc {
            config: self,
            opening: None,
            newest: None,
            held: 0,
            passes_first: Some(0),
            passed_at: None,
            maximum: if self.monitor { 0 } else { self.acks },
            monitor: Monitor { since: None, octets: 0, counted_to: None, last: 0, hysteresis: 0 },
        }
    }

    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        for (name, acks) in [
            ("acks", self.acks),
            ("very_high_acks", self.very_high_acks),
            ("high_acks", self.high_acks),
            ("low_acks", self.low_acks),
        ] {
            if acks == 0 {
                return Err((name, "at least 1"));
            }
        }
        super::above_zero("timeout", self.timeout)?;
        super::above_zero("hold", self.hold)?;
        // The driver divides by the interval in milliseconds.
        if self.interval < Duration::from_millis(1) { Err(("interval", "at least 1ms")) } else { Ok(()) }
    }
}

/// Rates in Mbps from which on more ACKs are removed (`tcp_ack_suppression_rate_very_high`,
/// `_high`, `_low`).
const VERY_HIGH: u64 = 100;
const HIGH: u64 = 20;
const LOW: u64 = 1;
/// The driver ignores larger shifts (`slsi_netif_tcp_ack_suppression_syn`).
const MAX_SHIFT: u8 = 14;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Scsc {
    config: Config,
    /// The options of the SYN. Without a SYN, no ACK is held.
    opening: Option<Opening>,
    newest: Option<u32>,
    /// The number of ACKs that the held ACK replaces.
    held: u32,
    /// The number of ACKs that have passed since the start or the last SACK. `None` once ACKs may
    /// be held.
    passes_first: Option<u32>,
    /// The time at which the last ACK passed.
    passed_at: Option<Instant>,
    /// One ACK passes for each group of this many ACKs. If it is zero, all ACKs pass.
    maximum: u32,
    monitor: Monitor,
}

/// Measures the acknowledged rate.
#[derive(Clone, Copy, Debug)]
struct Monitor {
    since: Option<Instant>,
    octets: u64,
    counted_to: Option<u32>,
    /// The last rate, in Mbps.
    last: u64,
    hysteresis: u64,
}

impl Monitor {
    /// Counts acknowledged octets. Returns the rate in Mbps at the end of an interval in which it
    /// changed by more than a fifth.
    fn counts(&mut self, now: Instant, ack: u32, interval: Duration) -> Option<u64> {
        self.octets += self.counted_to.map_or(0, |before| u64::from(ack.wrapping_sub(before)));
        self.counted_to = Some(ack);
        if now.since(*self.since.get_or_insert(now)) <= interval {
            return None;
        }
        let rate = self.octets * 8 / (interval.as_millis() * 1000);
        let has_changed = rate.abs_diff(self.last) > self.hysteresis;
        *self = Self { since: Some(now), octets: 0, last: rate, hysteresis: rate / 5, ..*self };
        has_changed.then_some(rate)
    }
}

/// Returns the receive window as the driver computes it: twice the actual one, if it is scaled.
fn receive_window(window: u16, opening: Opening) -> u64 {
    match opening.window_scale.filter(|shift| *shift <= MAX_SHIFT) {
        None | Some(0) => u64::from(window),
        Some(shift) => u64::from(window) * (2 << shift),
    }
}

impl Scsc {
    /// Returns the maximum number of ACKs that one ACK replaces at this rate. The ACK then
    /// acknowledges at most a fifth of the receive window.
    fn max_replaced(&self, rate: u64, window: u16, opening: Opening) -> u32 {
        let acks = match rate {
            VERY_HIGH.. => self.config.very_high_acks,
            HIGH.. => self.config.high_acks,
            LOW.. => self.config.low_acks,
            _ => 0,
        };
        let two_segments = 2 * u64::from(opening.mss.unwrap_or(0));
        let maximum = (receive_window(window, opening) / 5).checked_div(two_segments).unwrap_or(u64::MAX);
        acks.min(u32::try_from(maximum).unwrap_or(u32::MAX))
    }

    /// Returns `true` if the segment may be held.
    fn may_hold(&mut self, now: Instant, segment: AckHeader, opening: Opening) -> bool {
        // ECE, the lowest of the three flags.
        if !segment.is_pure || segment.has_other_content || segment.ecn & 1 != 0 {
            return false;
        }
        if self.config.monitor
            && let Some(rate) = self.monitor.counts(now, segment.ack, self.config.interval)
        {
            self.maximum = self.max_replaced(rate, segment.window, opening);
        }
        if !segment.sack.is_empty() {
            self.passes_first = Some(0);
            return false;
        }
        if self.newest == Some(segment.ack) {
            return false;
        }
        if let Some(passed) = &mut self.passes_first {
            *passed += 1;
            if *passed >= self.config.slow_start_acks {
                self.passes_first = None;
            }
            return false;
        }
        let octets = segment.ack.wrapping_sub(self.newest.unwrap_or(0));
        if self.maximum == 0 || octets > 2 * u32::from(opening.mss.unwrap_or(0)) {
            return false;
        }
        let Config { monitor, hold, least_window, .. } = self.config;
        monitor
            || receive_window(segment.window, opening) >= least_window.get()
                && self.passed_at.is_some_and(|at| now.since(at) < hold)
    }
}

impl Rule for Scsc {
    fn opens(&mut self, options: Opening) {
        self.opening = Some(options);
    }

    fn decide(&mut self, now: Instant, segment: AckHeader, holds: bool) -> Fate {
        let Some(opening) = self.opening else { return Fate::Overtakes };
        if self.newest.is_some_and(|newest| is_after(newest, segment.ack)) {
            return Fate::Overtakes;
        }
        let may_hold = self.may_hold(now, segment, opening);
        self.newest = Some(segment.ack);
        self.held = if holds { self.held + 1 } else { 1 };
        // If no ACK is held, this one is held for any maximum.
        if !may_hold || holds && self.held >= self.maximum {
            self.passed_at = Some(now);
            return Fate::Passes;
        }
        let until = match (self.config.monitor, holds) {
            (true, _) => Some(now + self.config.timeout),
            (false, false) => Some(now + self.config.hold),
            (false, true) => None,
        };
        Fate::IsHeld { until }
    }

    fn releases(&mut self, now: Instant) {
        self.passed_at = Some(now);
    }
}
