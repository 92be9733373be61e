//! How the data in flight reacts to loss, and with it the likely family of the congestion controller (after Padhye and Floyd, *On Inferring
//! TCP Behavior*, SIGCOMM 2001; Mishra et al., *The Great Internet TCP Congestion Control Census*, SIGMETRICS 2019).

use serde::Serialize;

/// Reactions that are remembered.
const MOST: usize = 256;
/// Reactions that a verdict needs.
const LEAST: usize = 3;

/// A family of congestion controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Halves its window (RFC 5681, §3.1).
    Reno,
    /// Reduces its window to seven tenths (RFC 9438, §4.6).
    Cubic,
    /// Keeps its rate through losses, as BBR does.
    RateBased,
    /// Keeps the queue short, without losses: Vegas, Copa and their like, or BBR.
    DelayBased,
}

/// Reactions to loss in one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reactions {
    /// The most data in flight in the round trip before the episode, and what ends it.
    episode: Option<Episode>,
    /// The most data in flight in this round trip and in the one before.
    most: [u64; 2],
    round_ends: u64,
    ratios: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Episode {
    before: u64,
    /// The highest number sent when it began: the recovery point (RFC 6675, §4).
    recovery_point: u64,
    /// Whether the recovery point is acknowledged; what is in flight counts for a round trip from then on.
    settles_until: Option<u64>,
}

impl Reactions {
    /// `acknowledged` and `highest` delimit the data in flight after an ACK.
    #[inline]
    pub(crate) fn acknowledge(&mut self, acknowledged: u64, highest: u64) {
        let flight = highest.saturating_sub(acknowledged);
        if acknowledged >= self.round_ends {
            self.round_ends = highest;
            self.most = [flight, self.most[0]];
            if let Some(episode) = &mut self.episode {
                match episode.settles_until {
                    None if acknowledged >= episode.recovery_point => episode.settles_until = Some(highest),
                    Some(until) if acknowledged >= until => {
                        let after = self.most[1].max(1);
                        if self.ratios.len() < MOST {
                            self.ratios.push((after as f64 / episode.before.max(1) as f64).min(2.0));
                        }
                        self.episode = None;
                    }
                    _ => {}
                }
            }
        }
        self.most[0] = self.most[0].max(flight);
    }

    /// A segment was retransmitted while data up to `highest` were sent.
    #[cold]
    pub(crate) fn retransmit(&mut self, highest: u64) {
        let before = self.most[0].max(self.most[1]);
        self.episode.get_or_insert(Episode { before, recovery_point: highest, settles_until: None });
    }

    /// The clock of the capture has stepped: an episode that spans it is left out.
    pub(crate) fn cut(&mut self) {
        self.episode = None;
    }

    /// The median ratio of the data in flight after an episode to those before, and how many episodes there were.
    pub(crate) fn ratio(&self) -> Option<(f64, usize)> {
        let mut ratios = self.ratios.clone();
        crate::quantiles::median(&mut ratios).map(|ratio| (ratio, self.ratios.len()))
    }

    /// The likely family. `inflation` is the ratio of the median round-trip time to the least.
    pub(crate) fn family(&self, inflation: Option<f64>) -> Option<Family> {
        // Half of the way between the factors of two families; a queue that is nearly empty although the sender is busy names the last.
        match self.ratio() {
            Some((ratio, episodes)) if episodes >= LEAST => Some(match ratio {
                ..0.6 => Family::Reno,
                ..0.85 => Family::Cubic,
                _ => Family::RateBased,
            }),
            _ => inflation.filter(|&inflation| inflation < 1.25).map(|_| Family::DelayBased),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sawtooth in which the window falls to `factor` of itself at each loss, a round trip a step.
    fn family_of(factor: f64) -> Option<Family> {
        let mut reactions = Reactions::default();
        let (mut acknowledged, mut window) = (0, 100_000_u64);
        for _ in 0..6 {
            for _ in 0..20 {
                reactions.acknowledge(acknowledged, acknowledged + window);
                acknowledged += window;
                window += 1000;
            }
            reactions.acknowledge(acknowledged, acknowledged + window);
            reactions.retransmit(acknowledged + window);
            acknowledged += window;
            window = (window as f64 * factor) as u64;
        }
        reactions.family(Some(2.0))
    }

    #[test]
    fn the_factor_of_a_reduction_names_the_family() {
        assert_eq!(family_of(0.5), Some(Family::Reno));
        assert_eq!(family_of(0.7), Some(Family::Cubic));
        assert_eq!(family_of(1.0), Some(Family::RateBased));
    }
}
