//! ACK suppression in Unisoc's driver for SC2355: `tcp_ack.c`, with the numbers of `tcp_ack.h`. An
//! older version held ACKs for 10 ms.
//!
//! Segments with options besides timestamps, and ACKs whose window is small, replace the held ACK
//! and leave immediately. The next ACK then leaves immediately, too. An ACK that repeats a number
//! is held like any other ACK. An ACK that is older than the newest ACK is removed.
//!
//! Three properties of the driver are not modelled. If the station receives data with PSH, their
//! ACK passes immediately, which requires inspection of the other direction. The driver has 32
//! entries for flows. It also holds ACKs while an ACK of the flow waits in the driver's queue for
//! the bus.

use super::{Fate, Rule, Settings};
use acklab_base::{AckHeader, Duration, Instant, Opening, is_after};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of Unisoc's driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// One ACK passes for each group of this many ACKs (`SPRDWL_TCP_ACK_DROP_CNT`).
    #[schemars(range(min = 1))]
    pub acks: u32,
    /// The maximum time for which ACKs are held, counted from the first held ACK
    /// (`sprdwl_tcp_ack_handle`).
    pub hold: Duration,
    /// ACKs with a smaller window are not held (`MIN_WIN`, in KB). Without a window scale, which
    /// the driver reads from the SYN, no ACK is held.
    pub least_window: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { acks: 12, hold: Duration::from_millis(5), least_window: 256 }
    }
}

impl Settings for Config {
    type Rule = Unisoc;

    fn rule(self) -> Unisoc {
        Unisoc { config: self, window_shift: 0, newest: None, held: self.acks }
    }

    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.acks == 0 {
            return Err(("acks", "at least 1"));
        }
        super::above_zero("hold", self.hold)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Unisoc {
    config: Config,
    window_shift: u8,
    newest: Option<u32>,
    /// The number of ACKs since the last ACK that passed. At `acks`, the next ACK passes.
    held: u32,
}

/// Octets of a KB (`SIZE_KB`).
const KB: u64 = 1024;
/// The driver ignores larger shifts (`is_drop_tcp_ack`).
const MAX_SHIFT: u8 = 14;

impl Rule for Unisoc {
    fn opens(&mut self, options: Opening) {
        self.window_shift = options.window_scale.filter(|shift| *shift <= MAX_SHIFT).unwrap_or(0);
    }

    fn decide(&mut self, now: Instant, segment: AckHeader, holds: bool) -> Fate {
        if !segment.is_pure {
            return Fate::Overtakes;
        }
        let Some(newest) = self.newest else {
            // The first ACK creates an entry. The driver does not inspect this ACK further.
            self.newest = Some(segment.ack);
            return Fate::Passes;
        };
        if is_after(newest, segment.ack) {
            return Fate::IsRemoved;
        }
        self.newest = Some(segment.ack);
        let window = u64::from(segment.window) << self.window_shift;
        let has_more = segment.has_other_content || !segment.sack.is_empty();
        if has_more || window < u64::from(self.config.least_window) * KB {
            self.held = self.config.acks;
            return Fate::Passes;
        }
        self.held += 1;
        if self.held >= self.config.acks {
            self.held = 0;
            return Fate::Passes;
        }
        Fate::IsHeld { until: (!holds).then(|| now + self.config.hold) }
    }

    fn releases(&mut self, _now: Instant) {
        self.held = 0;
    }
}
