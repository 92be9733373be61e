//! The processor time that the hypervisor steals from a virtual machine.
//!
//! For each processor, the kernel counts the time in which it could have run but its host ran
//! something else (`steal` in `/proc/stat`, proc(5)), in hundredths of a second. The time of an
//! idle processor is not included, unless the processor polls instead of halting.

use crate::run_delay::Wait;
use acklab_base::{Duration, Instant};
use rustix::thread::CpuSet;
use std::collections::BTreeMap;
use std::fs;

const STATISTICS: &str = "/proc/stat";
/// The position of `steal` behind the name of a processor.
const STEAL: usize = 8;

/// The stolen time of each processor that may be used, interval by interval.
#[derive(Debug)]
pub struct Steal {
    began: Instant,
    allowed: CpuSet,
    /// The ticks of the clock at the beginning of the interval, by processor.
    before: BTreeMap<usize, u64>,
}

impl Steal {
    /// Measures, from `now` on, the time stolen from the processors that the calling thread may
    /// use. Returns `None` if the kernel does not report it.
    #[must_use]
    pub fn watch(now: Instant) -> Option<Self> {
        let allowed = rustix::thread::sched_getaffinity(None).ok()?;
        let before = fs::read_to_string(STATISTICS).map(|text| stolen(&text)).ok()?;
        (!before.is_empty()).then_some(Self { began: now, allowed, before })
    }

    /// Returns the beginning of the interval.
    #[must_use]
    pub const fn began(&self) -> Instant {
        self.began
    }

    /// Ends the interval, and returns the largest stolen time of a processor in it.
    pub fn end_interval(&mut self, now: Instant) -> Wait {
        let after = fs::read_to_string(STATISTICS).map(|text| stolen(&text)).unwrap_or_default();
        self.note(now, after)
    }

    fn note(&mut self, now: Instant, after: BTreeMap<usize, u64>) -> Wait {
        let allowed = after.iter().filter(|(processor, _)| self.allowed.is_set(**processor));
        let most = allowed
            .filter_map(|(processor, ticks)| Some(ticks.saturating_sub(*self.before.get(processor)?)))
            .max()
            .unwrap_or(0);
        let taken = most as f64 / rustix::param::clock_ticks_per_second() as f64;
        // The last part of a second is treated as a whole second, so that a single tick has little
        // effect.
        let share = taken / now.since(self.began).max(Duration::from_secs(1)).as_secs_f64();
        let wait = Wait { began: self.began, ended: now, share };
        (self.began, self.before) = (now, after);
        wait
    }
}

/// Returns the ticks stolen from each processor since the machine started, from the kernel's
/// statistics.
fn stolen(statistics: &str) -> BTreeMap<usize, u64> {
    let of_line = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        // The first line, "cpu", is the sum.
        let processor = words.next()?.strip_prefix("cpu")?.parse().ok()?;
        let ticks = words.nth(STEAL - 1)?.parse().ok()?;
        Some((processor, ticks))
    };
    statistics.lines().map_while(|line| line.starts_with("cpu").then(|| of_line(line))).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From a virtual machine of two processors, the second of which was off for a while. It has
    /// the fields of proc(5), and a line without them.
    const TEXT: &str = "\
cpu  111660 0 9926 39371 618 0 108 64 0 0
cpu0 54109 0 4266 22351 105 0 14 28 0 0
cpu3 57550 0 5660 17020 513 0 93 36 7 7
intr 724921 0 0
cpu9 1 2 3 4 5 6 7 8 9
";

    #[test]
    fn the_eighth_number_of_each_processor_is_what_was_taken() {
        assert_eq!(stolen(TEXT), BTreeMap::from([(0, 28), (3, 36)]));
        // Linux before 2.6.11 counted no steal.
        assert_eq!(stolen("cpu 1 2 3 4 5 6 7\ncpu0 1 2 3 4 5 6 7\n"), BTreeMap::new());
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn the_processor_of_which_most_is_taken_counts_if_it_may_be_used() {
        let mut allowed = CpuSet::new();
        [0, 1, 3].into_iter().for_each(|processor| allowed.set(processor));
        let mut steal = Steal { began: at(0), allowed, before: BTreeMap::from([(0, 28), (2, 50), (3, 36)]) };
        let per_second = rustix::param::clock_ticks_per_second();
        // Processor 1 was added since then, and this process may not use processor 2.
        let after = BTreeMap::from([(0, 28), (1, 900), (2, 90), (3, 36 + per_second / 20)]);
        assert_eq!(steal.note(at(1_000), after), Wait { began: at(0), ended: at(1_000), share: 0.05 });
        let after = BTreeMap::from([(0, 28 + per_second / 10), (1, 900)]);
        assert_eq!(steal.note(at(1_500), after), Wait { began: at(1_000), ended: at(1_500), share: 0.1 });
    }

    #[test]
    fn this_kernel_tells() {
        let mut steal = Steal::watch(at(0)).unwrap();
        let wait = steal.end_interval(at(1_000));
        assert!((0.0..=1.0).contains(&wait.share), "{wait:?}");
    }
}
