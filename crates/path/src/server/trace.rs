//! Recorded links, in the format of mahimahi's `mm-link`.
//!
//! Each line of the file is a delivery opportunity: a time in milliseconds at which 1504 octets may
//! be sent. Lines may repeat. After the last line, the trace repeats, shifted by the time of that
//! line. An opportunity is wasted if no packet waits; a packet may span several opportunities, and
//! several packets may share one (Netravali et al., "Mahimahi", USENIX ATC 2015, §4.1).

use acklab_base::{Bytes, Instant};
use std::fmt;
use std::ops::Range;

/// The octets of one delivery opportunity.
const OPPORTUNITY: u64 = 1504;

/// A recorded link and the opportunities that it has used.
#[derive(Clone, Debug)]
pub struct Trace {
    millis: Vec<u64>,
    /// The index of the next opportunity.
    next: usize,
    /// The number of repetitions of the trace.
    cycle: u64,
    /// The remaining octets of the opportunity used last.
    left: u64,
    /// The instant of the opportunity used last.
    at: Instant,
}

/// The reason why a text is not a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceError {
    /// This line, counted from 1, is not a number of milliseconds.
    NotMilliseconds {
        /// The line's number.
        line: usize,
        /// The content of the line.
        found: String,
    },
    /// This line is earlier than the previous one.
    Backwards {
        /// The line's number.
        line: usize,
    },
    /// There is no line, or the last line is at zero, so that the trace cannot repeat.
    NoTime,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotMilliseconds { line, found } => {
                write!(f, "line {line}: found {found:?}, expected a whole number of milliseconds")
            }
            Self::Backwards { line } => write!(f, "line {line} is earlier than the one before it"),
            Self::NoTime => f.write_str("expected at least one line with a time above zero"),
        }
    }
}

impl std::error::Error for TraceError {}

impl Trace {
    /// Parses the text of a trace file, ignoring blank lines.
    ///
    /// # Errors
    /// If a line is not a whole number or is out of order, or if the trace has no duration.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut millis: Vec<u64> = Vec::new();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let found = line.trim();
            let at = found.parse().map_err(|_| TraceError::NotMilliseconds {
                line: index + 1,
                found: found.chars().take(40).collect(),
            })?;
            if millis.last().is_some_and(|before| at < *before) {
                return Err(TraceError::Backwards { line: index + 1 });
            }
            millis.push(at);
        }
        if millis.last().is_none_or(|last| *last == 0) {
            return Err(TraceError::NoTime);
        }
        Ok(Self { millis, next: 0, cycle: 0, left: 0, at: Instant::ZERO })
    }

    /// Returns the instant of the next opportunity.
    fn opportunity(&self) -> Instant {
        let period = self.millis[self.millis.len() - 1];
        let millis = self.cycle.saturating_mul(period).saturating_add(self.millis[self.next]);
        // A trace may contain times after the last representable instant. They never occur.
        Instant::from_nanos(millis.saturating_mul(1_000_000))
    }

    fn step(&mut self) {
        self.next += 1;
        if self.next == self.millis.len() {
            self.next = 0;
            self.cycle += 1;
        }
    }

    #[inline(never)]
    pub(super) fn finish(&mut self, start: Instant, size: Bytes) -> Instant {
        if start > self.at {
            self.left = 0;
            self.skip_to(start);
        }
        let mut rest = size.get();
        while rest > self.left {
            rest -= self.left;
            self.at = self.opportunity();
            self.left = OPPORTUNITY;
            self.step();
        }
        self.left -= rest;
        self.at
    }

    /// Skips the opportunities before `start`. Whole repetitions are skipped in one step, so that a
    /// long idle time has no cost.
    fn skip_to(&mut self, start: Instant) {
        let period = self.millis[self.millis.len() - 1];
        let millis = start.as_nanos().div_ceil(1_000_000);
        let cycle = (millis / period).saturating_sub(1);
        if cycle > self.cycle {
            (self.cycle, self.next) = (cycle, 0);
        }
        while self.opportunity() < start {
            self.step();
        }
    }

    /// Returns the mean rate in `window`, counting each opportunity in it completely.
    pub(super) fn mean_rate(&self, window: &Range<Instant>) -> f64 {
        let opportunities = self.opportunities_by(window.end) - self.opportunities_by(window.start);
        opportunities as f64 * OPPORTUNITY as f64 * 8.0 / window.end.since(window.start).as_secs_f64()
    }

    /// Returns the number of opportunities up to `at`.
    fn opportunities_by(&self, at: Instant) -> u64 {
        let (millis, period) = (at.as_nanos() / 1_000_000, self.millis[self.millis.len() - 1]);
        let in_period = self.millis.partition_point(|opportunity| *opportunity <= millis % period);
        millis / period * self.millis.len() as u64 + in_period as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::Duration;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn packets_leave_at_opportunities() {
        let mut trace = Trace::parse("1\n3\n3\n10\n").unwrap();
        assert_eq!(trace.finish(at(0), Bytes(1504)), at(1));
        assert_eq!(trace.finish(at(1), Bytes(1504)), at(3));
        assert_eq!(trace.finish(at(3), Bytes(1504)), at(3));
        assert_eq!(trace.finish(at(3), Bytes(3008)), at(11), "one at 10, and 1 ms into the next cycle");
    }

    #[test]
    fn small_packets_share_opportunities_and_idle_time_wastes_them() {
        let mut trace = Trace::parse("5\n10\n").unwrap();
        assert_eq!(trace.finish(at(0), Bytes(700)), at(5));
        assert_eq!(trace.finish(at(5), Bytes(700)), at(5));
        assert_eq!(trace.finish(at(6), Bytes(700)), at(10), "the rest of the opportunity at 5 is lost");
        assert_eq!(trace.finish(at(1_000_001), Bytes(1)), at(1_000_005));
    }

    #[test]
    fn errors_name_the_line() {
        assert_eq!(Trace::parse("1\nx\n").unwrap_err(), TraceError::NotMilliseconds { line: 2, found: "x".into() });
        assert_eq!(Trace::parse("4\n3\n").unwrap_err(), TraceError::Backwards { line: 2 });
        assert_eq!(Trace::parse("\n0\n").unwrap_err(), TraceError::NoTime);
    }

    #[test]
    fn the_mean_rate_counts_whole_opportunities() {
        let mean = |from, until| Trace::parse("1\n2\n10\n").unwrap().mean_rate(&(at(from)..at(until)));
        assert!((mean(0, 2) - 12_032_000.0).abs() < 1.0);
        assert!((mean(0, 100) - 3.0 * 1_203_200.0).abs() < 1.0, "ten periods of three");
        assert!(mean(12, 19) < 1.0, "none between those at 12 and 20");
    }
}
