//! What holds back or forces a departure besides the windows.

use crate::pacing::Pacer;
use crate::recovery::alarm::Alarm;
use acklab_base::Instant;

/// The state of sending.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Transmission {
    pub(super) pacer: Pacer,
    /// Something could leave if pacing did not hold it until then.
    pub(super) paced_until: Alarm,
    /// When data left last.
    pub(super) last_sent: Option<Instant>,
    /// A segment is to be sent now, whatever the window says.
    pub(super) forced: bool,
    pub(super) tail_probe_due: bool,
    pub(super) window_probe_due: bool,
    /// The congestion window held back sending when something last could have left.
    pub(super) window_limited: bool,
}

impl Transmission {
    /// Does pacing hold back what could leave? If so, the sender wants to be woken when it no longer does.
    #[inline]
    pub(super) fn is_paced(&mut self, now: Instant) -> bool {
        self.paced_until.set(self.pacer.holds_until(now));
        self.paced_until.is_set()
    }
}
