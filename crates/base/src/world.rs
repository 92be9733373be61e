//! The contract between connected machines and the driver that runs them.

use crate::Instant;

/// The index of a machine in its world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MachineId(pub u32);

/// The next action of a machine at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<D> {
    /// A datagram leaves the machine and arrives at the given machine; more may follow.
    Send(MachineId, D),
    /// The last datagram of this instant leaves the machine. The third field is the deadline after it.
    SendLast(MachineId, D, Option<Instant>),
    /// No datagram leaves the machine now. The field is its deadline.
    Idle(Option<Instant>),
}

/// Machines and the wires between them. The verbs are those of [`Machine`](crate::Machine), in the same order.
pub trait World {
    /// What the machines exchange.
    type Datagram;

    /// The number of machines; their ids are 0 to this number minus one. Machines may join while the world runs and get the next ids;
    /// none leaves.
    fn machines(&self) -> usize;

    /// Delivers `datagram` to `machine`. Returns the machine that the driver must drain next, or `None` if no deadline has changed and
    /// nothing leaves now. The world may pass the datagram on through several machines, even ahead of time, as long as their deadlines
    /// stay the same.
    fn accept(&mut self, machine: MachineId, now: Instant, datagram: Self::Datagram) -> Option<MachineId>;

    /// Wakes `machine`, whose deadline has come.
    fn wake(&mut self, machine: MachineId, now: Instant);

    /// Polls `machine`, and returns its deadline if nothing more leaves now.
    fn step(&mut self, machine: MachineId, now: Instant) -> Step<Self::Datagram>;
}
