//! A maximum filter of two periods.

/// The maximum of the present period and the one before it. The owner calls
/// [`advance`](Self::advance) at the end of a period.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cc) struct TwoPeriodMax {
    last: u64,
    present: u64,
}

impl TwoPeriodMax {
    pub(in crate::cc) const fn get(&self) -> u64 {
        if self.last > self.present { self.last } else { self.present }
    }

    pub(in crate::cc) fn update(&mut self, value: u64) {
        self.present = self.present.max(value);
    }

    /// Begins a new period.
    pub(in crate::cc) const fn advance(&mut self) {
        (self.last, self.present) = (self.present, 0);
    }

    /// Returns `true` if the present period has a value.
    pub(in crate::cc) const fn has_present(&self) -> bool {
        self.present > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_periods_are_remembered() {
        let mut filter = TwoPeriodMax::default();
        filter.update(7);
        filter.advance();
        filter.update(5);
        assert_eq!(filter.get(), 7);
        filter.advance();
        assert_eq!((filter.get(), filter.has_present()), (5, false));
    }
}
