//! Generates the enums of strategies from one list.

/// Generates, from a list of built-in strategies:
///
/// * the enum of their settings, as scenarios name them, with an additional variant `Custom` for a
///   strategy that the user supplies;
/// * the enum of the strategies with their state, so that calls of built-in ones need no pointer;
/// * `each_settings!(config, settings => then, else otherwise)`, which evaluates `then` with the
///   settings of a built-in strategy;
/// * `each!(strategy, strategy => then)`, which evaluates `then` with any strategy.
///
/// An entry is ``"name" or "alias" => Variant(settings) boxed``. `boxed` prevents a strategy that
/// is much larger than the others from enlarging the enum.
macro_rules! registry {
    (
        $(#[$config_meta:meta])*
        settings $Config:ident: $Settings:ident;

        $(#[$strategy_meta:meta])*
        strategies $Strategy:ident: $Trait:ident, new($config:ident: $ConfigRef:ty $(, $arg:ident: $Arg:ty)*) calls $make:ident $args:tt -> $Made:ident;

        $(
            $(#[$doc:meta])*
            $name:literal $(or $alias:literal)? => $Variant:ident($Of:ty) $($boxed:ident)?,
        )*
    ) => {
        $(#[$config_meta])*
        pub enum $Config {
            $(
                $(#[$doc])*
                #[serde(rename = $name $(, alias = $alias)?)]
                $(#[schemars(extend("x-acklab-aliases" = [$alias]))])?
                $Variant($Of),
            )*
            /// A custom strategy, which the user supplies.
            #[serde(rename = "custom")]
            Custom {
                /// Its name in the run.
                #[schemars(length(max = 32), example = &"mine")]
                name: $crate::custom::Name,
            },
        }

        /// Evaluates `$then` with the settings of a built-in strategy, and `$otherwise` for a
        /// custom one.
        macro_rules! each_settings {
            ($self:expr, $settings:ident => $then:expr, else $otherwise:expr) => {
                match $self {
                    $($Config::$Variant($settings) => $then,)*
                    $Config::Custom { .. } => $otherwise,
                }
            };
        }

        impl $Config {
            /// Returns all built-in strategies with their default settings, in the order of the
            /// registry.
            pub fn built_in() -> impl Iterator<Item = Self> {
                [$(Self::$Variant(<$Of>::default()),)*].into_iter()
            }

            /// Returns its name in scenarios.
            #[must_use]
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$Variant(_) => $name,)*
                    Self::Custom { name } => name,
                }
            }
        }

        $(
            impl From<$Of> for $Config {
                fn from(settings: $Of) -> Self {
                    Self::$Variant(settings)
                }
            }
        )*

        $(#[$strategy_meta])*
        #[derive(Debug)]
        #[expect(missing_docs, reason = "the variants are those of the settings")]
        pub enum $Strategy {
            $($Variant($crate::registry::stored!(<$Of as $Settings>::$Made $(, $boxed)?)),)*
            /// A custom strategy.
            Custom($crate::custom::Custom<dyn $Trait + Send>),
        }

        impl $Strategy {
            /// Creates the strategy with these settings. Returns `None` if it is custom.
            #[must_use]
            pub fn new($config: $ConfigRef $(, $arg: $Arg)*) -> Option<Self> {
                match $config {
                    $($Config::$Variant(settings) => Some(Self::$Variant(settings.$make $args.into())),)*
                    $Config::Custom { .. } => None,
                }
            }
        }

        /// Evaluates `$then` with any strategy.
        macro_rules! each {
            ($self:expr, $strategy:ident => $then:expr) => {
                match $self {
                    $($Strategy::$Variant($strategy) => $then,)*
                    $Strategy::Custom($strategy) => $then,
                }
            };
        }
    };
}

/// The type in which the enum stores a strategy.
macro_rules! stored {
    ($Strategy:ty) => { $Strategy };
    ($Strategy:ty, boxed) => { Box<$Strategy> };
}

pub(crate) use {registry, stored};

/// Checks that apply to every registry.
#[cfg(test)]
pub(crate) mod testing {
    use schemars::{JsonSchema, Schema, schema_for};

    /// Returns the entries of the schema of `Config`, one per variant.
    pub(crate) fn variants<Config: JsonSchema>() -> Vec<Schema> {
        let schema = schema_for!(Config);
        let variants = schema.get("oneOf").and_then(|variants| variants.as_array()).cloned().unwrap_or_default();
        variants.into_iter().filter_map(|variant| variant.try_into().ok()).collect()
    }

    /// Checks that the schema names `built_in` and "custom" under `tag`, in this order.
    pub(crate) fn assert_schema_names<'a, Config: JsonSchema>(tag: &str, built_in: impl Iterator<Item = &'a str>) {
        let variants = variants::<Config>();
        let described: Vec<_> =
            variants.iter().filter_map(|variant| variant.get("properties")?[tag]["const"].as_str()).collect();
        let expected: Vec<_> = built_in.chain(["custom"]).collect();
        assert_eq!(described, expected);
    }
}
