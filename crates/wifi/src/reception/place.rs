//! The positions of the nodes of a cell.

use acklab_base::random::Seed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The positions of the stations. The access point is at the origin. Distances are in metres.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "shape", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Place {
    /// Points, one for each station.
    Points {
        /// Coordinates east and north of the access point, one pair for each station.
        points: Vec<[f64; 2]>,
    },
    /// Random points on a circle around the access point. They depend on the seed.
    Circle {
        /// The radius in metres.
        #[schemars(range(min = 0.0))]
        radius: f64,
    },
    /// Random points in a disc around the access point, uniformly distributed over its area. They
    /// depend on the seed.
    Disc {
        /// The radius in metres.
        #[schemars(range(min = 0.0))]
        radius: f64,
    },
}

impl Place {
    /// Returns the points of the access point and of the stations, in order. An additional station
    /// does not change the positions of the other stations. Stations without a point are at the
    /// access point.
    #[must_use]
    pub fn points(&self, stations: usize, seed: Seed, cell: &str) -> Vec<[f64; 2]> {
        let mut stream = seed.stream(&format!("wifi/{cell}/place"));
        let mut at = |radius: f64| {
            let angle = 2.0 * core::f64::consts::PI * stream.unit();
            [radius * libm::cos(angle), radius * libm::sin(angle)]
        };
        let mut points = vec![[0.0, 0.0]];
        match self {
            Self::Points { points: given } => {
                points.extend((0..stations).map(|n| given.get(n).copied().unwrap_or_default()))
            }
            Self::Circle { radius } => points.extend((0..stations).map(|_| at(*radius))),
            Self::Disc { radius } => {
                let mut distances = seed.stream(&format!("wifi/{cell}/distance"));
                points.extend((0..stations).map(|_| at(radius * libm::sqrt(distances.unit()))));
            }
        }
        points
    }
}

/// Returns the distance between two points in metres.
pub(super) fn distance(one: [f64; 2], other: [f64; 2]) -> f64 {
    libm::hypot(one[0] - other[0], one[1] - other[1])
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "the same draws give the same points")]

    use super::*;

    #[test]
    fn a_circle_has_one_distance_and_all_directions() {
        let points = Place::Circle { radius: 5.0 }.points(400, Seed(1), "cell");
        assert_eq!(points[0], [0.0, 0.0]);
        assert!(points[1..].iter().all(|point| (distance(*point, [0.0, 0.0]) - 5.0).abs() < 1e-9));
        let east = points[1..].iter().filter(|point| point[0] > 0.0).count();
        assert!((170..=230).contains(&east), "{east}");
    }

    /// A quarter of the area lies within half the radius.
    #[test]
    fn a_disc_is_filled_evenly() {
        let points = Place::Disc { radius: 10.0 }.points(4000, Seed(1), "cell");
        let inside = points[1..].iter().filter(|point| distance(**point, [0.0, 0.0]) < 5.0).count();
        assert!((900..=1100).contains(&inside), "{inside}");
        assert!(points.iter().all(|point| distance(*point, [0.0, 0.0]) <= 10.0));
    }

    #[test]
    fn a_further_station_moves_no_other_and_another_seed_moves_all() {
        for place in [Place::Circle { radius: 3.0 }, Place::Disc { radius: 3.0 }] {
            let few = place.points(3, Seed(1), "cell");
            assert_eq!(few[..], place.points(5, Seed(1), "cell")[..4]);
            assert_ne!(few[1], place.points(3, Seed(2), "cell")[1]);
            assert_ne!(few[1], place.points(3, Seed(1), "other")[1]);
        }
    }
}
