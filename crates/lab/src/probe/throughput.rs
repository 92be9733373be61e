//! Throughput in bins of time, and what CCperf derives from it.
//!
//! A bin in which nothing arrives has no utility: both are minus infinity there.

use crate::statistics::{Mean, Series};
use acklab_base::{Duration, Instant};

/// New octets at the receiver, bin by bin.
#[derive(Clone, Debug)]
pub(crate) struct Throughput {
    bin: Duration,
    begins: Instant,
    octets: u64,
    /// The latest smoothed round-trip time, in nanoseconds.
    srtt: Option<f64>,
    /// Mbps of each bin.
    pub(crate) rates: Series,
    /// Throughput over smoothed round-trip time, Mbps per second.
    pub(crate) power: Mean,
    /// Utility of minimum potential delay fairness: −1/throughput.
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
            rates: Series::default(),
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

    pub(super) fn srtt(&mut self, nanos: f64) {
        self.srtt = Some(nanos);
    }

    pub(super) fn arrived(&mut self, now: Instant, octets: u64, record: &mut Option<Vec<(Instant, f64)>>) {
        while now >= self.begins + self.bin {
            self.end_bin(self.begins + self.bin, record);
        }
        self.octets += octets;
    }

    pub(super) fn finish(&mut self, until: Instant, record: &mut Option<Vec<(Instant, f64)>>) {
        while self.begins + self.bin <= until {
            self.end_bin(self.begins + self.bin, record);
        }
        if self.begins < until {
            self.end_bin(until, record);
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
