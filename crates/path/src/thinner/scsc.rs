//! ACK suppression in Samsung's driver for SCSC: `slsi_netif_tcp_ack_suppression_pkt` in `drivers/net/wireless/scsc/netif.c` (2022), with its
//! monitor of throughput, which is on by default.
//!
//! A flow is thinned from its SYN on, by the rate at which it acknowledges, measured anew every 500 ms. Never held are duplicates, SACK, ECE,
//! PSH and data; what acknowledges more than two segments at once, as delayed ACKs do; and the first 512 ACKs, also after each SACK, so that
//! slow start and recovery are clocked by all of them. The timer starts again with each ACK that is held.
//!
//! Not modelled: the limit of sixteen flows.

use super::{Fate, Rule, Settings};
use crate::numbers::is_after;
use acklab_base::{AckHeader, Duration, Instant, Opening};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of Samsung's driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// One of so many ACKs goes on above 100 Mbps (`tcp_ack_suppression_rate_very_high_acks`).
    #[schemars(range(min = 1))]
    pub very_high_acks: u32,
    /// One of so many from 20 Mbps on (`tcp_ack_suppression_rate_high_acks`).
    #[schemars(range(min = 1))]
    pub high_acks: u32,
    /// One of so many from 1 Mbps on (`tcp_ack_suppression_rate_low_acks`).
    #[schemars(range(min = 1))]
    pub low_acks: u32,
    /// How long after the last ACK the newest leaves (`tcp_ack_suppression_rate_very_high_timeout` and the others).
    pub timeout: Duration,
    /// ACKs of a flow that go on before any is held (`tcp_ack_suppression_slow_start_acks`).
    pub slow_start_acks: u32,
    /// The time between two measurements of the rate (`tcp_ack_suppression_monitor_interval`).
    pub interval: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
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
            most: 0,
            monitor: Monitor { since: None, octets: 0, counted_to: None, last: 0, hysteresis: 0 },
        }
    }

    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        for (name, acks) in
            [("very_high_acks", self.very_high_acks), ("high_acks", self.high_acks), ("low_acks", self.low_acks)]
        {
            if acks == 0 {
                return Err((name, "at least 1"));
            }
        }
        super::above_zero("timeout", self.timeout)?;
        // The driver divides by the interval in milliseconds.
        if self.interval < Duration::from_millis(1) { Err(("interval", "at least 1ms")) } else { Ok(()) }
    }
}

/// Rates in Mbps from which on more is suppressed (`tcp_ack_suppression_rate_very_high`, `_high`, `_low`).
const VERY_HIGH: u64 = 100;
const HIGH: u64 = 20;
const LOW: u64 = 1;
/// The driver ignores larger shifts (`slsi_netif_tcp_ack_suppression_syn`).
const MAX_SHIFT: u8 = 14;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Scsc {
    config: Config,
    /// What SYN said. Without it nothing is held.
    opening: Option<Opening>,
    newest: Option<u32>,
    /// ACKs that the held one stands for.
    held: u32,
    /// The number of ACKs that have passed since the start or a SACK, while all pass.
    passes_first: Option<u32>,
    /// One of so many ACKs goes on; at zero, all.
    most: u32,
    monitor: Monitor,
}

/// Measures the rate that is acknowledged.
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
    /// Counts what is acknowledged. Returns the rate in Mbps at the end of an interval in which it changed by more than a fifth.
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

impl Scsc {
    /// How many ACKs one stands for at this rate: no more than a fifth of the receive window is acknowledged by.
    fn most_at(&self, rate: u64, window: u16, opening: Opening) -> u32 {
        let acks = match rate {
            VERY_HIGH.. => self.config.very_high_acks,
            HIGH.. => self.config.high_acks,
            LOW.. => self.config.low_acks,
            _ => 0,
        };
        // As the driver computes it: twice the window, if it is scaled at all.
        let window = match opening.window_scale.filter(|shift| *shift <= MAX_SHIFT) {
            None | Some(0) => u64::from(window),
            Some(shift) => u64::from(window) * (2 << shift),
        };
        let two_segments = 2 * u64::from(opening.mss.unwrap_or(0));
        let most = (window / 5).checked_div(two_segments).unwrap_or(u64::MAX);
        acks.min(u32::try_from(most).unwrap_or(u32::MAX))
    }

    /// Returns `true` if the segment may be held.
    fn may_hold(&mut self, now: Instant, segment: AckHeader, opening: Opening) -> bool {
        // ECE, the lowest of the three flags.
        if !segment.is_pure || segment.has_other_content || segment.ecn & 1 != 0 {
            return false;
        }
        if let Some(rate) = self.monitor.counts(now, segment.ack, self.config.interval) {
            self.most = self.most_at(rate, segment.window, opening);
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
        self.most > 0 && octets <= 2 * u32::from(opening.mss.unwrap_or(0))
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
        // The first ACK that is held never counts as enough.
        if !may_hold || holds && self.held >= self.most {
            return Fate::Passes;
        }
        Fate::IsHeld { until: Some(now + self.config.timeout) }
    }
}
