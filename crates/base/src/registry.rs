//! Generates the enums of a registry from one list, and the delegation of a contract.

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
/// Without a line of strategies, the settings themselves may be `boxed`, and the macros are
/// `each!`, `make!`, which returns changed settings, and `every!(Of => then)`, which returns an
/// array of `then` for each type of settings.
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
            /// Returns its name in scenarios.
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
            /// Returns its name in scenarios.
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

/// Declares a contract, and generates `$delegate!(Type, each)`, which implements it for an enum of a
/// [`registry!`]: each method calls that of the variant. So a new method is written once.
///
/// A method is written as in any trait. `@inline` before `fn` marks its delegation for inlining.
#[macro_export]
macro_rules! contract {
    ($(#[$meta:meta])* $vis:vis trait $Trait:ident, delegated by $delegate:ident { $($methods:tt)* }) => {
        $crate::contract!(@method [$(#[$meta])* $vis] $Trait $delegate [] [] $($methods)*);
    };

    (@method $head:tt $Trait:ident $delegate:ident [$($trait:tt)*] [$($delegated:tt)*]
        $(#[$doc:meta])* $(@$inline:ident)? fn $name:ident(&mut $self:ident $(, $arg:ident: $Arg:ty)* $(,)?)
        $(-> $Ret:ty)? $body:block $($rest:tt)*) => {
        $crate::contract!(@method $head $Trait $delegate
            [$($trait)* $(#[$doc])* fn $name(&mut $self $(, $arg: $Arg)*) $(-> $Ret)? $body]
            [$($delegated)* { [$($inline)?] $name [&mut $self] $self [$($arg: $Arg),*] [$(-> $Ret)?] }]
            $($rest)*);
    };
    (@method $head:tt $Trait:ident $delegate:ident [$($trait:tt)*] [$($delegated:tt)*]
        $(#[$doc:meta])* $(@$inline:ident)? fn $name:ident(&mut $self:ident $(, $arg:ident: $Arg:ty)* $(,)?)
        $(-> $Ret:ty)?; $($rest:tt)*) => {
        $crate::contract!(@method $head $Trait $delegate
            [$($trait)* $(#[$doc])* fn $name(&mut $self $(, $arg: $Arg)*) $(-> $Ret)?;]
            [$($delegated)* { [$($inline)?] $name [&mut $self] $self [$($arg: $Arg),*] [$(-> $Ret)?] }]
            $($rest)*);
    };
    (@method $head:tt $Trait:ident $delegate:ident [$($trait:tt)*] [$($delegated:tt)*]
        $(#[$doc:meta])* $(@$inline:ident)? fn $name:ident(&$self:ident $(, $arg:ident: $Arg:ty)* $(,)?)
        $(-> $Ret:ty)? $body:block $($rest:tt)*) => {
        $crate::contract!(@method $head $Trait $delegate
            [$($trait)* $(#[$doc])* fn $name(&$self $(, $arg: $Arg)*) $(-> $Ret)? $body]
            [$($delegated)* { [$($inline)?] $name [&$self] $self [$($arg: $Arg),*] [$(-> $Ret)?] }]
            $($rest)*);
    };
    (@method $head:tt $Trait:ident $delegate:ident [$($trait:tt)*] [$($delegated:tt)*]
        $(#[$doc:meta])* $(@$inline:ident)? fn $name:ident(&$self:ident $(, $arg:ident: $Arg:ty)* $(,)?)
        $(-> $Ret:ty)?; $($rest:tt)*) => {
        $crate::contract!(@method $head $Trait $delegate
            [$($trait)* $(#[$doc])* fn $name(&$self $(, $arg: $Arg)*) $(-> $Ret)?;]
            [$($delegated)* { [$($inline)?] $name [&$self] $self [$($arg: $Arg),*] [$(-> $Ret)?] }]
            $($rest)*);
    };

    (@method [$($head:tt)*] $Trait:ident $delegate:ident [$($trait:tt)*]
        [$({ [$($inline:ident)?] $name:ident [$($receiver:tt)*] $self:ident [$($arg:ident: $Arg:ty),*] [$($Ret:tt)*] })*]
    ) => {
        $($head)* trait $Trait {
            $($trait)*
        }

        /// Implements the contract for an enum of a registry.
        macro_rules! $delegate {
            ($Type:ident, $each:ident) => {
                impl $Trait for $Type {
                    $(
                        $(#[$inline])?
                        fn $name($($receiver)* $(, $arg: $Arg)*) $($Ret)* {
                            $each!($self, strategy => strategy.$name($($arg),*))
                        }
                    )*
                }
            };
        }
        pub(crate) use $delegate;
    };
}
