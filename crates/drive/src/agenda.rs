//! Deadlines, wake-ups and the delivery of datagrams within one instant. The caller supplies the time.

use crate::deadlines::Deadlines;
use acklab_base::{Instant, MachineId, Step, World};

/// The deadlines of a world's machines.
#[derive(Clone, Debug)]
pub struct Agenda {
    deadlines: Deadlines,
    machines: u32,
}

impl Agenda {
    /// The agenda of `world`. Drains all machines at `now`.
    #[must_use]
    pub fn new(world: &mut impl World, now: Instant) -> Self {
        let mut agenda = Self { deadlines: Deadlines::new(world.machines()), machines: 0 };
        agenda.admit(world, now);
        agenda
    }

    /// Drains the machines that have joined `world` since the last call, and adds their deadlines.
    pub fn admit(&mut self, world: &mut impl World, now: Instant) {
        let machines = world.machines();
        self.deadlines.grow(machines);
        let joined = self.machines..machines as u32;
        self.machines = machines as u32;
        joined.for_each(|machine| self.drain(world, MachineId(machine), now));
    }

    /// The earliest deadline and its machine. Of equal deadlines, that of the lowest id comes first.
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

    /// Delivers a datagram to `machine`, and drains the machine that must be polled because of it.
    pub fn deliver<W: World>(&mut self, world: &mut W, machine: MachineId, now: Instant, datagram: W::Datagram) {
        if let Some(next) = world.accept(machine, now, datagram) {
            self.drain(world, next, now);
        }
    }

    /// Polls `machine` until nothing more leaves it at `now`, and follows each datagram through the world as far as it gets at this
    /// instant.
    pub fn drain<W: World>(&mut self, world: &mut W, machine: MachineId, now: Instant) {
        let mut machine = machine;
        loop {
            let (to, datagram, is_last) = match world.step(machine, now) {
                Step::Send(to, datagram) => (to, datagram, false),
                Step::SendLast(to, datagram, deadline) => {
                    // The deadline is set first, because the datagram may lead back to this machine and change it.
                    self.deadlines.set(machine.0, deadline);
                    (to, datagram, true)
                }
                Step::Idle(deadline) => return self.deadlines.set(machine.0, deadline),
            };
            match (world.accept(to, now, datagram), is_last) {
                (Some(next), true) => machine = next,
                (Some(next), false) => self.drain(world, next, now),
                (None, true) => return,
                (None, false) => {}
            }
        }
    }
}
