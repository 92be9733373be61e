//! Deadlines and wake-ups. The caller supplies the time.

use crate::deadlines::Deadlines;
use acklab_base::{Alarms, Instant, MachineId, World};

/// The maximum number of polls at one instant. It is many times the number that the largest
/// networks need, and takes some seconds of CPU time.
const MAX_POLLS: u64 = if cfg!(test) { 100_000 } else { 20_000_000 };

/// The deadlines of a world's machines.
#[derive(Clone, Debug)]
pub struct Agenda {
    deadlines: Deadlines,
    machines: u32,
    /// The present instant, and the number of polls at it.
    instant: Instant,
    polls: u64,
    /// The machine that never became quiescent at one instant.
    restless: Option<MachineId>,
}

impl Agenda {
    /// Returns the agenda of `world`. Drains all machines at `now`.
    #[must_use]
    pub fn new(world: &mut impl World, now: Instant) -> Self {
        let mut agenda =
            Self { deadlines: Deadlines::new(world.machines()), machines: 0, instant: now, polls: 0, restless: None };
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

    /// Returns the earliest deadline and its machine. Among equal deadlines, the lowest machine ID
    /// is first.
    #[must_use]
    #[inline]
    pub fn next(&self) -> Option<(Instant, MachineId)> {
        self.deadlines.earliest().map(|(at, machine)| (at, MachineId(machine)))
    }

    /// Returns a machine that was polled without end at one instant. It is no longer polled.
    #[must_use]
    #[inline]
    pub const fn restless(&self) -> Option<MachineId> {
        self.restless
    }

    /// Wakes `machine`, whose deadline is due, and drains it.
    #[inline]
    pub fn wake(&mut self, world: &mut impl World, machine: MachineId, now: Instant) {
        self.arrive_at(now);
        world.wake(machine, now, self);
    }

    /// Drains `machine`, at which a datagram has arrived.
    pub fn drain(&mut self, world: &mut impl World, machine: MachineId, now: Instant) {
        self.arrive_at(now);
        world.drain(machine, now, self);
    }

    #[inline]
    fn arrive_at(&mut self, now: Instant) {
        if now != self.instant {
            (self.instant, self.polls) = (now, 0);
        }
    }

    #[cold]
    #[inline(never)]
    fn give_up(&mut self, machine: MachineId) {
        self.restless.get_or_insert(machine);
        self.deadlines.set(machine.0, None);
    }
}

impl Alarms for Agenda {
    #[inline(always)]
    fn may_poll(&mut self, machine: MachineId) -> bool {
        self.polls += 1;
        let may = self.polls <= MAX_POLLS;
        if !may {
            self.give_up(machine);
        }
        may
    }

    #[inline(always)]
    fn set(&mut self, machine: MachineId, deadline: Option<Instant>) {
        self.deadlines.set(machine.0, deadline);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The behaviour of a machine at each poll.
    #[derive(Clone, Copy)]
    enum PollBehavior {
        /// The machine sets its deadline to now.
        StaysDue,
        /// The machine sends itself a datagram.
        SendsToItself,
        /// The machine sets its deadline a nanosecond later.
        Advances,
    }

    struct TestWorld(PollBehavior);

    impl World for TestWorld {
        fn machines(&self) -> usize {
            1
        }

        fn wake(&mut self, machine: MachineId, now: Instant, alarms: &mut impl Alarms) {
            self.drain(machine, now, alarms);
        }

        fn drain(&mut self, machine: MachineId, now: Instant, alarms: &mut impl Alarms) {
            while alarms.may_poll(machine) {
                match self.0 {
                    PollBehavior::StaysDue => return alarms.set(machine, Some(now)),
                    PollBehavior::SendsToItself => {}
                    PollBehavior::Advances => {
                        return alarms.set(machine, Some(Instant::from_nanos(now.as_nanos() + 1)));
                    }
                }
            }
        }
    }

    fn outcome(behavior: PollBehavior, until: u64) -> crate::Outcome {
        let mut world = TestWorld(behavior);
        let mut clock = crate::VirtualClock::new(&mut world);
        clock.run(&mut world, Instant::from_nanos(until), || true)
    }

    #[test]
    fn a_machine_that_lets_no_time_pass_is_reported() {
        assert_eq!(outcome(PollBehavior::StaysDue, 10), crate::Outcome::Standstill(MachineId(0)));
        assert_eq!(outcome(PollBehavior::SendsToItself, 10), crate::Outcome::Standstill(MachineId(0)));
    }

    #[test]
    fn a_machine_that_lets_time_pass_may_be_polled_as_often_as_it_likes() {
        assert_eq!(outcome(PollBehavior::Advances, MAX_POLLS + 10), crate::Outcome::Done);
    }
}
