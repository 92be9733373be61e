//! The virtual-time driver.
//!
//! A [`World`] holds machines and says where their datagrams go. The [`Driver`] keeps one deadline a machine in an indexed heap
//! and jumps from one to the next. Hand-offs at one instant do not go through the heap: each datagram is followed as far as it gets
//! before the next one leaves. Ties are broken by machine and then by that order, so a run is a pure function of its world.

mod driver;
mod heap;

pub use driver::{Driver, MachineId, Outcome, World};
