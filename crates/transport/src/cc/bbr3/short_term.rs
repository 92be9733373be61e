//! The short-term bounds (§5.5.10.3). Each round with a loss between probes lowers two bounds
//! towards the amount delivered in that round.

use super::{Bbr3, INFINITY};
use crate::cc::{Ack, Window};

#[derive(Clone, Copy, Debug)]
pub(super) struct ShortTerm {
    /// BBR.bw_shortterm, in bits per second.
    pub(super) bandwidth: u64,
    /// BBR.inflight_shortterm.
    pub(super) inflight: u64,
    /// BBR.bw_latest: the highest delivery rate of the round, in bits per second.
    latest_bandwidth: u64,
    /// BBR.inflight_latest: the maximum delivered by a sample of the round.
    pub(super) latest_inflight: u64,
}

impl Default for ShortTerm {
    fn default() -> Self {
        Self { bandwidth: INFINITY, inflight: INFINITY, latest_bandwidth: 0, latest_inflight: 0 }
    }
}

impl ShortTerm {
    /// `ResetShortTermModel`.
    pub(super) const fn reset_model(&mut self) {
        (self.bandwidth, self.inflight) = (INFINITY, INFINITY);
    }
}

impl Bbr3 {
    /// `UpdateLatestDeliverySignals`.
    pub(super) fn note_delivery(&mut self, ack: &Ack) {
        let model = &mut self.short_term;
        if let Some(sample) = &ack.rate {
            model.latest_bandwidth = model.latest_bandwidth.max(sample.bits_per_second());
            model.latest_inflight = model.latest_inflight.max(sample.volume);
        }
        self.losses.update(ack.rate.as_ref(), ack.total_delivered);
    }

    /// `UpdateCongestionSignals`, `AdaptLowerBoundsFromCongestion`.
    pub(super) fn adapt_short_term(&mut self, window: &Window) {
        if self.losses.starts() && self.losses.has_loss() && !self.state.probes() {
            let (max_bandwidth, beta) = (self.max_bandwidth.get(), self.constants.beta);
            let model = &mut self.short_term;
            let bandwidth = if model.bandwidth == INFINITY { max_bandwidth } else { model.bandwidth };
            let inflight = if model.inflight == INFINITY { window.cwnd } else { model.inflight };
            model.bandwidth = model.latest_bandwidth.max(beta.of(bandwidth));
            model.inflight = model.latest_inflight.max(beta.of(inflight));
        }
    }

    /// `AdvanceLatestDeliverySignals`.
    pub(super) fn end_delivery_round(&mut self, ack: &Ack) {
        if self.losses.starts()
            && let Some(sample) = &ack.rate
        {
            self.short_term.latest_bandwidth = sample.bits_per_second();
            self.short_term.latest_inflight = sample.volume;
        }
    }

    /// `ResetCongestionSignals`.
    pub(super) const fn reset_signals(&mut self) {
        self.losses.forget();
        (self.short_term.latest_bandwidth, self.short_term.latest_inflight) = (0, 0);
    }
}
