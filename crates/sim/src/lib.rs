//! The virtual-time driver.
//!
//! A [`World`] holds machines and says where their datagrams go. The [`Driver`] keeps one deadline a machine
//! and jumps from one to the next. Hand-offs at one instant take no turn in time: each datagram is followed as far as it gets
//! before the next one leaves. Ties are broken by machine and then by that order, so a run is a pure function of its world.

mod deadlines;
mod driver;

pub use driver::{Driver, MachineId, Outcome, Step, World};
