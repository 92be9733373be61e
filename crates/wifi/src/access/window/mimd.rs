//! Multiplicative increase, multiplicative decrease: a success halves the window, so that it
//! converges to the size at which failures and successes balance (Kim et al., VTC 2006, §III, after
//! their reference 15).

/// Returns the previous of the windows 2ⁿ − 1, down to `minimum`.
pub(super) const fn after_success(now: u16, minimum: u16) -> u16 {
    let halved = now.saturating_sub(1) / 2;
    if halved > minimum { halved } else { minimum }
}
