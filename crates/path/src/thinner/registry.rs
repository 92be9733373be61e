//! The registry of thinners.
//!
//! A rule is a file with its [`Settings`] and its [`Rule`], and one entry in the list below.

use super::{Fate, Rule, Settings, delegate_rule};
use acklab_base::{AckHeader, Instant, Opening};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

acklab_base::registry! {
    /// A rule by which pure ACKs are held.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(tag = "rule", deny_unknown_fields)]
    settings ThinnerConfig: Settings;

    /// The rule of one flow.
    #[derive(Clone, Debug)]
    strategies pub(super) FlowRule: Rule;

    /// Holds ACKs until `acks` have arrived or `hold` has passed. ACKs with additional information
    /// are never held.
    "every" => Every(super::every::Config),
    /// Samsung's driver for SCSC: the number of removed ACKs depends on the rate of the flow, and
    /// the first 512 ACKs pass (`drivers/net/wireless/scsc/netif.c`).
    "scsc" => Scsc(super::scsc::Config),
    /// Broadcom's driver dhd in its hold mode: holds ACKs until three have arrived or 10 ms have
    /// passed (`dhd_tcpack_hold` in `dhd_ip.c`).
    "dhd" => Dhd(super::dhd::Config),
    /// Unisoc's driver for SC2355: holds ACKs until twelve have arrived or 5 ms have passed
    /// (`tcp_ack.c`).
    "unisoc" => Unisoc(super::unisoc::Config),
}

impl ThinnerConfig {
    /// Checks the settings.
    ///
    /// # Errors
    /// The name of a setting with an invalid value, and the expected value.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        each_settings!(self, settings => settings.check())
    }

    pub(super) fn max_held(self) -> Option<usize> {
        each_settings!(self, settings => settings.max_held())
    }

    pub(super) fn rule(self) -> FlowRule {
        make!(self, settings => settings.rule())
    }
}

delegate_rule!(FlowRule, each);
