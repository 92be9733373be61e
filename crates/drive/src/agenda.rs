//! What is due when, and how far a datagram gets at one instant. It has no clock: whoever has one says what time it is.

use crate::deadlines::Deadlines;
use acklab_base::{Instant, MachineId, Step, World};

/// The deadlines of a world's machines.
#[derive(Clone, Debug)]
pub struct Agenda {
    deadlines: Deadlines,
    machines: u32,
}

impl Agenda {
    /// The agenda of `world`, all of whose machines have been drained at `now`.
    #[must_use]
    pub fn new(world: &mut impl World, now: Instant) -> Self {
        let mut agenda = Self { deadlines: Deadlines::new(world.machines()), machines: 0 };
        agenda.admit(world, now);
        agenda
    }

    /// Takes in the machines that have joined `world` since this was last called.
    pub fn admit(&mut self, world: &mut impl World, now: Instant) {
        let machines = world.machines();
        self.deadlines.grow(machines);
        let joined = self.machines..machines as u32;
        self.machines = machines as u32;
        joined.for_each(|machine| self.drain(world, MachineId(machine), now));
    }

    /// The earliest deadline, and whose it is; of equal ones that of the lowest machine.
    #[must_use]
    #[inline]
    pub fn next(&self) -> Option<(Instant, MachineId)> {
        self.deadlines.earliest().map(|(at, machine)| (at, MachineId(machine)))
    }

    /// Wakes `machine`, whose deadline has come, and drains it.
    #[inline]
    pub fn wake(&mut self, world: &mut impl World, machine: MachineId, now: Instant) {
        world.wake(machine, now);
        self.drain(world, machine, now);
    }

    /// Hands `machine` a datagram from outside of the world, and follows what comes of it.
    pub fn deliver<W: World>(&mut self, world: &mut W, machine: MachineId, now: Instant, datagram: W::Datagram) {
        if let Some(holder) = world.accept(machine, now, datagram) {
            self.drain(world, holder, now);
        }
    }

    /// Takes all that leaves `machine` now to where it goes, and follows each datagram as far as it gets at this instant.
    pub fn drain<W: World>(&mut self, world: &mut W, machine: MachineId, now: Instant) {
        let mut machine = machine;
        loop {
            match world.step(machine, now) {
                Step::Send(to, datagram) => self.deliver(world, to, now, datagram),
                Step::SendLast(to, datagram, deadline) => {
                    // Before the datagram is followed, which may come back to this machine and change it.
                    self.deadlines.set(machine.0, deadline);
                    let Some(holder) = world.accept(to, now, datagram) else { return };
                    machine = holder;
                }
                Step::Idle(deadline) => return self.deadlines.set(machine.0, deadline),
            }
        }
    }
}
