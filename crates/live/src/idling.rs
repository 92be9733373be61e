//! The behavior of idle processors while packets are carried. They stay awake, unless a hypervisor
//! then steals too much of their time.

use crate::run_delay::Wait;
use crate::steal::Steal;
use crate::{AwakeProcessors, WallClock};
use acklab_base::Instant;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// The maximum stolen time of a processor, as a share of a second. The limit equals the limit for
/// the time that a thread of a program waits for a processor.
pub const BOUND_OF_STEAL: f64 = 0.01;

/// The requested behavior of idle processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdleProcessors {
    /// Processors stay awake if the system allows it, until one of them has more than 1 % of stolen
    /// time in a second. Then they halt. A virtual machine may have a quota of processor time,
    /// which processors that never halt use up.
    #[default]
    Auto,
    /// Processors stay awake if the system allows it.
    Awake,
    /// Processors halt. This saves power but delays packets.
    Halt,
}

impl IdleProcessors {
    /// The names for messages.
    pub const NAMES: [&str; 3] = ["auto", "awake", "halt"];
}

impl FromStr for IdleProcessors {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "auto" => Ok(Self::Auto),
            "awake" => Ok(Self::Awake),
            "halt" => Ok(Self::Halt),
            other => Err(format!("found {other:?}, expected one of: {}", Self::NAMES.join(", "))),
        }
    }
}

/// The behavior of idle processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idling {
    /// Processors stay awake.
    Awake,
    /// Processors may halt: either this was requested, or the system does not permit this process
    /// to keep them awake.
    MayHalt,
    /// Processors stayed awake until this time. Then too much of their time had been stolen.
    MayHaltSince(Instant),
}

impl Idling {
    /// Returns a description for messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Awake => "awake",
            Self::MayHalt => "may halt",
            Self::MayHaltSince(_) => "awake, then may halt",
        }
    }

    /// Returns when processors began to halt, if they were awake before.
    #[must_use]
    pub const fn halting_since(self) -> Option<Instant> {
        if let Self::MayHaltSince(at) = self { Some(at) } else { None }
    }
}

/// The behavior of idle processors and their stolen time, second by second, until this value is
/// dropped.
#[derive(Debug)]
pub struct Wakefulness {
    shared: Arc<Shared>,
    clock: WallClock,
    watcher: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    is_over: Condvar,
    is_awake: Arc<AtomicBool>,
}

#[derive(Debug)]
struct State {
    request: Option<AwakeProcessors>,
    idling: Idling,
    /// `true` if the request ends when too much time is stolen.
    gives_way: bool,
    steal: Option<Steal>,
    /// When the measurement window began.
    from: Instant,
    /// The second of the window with the most stolen time.
    worst: Option<Wait>,
    is_over: bool,
}

impl Wakefulness {
    /// Keeps processors awake or not, and begins to measure the stolen time of those that the
    /// calling thread may use.
    ///
    /// Measures with a thread of normal priority, because the kernel takes long to write the
    /// statistics of a large machine. Call this before the calling thread has real-time priority.
    #[must_use]
    pub fn keep(wanted: IdleProcessors, clock: WallClock) -> Self {
        // Without the request, delays are larger. The lateness of deliveries shows them.
        let request = if wanted == IdleProcessors::Halt { None } else { AwakeProcessors::request().ok() };
        let idling = if request.is_some() { Idling::Awake } else { Idling::MayHalt };
        let now = clock.now();
        let state = State {
            request,
            idling,
            gives_way: wanted == IdleProcessors::Auto,
            steal: Steal::watch(now),
            from: now,
            worst: None,
            is_over: false,
        };
        let is_known = state.steal.is_some();
        let is_awake = Arc::new(AtomicBool::new(idling == Idling::Awake));
        let shared = Arc::new(Shared { state: Mutex::new(state), is_over: Condvar::new(), is_awake });
        let watched = Arc::clone(&shared);
        let watch = move || watched.watch(clock);
        let builder = Builder::new().name("steal".to_owned());
        // Without a thread, the behavior does not change. The lateness of deliveries shows stolen
        // time.
        let watcher = if is_known { builder.spawn(watch).ok() } else { None };
        Self { shared, clock, watcher }
    }

