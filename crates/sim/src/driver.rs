//! From deadline to deadline.

use crate::heap::DeadlineHeap;
use acklab_base::Instant;
use std::collections::VecDeque;

/// How many wake-ups pass between two questions whether to go on.
const WAKES_BETWEEN_QUESTIONS: u32 = 8192;

/// A machine of a world, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MachineId(pub u32);

/// Machines and the wires between them. The verbs are those of [`acklab_base::Machine`], in the same order.
pub trait World {
    /// What the machines exchange.
    type Datagram;

    /// How many machines there are; their ids are 0 to that.
    fn machines(&self) -> usize;

    /// `datagram` arrives at `machine`.
    fn accept(&mut self, machine: MachineId, now: Instant, datagram: Self::Datagram);

    /// The deadline of `machine` has come.
    fn wake(&mut self, machine: MachineId, now: Instant);

    /// The earliest instant at which to wake `machine`.
    fn deadline(&self, machine: MachineId) -> Option<Instant>;

    /// The next datagram that leaves `machine` now, and where it arrives.
    fn poll(&mut self, machine: MachineId, now: Instant) -> Option<(MachineId, Self::Datagram)>;
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
pub struct Driver<D> {
    now: Instant,
    heap: DeadlineHeap,
    hand_offs: VecDeque<(MachineId, D)>,
    wakes: u64,
}

impl<D> Driver<D> {
    /// Time zero of `world`.
    #[must_use]
    pub fn new(world: &impl World<Datagram = D>) -> Self {
        let machines = world.machines();
        let mut heap = DeadlineHeap::new(machines);
        (0..machines as u32).for_each(|machine| heap.set(machine, world.deadline(MachineId(machine))));
        Self { now: Instant::ZERO, heap, hand_offs: VecDeque::new(), wakes: 0 }
    }

    /// How often a machine was woken.
    #[must_use]
    pub const fn wakes(&self) -> u64 {
        self.wakes
    }

    /// Let everything happen that is due at or before `until`. `goes_on` is asked now and then.
    pub fn run(
        &mut self,
        world: &mut impl World<Datagram = D>,
        until: Instant,
        mut goes_on: impl FnMut() -> bool,
    ) -> Outcome {
        let mut unasked = 0;
        while let Some((at, machine)) = self.heap.peek()
            && at <= until
        {
            debug_assert!(at >= self.now, "machine {machine} asks to be woken in the past");
            self.now = self.now.max(at);
            let machine = MachineId(machine);
            world.wake(machine, self.now);
            self.drain(world, machine);
            while let Some((to, datagram)) = self.hand_offs.pop_front() {
                world.accept(to, self.now, datagram);
                self.drain(world, to);
            }
            self.wakes += 1;
            unasked += 1;
            if unasked == WAKES_BETWEEN_QUESTIONS {
                unasked = 0;
                if !goes_on() {
                    return Outcome::Stopped;
                }
            }
        }
        self.now = self.now.max(until);
        Outcome::Done
    }

    fn drain(&mut self, world: &mut impl World<Datagram = D>, machine: MachineId) {
        while let Some(hand_off) = world.poll(machine, self.now) {
            self.hand_offs.push_back(hand_off);
        }
        self.heap.set(machine.0, world.deadline(machine));
    }
}
