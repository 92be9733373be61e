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
    /// BBR.is_loss_in_round.
    pub(super) has_loss: bool,
    /// BBR.loss_round_delivered.
    round_ends: u64,
    /// BBR.loss_round_start.
    pub(super) round_starts: bool,
}

impl Default for ShortTerm {
    fn default() -> Self {
        Self {
            bandwidth: INFINITY,
            inflight: INFINITY,
            latest_bandwidth: 0,
            latest_inflight: 0,
            has_loss: false,
            round_ends: 0,
            round_starts: false,
        }
    }
}

impl ShortTerm {
    /// `ResetShortTermModel`.
    pub(super) const fn reset_model(&mut self) {
        (self.bandwidth, self.inflight) = (INFINITY, INFINITY);
    }

    /// `ResetCongestionSignals`.
    pub(super) const fn reset_signals(&mut self) {
        (self.has_loss, self.latest_bandwidth, self.latest_inflight) = (false, 0, 0);
    }
}

impl Bbr3 {
    /// `UpdateLatestDeliverySignals`.
    pub(super) fn note_delivery(&mut self, ack: &Ack) {
        let model = &mut self.short_term;
        model.round_starts = false;
        if let Some(sample) = &ack.rate {
            model.latest_bandwidth = model.latest_bandwidth.max(sample.bits_per_second());
            model.latest_inflight = model.latest_inflight.max(sample.volume);
            if sample.prior_delivered >= model.round_ends {
                (model.round_ends, model.round_starts) = (ack.total_delivered, true);
            }
        }
    }

    /// `UpdateCongestionSignals`, `AdaptLowerBoundsFromCongestion`.
    pub(super) fn adapt_short_term(&mut self, window: &Window) {
        let (max_bandwidth, probes) = (self.max_bandwidth.get(), self.state.probes());
        let beta = self.constants.beta;
        let model = &mut self.short_term;
        if !model.round_starts {
            return;
        }
        if model.has_loss && !probes {
            let bandwidth = if model.bandwidth == INFINITY { max_bandwidth } else { model.bandwidth };
            let inflight = if model.inflight == INFINITY { window.cwnd } else { model.inflight };
            model.bandwidth = model.latest_bandwidth.max(beta.of(bandwidth));
            model.inflight = model.latest_inflight.max(beta.of(inflight));
        }
        model.has_loss = false;
    }

    /// `AdvanceLatestDeliverySignals`.
    pub(super) fn end_delivery_round(&mut self, ack: &Ack) {
        if self.short_term.round_starts
            && let Some(sample) = &ack.rate
        {
            self.short_term.latest_bandwidth = sample.bits_per_second();
            self.short_term.latest_inflight = sample.volume;
        }
    }

    /// `NoteLoss` (§5.5.10.2).
    pub(super) fn note_loss(&mut self, window: &Window) {
        if !self.short_term.has_loss {
            self.short_term.round_ends = self.total_delivered;
            self.save_upon_loss(window.cwnd);
        }
        self.short_term.has_loss = true;
    }
}
