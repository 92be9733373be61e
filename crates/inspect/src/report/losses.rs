//! Losses of a direction.

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
    /// Lost / sent.
    pub share: f64,
    /// Its interval.
    pub share_interval: Option<[f64; 2]>,
    /// Reordered before the point of capture.
    pub reordered: u64,
}

impl Losses {
    /// Losses of a direction.
    pub(super) fn of(way: &way::Way) -> Self {
        let losses = &way.losses.counts;
        Self {
            retransmitted: losses.retransmitted(),
            spurious: losses.spurious(),
            lost_before: losses.lost_before,
            lost_behind: losses.repeated - losses.spurious(),
            share: losses.lost() as f64 / (way.data_segments + losses.lost_before).max(1) as f64,
            // Of a share below zero or above one nothing is to be said.
            share_interval: way
                .interval(|taken| (taken.lost as f64, taken.segments as f64))
                .map(|both| both.map(|share| share.clamp(0.0, 1.0))),
            reordered: losses.reordered,
        }
    }
}
