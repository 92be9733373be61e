//! Generates the enums of a registry from one list.

/// Generates, from a list of built-in strategies:
///
/// * the enum of their settings, as scenarios name them, with `built_in` and `name`;
/// * the enum of the strategies with their state, so that calls of built-in ones need no pointer;
/// * `each_settings!(config, settings => then)`, which evaluates `then` with the settings;
/// * `each!(strategy, strategy => then)`, which evaluates `then` with any strategy;
/// * `make!(config, settings => then)`, which returns the strategy that `then` creates.
///
/// `custom` adds a variant `Custom` to both enums, for a strategy that the user supplies. The first
/// and the last macro then require `else otherwise`.
///
/// An entry is ``"name" or "alias" => Variant(settings) boxed``. `boxed` prevents a strategy that
/// is much larger than the others from enlarging the enum.
///
/// If the list names no enum of strategies, the settings themselves may be `boxed`. The macros are
/// then `each!`, `make!` (returns changed settings) and `every!(Of => then)` (returns an array of
/// `then` for each type of settings).
#[macro_export]
macro_rules! registry {
    (
        $(#[$config_meta:meta])*
        settings $Config:ident: $Settings:ident;

        $(#[$strategy_meta:meta])*
        strategies $vis:vis $Strategy:ident<$D:ident>: $Made:ident;

        $($(#[$doc:meta])* $name:literal => $Variant:ident($Of:ty),)*
    ) => {
        $crate::registry!(@settings [$(#[$config_meta])*] $Config [] $($(#[$doc])* $name => $Variant($Of),)*);

        $(#[$strategy_meta])*
        $vis enum $Strategy<$D> {
            $($Variant(<$Of as $Settings>::$Made<$D>),)*
        }

        $crate::registry!(@each $Strategy [] $($Variant)*);
        $crate::registry!(@make $Config $Strategy [] $($Variant)*);
    };

    (
        $(#[$config_meta:meta])*
        settings $Config:ident: $Settings:ident;

        $(#[$strategy_meta:meta])*
        strategies $vis:vis $Strategy:ident: $Made:ident;

        $(custom $CustomSettings:tt as $Custom:ty;)?

        $(
            $(#[$doc:meta])*
            $name:literal $(or $alias:literal)? => $Variant:ident($Of:ty) $($boxed:ident)?,
        )*
    ) => {
        $crate::registry!(@settings [$(#[$config_meta])*] $Config [$($CustomSettings)?]
            $($(#[$doc])* $name $(or $alias)? => $Variant($Of),)*);

        $(#[$strategy_meta])*
        $vis enum $Strategy {
            $($Variant($crate::registry!(@stored <$Of as $Settings>::$Made $(, $boxed)?)),)*
            $(
                /// A custom strategy.
                Custom($Custom),
            )?
        }

        $crate::registry!(@each $Strategy [$($CustomSettings)?] $($Variant)*);
        $crate::registry!(@make $Config $Strategy [$($CustomSettings)?] $($Variant)*);
    };

    (
        $(#[$config_meta:meta])*
        settings $Config:ident;

        $($(#[$doc:meta])* $name:literal => $Variant:ident($Of:ty) $($boxed:ident)?,)*
    ) => {
        $(#[$config_meta])*
        pub enum $Config {
            $(
                $(#[$doc])*
                #[serde(rename = $name)]
                $Variant($crate::registry!(@stored $Of $(, $boxed)?)),
            )*
        }

        macro_rules! every {
            ($type:ident => $then:expr) => {
                [$({ type $type = $Of; $then }),*]
            };
        }

        $crate::registry!(@each $Config [] $($Variant)*);
        $crate::registry!(@make $Config $Config [] $($Variant)*);
    };

    (@stored $Stored:ty) => { $Stored };
    (@stored $Stored:ty, boxed) => { Box<$Stored> };

    (@settings [$($meta:tt)*] $Config:ident [$($CustomSettings:tt)?]
        $($(#[$doc:meta])* $name:literal $(or $alias:literal)? => $Variant:ident($Of:ty),)*
    ) => {
        $($meta)*
        pub enum $Config {
            $(
                $(#[$doc])*
                #[serde(rename = $name $(, alias = $alias)?)]
                $(#[schemars(extend("x-acklab-aliases" = [$alias]))])?
                $Variant($Of),
            )*
            $(
                /// A custom strategy, which the user supplies.
                #[serde(rename = "custom")]
                Custom $CustomSettings,
            )?
        }

        $crate::registry!(@names $Config [$($CustomSettings)?] $($name => $Variant,)*);

        impl $Config {
            /// Returns all built-in strategies with their default settings, in the order of the
            /// registry.
            pub fn built_in() -> impl Iterator<Item = Self> {
                [$(Self::$Variant(<$Of>::default()),)*].into_iter()
            }
        }

        $(
            impl From<$Of> for $Config {
                fn from(settings: $Of) -> Self {
                    Self::$Variant(settings)
                }
            }
        )*
    };

    (@names $Config:ident [] $($name:literal => $Variant:ident,)*) => {
        impl $Config {
            /// Returns the name of the strategy in scenarios.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$Variant(_) => $name,)*
                }
            }
        }

        macro_rules! each_settings {
            ($self:expr, $settings:ident => $then:expr) => {
                match $self {
                    $($Config::$Variant($settings) => $then,)*
                }
            };
        }
    };
    (@names $Config:ident [$custom:tt] $($name:literal => $Variant:ident,)*) => {
        impl $Config {
            /// Returns the name of the strategy in scenarios.
            #[must_use]
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$Variant(_) => $name,)*
                    Self::Custom { name } => name,
                }
            }
        }

        macro_rules! each_settings {
            ($self:expr, $settings:ident => $then:expr, else $otherwise:expr) => {
                match $self {
                    $($Config::$Variant($settings) => $then,)*
                    $Config::Custom { .. } => $otherwise,
                }
            };
        }
    };

    (@each $Strategy:ident [] $($Variant:ident)*) => {
        macro_rules! each {
            ($self:expr, $strategy:ident => $then:expr) => {
                match $self {
                    $($Strategy::$Variant($strategy) => $then,)*
                }
            };
        }
    };
    (@each $Strategy:ident [$custom:tt] $($Variant:ident)*) => {
        $crate::registry!(@each $Strategy [] $($Variant)* Custom);
    };

    (@make $Config:ident $Strategy:ident [] $($Variant:ident)*) => {
        macro_rules! make {
            ($self:expr, $settings:ident => $then:expr) => {
                match $self {
                    $($Config::$Variant($settings) => $Strategy::$Variant(($then).into()),)*
                }
            };
        }
    };
    (@make $Config:ident $Strategy:ident [$custom:tt] $($Variant:ident)*) => {
        macro_rules! make {
            ($self:expr, $settings:ident => $then:expr, else $otherwise:expr) => {
                match $self {
                    $($Config::$Variant($settings) => $Strategy::$Variant(($then).into()),)*
                    $Config::Custom { .. } => $otherwise,
                }
            };
        }
    };
}

#[cfg(test)]
#[expect(unreachable_pub, private_interfaces, reason = "the enums are public, and only tested here")]
mod tests {
    use rules::{Rule, delegate_rule};
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    mod rules {
        crate::contract! {
            pub(super) trait Rule, delegated by delegate_rule {
                fn counts(&mut self, _packets: u64) {}

                @inline fn limit(&self, scale: u64) -> u64;

                fn name(&self) -> &str {
                    "without a name"
                }
            }
        }
    }

    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    struct Fixed {
        limit: u64,
    }

    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    struct Counted {}

    trait Settings {
        type Made: Rule;
        fn make(self) -> Self::Made;
    }

    impl Settings for Fixed {
        type Made = Self;
        fn make(self) -> Self {
            self
        }
    }

    impl Rule for Fixed {
        fn limit(&self, scale: u64) -> u64 {
            self.limit * scale
        }
    }

    struct Count(u64);

    impl Settings for Counted {
        type Made = Count;
        fn make(self) -> Count {
            Count(0)
        }
    }

    impl Rule for Count {
        fn counts(&mut self, packets: u64) {
            self.0 += packets;
        }

        fn limit(&self, scale: u64) -> u64 {
            self.0 * scale
        }

        fn name(&self) -> &str {
            "count"
        }
    }

    registry! {
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "rule")]
        settings Config: Settings;

        strategies Strategy: Made;

        custom { name: String } as Box<dyn Rule>;

        "fixed" or "constant" => Fixed(Fixed),
        "counted" => Counted(Counted) boxed,
    }

    delegate_rule!(Strategy, each);

    impl Strategy {
        fn new(config: &Config) -> Option<Self> {
            Some(make!(config, settings => settings.make(), else return None))
        }
    }

    fn config(text: &str) -> Config {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn each_name_and_alias_selects_its_settings() {
        assert_eq!(Config::built_in().map(|config| config.name().to_owned()).collect::<Vec<_>>(), ["fixed", "counted"]);
        assert_eq!(config(r#"{ "rule": "constant", "limit": 3 }"#), Fixed { limit: 3 }.into());
        let custom = config(r#"{ "rule": "custom", "name": "mine" }"#);
        assert_eq!(custom.name(), "mine");
        assert!(!each_settings!(&custom, _settings => true, else false));
        assert!(Strategy::new(&custom).is_none());
    }

    #[test]
    fn each_method_of_the_contract_reaches_the_strategy() {
        let configs: [Config; 2] = [Fixed { limit: 3 }.into(), Counted {}.into()];
        let mut strategies: Vec<Strategy> = configs.iter().filter_map(Strategy::new).collect();
        strategies.push(Strategy::Custom(Box::new(Fixed { limit: 1 })));
        strategies.iter_mut().for_each(|strategy| strategy.counts(5));
        let limits: Vec<(u64, &str)> = strategies.iter().map(|strategy| (strategy.limit(2), strategy.name())).collect();
        // Only the second counts packets and has a name.
        assert_eq!(limits, [(6, "without a name"), (10, "count"), (2, "without a name")]);
    }
}
