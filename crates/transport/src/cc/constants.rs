//! The published constants of controllers and slow starts as settings.

use super::model::gain::Gain;
use crate::fault::{Fault, above_zero};
use acklab_base::Duration;

/// Makes the settings of one controller from a list of its constants, each with its source, its bounds and its published value.
/// A scenario may leave out any of them.
macro_rules! constants {
    (
        $(#[$meta:meta])*
        $name:ident { $($(#[doc = $doc:literal])+ $(#[schemars($($schema:tt)+)])? $constant:ident: $type:ty = $published:expr,)+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[doc = $doc])+ $(#[schemars($($schema)+)])? pub $constant: $type,)+
        }

        impl $name {
            /// The constants as they are published.
            pub const PUBLISHED: Self = Self { $($constant: $published,)+ };
        }

        impl crate::cc::constants::Constants for $name {
            fn check(&self) -> Result<(), crate::fault::Fault> {
                $(crate::cc::constants::Constant::check(self.$constant, stringify!($constant))?;)+
                Ok(())
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::PUBLISHED
            }
        }
    };
}

pub(in crate::cc) use constants;

/// A list of constants.
pub trait Constants {
    /// Checks what the schema cannot say.
    ///
    /// # Errors
    /// If a constant makes no sense: the first one.
    fn check(&self) -> Result<(), Fault>;
}

/// A type of constants. The bounds of numbers stand in the schema.
pub(in crate::cc) trait Constant: Sized {
    fn check(self, _key: &str) -> Result<(), Fault> {
        Ok(())
    }
}

impl Constant for f64 {}
impl Constant for u32 {}
impl Constant for bool {}
impl Constant for Gain {}

impl Constant for Duration {
    fn check(self, key: &str) -> Result<(), Fault> {
        above_zero(key, self)
    }
}
