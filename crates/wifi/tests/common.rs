//! Shared code of the tests.

pub(crate) mod disciplines;
pub(crate) mod duplex;
pub(crate) mod durations;
pub(crate) mod exchange;
pub(crate) mod fixed_point;
pub(crate) mod form;
pub(crate) mod nodes;
#[path = "../../transport/tests/common/octets.rs"]
#[allow(dead_code, reason = "the tests of endpoints use the rest")]
pub(crate) mod octets;
pub(crate) mod packet;
pub(crate) mod saturated;
pub(crate) mod slots;
pub(crate) mod tcp;
pub(crate) mod timeline;
pub(crate) mod typed;
pub(crate) mod zones;