    /// Returns a flag that is `true` while processors are awake.
    #[must_use]
    pub fn is_awake(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.shared.is_awake)
    }

    /// Returns the present behavior of processors.
    #[must_use]
    pub fn idling(&self) -> Idling {
        self.shared.state().idling
    }

    /// Begins the measurement window at `now`. Time stolen earlier is ignored.
    pub fn open(&self, now: Instant) {
        let mut state = self.shared.state();
        (state.from, state.worst) = (now, None);
    }

    /// Returns the second of the measurement window with the most stolen time, if known.
    #[must_use]
    pub fn worst_second(&self) -> Option<Wait> {
        let mut state = self.shared.state();
        self.shared.end_interval(&mut state, self.clock.now());
        state.worst
    }
}

impl Drop for Wakefulness {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        self.shared.is_over.notify_all();
        if let Some(watcher) = self.watcher.take() {
            let _ = watcher.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self, clock: WallClock) {
        let mut state = self.state();
        while !state.is_over {
            let waited = self.is_over.wait_timeout(state, Duration::from_secs(1));
            let (woken, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = woken;
            if timeout.timed_out() {
                self.end_interval(&mut state, clock.now());
            }
        }
    }

    fn end_interval(&self, state: &mut State, now: Instant) {
        let Some(wait) = state.steal.as_mut().map(|steal| steal.end_interval(now)) else { return };
        state.add(wait);
        self.is_awake.store(state.idling == Idling::Awake, Ordering::Relaxed);
    }
}

impl State {
    /// Adds the stolen time of a second.
    fn add(&mut self, wait: Wait) {
        let within = wait.ended.since(wait.began.max(self.from));
        let is_within = !within.is_zero() && within >= wait.ended.since(wait.began) / 2;
        if is_within && self.worst.is_none_or(|worst| worst.share < wait.share) {
            self.worst = Some(wait);
        }
        if self.gives_way && self.idling == Idling::Awake && wait.share > BOUND_OF_STEAL {
            self.request = None;
            self.idling = Idling::MayHaltSince(wait.ended);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: u64) -> Instant {
        Instant::ZERO + acklab_base::Duration::from_secs(second)
    }

    fn second(number: u64, share: f64) -> Wait {
        Wait { began: at(number), ended: at(number + 1), share }
    }

    /// Returns the state as if the system had granted the request.
    fn awake(gives_way: bool) -> State {
        let idling = Idling::Awake;
        State { request: None, idling, gives_way, steal: None, from: at(0), worst: None, is_over: false }
    }

    /// A tick of a hundredth of a second, the smallest unit of the count, is not more than 1 %.
    #[test]
    fn processors_halt_once_more_than_one_percent_of_a_second_was_taken() {
        let mut state = awake(true);
        state.add(second(0, 0.0));
        state.add(second(1, 0.01));
        assert_eq!(state.idling, Idling::Awake);
        state.add(second(2, 0.02));
        assert_eq!(state.idling, Idling::MayHaltSince(at(3)));
        state.add(second(3, 0.5));
        assert_eq!(state.idling.halting_since(), Some(at(3)));
        assert_eq!(state.worst, Some(second(3, 0.5)));
    }

    #[test]
    fn processors_that_shall_stay_awake_do() {
        let mut state = awake(false);
        state.add(second(0, 0.9));
        assert_eq!((state.idling, state.worst), (Idling::Awake, Some(second(0, 0.9))));
    }

    #[test]
    fn what_was_taken_before_the_window_does_not_count() {
        let mut state = awake(true);
        state.add(second(0, 0.9));
        (state.from, state.worst) = (at(1) + acklab_base::Duration::from_millis(600), None);
        // Less than half of it lies in the window.
        state.add(second(1, 0.8));
        state.add(second(2, 0.3));
        assert_eq!(state.worst, Some(second(2, 0.3)));
    }

    #[test]
    fn names_are_read() {
        let read: Vec<_> = IdleProcessors::NAMES.iter().map(|name| name.parse()).collect();
        assert_eq!(read, [Ok(IdleProcessors::Auto), Ok(IdleProcessors::Awake), Ok(IdleProcessors::Halt)]);
        let refused = "asleep".parse::<IdleProcessors>();
        assert_eq!(refused, Err("found \"asleep\", expected one of: auto, awake, halt".to_owned()));
    }

    #[test]
    fn it_ends_at_once() {
        let clock = WallClock::start();
        let kept = Wakefulness::keep(IdleProcessors::Halt, clock);
        assert_eq!((kept.idling(), kept.is_awake().load(Ordering::Relaxed)), (Idling::MayHalt, false));
        kept.open(clock.now());
        drop(kept);
        assert!(clock.now() < at(1), "the thread that watches does not wait for its second");
    }
}
