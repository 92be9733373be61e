//! Octets to typed headers and back.
//!
//! | module | holds |
//! |---|---|
//! | [`dot11`] | [`dot11::Frame`]: frames of 802.11 and their octets, MSDUs, radiotap headers |
//! | [`endpoints`] | [`Endpoints`]: addresses and ports, and the rule that gives each flow its own |
//! | [`tcp`] | [`tcp::Segment`] and its options, sequence numbers, and the octets of both |

pub mod dot11;
pub mod endpoints;
pub mod tcp;

pub use endpoints::Endpoints;
