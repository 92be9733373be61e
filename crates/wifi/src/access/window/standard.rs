//! Binary exponential backoff: a success resets the window (10.3.3).

/// CWmin.
pub(super) const fn after_success(least: u16) -> u16 {
    least
}
