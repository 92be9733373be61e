//! Binary exponential backoff: one success, and the past is forgotten (10.3.3).

/// CWmin.
pub(super) const fn after_success(least: u16) -> u16 {
    least
}
