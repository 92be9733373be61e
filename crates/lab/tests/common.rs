//! What several test files need.

pub(crate) mod names;
pub(crate) mod packets;
pub(crate) mod tables;
pub(crate) mod tshark;
