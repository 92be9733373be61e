//! What drives a [`World`](acklab_base::World) of machines through time.
//!
//! | module | holds |
//! |---|---|
//! | [`agenda`] | [`Agenda`]: one deadline a machine, and the drain that follows a datagram as far as it gets at an instant; no clock |
//! | [`virtual_clock`] | [`VirtualClock`], which jumps from one deadline to the next |
//!
//! Hand-offs at one instant take no turn in time: each datagram is followed as far as it gets before the next one leaves. Ties are broken
//! by machine and then by that order, so a run is a pure function of its world. A driver with a real clock keeps an [`Agenda`] too.

pub mod agenda;
mod deadlines;
pub mod virtual_clock;

pub use agenda::Agenda;
pub use virtual_clock::{Outcome, VirtualClock};
