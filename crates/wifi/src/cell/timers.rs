//! Deadlines of a cell.

use super::beacon::Beacons;
use super::hack::HoldLimits;
use acklab_base::Instant;

/// Deadlines besides those of the medium, and the earliest of all.
#[derive(Clone, Debug)]
pub(super) struct Timers {
    pub(super) beacons: Option<Beacons>,
    /// The next time at which a node leaves or returns.
    pub(super) presence: Option<Instant>,
    /// The time at which the next ACK leaves a thinner.
    pub(super) thinners: Option<Instant>,
    pub(super) hold_limits: HoldLimits,
    /// The earliest deadline, including that of the medium.
    next: Option<Instant>,
}

impl Timers {
    pub(super) fn new(beacons: Option<Beacons>, presence: Option<Instant>) -> Self {
        Self { beacons, presence, thinners: None, hold_limits: HoldLimits::default(), next: None }
    }

    pub(super) const fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Recomputes the earliest deadline. `medium` is the deadline of the medium.
    pub(super) fn update_deadline(&mut self, medium: Option<Instant>) {
        let beacon = self.beacons.as_ref().map(Beacons::due);
        let held = Instant::earliest(self.thinners, self.hold_limits.next());
        let apart = Instant::earliest(beacon, Instant::earliest(self.presence, held));
        self.next = Instant::earliest(medium, apart);
    }
}
