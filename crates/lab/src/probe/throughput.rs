//! Throughput in bins of time, and what CCperf derives from it.

use crate::statistics::Series;
use acklab_base::{Duration, Instant};

/// New octets at the receiver, bin by bin.
#[derive(Clone, Debug)]
pub(crate) struct Throughput {
    bin: Duration,
    begins: Instant,
    octets: u64,
    srtt: Series,
    /// Mbps of each bin.
    pub(crate) rates: Series,
    /// Throughput over smoothed round-trip time, Mbps per second.
    pub(crate) power: Series,
    /// Utility of minimum potential delay fairness: −1/throughput.
    pub(crate) utility_mpdf: Series,
    /// Utility of proportional fairness: ln(throughput).
    pub(crate) utility_pf: Series,
}

impl Throughput {
    pub(super) fn new(bin: Duration) -> Self {
        Self {
            bin,
            begins: Instant::ZERO,
            octets: 0,
            srtt: Series::default(),
            rates: Series::default(),
            power: Series::default(),
            utility_mpdf: Series::default(),
            utility_pf: Series::default(),
        }
    }

    pub(super) const fn bin(&self) -> Duration {
        self.bin
    }

    pub(super) fn open(&mut self, now: Instant) {
        self.begins = now;
    }

    pub(super) fn srtt(&mut self, srtt_ms: f64) {
        self.srtt.add(srtt_ms);
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
        if let Some(srtt_ms) = self.srtt.mean() {
            self.power.add(mbps / srtt_ms * 1e3);
        }
        if let Some(record) = record {
            record.push((ends, mbps));
        }
        (self.begins, self.octets, self.srtt) = (ends, 0, Series::default());
    }
}
