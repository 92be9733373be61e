//! The registry of thinners.
//!
//! A rule is a file with its [`Settings`] and its [`Rule`], and one line in the list below.

use super::{Fate, Rule, Settings};
use acklab_base::{AckHeader, Instant, Opening};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! rules {
    ($($(#[$doc:meta])* $name:literal => $Variant:ident($module:ident),)*) => {
        /// A rule by which pure ACKs are held.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "rule", deny_unknown_fields)]
        pub enum ThinnerConfig {
            $(
                $(#[$doc])*
                #[serde(rename = $name)]
                $Variant(super::$module::Config),
            )*
        }

        impl ThinnerConfig {
            /// Returns all rules with their default settings, in the order of the registry.
            pub fn built_in() -> impl Iterator<Item = Self> {
                [$(Self::$Variant(super::$module::Config::default()),)*].into_iter()
            }

            /// Returns the name of the rule in scenarios.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$Variant(_) => $name,)*
                }
            }

            /// Checks the settings.
            ///
            /// # Errors
            /// The name of a setting with an invalid value, and the expected value.
            pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
                match self {
                    $(Self::$Variant(settings) => settings.check(),)*
                }
            }

            pub(super) fn max_held(self) -> Option<usize> {
                match self {
                    $(Self::$Variant(settings) => settings.max_held(),)*
                }
            }

            pub(super) fn rule(self) -> FlowRule {
                match self {
                    $(Self::$Variant(settings) => FlowRule::$Variant(settings.rule()),)*
                }
            }
        }

        $(
            impl From<super::$module::Config> for ThinnerConfig {
                fn from(settings: super::$module::Config) -> Self {
                    Self::$Variant(settings)
                }
            }
        )*

        /// The rule of one flow.
        #[derive(Clone, Debug)]
        pub(super) enum FlowRule {
            $($Variant(<super::$module::Config as Settings>::Rule),)*
        }

        impl Rule for FlowRule {
            fn opens(&mut self, options: Opening) {
                match self {
                    $(Self::$Variant(rule) => rule.opens(options),)*
                }
            }

            fn decide(&mut self, now: Instant, segment: AckHeader, holds: bool) -> Fate {
                match self {
                    $(Self::$Variant(rule) => rule.decide(now, segment, holds),)*
                }
            }

            fn releases(&mut self, now: Instant) {
                match self {
                    $(Self::$Variant(rule) => rule.releases(now),)*
                }
            }
        }
    };
}

rules! {
    /// ACKs with additional information are never held.
    "every" => Every(every),
    /// Samsung's driver for SCSC: by the rate of the flow, none for the first 512 ACKs
    /// (`drivers/net/wireless/scsc/netif.c`).
    "scsc" => Scsc(scsc),
    /// Broadcom's driver dhd in its hold mode: three ACKs or 10 ms (`dhd_tcpack_hold` in
    /// `dhd_ip.c`).
    "dhd" => Dhd(dhd),
    /// Unisoc's driver for SC2355: twelve ACKs or 5 ms (`tcp_ack.c`).
    "unisoc" => Unisoc(unisoc),
}
