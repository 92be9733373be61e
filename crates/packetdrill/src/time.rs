//! Times of events in a script.

use acklab_base::Duration;
use std::fmt;

/// The time of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// `*`: at any time.
    Any,
    /// At an instant, or in a range of instants.
    At {
        /// `true` if the time is relative to the previous event (`+`), not to the start of the
        /// script.
        is_relative: bool,
        /// The instant, or the start of the range.
        start: Duration,
        /// The end of the range, if the time is a range (`~`).
        end: Option<Duration>,
    },
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Any => f.write_str("*"),
            Self::At { is_relative, start, end } => {
                let sign = if is_relative { "+" } else { "" };
                write!(f, "{sign}{}", start.as_secs_f64())?;
                end.map_or(Ok(()), |end| write!(f, "~{sign}{}", end.as_secs_f64()))
            }
        }
    }
}

/// The maximum time of a script: a day. A longer idle time would test nothing new.
const LONGEST: Duration = Duration::from_secs(86_400);

/// Returns the duration of `text` seconds, exact to the nanosecond. Returns `None` if it is
/// negative, longer than a day, or not a number.
pub(crate) fn seconds(text: &str) -> Option<Duration> {
    const DIGITS: usize = 9;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole = if whole.is_empty() && !fraction.is_empty() { "0" } else { whole };
    if !whole.bytes().chain(fraction.bytes()).all(|octet| octet.is_ascii_digit()) {
        return None;
    }
    let kept = &fraction[..fraction.len().min(DIGITS)];
    let nanos: u64 = format!("{kept:0<DIGITS$}").parse().ok()?;
    let whole = whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?;
    Some(Duration::from_nanos(whole.checked_add(nanos)?)).filter(|time| *time <= LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_exact() {
        let nanos = |text| seconds(text).map(Duration::as_nanos);
        assert_eq!(nanos(".1"), Some(100_000_000));
        assert_eq!(nanos("1.000000001"), Some(1_000_000_001));
        assert_eq!(nanos("2"), Some(2_000_000_000));
        for wrong in ["-1", "", "x", "99999999999999999999", "86401"] {
            assert_eq!(nanos(wrong), None, "{wrong}");
        }
    }
}
