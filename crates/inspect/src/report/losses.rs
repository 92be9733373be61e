//! Losses of a direction.

use super::Position;
use crate::losses::Counts;
use crate::way;
use serde::Serialize;

/// Losses, in segments.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Losses {
    /// Retransmitted.
    pub retransmitted: u64,
    /// Of these, without need.
    pub spurious: u64,
    /// Lost before the point of capture.
    pub lost_before: u64,
    /// Lost behind it.
    pub lost_behind: u64,
    /// Lost / sent: those that passed the point, and those that were lost before it.
    pub share: f64,
    /// Its interval.
    pub share_interval: Option<[f64; 2]>,
    /// Reordered before the point of capture.
    pub reordered: u64,
    /// Behind later ones in the file, although captured before these or before their ACK.
    pub misfiled: u64,
    /// Octets that the receiver acknowledged and that the capture lacks.
    pub uncaptured_octets: u64,
}

impl Losses {
    /// Losses of a direction that was captured at `position`.
    pub(super) fn of(way: &way::Way, position: Position) -> Self {
        let losses = &way.delivery.losses.counts;
        let is_at_receiver = position == Position::Receiver;
        // Of the value and of its interval.
        let share = |losses: &Counts, segments: u64| {
            (losses.lost(is_at_receiver) as f64, (segments + losses.lost_before) as f64)
        };
        let (lost, sent) = share(losses, way.volume.segments);
        Self {
            retransmitted: losses.retransmitted(),
            spurious: losses.spurious(is_at_receiver),
            lost_before: losses.lost_before,
            lost_behind: losses.repeated - losses.spurious(is_at_receiver),
            share: lost / sent.max(1.0),
            share_interval: way.share_interval(|taken| share(&taken.losses, taken.segments)),
            reordered: losses.reordered,
            misfiled: losses.misfiled,
            uncaptured_octets: way.delivery.uncaptured(),
        }
    }
}
