//! Turns the published constants of controllers and slow starts into settings.

use super::model::gain::Gain;
use crate::fault::{Fault, above_zero};
use acklab_base::Duration;

/// Makes the settings of one controller from a list of its constants, each with its source, its
/// bounds and its published value, which is the default.
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
            /// The published constants.
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
    /// Checks the constraints that the schema cannot express.
    ///
    /// # Errors
    /// Returns the first invalid constant.
    fn check(&self) -> Result<(), Fault>;
}

/// The type of a constant. The schema contains the bounds of numbers.
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
