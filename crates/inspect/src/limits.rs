//! The factors that limited the sender, each with its share of the time: the receive window, the
//! application, or the path and its congestion window (after Zhang et al., *On the Characteristics
//! and Origins of Internet Flow Rates*, SIGCOMM 2002, §4).

/// Times in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    last: Option<u64>,
    /// The time for which the receive window had no room for another full-sized segment.
    receive_window: u64,
    /// The time for which all data were acknowledged, and no data followed.
    application: u64,
    all: u64,
}

impl Limits {
    /// Adds the time until `at`, with `flight` unacknowledged octets, the receive window `window`,
    /// and segments of `mss`. Returns `true` if the window was full.
    #[inline]
    pub(crate) fn until(&mut self, at: u64, flight: u64, window: Option<u64>, mss: u64) -> bool {
        let passed = at.saturating_sub(self.last.replace(at).unwrap_or(at));
        self.all += passed;
        let is_full = flight > 0 && window.is_some_and(|window| flight + mss > window);
        if flight == 0 {
            self.application += passed;
        } else if is_full {
            self.receive_window += passed;
        }
        is_full
    }

    /// Records a step of the capture's clock. The time until the next packet is unknown.
    pub(crate) fn cut(&mut self) {
        self.last = None;
    }

    /// Returns the shares of the time in which the receive window and the application limited the
    /// sender, or `None` if no time has passed.
    pub(crate) fn shares(&self) -> Option<(f64, f64)> {
        let share = |part: u64| part as f64 / self.all as f64;
        (self.all > 0).then(|| (share(self.receive_window), share(self.application)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_has_one_reason() {
        let mut limits = Limits::default();
        limits.until(0, 0, None, 1000);
        limits.until(10, 64_000, Some(64_500), 1000);
        limits.until(30, 0, Some(64_500), 1000);
        limits.until(40, 20_000, Some(64_500), 1000);
        assert_eq!(limits.shares(), Some((0.25, 0.5)));
    }
}
