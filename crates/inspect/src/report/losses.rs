//! Losses of a direction.

use super::Position;
use crate::direction;
use crate::losses::Counts;
use serde::Serialize;

/// The losses of a direction, in segments.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Losses {
    /// The number of retransmitted segments.
    pub retransmitted: u64,
    /// The number of these retransmissions that were spurious.
    pub spurious: u64,
    /// The number of segments lost before the point of capture.
    pub lost_before: u64,
    /// The number of segments lost after the point of capture.
    pub lost_behind: u64,
    /// The number of lost segments divided by the number of sent segments. Sent segments are the
    /// segments that passed the point of capture or were lost before it.
    pub share: f64,
    /// The 95 % confidence interval of the share.
    pub share_interval: Option<[f64; 2]>,
    /// The number of segments that were reordered before the point of capture.
    pub reordered: u64,
    /// The number of segments that follow later segments in the file, although they were captured
    /// before these segments or before their ACK.
    pub misfiled: u64,
    /// The number of octets that the receiver acknowledged, but that the capture lacks.
    pub uncaptured_octets: u64,
}

impl Losses {
    /// Returns the losses of a direction that was captured at `position`.
    pub(super) fn of(direction: &direction::Direction, position: Position) -> Self {
        let losses = &direction.delivery.losses.counts;
        let is_at_receiver = position == Position::Receiver;
        // Returns the share for the value and for the ends of its interval.
        let share = |losses: &Counts, segments: u64| {
            (losses.lost(is_at_receiver) as f64, (segments + losses.lost_before) as f64)
        };
        let (lost, sent) = share(losses, direction.volume.segments);
        Self {
            retransmitted: losses.retransmitted(),
            spurious: losses.spurious(is_at_receiver),
            lost_before: losses.lost_before,
            lost_behind: losses.repeated - losses.spurious(is_at_receiver),
            share: lost / sent.max(1.0),
            share_interval: direction.share_interval(|taken| share(&taken.losses, taken.segments)),
            reordered: losses.reordered,
            misfiled: losses.misfiled,
            uncaptured_octets: direction.delivery.uncaptured(),
        }
    }
}
