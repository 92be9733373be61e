//! Drivers, which run a [`World`](acklab_base::World) of machines through time.
//!
//! In reading order:
//!
//! | module | contents |
//! |---|---|
//! | `deadlines` | the deadlines of all machines, and the earliest of them |
//! | [`agenda`] | [`Agenda`]: the deadlines of a world, and its wake-ups; it has no clock |
//! | [`virtual_clock`] | [`VirtualClock`]: a clock that advances from one deadline to the next |
//!
//! Machines with equal deadlines are woken in the order of their IDs. A world forwards each
//! datagram as far as possible before the next one is sent. A run is therefore a pure function of
//! its world. A driver with a real clock also uses an [`Agenda`].

pub mod agenda;
mod deadlines;
pub mod virtual_clock;

pub use agenda::Agenda;
pub use virtual_clock::{Outcome, VirtualClock};
