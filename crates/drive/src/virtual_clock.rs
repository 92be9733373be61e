//! Virtual time, which advances from one deadline to the next.

use crate::agenda::Agenda;
use acklab_base::{Instant, MachineId, World};

/// The number of wake-ups between two calls of the callback that may stop a run. The calls are so
/// rare that their cost is negligible.
const WAKES_BETWEEN_CALLS: u32 = 8192;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All deadlines before the end were handled.
    Done,
    /// The callback stopped the run.
    Stopped,
    /// A machine was polled without end at one instant.
    Standstill(MachineId),
}

/// A clock that advances from one deadline of a world to the next.
#[derive(Clone, Debug)]
pub struct VirtualClock {
    now: Instant,
    agenda: Agenda,
    wakes: u64,
    wakes_between_calls: u32,
}

impl VirtualClock {
    /// Returns a clock at time zero. Drains all machines of `world`.
    #[must_use]
    pub fn new(world: &mut impl World) -> Self {
        let now = Instant::ZERO;
        Self { now, agenda: Agenda::new(world, now), wakes: 0, wakes_between_calls: WAKES_BETWEEN_CALLS }
    }

    /// Configures [`run`](Self::run) to call its callback after every wake-up.
    pub const fn call_back_always(&mut self) {
        self.wakes_between_calls = 1;
    }

    /// Returns the number of wake-ups so far.
    #[must_use]
    pub const fn wakes(&self) -> u64 {
        self.wakes
    }

    /// Returns the current time.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Adds the machines that have joined `world` since the clock was created or since the last
    /// call.
    pub fn admit(&mut self, world: &mut impl World) {
        self.agenda.admit(world, self.now);
    }

    /// Runs `world` until no deadline is before `until`. Calls `goes_on` at intervals of wake-ups,
    /// and stops if it returns `false`.
    pub fn run(&mut self, world: &mut impl World, until: Instant, mut goes_on: impl FnMut() -> bool) -> Outcome {
        if let Some(machine) = self.agenda.restless() {
            return Outcome::Standstill(machine);
        }
        let mut wakes_since_call = 0;
        while let Some((at, machine)) = self.agenda.next()
            && at < until
        {
            debug_assert!(at >= self.now, "the deadline of {machine:?} lies in the past");
            self.now = self.now.max(at);
            self.agenda.wake(world, machine, self.now);
            if let Some(machine) = self.agenda.restless() {
                return Outcome::Standstill(machine);
            }
            self.wakes += 1;
            wakes_since_call += 1;
            if wakes_since_call >= self.wakes_between_calls {
                wakes_since_call = 0;
                if !goes_on() {
                    return Outcome::Stopped;
                }
            }
        }
        self.now = self.now.max(until);
        Outcome::Done
    }
}
