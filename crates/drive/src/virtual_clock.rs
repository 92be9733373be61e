//! Virtual time: from deadline to deadline.

use crate::agenda::Agenda;
use acklab_base::{Instant, World};

/// How many wake-ups pass between two questions whether to go on.
const WAKES_BETWEEN_QUESTIONS: u32 = 8192;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All that was due has happened.
    Done,
    /// The caller asked to stop.
    Stopped,
}

/// A clock that jumps from one deadline of a world to the next.
#[derive(Clone, Debug)]
pub struct VirtualClock {
    now: Instant,
    agenda: Agenda,
    wakes: u64,
    wakes_between_questions: u32,
}

impl VirtualClock {
    /// Time zero of `world`.
    #[must_use]
    pub fn new(world: &mut impl World) -> Self {
        let now = Instant::ZERO;
        Self { now, agenda: Agenda::new(world, now), wakes: 0, wakes_between_questions: WAKES_BETWEEN_QUESTIONS }
    }

    /// From now on, ask after every wake-up whether to go on.
    pub const fn ask_always(&mut self) {
        self.wakes_between_questions = 1;
    }

    /// How often a machine was woken.
    #[must_use]
    pub const fn wakes(&self) -> u64 {
        self.wakes
    }

    /// The present instant.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Takes in the machines that have joined `world` since it began, or since this was last called.
    pub fn admit(&mut self, world: &mut impl World) {
        self.agenda.admit(world, self.now);
    }

    /// Let everything happen that is due before `until`. `goes_on` is asked now and then.
    pub fn run(&mut self, world: &mut impl World, until: Instant, mut goes_on: impl FnMut() -> bool) -> Outcome {
        let mut unasked = 0;
        while let Some((at, machine)) = self.agenda.next()
            && at < until
        {
            debug_assert!(at >= self.now, "{machine:?} asks to be woken in the past");
            self.now = self.now.max(at);
            self.agenda.wake(world, machine, self.now);
            self.wakes += 1;
            unasked += 1;
            if unasked >= self.wakes_between_questions {
                unasked = 0;
                if !goes_on() {
                    return Outcome::Stopped;
                }
            }
        }
        self.now = self.now.max(until);
        Outcome::Done
    }
}
