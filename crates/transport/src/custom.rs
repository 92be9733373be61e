//! Custom strategies, which the user of a scenario supplies.

use arrayvec::ArrayString;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// The name of a custom strategy in a scenario: at most 32 bytes, stored inline, so that settings
/// can be copied.
pub type Name = ArrayString<32>;

/// A custom strategy with its name. A built-in strategy is called directly, a custom one through a
/// pointer.
pub struct Custom<T: ?Sized> {
    name: Name,
    strategy: Box<T>,
}

impl<T: ?Sized> Custom<T> {
    /// Creates a strategy with its name in the scenario.
    #[must_use]
    pub const fn new(name: Name, strategy: Box<T>) -> Self {
        Self { name, strategy }
    }
}

impl<T: ?Sized> Deref for Custom<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.strategy
    }
}

impl<T: ?Sized> DerefMut for Custom<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.strategy
    }
}

impl<T: ?Sized> fmt::Debug for Custom<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Custom").field(&self.name).finish()
    }
}
