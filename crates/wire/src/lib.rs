//! Octets to typed headers and back.
//!
//! | module | holds |
//! |---|---|
//! | [`tcp`] | [`tcp::Segment`] and its options, sequence numbers, and the octets of both |

pub mod tcp;
