//! The contract between connected machines and the driver that runs them.

use crate::Instant;

/// The index of a machine in its world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MachineId(pub u32);

/// Machines and the wires between them.
///
/// At one instant, each datagram is forwarded through the machines as far as possible before the
/// next one leaves. The world may also pass it on ahead of time, through machines whose deadlines
/// stay the same.
pub trait World {
    /// Returns the number of machines. Their IDs are 0 to this number minus one. Machines may join
    /// while the world runs, and get the next IDs. None leaves.
    fn machines(&self) -> usize;

    /// Wakes `machine`, whose deadline is due, and [drains](Self::drain) it.
    fn wake(&mut self, machine: MachineId, now: Instant, alarms: &mut impl Alarms);

    /// Polls `machine` until nothing more leaves it at `now`, and likewise each machine that must
    /// be polled as a result. Sets the deadlines of the polled machines in `alarms`.
    fn drain(&mut self, machine: MachineId, now: Instant, alarms: &mut impl Alarms);
}

/// The deadlines of a world's machines, as the world sets them.
pub trait Alarms {
    /// Checks each poll of `machine` in advance. Returns `false` if it must not be polled, because
    /// time would stand still.
    fn may_poll(&mut self, machine: MachineId) -> bool;

    /// Sets the deadline of `machine`. Nothing leaves it now, except a datagram that is being
    /// forwarded.
    fn set(&mut self, machine: MachineId, deadline: Option<Instant>);
}
