//! The contract between machines that exchange datagrams and the clock that drives them.

use crate::Instant;

/// A machine of a world, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MachineId(pub u32);

/// What a machine does next at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<D> {
    /// A datagram leaves it and arrives at a machine.
    Send(MachineId, D),
    /// The same, and it is the last that leaves now; with when the machine wants to be woken.
    SendLast(MachineId, D, Option<Instant>),
    /// Nothing leaves now; this is when it wants to be woken.
    Rest(Option<Instant>),
}

/// Machines and the wires between them. The verbs are those of [`Machine`](crate::Machine), in the same order.
pub trait World {
    /// What the machines exchange.
    type Datagram;

    /// How many machines there are now; their ids are 0 to that. Machines may join while the world runs, and then take the ids behind
    /// those that are taken; none leaves.
    fn machines(&self) -> usize;

    /// `datagram` arrives at `machine`. Returns the machine that the driver polls next, or `None` if the datagram changes no deadline and
    /// nothing leaves now. A world may pass a datagram on at once, even ahead of time, through machines whose deadlines do not change by
    /// it.
    fn accept(&mut self, machine: MachineId, now: Instant, datagram: Self::Datagram) -> Option<MachineId>;

    /// The deadline of `machine` has come.
    fn wake(&mut self, machine: MachineId, now: Instant);

    /// What `machine` does next: poll it, and if nothing leaves, ask for its deadline.
    fn step(&mut self, machine: MachineId, now: Instant) -> Step<Self::Datagram>;
}
