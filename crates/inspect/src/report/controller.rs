//! The congestion controller of a direction.

use super::Position;
use crate::controller::{Family, Path};
use crate::direction;
use crate::finding::Finding;
use serde::Serialize;

/// The congestion controller.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Controller {
    /// The likely family of the controller.
    pub family: Family,
    /// The median of the data in flight after a loss divided by the data in flight before it.
    pub ratio: Option<f64>,
    /// The number of window reductions, pauses, or swings that support the finding.
    pub episodes: usize,
    /// The share of these episodes that agree.
    pub agreement: f64,
}

impl Controller {
    /// Returns the likely controller of a direction that was captured at `position`. The bottleneck
    /// carries `rate` bytes of payload per second. `is_bursty` is `true` if ACKs arrive in bursts.
    pub(super) fn of(
        direction: &direction::Direction,
        position: Position,
        rate: Option<f64>,
        is_bursty: bool,
    ) -> Finding<Self> {
        if position != Position::Sender {
            return Finding::not_known("data in flight are visible at the sender only");
        }
        let named = direction.reactions.name(Path { rate, mss: direction.mss().into(), is_bursty });
        match (named.value(), named.evidence(), named.reason()) {
            (Some(named), Some(evidence), _) => {
                let controller = Self {
                    family: named.family,
                    ratio: named.ratio,
                    episodes: named.episodes,
                    agreement: named.agreement,
                };
                Finding::known(controller, evidence)
            }
            (.., reason) => Finding::not_known(reason.unwrap_or_default()),
        }
    }
}
