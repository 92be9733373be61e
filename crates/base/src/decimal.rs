//! Writes quantities as decimals with a unit. [`crate::units`] parses them.

use std::fmt;

/// Writes `value` in the largest of `units` that does not exceed `value`, or in the first unit if
/// `value` is zero. Parsing the text yields the same value.
pub(crate) fn write(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    let reached = units.iter().find(|(_, factor)| value >= *factor);
    let (unit, factor) = reached.or(units.first()).copied().unwrap_or(("", 1));
    let (whole, fraction) = (value / factor, value % factor);
    if fraction == 0 {
        return write!(f, "{whole}{unit}");
    }
    let digits = format!("{fraction:0width$}", width = factor.ilog10() as usize);
    write!(f, "{whole}.{}{unit}", digits.trim_end_matches('0'))
}
