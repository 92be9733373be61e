//! ACK suppression in Broadcom's driver dhd, in its mode of holding: `dhd_tcpack_hold` in
//! `dhd_ip.c`, with the numbers of `dhd_ip.h`.
//!
//! Only segments without payload and without flags besides ACK are held. The driver inspects
//! neither options nor duplicates: ACKs with SACK and duplicates are held and removed like any
//! other. Segments that it does not hold overtake the held ACK.
//!
//! The table has four entries. The driver holds an ACK of a fifth flow without storing it, so the
//! ACK is lost. Here the ACK passes.

use super::{Fate, Rule, Settings};
use acklab_base::{AckHeader, Duration, Instant, is_after};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of dhd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// One ACK passes for each group of this many ACKs (`TCPACK_SUPP_RATIO`).
    #[schemars(range(min = 1))]
    pub ratio: u32,
    /// The maximum time for which ACKs are held, counted from the first held ACK
    /// (`TCPACK_DELAY_TIME`).
    pub delay: Duration,
    /// The maximum number of flows with a held ACK (`TCPACK_INFO_MAXNUM`).
    pub flows: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { ratio: 3, delay: Duration::from_millis(10), flows: 4 }
    }
}

impl Settings for Config {
    type Rule = Dhd;

    fn rule(self) -> Dhd {
        Dhd { config: self, held: 0, newest: 0 }
    }

    fn max_held(self) -> Option<usize> {
        Some(self.flows as usize)
    }

    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.ratio == 0 {
            return Err(("ratio", "at least 1"));
        }
        super::above_zero("delay", self.delay)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Dhd {
    config: Config,
    /// The number of ACKs that the held ACK replaces.
    held: u32,
    newest: u32,
}

impl Rule for Dhd {
    fn decide(&mut self, now: Instant, segment: AckHeader, holds: bool) -> Fate {
        // The driver does not inspect options, but it inspects PSH. [`AckHeader`] does not
        // distinguish PSH from unknown options.
        if !segment.is_pure || segment.ecn != 0 || segment.has_other_content || self.config.ratio == 1 {
            return Fate::Overtakes;
        }
        if !holds {
            (self.held, self.newest) = (1, segment.ack);
            return Fate::IsHeld { until: Some(now + self.config.delay) };
        }
        if is_after(self.newest, segment.ack) {
            return Fate::IsRemoved;
        }
        self.newest = segment.ack;
        self.held += 1;
        if self.held >= self.config.ratio { Fate::Passes } else { Fate::IsHeld { until: None } }
    }
}
