//! Times of events.

use serde::Serialize;

/// Nanoseconds in a millisecond, the unit of all drafts since -02.
const MILLISECOND: i64 = 1_000_000;
/// Nanoseconds in a microsecond.
const MICROSECOND: i64 = 1000;
/// Times above this count from 1970: in nanoseconds, 3 March 1973. Chosen: no clock that counts
/// from the start of a machine reaches it.
const EPOCH: u64 = 100_000_000_000 * MILLISECOND as u64;
/// The last nanosecond of a time line, in 2116. Later times become this one, so that sums do not
/// overflow.
const END: i64 = 1 << 62;

/// The reference of the times of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Format {
    /// The zero of a clock.
    #[default]
    Absolute,
    /// The reference time of the log.
    Relative,
    /// The previous event.
    Delta,
}

impl Format {
    /// Returns the format with this name, which is that of a field `time_format` (drafts -02 to
    /// -14), or of the field of the time (drafts -00 and -01).
    pub(super) fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "absolute" | "time" => Self::Absolute,
            "relative" | "relative_to_epoch" | "relative_time" => Self::Relative,
            "delta" | "relative_to_previous_event" | "delta_time" => Self::Delta,
            _ => return None,
        })
    }
}

/// The time line of a trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    format: Format,
    /// Nanoseconds in a unit.
    unit: i64,
    /// The zero of relative times, in nanoseconds.
    reference: i64,
    last: i64,
}

impl Times {
    /// Returns the time line of a trace with times in `unit` (`ms` or `us`), relative to
    /// `reference`.
    pub(super) fn new(format: Format, unit: Option<&str>, reference: Option<f64>) -> Self {
        let unit = if matches!(unit, Some("us")) { MICROSECOND } else { MILLISECOND };
        let reference = reference.filter(|_| format != Format::Absolute);
        let reference = reference.map_or(0, |reference| nanos(reference, unit));
        Self { format, unit, reference, last: reference }
    }

    /// Returns the time of the next event on the time line of the log, in nanoseconds. A time
    /// before zero becomes zero.
    pub(super) fn at(&mut self, time: f64) -> u64 {
        let base = if self.format == Format::Delta { self.last } else { self.reference };
        self.last = base.saturating_add(nanos(time, self.unit)).clamp(0, END);
        self.last.cast_unsigned()
    }

    /// Returns `true` if `at` nanoseconds on this time line count from 1970.
    pub(super) const fn is_of_day(at: u64) -> bool {
        at > EPOCH
    }
}

/// Returns the nanoseconds of a time. Whole units are multiplied as integers, because a double
/// cannot represent nanoseconds since 1970.
fn nanos(time: f64, unit: i64) -> i64 {
    // The conversions saturate.
    let fraction = (time.fract() * unit as f64).round() as i64;
    (time.trunc() as i64).saturating_mul(unit).saturating_add(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(format: &str, unit: &str, reference: f64, times: &[f64]) -> Vec<u64> {
        let mut line = Times::new(Format::of_name(format).unwrap(), Some(unit), Some(reference));
        times.iter().map(|time| line.at(*time)).collect()
    }

    #[test]
    fn each_format_has_the_same_times() {
        let expected = [1_500_000_000, 1_502_000_000, 1_505_500_000];
        assert_eq!(times("absolute", "ms", 7.0, &[1500.0, 1502.0, 1505.5]), expected);
        assert_eq!(times("relative", "ms", 1000.0, &[500.0, 502.0, 505.5]), expected);
        assert_eq!(times("relative_to_epoch", "us", 1e6, &[500e3, 502e3, 505.5e3]), expected);
        // The first event is relative to the reference time (draft-ietf-quic-qlog-main-schema-02,
        // §3.4.1).
        assert_eq!(times("relative_to_previous_event", "ms", 1000.0, &[500.0, 2.0, 3.5]), expected);
    }

    #[test]
    fn a_reference_in_1970_leaves_relative_times_exact() {
        assert_eq!(
            times("relative", "ms", 1.7e12, &[0.001, 0.002]),
            [1_700_000_000_000_001_000, 1_700_000_000_000_002_000]
        );
    }

    #[test]
    fn times_beyond_the_line_are_its_ends() {
        assert_eq!(times("absolute", "ms", 0.0, &[-1.0, 1e300, f64::NAN]), [0, 1 << 62, 0]);
    }
}
