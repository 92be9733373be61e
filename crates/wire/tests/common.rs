//! Shared code of the tests.

pub(crate) mod segment;
