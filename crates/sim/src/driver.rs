//! From deadline to deadline.

use crate::deadlines::Deadlines;
use acklab_base::Instant;

/// How many wake-ups pass between two questions whether to go on.
const WAKES_BETWEEN_QUESTIONS: u32 = 8192;

/// A machine of a world, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// Machines and the wires between them. The verbs are those of [`acklab_base::Machine`], in the same order.
pub trait World {
    /// What the machines exchange.
    type Datagram;

    /// How many machines there are; their ids are 0 to that.
    fn machines(&self) -> usize;

    /// `datagram` arrives at `machine`. Returns the machine that has it now: a world may pass it on at once, even ahead of time,
    /// through machines whose deadlines do not change by it. Nothing, if not even that one has something to do by it at `now`, and its
    /// deadline stays what it was.
    fn accept(&mut self, machine: MachineId, now: Instant, datagram: Self::Datagram) -> Option<MachineId>;

    /// The deadline of `machine` has come.
    fn wake(&mut self, machine: MachineId, now: Instant);

    /// What `machine` does next: poll it, and if nothing leaves, ask for its deadline.
    fn step(&mut self, machine: MachineId, now: Instant) -> Step<Self::Datagram>;
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All that was due has happened.
    Done,
    /// The caller asked to stop.
    Stopped,
}

/// Virtual time, for one world.
#[derive(Clone, Debug)]
pub struct Driver {
    now: Instant,
    deadlines: Deadlines,
    wakes: u64,
    wakes_between_questions: u32,
}

impl Driver {
    /// Time zero of `world`.
    #[must_use]
    pub fn new(world: &mut impl World) -> Self {
        let machines = world.machines();
        let mut driver = Self {
            now: Instant::ZERO,
            deadlines: Deadlines::new(machines),
            wakes: 0,
            wakes_between_questions: WAKES_BETWEEN_QUESTIONS,
        };
        (0..machines as u32).for_each(|machine| driver.drain(world, MachineId(machine)));
        driver
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

    /// Let everything happen that is due before `until`. `goes_on` is asked now and then.
    pub fn run(&mut self, world: &mut impl World, until: Instant, mut goes_on: impl FnMut() -> bool) -> Outcome {
        let mut unasked = 0;
        while let Some((at, machine)) = self.deadlines.earliest()
            && at < until
        {
            debug_assert!(at >= self.now, "machine {machine} asks to be woken in the past");
            self.now = self.now.max(at);
            let machine = MachineId(machine);
            world.wake(machine, self.now);
            self.drain(world, machine);
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

    /// Takes all that leaves `machine` now to where it goes, and follows each datagram as far as it gets at this instant.
    fn drain<W: World>(&mut self, world: &mut W, machine: MachineId) {
        let mut machine = machine;
        loop {
            match world.step(machine, self.now) {
                Step::Send(to, datagram) => {
                    if let Some(holder) = world.accept(to, self.now, datagram) {
                        self.drain(world, holder);
                    }
                }
                Step::SendLast(to, datagram, deadline) => {
                    // Before the datagram is followed, which may come back to this machine and change it.
                    self.deadlines.set(machine.0, deadline);
                    let Some(holder) = world.accept(to, self.now, datagram) else { return };
                    machine = holder;
                }
                Step::Rest(deadline) => return self.deadlines.set(machine.0, deadline),
            }
        }
    }
}
