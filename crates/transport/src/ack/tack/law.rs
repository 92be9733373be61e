//! TACK's formula of the ACK frequency, called its law.
//!
//! Li et al., *TACK: Improving Wireless Transport Performance by Taming Acknowledgments*, SIGCOMM
//! 2020, §4.1, eq. (3): f = min{bw/(L·MSS), β/RTTmin} ACKs per second. The receiver counts bytes
//! while less than β·L·MSS is in flight on the path. Otherwise its ACKs are periodic.

use super::super::{Decision, Reason};
use acklab_base::{Duration, Instant, mul_div};

/// The maximum delay of an acknowledgment (RFC 5681, §4.2).
pub const LONGEST_DELAY: Duration = Duration::from_millis(500);

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// The constants of the formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Law {
    /// L: the number of full-sized packets per ACK while the rate of bytes determines the ACK
    /// frequency.
    pub packets: u32,
    /// β: the number of ACKs per RTTmin while time determines the ACK frequency.
    pub beta: u32,
}

/// The inputs of the formula, as far as they are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// MSS, in bytes.
    pub mss: u64,
    /// bw: the recent maximum of the delivery rate, in bytes per second.
    pub bandwidth: Option<u64>,
    /// RTTmin.
    pub rtt_min: Option<Duration>,
}

impl Default for Law {
    /// The defaults of the paper, §4.1: L = 2, β = 4.
    fn default() -> Self {
        Self { packets: 2, beta: 4 }
    }
}

impl Law {
    /// Returns f, in ACKs per second. It is infinite if neither bound is known.
    #[must_use]
    pub fn frequency(&self, path: &Path) -> f64 {
        let by_octets =
            path.bandwidth.map_or(f64::INFINITY, |bandwidth| bandwidth as f64 / self.octets(path.mss).max(1) as f64);
        let by_time =
            path.rtt_min.map_or(f64::INFINITY, |rtt| f64::from(self.beta) * 1e9 / rtt.as_nanos().max(1) as f64);
        by_octets.min(by_time)
    }

    /// Returns 1/f, or zero if neither bound of f is known.
    #[must_use]
    pub fn interval(&self, path: &Path) -> Duration {
        self.time_of_octets(path).unwrap_or(Duration::ZERO).max(self.period(path.rtt_min))
    }

    /// Returns RTTmin/β: the minimum time between ACKs.
    #[must_use]
    pub fn period(&self, rtt_min: Option<Duration>) -> Duration {
        rtt_min.map_or(Duration::ZERO, |rtt| rtt / u64::from(self.beta.max(1)))
    }

    /// Returns L·MSS, the number of bytes after which an ACK is due.
    #[must_use]
    pub const fn octets(&self, mss: u64) -> u64 {
        self.packets as u64 * mss
    }

    /// Returns L·MSS/bw, the time in which L·MSS bytes arrive, if the bandwidth is known.
    #[must_use]
    pub fn time_of_octets(&self, path: &Path) -> Option<Duration> {
        let bandwidth = path.bandwidth.filter(|bandwidth| *bandwidth > 0)?;
        Some(Duration::from_nanos(mul_div(self.octets(path.mss), SECOND, bandwidth)))
    }

    /// Returns when the next ACK is due. `arrived` bytes are unacknowledged since the ACK at
    /// `last`. An ACK is due once L·MSS bytes have arrived and RTTmin/β has passed. Fewer bytes are
    /// acknowledged after L·MSS/bw. The maximum delay, also without a measurement of bw, is
    /// [`LONGEST_DELAY`].
    #[must_use]
    pub fn decide(&self, now: Instant, last: Option<Instant>, arrived: u64, path: &Path) -> Decision {
        let due = last.map_or(now, |last| last + self.period(path.rtt_min));
        if arrived >= self.octets(path.mss) {
            return if due <= now { Decision::Now(Reason::ByteCount) } else { Decision::At(due, Reason::Periodic) };
        }
        let late = now + self.time_of_octets(path).unwrap_or(LONGEST_DELAY).min(LONGEST_DELAY);
        if late <= due { Decision::At(due, Reason::Periodic) } else { Decision::At(late, Reason::Timer) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Reproduces Figure 8(b) of Li et al. to the digit. The goodputs of the paper's tool are 7 and
    /// 590 times 1024 kbit/s. A data packet and an ACK carry 1472 and 52 bytes, and the tool uses
    /// their sum as MSS.
    #[test]
    fn figure_8b() {
        let law = Law::default();
        let row = |mbps: u64| {
            [10, 80, 200].map(|ms| {
                let path = Path { mss: 1472 + 52, bandwidth: Some(mbps * 1_024_000 / 8), rtt_min: Some(MS * ms) };
                let by_octets = law.frequency(&Path { rtt_min: None, ..path });
                (by_octets.round() as u32, law.frequency(&path).round() as u32)
            })
        };
        assert_eq!(row(7), [(294, 294), (294, 50), (294, 20)], "802.11b");
        assert_eq!(row(590), [(24_777, 400), (24_777, 50), (24_777, 20)], "802.11ac");
    }

    #[test]
    fn the_interval_is_the_inverse_of_the_frequency() {
        let law = Law::default();
        for (bandwidth, rtt) in [(1_000_000, 10), (100_000, 10), (1_000_000_000, 200)] {
            let path = Path { mss: 1000, bandwidth: Some(bandwidth), rtt_min: Some(MS * rtt) };
            let inverse = 1.0 / law.interval(&path).as_secs_f64();
            assert!((law.frequency(&path) / inverse - 1.0).abs() < 1e-6);
        }
        let unknown = Path { mss: 1000, bandwidth: None, rtt_min: None };
        assert_eq!((law.interval(&unknown), law.frequency(&unknown)), (Duration::ZERO, f64::INFINITY));
    }

    #[test]
    fn the_rule_brings_the_frequency() {
        let law = Law { packets: 2, beta: 4 };
        for (gap_us, rtt) in [(1000, 40), (10_000, 40), (12_000, 8)] {
            let bandwidth = Some(1000 * 1_000_000 / gap_us);
            let path = Path { mss: 1000, bandwidth, rtt_min: Some(MS * rtt) };
            let (mut last, mut arrived, mut acks, mut timer) = (None, 0, 0, None);
            for packet in 0..10_000 {
                let now = Instant::ZERO + Duration::from_micros(gap_us) * packet;
                if let Some(at) = timer.take_if(|at| *at <= now) {
                    (last, arrived, acks) = (Some(at), 0, acks + 1);
                }
                arrived += 1000;
                match law.decide(now, last, arrived, &path) {
                    Decision::Now(_) => (last, arrived, acks, timer) = (Some(now), 0, acks + 1, None),
                    Decision::At(at, _) => timer = Some(timer.map_or(at, |running: Instant| running.min(at))),
                    Decision::Hold => {}
                }
            }
            let measured = f64::from(acks) / (gap_us as f64 / 1e6 * 10_000.0);
            let ratio = measured / law.frequency(&path);
            assert!((0.95..=1.05).contains(&ratio), "{gap_us} µs and {rtt} ms: {ratio}");
        }
    }
}
