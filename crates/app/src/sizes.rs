//! Sizes of transfers, drawn from the distributions of published workloads.
//!
//! Each distribution is a cumulative distribution of the octets of a flow. It is given by the
//! points of a published figure, and is linear between them. Traffic generators of the literature
//! use these tables in the same way, in packets of 1500 octets (`src/common/cdf.c` of HKUST's
//! TrafficGenerator, NSDI 2016).

use acklab_base::Bytes;
use acklab_base::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A distribution of the sizes of transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sizes {
    /// Flows of a cluster for web search: median 73 kB, mean 1.7 MB (Alizadeh et al., DCTCP,
    /// SIGCOMM 2010, Figure 4).
    Websearch,
    /// Flows of a cluster for data mining: half of the flows 1.5 kB, mean 7.6 MB (Greenberg et al.,
    /// VL2, SIGCOMM 2009, Figure 2).
    DataMining,
    /// Flows of a cache leader: median 19.5 kB, mean 0.9 MB (Roy et al., Facebook's network,
    /// SIGCOMM 2015, Figure 6).
    Cache,
    /// Flows of a cluster for Hadoop: median 75 kB, mean 4.2 MB (Roy et al., Facebook's network,
    /// SIGCOMM 2015, Figure 6).
    Hadoop,
}

/// Octets of a packet of the tables.
const PACKET: f64 = 1500.0;

impl Sizes {
    /// All distributions.
    pub const ALL: [Self; 4] = [Self::Websearch, Self::DataMining, Self::Cache, Self::Hadoop];

    /// Returns the name in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Websearch => "websearch",
            Self::DataMining => "data-mining",
            Self::Cache => "cache",
            Self::Hadoop => "hadoop",
        }
    }

    /// Returns sizes in packets, each with the fraction of flows that are no larger. All flows
    /// below the first point have the size of that point.
    const fn points(self) -> &'static [(f64, f64)] {
        match self {
            Self::Websearch => &[
                (6.0, 0.15),
                (13.0, 0.2),
                (19.0, 0.3),
                (33.0, 0.4),
                (53.0, 0.53),
                (133.0, 0.6),
                (667.0, 0.7),
                (1333.0, 0.8),
                (3333.0, 0.9),
                (6667.0, 0.97),
                (20_000.0, 1.0),
            ],
            Self::DataMining => &[
                (1.0, 0.5),
                (2.0, 0.6),
                (3.0, 0.7),
                (7.0, 0.8),
                (267.0, 0.9),
                (2107.0, 0.95),
                (66_667.0, 0.99),
                (666_667.0, 1.0),
            ],
            Self::Cache => &[
                (1.0, 0.36),
                (2.0, 0.4),
                (7.0, 0.46),
                (13.0, 0.5),
                (67.0, 0.6),
                (133.0, 0.7),
                (667.0, 0.78),
                (1333.0, 0.8),
                (2000.0, 0.9),
                (2667.0, 0.99),
                (33_333.0, 1.0),
            ],
            Self::Hadoop => &[
                (1.0, 0.0),
                (24.0, 0.1),
                (30.0, 0.2),
                (33.0, 0.4),
                (50.0, 0.5),
                (53.0, 0.6),
                (67.0, 0.7),
                (120.0, 0.8),
                (160.0, 0.9),
                (200.0, 0.95),
                (667.0, 0.96),
                (6667.0, 0.97),
                (66_667.0, 0.99),
                (333_333.0, 1.0),
            ],
        }
    }

    /// Draws the size of a transfer.
    pub fn draw(self, chance: &mut Stream) -> Bytes {
        self.quantile(chance.unit())
    }

    /// Returns the size that the given fraction of transfers does not exceed.
    #[must_use]
    pub fn quantile(self, share: f64) -> Bytes {
        let points = self.points();
        let above = points.partition_point(|(_, below)| *below < share).min(points.len() - 1);
        let (size, reached) = points[above];
        let packets = match above.checked_sub(1).map(|before| points[before]) {
            None => size,
            Some((from, passed)) => from + (size - from) * (share - passed) / (reached - passed),
        };
        Bytes(((packets * PACKET).round() as u64).max(1))
    }

    /// Returns the mean size.
    #[must_use]
    pub fn mean(self) -> f64 {
        let points = self.points();
        let (first, share) = points[0];
        let parts = points.windows(2).map(|pair| (pair[0].0 + pair[1].0) / 2.0 * (pair[1].1 - pair[0].1));
        (first * share + parts.sum::<f64>()) * PACKET
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::random::Seed;

    #[test]
    fn means_are_those_of_the_literature() {
        // 1.7 MB for web search (Bai et al., NSDI 2016, Table 2: 1.6 MB of 1460-octet packets) and
        // 7.4 MB for data mining (Alizadeh et al., pFabric, SIGCOMM 2013, §5: 7.4 MB); the others
        // are calculated by hand from the points.
        for (sizes, expected) in
            [(Sizes::Websearch, 1.71), (Sizes::DataMining, 7.6), (Sizes::Cache, 0.9), (Sizes::Hadoop, 4.2)]
        {
            let mean = sizes.mean() / 1e6;
            assert!((mean / expected - 1.0).abs() < 0.06, "{}: {mean} MB", sizes.name());
        }
    }

    #[test]
    fn draws_have_the_mean_and_the_quantiles() {
        for sizes in [Sizes::Websearch, Sizes::Cache] {
            let mut chance = Seed(1).stream("sizes");
            let mut drawn: Vec<u64> = (0..200_000).map(|_| sizes.draw(&mut chance).get()).collect();
            let mean = drawn.iter().sum::<u64>() as f64 / drawn.len() as f64;
            assert!((mean / sizes.mean() - 1.0).abs() < 0.02, "{}: {mean}", sizes.name());
            drawn.sort_unstable();
            for share in [0.25, 0.5, 0.75, 0.95] {
                let (found, expected) =
                    (drawn[(share * 200_000.0) as usize] as f64, sizes.quantile(share).get() as f64);
                assert!((found / expected - 1.0).abs() < 0.05, "{} {share}: {found}, {expected}", sizes.name());
            }
        }
    }

    #[test]
    fn a_size_is_an_octet_at_least_and_no_more_than_the_last_point() {
        for sizes in Sizes::ALL {
            assert!(sizes.quantile(0.0).get() >= 1, "{}", sizes.name());
            let last = sizes.points().last().map(|(packets, _)| (packets * PACKET) as u64);
            assert_eq!(Some(sizes.quantile(1.0).get()), last, "{}", sizes.name());
        }
    }
}
