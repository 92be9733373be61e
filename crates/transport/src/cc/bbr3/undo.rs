//! Spurious loss detection (§5.5.11).

use super::{Bbr3, State};
use crate::cc::Window;

/// BBR.undo_state: the state before a loss, which an undo restores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum UndoState {
    #[default]
    Unset,
    Startup,
    Up,
}

/// The values before a loss, which are restored if it was spurious.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    pub(super) state: UndoState,
    short_term_bandwidth: u64,
    short_term_inflight: u64,
    long_term_inflight: u64,
}

impl Bbr3 {
    /// `SaveStateUponLoss` (§5.5.11.1).
    pub(super) fn save_upon_loss(&mut self, cwnd: u64) {
        self.save_window(cwnd);
        self.undo = Undo {
            state: UndoState::Unset,
            short_term_bandwidth: self.short_term.bandwidth,
            short_term_inflight: self.short_term.inflight,
            long_term_inflight: self.long_term.inflight,
        };
    }

    /// `HandleSpuriousLossDetection` (§5.5.11.2).
    pub(super) fn handle_spurious_loss(&mut self, window: &mut Window) {
        self.restore_window(window);
        self.losses.forget();
        self.reset_full_pipe(0);
        self.short_term.bandwidth = self.short_term.bandwidth.max(self.undo.short_term_bandwidth);
        self.short_term.inflight = self.short_term.inflight.max(self.undo.short_term_inflight);
        self.long_term.inflight = self.long_term.inflight.max(self.undo.long_term_inflight);
        match std::mem::take(&mut self.undo.state) {
            UndoState::Startup if self.state != State::Startup => {
                self.was_full = false;
                if self.state != State::ProbeRtt {
                    self.enter_startup();
                }
            }
            UndoState::Up if self.state != State::Up && self.state != State::ProbeRtt => self.enter_refill(),
            _ => {}
        }
    }
}
