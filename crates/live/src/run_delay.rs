//! The time that runnable threads wait for a processor.
//!
//! The kernel counts for each thread the nanoseconds in which it was ready and no processor ran it
//! (the second number of `/proc/PID/task/TID/schedstat`, Documentation/scheduler/sched-stats.rst).
//! The count excludes a virtual processor that its host has stopped.

use acklab_base::{Duration, Instant};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The interval over which waiting times are summed. Lateness is evaluated over the same interval.
const INTERVAL: Duration = Duration::from_secs(1);

/// The longest wait in an interval: of a thread for a processor, or of a virtual processor for a
/// processor of its host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// The beginning of the interval.
    pub began: Instant,
    /// The end of the interval.
    pub ended: Instant,
    /// The waiting time, as a share of the interval.
    pub share: f64,
}

/// The waiting times of some threads, second by second.
///
/// The waiting time of a thread between the last sample and its end is missing.
#[derive(Debug)]
pub struct RunDelays {
    began: Instant,
    threads: BTreeMap<PathBuf, Thread>,
    waits: Vec<Wait>,
}

/// The nanoseconds that a thread has waited since it began.
#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    /// The value at the beginning of the interval.
    before: u64,
    now: u64,
}

impl RunDelays {
    /// Creates a record without threads. For a thread that is added later, the record includes its
    /// whole waiting time.
    #[must_use]
    pub const fn new(now: Instant) -> Self {
        Self { began: now, threads: BTreeMap::new(), waits: Vec::new() }
    }

    /// Returns `true` if this kernel reports the waiting times of threads.
    #[must_use]
    pub fn are_known() -> bool {
        waited(Path::new("/proc/thread-self")).is_some()
    }

    /// Adds the waiting time of the calling thread.
    pub fn sample_this_thread(&mut self, now: Instant) {
        self.add(PathBuf::from("/proc/thread-self"));
        self.pass(now);
    }

    /// Adds the waiting times of the threads of a process and of its descendants.
    pub fn sample_family(&mut self, now: Instant, process: u32) {
        let mut family = vec![process];
        while let Some(process) = family.pop() {
            for task in tasks_of(process) {
                family.extend(children_of(&task));
                self.add(task);
            }
        }
        self.pass(now);
    }

    /// Adds the waiting times of the threads of a process's descendants.
    pub fn sample_descendants(&mut self, now: Instant, process: u32) {
        for child in tasks_of(process).iter().flat_map(|task| children_of(task)) {
            self.sample_family(now, child);
        }
        self.pass(now);
    }

    /// Records that time passes without threads, because all have ended.
    pub fn pass(&mut self, now: Instant) {
        if now.since(self.began) >= INTERVAL {
            self.end_interval(now);
        }
    }

    fn add(&mut self, task: PathBuf) {
        let Some(waited) = waited(&task) else { return };
        self.note(task, waited);
    }

    fn note(&mut self, task: PathBuf, waited: u64) {
        let thread = self.threads.entry(task).or_default();
        // A smaller number belongs to another thread, to which the system has given the same id.
        thread.before = if waited < thread.now { 0 } else { thread.before };
        thread.now = waited;
    }

    fn end_interval(&mut self, now: Instant) {
        let longest = self.threads.values().map(|thread| thread.now - thread.before).max();
        if let Some(longest) = longest {
            // The last part of a second is treated as a whole second, so that a single wait has
            // little effect.
            let share = longest as f64 / now.since(self.began).max(INTERVAL).as_nanos() as f64;
            self.waits.push(Wait { began: self.began, ended: now, share });
        }
        self.began = now;
        self.threads.retain(|task, _| task.exists());
        self.threads.values_mut().for_each(|thread| thread.before = thread.now);
    }

    /// Returns all intervals with a thread. The last interval ends now.
    #[must_use]
    pub fn finish(mut self, now: Instant) -> Vec<Wait> {
        self.end_interval(now);
        self.waits
    }
}

/// Returns the threads of a process.
fn tasks_of(process: u32) -> Vec<PathBuf> {
    let tasks = fs::read_dir(format!("/proc/{process}/task"));
    tasks.map(|tasks| tasks.flatten().map(|task| task.path()).collect()).unwrap_or_default()
}

/// Returns the processes that a thread has started. Without CONFIG_PROC_CHILDREN the kernel does
/// not report them.
fn children_of(task: &Path) -> Vec<u32> {
    let children = fs::read_to_string(task.join("children")).unwrap_or_default();
    children.split_ascii_whitespace().filter_map(|child| child.parse().ok()).collect()
}

/// Returns the nanoseconds for which a thread has waited. Returns `None` if it has ended, or if the
/// kernel does not count them (CONFIG_SCHED_INFO).
fn waited(task: &Path) -> Option<u64> {
    fs::read_to_string(task.join("schedstat")).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WallClock;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn the_thread_that_waits_longest_counts_in_each_second() {
        let mut delays = RunDelays::new(at(0));
        // The threads of this test do not exist in the system, so each interval forgets them.
        for (ms, first, other) in [(0, 5_000_000, 0), (500, 5_000_000, 30_000_000), (1_000, 20_000_000, 40_000_000)] {
            delays.note("first".into(), first);
            delays.note("other".into(), other);
            delays.pass(at(ms));
        }
        delays.note("late".into(), 7_000_000);
        assert_eq!(
            delays.finish(at(1_100)),
            [
                Wait { began: at(0), ended: at(1_000), share: 0.04 },
                Wait { began: at(1_000), ended: at(1_100), share: 0.007 },
            ]
        );
    }

    #[test]
    fn an_identity_that_is_used_again_begins_anew() {
        let mut delays = RunDelays::new(at(0));
        delays.note("one".into(), 900_000_000);
        delays.note("one".into(), 10_000_000);
        assert_eq!(delays.finish(at(1_000)), [Wait { began: at(0), ended: at(1_000), share: 0.01 }]);
    }

    /// Two threads compute on one processor: each waits while the other one runs.
    #[test]
    fn a_thread_that_shares_a_processor_waits() {
        if !RunDelays::are_known() {
            eprintln!("skipped: this kernel does not count how long threads wait");
            return;
        }
        crate::realtime::share_a_processor();
        let clock = WallClock::start();
        let compute = |clock: WallClock| {
            crate::realtime::share_a_processor();
            while clock.now() < at(400) {}
        };
        let rival = std::thread::spawn(move || compute(clock));
        let mut delays = RunDelays::new(clock.now());
        delays.sample_this_thread(clock.now());
        compute(clock);
        delays.sample_this_thread(clock.now());
        let waits = delays.finish(clock.now());
        rival.join().unwrap();
        assert!(waits[0].share > 0.1, "{waits:?}");
    }
}
