//! Strategies that are not built in: those that the user of a scenario supplies.

use arrayvec::ArrayString;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// What a scenario calls such a strategy: at most 32 octets, which stand where they are used, so
/// that settings can be copied.
pub type Name = ArrayString<32>;

/// A strategy under its name. Built-in ones are reached without a pointer; this is the price of one
/// that is not known here.
pub struct Custom<T: ?Sized> {
    name: Name,
    strategy: Box<T>,
}

impl<T: ?Sized> Custom<T> {
    /// `strategy`, which the scenario calls `name`.
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
