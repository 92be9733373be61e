//! Detects whether the delivery rate still grows with the sending rate.
//!
//! As published, the pipe is full after three rounds without growth by a quarter. In the first
//! round the receiver may enlarge its window, in the second the sender fills it, and in the third
//! the delivery rate rises (Linux's `bbr_check_full_bw_reached`; draft-ietf-ccwg-bbr, §5.3.1.2).

use super::gain::Gain;

#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cc) struct FullPipe {
    /// The rate with which growth is compared, in bits per second.
    baseline: u64,
    rounds: u32,
}

impl FullPipe {
    /// Compares growth with `baseline`, in bits per second, from now on.
    pub(in crate::cc) const fn from(baseline: u64) -> Self {
        Self { baseline, rounds: 0 }
    }

    /// Resets the baseline, but not the rounds.
    pub(in crate::cc) const fn forget_baseline(&mut self) {
        self.baseline = 0;
    }

    /// Processes the delivery rate of a round that was not application-limited. Returns `true` if
    /// the pipe is full: `rounds` rounds have passed without `growth`.
    pub(in crate::cc) fn on_round(&mut self, bits_per_second: u64, growth: Gain, rounds: u32) -> bool {
        if bits_per_second >= growth.of(self.baseline) {
            *self = Self::from(bits_per_second);
            return false;
        }
        self.rounds += 1;
        self.rounds >= rounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_rounds_without_a_quarter_more() {
        let mut pipe = FullPipe::default();
        let full: Vec<bool> =
            [100, 125, 150, 156, 200, 240, 249, 210].map(|rate| pipe.on_round(rate, Gain::percent(125), 3)).to_vec();
        assert_eq!(full, [false, false, false, false, false, false, false, true], "156 < 1.25 · 125, 200 is more");
    }
}
