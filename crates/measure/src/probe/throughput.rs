//! Throughput in bins of time, and the metrics that CCperf derives from it.
//!
//! The utilities ignore bins without arrivals, because the utility of such a bin would be minus
//! infinity.

use crate::statistics::{Mean, Moments};
use acklab_base::{Duration, Instant};

/// New octets at the receiver in bins of time.
#[derive(Clone, Debug)]
pub(crate) struct Throughput {
    bin: Duration,
    /// The start of the current bin.
    begins: Instant,
    octets: u64,
    /// The latest smoothed round-trip time, in nanoseconds.
    srtt: Option<f64>,
    /// Throughput of each bin in Mbps.
    pub(crate) rates: Moments,
    /// Throughput divided by the smoothed RTT, in Mbps per second.
    pub(crate) power: Mean,
    /// Utility of minimum potential delay fairness: −1 / throughput.
    pub(crate) utility_mpdf: Mean,
    /// Utility of proportional fairness: ln(throughput).
    pub(crate) utility_pf: Mean,
}

impl Throughput {
    pub(super) fn new(bin: Duration) -> Self {
        Self {
            bin,
            begins: Instant::ZERO,
            octets: 0,
            srtt: None,
            rates: Moments::default(),
            power: Mean::default(),
            utility_mpdf: Mean::default(),
            utility_pf: Mean::default(),
        }
    }

    pub(super) const fn bin(&self) -> Duration {
        self.bin
    }

    pub(super) fn open(&mut self, now: Instant) {
        self.begins = now;
    }

    #[inline]
    pub(super) fn srtt(&mut self, nanos: f64) {
        self.srtt = Some(nanos);
    }

    #[inline]
    pub(super) fn arrived(&mut self, now: Instant, octets: u64, record: &mut Option<Vec<(Instant, f64)>>) {
        self.end_bins(now, record);
        self.octets += octets;
    }

    pub(super) fn finish(&mut self, until: Instant, record: &mut Option<Vec<(Instant, f64)>>) {
        self.end_bins(until, record);
        if self.begins < until {
            self.end_bin(until, record);
        }
    }

    /// Ends all bins that have passed at `now`. If bins are not recorded, consecutive empty bins
    /// are added in one step. With many flows, most flows are idle for many bins.
    #[inline]
    fn end_bins(&mut self, now: Instant, record: &mut Option<Vec<(Instant, f64)>>) {
        while now >= self.begins + self.bin {
            if self.octets == 0 && record.is_none() {
                let empty = now.since(self.begins).as_nanos() / self.bin.as_nanos();
                self.rates.add_zeros(empty);
                if self.srtt.is_some() {
                    self.power.add_zeros(empty);
                }
                self.begins += self.bin * empty;
                return;
            }
            self.end_bin(self.begins + self.bin, record);
        }
    }

    fn end_bin(&mut self, ends: Instant, record: &mut Option<Vec<(Instant, f64)>>) {
        let mbps = self.octets as f64 * 8.0 / 1e6 / ends.since(self.begins).as_secs_f64();
        self.rates.add(mbps);
        if mbps > 0.0 {
            self.utility_mpdf.add(-1.0 / mbps);
            self.utility_pf.add(libm::log(mbps));
        }
        if let Some(nanos) = self.srtt {
            self.power.add(mbps / nanos * 1e9);
        }
        if let Some(record) = record {
            record.push((ends, mbps));
        }
        (self.begins, self.octets) = (ends, 0);
    }
}
