//! From the application's write to the application's read.

use acklab_base::Instant;
use std::collections::VecDeque;

/// One-way delay at layer 7: each octet from when it found room in the send buffer to when it was delivered in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct ApplicationDelay {
    /// Offset up to which was written, and when.
    writes: VecDeque<(u64, Instant)>,
    written: u64,
    delivered: u64,
    /// Octets × nanoseconds.
    sum: u128,
    octets: u64,
}

impl ApplicationDelay {
    pub(crate) fn written(&mut self, now: Instant, upto: u64) {
        if upto > self.written {
            self.written = upto;
            self.writes.push_back((upto, now));
        }
    }

    pub(crate) fn delivered(&mut self, now: Instant, upto: u64) {
        while let Some(&(end, at)) = self.writes.front()
            && self.delivered < upto
        {
            let octets = end.min(upto).saturating_sub(self.delivered);
            self.sum += u128::from(octets) * u128::from(now.since(at).as_nanos());
            self.octets += octets;
            self.delivered += octets;
            if end > upto {
                break;
            }
            self.writes.pop_front();
        }
    }

    pub(super) fn reopened(&self) -> Self {
        Self { sum: 0, octets: 0, ..self.clone() }
    }

    /// The mean over octets, in milliseconds.
    pub(crate) fn mean_ms(&self) -> Option<f64> {
        (self.octets > 0).then(|| self.sum as f64 / self.octets as f64 / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_octet_counts_from_its_own_write() {
        let at = Instant::from_nanos;
        let mut delay = ApplicationDelay::default();
        delay.written(at(0), 100);
        delay.written(at(5_000_000), 200);
        delay.delivered(at(10_000_000), 150);
        assert_eq!(delay.mean_ms(), Some((100.0 * 10.0 + 50.0 * 5.0) / 150.0));
        delay.delivered(at(20_000_000), 200);
        assert_eq!(delay.mean_ms(), Some((100.0 * 10.0 + 50.0 * 5.0 + 50.0 * 15.0) / 200.0));
    }
}
