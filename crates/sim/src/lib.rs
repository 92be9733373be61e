//! The virtual-time driver.
//!
//! A [`World`] holds machines and says where their datagrams go. The [`Driver`] keeps one deadline a machine in an indexed heap
//! and jumps from one to the next. Hand-offs at one instant go through a queue, not through the heap. Ties are broken by machine
//! and then by order of arrival, so a run is a pure function of its world.

mod driver;
mod heap;

pub use driver::{Driver, MachineId, Outcome, World};
