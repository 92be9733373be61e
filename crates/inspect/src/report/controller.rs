//! The congestion controller of a direction.

use super::{Position, RoundTrip};
use crate::controller::Family;
use crate::finding::Finding;
use crate::way;
use serde::Serialize;

/// The congestion controller.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Controller {
    /// Its likely family.
    pub family: Family,
    /// The data in flight after a loss / before it, the median.
    pub ratio: Option<f64>,
    /// Losses that this rests on.
    pub episodes: usize,
}

impl Controller {
    /// The likely controller of a direction that was captured at `position`.
    pub(super) fn of(way: &way::Way, round_trip: &RoundTrip, position: Position) -> Finding<Self> {
        if position == Position::Receiver {
            return Finding::not_known("data in flight are not visible at the receiver");
        }
        let inflation = round_trip.inflation();
        let (ratio, episodes) = way.reactions.ratio().map_or((None, 0), |(ratio, episodes)| (Some(ratio), episodes));
        match way.reactions.family(inflation) {
            None => Finding::not_known(format!("{episodes} loss episodes")),
            Some(family) => Finding::known(
                Self { family, ratio, episodes },
                match ratio {
                    Some(ratio) => {
                        format!("{episodes} loss episodes, after which {ratio:.2} of the data were in flight")
                    }
                    None => "a queue that stays short".to_owned(),
                },
            ),
        }
    }
}
