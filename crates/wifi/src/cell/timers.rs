//! What happens by itself when its time comes.

use super::beacon::Beacons;
use super::hack::HoldLimits;
use acklab_base::Instant;

/// What a cell waits for, besides the medium.
#[derive(Clone, Debug)]
pub(super) struct Timers {
    pub(super) beacons: Option<Beacons>,
    /// When a node next leaves or comes back.
    pub(super) presence: Option<Instant>,
    pub(super) hold_limits: HoldLimits,
    /// When something happens next, the medium included, unless a packet joins.
    next: Option<Instant>,
}

impl Timers {
    pub(super) fn new(beacons: Option<Beacons>, presence: Option<Instant>) -> Self {
        Self { beacons, presence, hold_limits: HoldLimits::default(), next: None }
    }

    pub(super) const fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Work out when something happens next. `medium`: when on the medium.
    pub(super) fn look_ahead(&mut self, medium: Option<Instant>) {
        let beacon = self.beacons.as_ref().map(Beacons::due);
        self.next = [medium, beacon, self.presence, self.hold_limits.next()].into_iter().flatten().min();
    }
}
