//! One ACK replaces several, without loss of information.
//!
//! An ACK is held only if a later one can carry all of its information: it acknowledges new data
//! and has no SACK option. Its ECN flags equal those of the previous ACK, and it has no content
//! unknown to the thinner. All other packets pass immediately.

use super::{Fate, Rule, Settings};
use acklab_base::{AckHeader, Duration, Instant, is_after};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of `every`: one ACK replaces several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// One ACK passes for each group of this many ACKs.
    #[schemars(range(min = 1))]
    pub acks: u32,
    /// The maximum time for which an ACK is held.
    pub hold: Duration,
}

impl Default for Config {
    /// Returns every second ACK, held for at most the delay that RFC 9293, §3.8.6.3 permits for a
    /// delayed ACK.
    fn default() -> Self {
        Self { acks: 2, hold: Duration::from_millis(500) }
    }
}

impl Settings for Config {
    type Rule = Every;

    fn rule(self) -> Every {
        Every { config: self, last: None, held: 0 }
    }

    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.acks == 0 {
            return Err(("acks", "at least 1"));
        }
        super::above_zero("hold", self.hold)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Every {
    config: Config,
    /// The number and the ECN flags of the newest segment.
    last: Option<(u32, u8)>,
    /// The number of ACKs since the last ACK that passed.
    held: u32,
}

impl Rule for Every {
    fn decide(&mut self, now: Instant, segment: AckHeader, holds: bool) -> Fate {
        let is_news = self.last.is_none_or(|(ack, ecn)| !is_after(segment.ack, ack) || segment.ecn != ecn)
            || !segment.is_pure
            || segment.has_other_content
            || !segment.sack.is_empty();
        let is_late = self.last.is_some_and(|(ack, _)| is_after(ack, segment.ack));
        if is_late {
            return Fate::Overtakes;
        }
        self.last = Some((segment.ack, segment.ecn));
        self.held += 1;
        if is_news || self.held >= self.config.acks {
            self.held = 0;
            return Fate::Passes;
        }
        Fate::IsHeld { until: (!holds).then(|| now + self.config.hold) }
    }

    fn releases(&mut self, _now: Instant) {
        self.held = 0;
    }
}
