//! The contract between connected machines and the driver that runs them.

use crate::Instant;

/// The index of a machine in its world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MachineId(pub u32);

/// Machines and the wires between them.
///
/// At one instant, each datagram is forwarded through the machines as far as possible before the
/// next datagram is sent. The world may also forward a datagram before it arrives, through machines
/// whose deadlines do not change as a result.
pub trait World {
    /// Returns the number of machines. Their IDs are 0 to this number minus one. Machines may join
    /// while the world runs, and get the next IDs. No machine is removed.
    fn machines(&self) -> usize;

    /// Wakes `machine`, whose deadline is due, and [drains](Self::drain) it.
    fn wake(&mut self, machine: MachineId, now: Instant, alarms: &mut impl Alarms);

    /// Polls `machine` until it has nothing more to send at `now`. Polls each machine that receives
    /// a datagram as a result in the same manner. Sets the deadlines of the polled machines in
    /// `alarms`.
    fn drain(&mut self, machine: MachineId, now: Instant, alarms: &mut impl Alarms);
}

/// The deadlines of a world's machines, as the world sets them.
pub trait Alarms {
    /// Called before each poll of `machine`. Returns `false` if the machine must not be polled,
    /// because too many polls have occurred at one instant.
    fn may_poll(&mut self, machine: MachineId) -> bool;

    /// Sets the deadline of `machine`. The machine sends nothing more now, except a datagram that
    /// is being forwarded.
    fn set(&mut self, machine: MachineId, deadline: Option<Instant>);
}
