//! The probability of success of a rate, and the frames in an aggregate, in the kernel's fixed
//! point.

/// Binary digits after the point (`MINSTREL_SCALE`).
const SCALE: u32 = 12;
/// A probability of one.
pub(super) const ONE: i32 = 1 << SCALE;
/// Coefficients of the moving average, a second-order low-pass with a period of 16 intervals
/// (`MINSTREL_AVG_COEFF1` to `3`).
const AVERAGE: [i32; 3] = [ONE - 0x1499 + 0x92e, 0x1499, -0x92e];
/// Weight of the old value in the average length of aggregates (`EWMA_LEVEL` of `EWMA_DIV`).
const EWMA: (i32, i32) = (96, 128);

/// Returns a fraction in fixed point (`MINSTREL_FRAC`).
pub(super) const fn fraction(part: u32, whole: u32) -> i32 {
    (((part as u64) << SCALE) / whole as u64) as i32
}

/// Returns the integer part of a number in fixed point (`MINSTREL_TRUNC`).
pub(super) const fn whole(fixed: u64) -> u32 {
    (fixed >> SCALE) as u32
}

/// The statistics of one rate (`minstrel_rate_stats`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Statistics {
    /// MPDUs of this interval.
    pub attempts: u32,
    /// MPDUs of this interval that were acknowledged.
    pub successes: u32,
    /// `true` if the rate was tried at least once.
    pub is_tried: bool,
    /// The moving average of the probability of success.
    pub probability: i32,
    /// The previous sample of the moving average.
    earlier: i32,
}

impl Statistics {
    /// Ends an interval (`minstrel_ht_calc_rate_stats`).
    pub(super) fn close(&mut self) {
        if self.attempts > 0 {
            self.average(fraction(self.successes, self.attempts));
            self.is_tried = true;
        }
        (self.attempts, self.successes) = (0, 0);
    }

    /// Updates the average (`minstrel_filter_avg_add`). Zero means "no sample yet", so the minimum
    /// sample is one.
    fn average(&mut self, seen: i32) {
        let seen = seen.max(1);
        let last = self.probability;
        if last == 0 {
            (self.probability, self.earlier) = (seen, seen);
            return;
        }
        let sum = AVERAGE[0] * seen + AVERAGE[1] * last + AVERAGE[2] * self.earlier;
        let filtered = sum >> SCALE;
        self.probability = if filtered < 0 { 1 } else { filtered.min(ONE) };
        self.earlier = last;
    }
}

/// The length of aggregates.
#[derive(Clone, Copy, Debug)]
pub(super) struct AggregateLength {
    /// PPDUs of this interval, and the MPDUs in them.
    ppdus: u32,
    mpdus: u32,
    /// Moving average of MPDUs per PPDU.
    average: i32,
}

impl AggregateLength {
    pub(super) const fn new() -> Self {
        Self { ppdus: 0, mpdus: 0, average: ONE }
    }

    pub(super) const fn count(&mut self, mpdus: u32) {
        self.ppdus += 1;
        self.mpdus += mpdus;
    }

    /// Ends an interval (`minstrel_ewma`).
    pub(super) const fn close(&mut self) {
        if self.ppdus > 0 {
            let (level, of) = EWMA;
            self.average += (of - level) * (fraction(self.mpdus, self.ppdus) - self.average) / of;
            (self.ppdus, self.mpdus) = (0, 0);
        }
    }

    /// Returns the MPDUs of an average PPDU, rounded down; at least one
    /// (`minstrel_ht_avg_ampdu_len`).
    pub(super) fn length(self) -> u32 {
        whole(self.average.max(ONE) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(intervals: &[(u32, u32)]) -> Statistics {
        let mut statistics = Statistics::default();
        for (attempts, successes) in intervals {
            (statistics.attempts, statistics.successes) = (*attempts, *successes);
            statistics.close();
        }
        statistics
    }

    #[test]
    fn the_first_interval_counts_in_full() {
        assert_eq!(after(&[(10, 5)]).probability, ONE / 2);
        assert_eq!(after(&[(10, 0)]).probability, 1);
    }

    #[test]
    fn an_interval_without_attempts_changes_nothing() {
        assert_eq!(after(&[(10, 5), (0, 0)]).probability, ONE / 2);
        assert!(!after(&[(0, 0)]).is_tried);
    }

    #[test]
    fn the_average_filters_and_stays_a_probability() {
        // From 1 to 0: (5273 − 2350) / 4096 of it, then (5273 · 2923 − 2350 · 4096) / 4096², each
        // rounded down.
        assert_eq!(after(&[(10, 10), (10, 0)]).probability, 2_923);
        assert_eq!(after(&[(10, 10), (10, 0), (10, 0)]).probability, 1_413);
        let low = after(&[(10, 10), (10, 0), (10, 0), (10, 0), (10, 0), (10, 0), (10, 0), (10, 0)]).probability;
        assert!((1..ONE / 10).contains(&low), "{low}");
        // The second-order filter overshoots, but not beyond one.
        assert_eq!(after(&[(10, 1), (10, 10), (10, 10), (10, 10), (10, 10), (10, 10), (10, 10)]).probability, ONE);
    }

    #[test]
    fn an_aggregate_counts_for_a_quarter() {
        let mut aggregation = AggregateLength::new();
        assert_eq!(aggregation.length(), 1);
        aggregation.count(32);
        aggregation.count(34);
        aggregation.close();
        assert_eq!(aggregation.length(), 9);
        aggregation.close();
        assert_eq!(aggregation.length(), 9);
    }
}
