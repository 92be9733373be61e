//! Helpers that several test files share.

pub(crate) mod dumbbell;
pub(crate) mod names;
pub(crate) mod packets;
pub(crate) mod tables;
pub(crate) mod tshark;
