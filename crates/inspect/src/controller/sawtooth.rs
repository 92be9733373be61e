//! A sawtooth: each loss reduces the window by the same factor. It stays there for some rounds, and
//! then grows until the next loss.

use super::rounds::{Kind, Round};
use super::{Family, Named, Path};
use crate::finding::Finding;
use crate::quantiles::median;
use std::collections::VecDeque;

/// The minimum number of reductions for a family. Chosen.
const MIN_REDUCTIONS: usize = 5;
/// The maximum number of reductions that are kept.
const MAX_REDUCTIONS: usize = 256;
/// The minimum window in segments at which a reduction counts: one segment more or less is a tenth
/// of it.
const MIN_WINDOW: u64 = 10;
/// The minimum number of rounds of growth before a reduction, and the maximum number that are
/// stored.
const GROWTH: (usize, usize) = (10, 256);
/// The share of these rounds in which the window may be smaller than before, and by which share and
/// number of segments.
const SHRUNK: (f64, f64, f64) = (0.05, 0.03, 1.5);
/// The minimum share of the growth in half of the rounds. CUBIC's growth is concave up to the last
/// window (RFC 9438, §4.2), while BBR probes in its last rounds.
const EVEN: f64 = 0.15;
/// The number of rounds after a recovery in which the window must stay reduced. BBR restores its
/// window after one round (`bbr_set_cwnd_to_recover_or_restore`).
const REDUCED: usize = 2;
/// The factors of Reno's reduction (RFC 5681, §3.1) and of CUBIC's (RFC 9438, §4.6), and the
/// permitted deviation. They are 0.2 apart.
const FACTORS: [Factor; 2] =
    [Factor { family: Family::Reno, of: 0.5, agree: 0.9 }, Factor { family: Family::Cubic, of: 0.7, agree: 0.8 }];
const OFF: f64 = 0.08;
/// Round trips that exceed the minimum by this factor show a queue at a loss. A delay-based
/// controller, which halves its window as Reno does, does not let round trips grow so long.
const QUEUE: f64 = 1.2;
/// The minimum number of segments by which Reno's window grows in a round: one, or a half if ACKs
/// are delayed (RFC 5681, §3.1). The window of a delay-based controller stops growing.
const LINEAR: f64 = 0.3;

/// The factor of a family, and the share of reductions that must agree on it. The share is larger
/// if other controllers have the same factor.
struct Factor {
    family: Family,
    of: f64,
    agree: f64,
}

/// A reduction of the window.
#[derive(Clone, Copy, Debug)]
struct Reduction {
    ratio: f64,
    /// `true` if the window before it grew with full segments until it had filled a queue, as
    /// Reno's does.
    is_filling: bool,
}

/// A loss that is being repaired: the window before it if that may show a reduction, whether it had
/// filled a queue, and the windows of the rounds after the recovery.
#[derive(Clone, Copy, Debug)]
struct Loss {
    before: Option<(u64, bool)>,
    after: u64,
    rounds: usize,
}

/// The reductions of one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Sawtooth {
    /// The windows of clean rounds since the last loss, and the last round.
    grown: VecDeque<u64>,
    last: Option<Round>,
    /// `true` if a segment since the last loss was not full. Bursts of an application fill a queue
    /// that a delay-based controller does not detect.
    has_short: bool,
    loss: Option<Loss>,
    losses: usize,
    reductions: Vec<Reduction>,
}

impl Sawtooth {
    pub(super) fn round(&mut self, round: Round, mss: u64) {
        match round.kind {
            Kind::Lossy => self.lose(mss),
            Kind::Limited => {
                self.loss = None;
                self.forget();
            }
            Kind::Clean => self.grow(round),
        }
    }

    fn grow(&mut self, round: Round) {
        if let Some(loss) = &mut self.loss {
            loss.rounds += 1;
            loss.after = loss.after.max(round.flight);
            if loss.rounds == REDUCED {
                let Loss { before, after, .. } = *loss;
                if let Some((before, is_filling)) = before.filter(|_| self.reductions.len() < MAX_REDUCTIONS) {
                    self.reductions.push(Reduction { ratio: after as f64 / before as f64, is_filling });
                }
                self.loss = None;
            }
        }
        if self.grown.len() == GROWTH.1 {
            self.grown.pop_front();
        }
        self.grown.push_back(round.flight);
        self.has_short |= round.has_short;
        self.last = Some(round);
    }

    fn forget(&mut self) {
        self.grown.clear();
        self.has_short = false;
    }

    fn lose(&mut self, mss: u64) {
        // Another loss before the window is stable again belongs to the first.
        if self.loss.is_some_and(|loss| loss.rounds == 0) {
            return;
        }
        self.losses += 1;
        let last = self.last.filter(|last| self.is_growth(mss) && self.losses > 1 && last.flight >= MIN_WINDOW * mss);
        let is_filling = |last: &Round| {
            let is_queue = last.times.is_some_and(|(mean, minimum)| mean >= QUEUE * minimum as f64);
            is_queue && !self.has_short && self.is_linear(mss)
        };
        // The first loss ends slow start. Growth continues for one more round.
        self.loss = Some(Loss { before: last.map(|last| (last.flight, is_filling(&last))), after: 0, rounds: 0 });
        self.forget();
    }

    /// Returns `true` if the window grew since the last loss, and not only in the last rounds.
    fn is_growth(&self, mss: u64) -> bool {
        let ends = [0, self.grown.len() / 2, self.grown.len().saturating_sub(1)].map(|place| self.grown.get(place));
        let [Some(first), Some(middle), Some(last)] = ends.map(|window| window.map(|&window| window as f64)) else {
            return false;
        };
        let is_even = middle - first >= EVEN * (last - first);
        let (share, part, segments) = SHRUNK;
        let mut highest = 0.0_f64;
        let shrunk = self.grown.iter().filter(|&&flight| {
            highest = highest.max(flight as f64);
            (flight as f64) < highest * (1.0 - part) - segments * mss as f64
        });
        is_even && self.grown.len() >= GROWTH.0 && shrunk.count() as f64 <= share * self.grown.len() as f64
    }

    /// Returns `true` if the window grew up to the end at Reno's rate.
    fn is_linear(&self, mss: u64) -> bool {
        let half = self.grown.len() / 2;
        let ends = self.grown.get(half).zip(self.grown.back());
        let rounds = (self.grown.len() - 1 - half) as f64;
        ends.is_some_and(|(middle, last)| last.saturating_sub(*middle) as f64 >= LINEAR * rounds * mss as f64)
    }

    pub(super) fn name(&self, path: Path) -> Finding<Named> {
        let count = self.reductions.len();
        if count < MIN_REDUCTIONS {
            let losses = self.losses;
            return Finding::not_known(format!(
                "{count} clean reductions in {losses} losses, expected at least {MIN_REDUCTIONS}"
            ));
        }
        let mut ratios: Vec<f64> = self.reductions.iter().map(|reduction| reduction.ratio).collect();
        let ratio = median(&mut ratios).unwrap_or_default();
        for Factor { family, of: factor, agree: expected } in FACTORS {
            let near = || self.reductions.iter().filter(|one| (one.ratio - factor).abs() <= OFF);
            let agree = near().count();
            let agreement = agree as f64 / count as f64;
            if agreement < expected {
                continue;
            }
            let filling = near().filter(|one| one.is_filling).count();
            if family == Family::Reno && path.is_bursty {
                return Finding::not_known(format!(
                    "{agree} reductions to half, but ACKs come in bursts, which keep a controller by delay from seeing a queue"
                ));
            }
            if family == Family::Reno && filling < MIN_REDUCTIONS {
                return Finding::not_known(format!(
                    "{agree} reductions to half, {filling} of them after linear growth to a queue, expected {MIN_REDUCTIONS}"
                ));
            }
            let named = Named { family, ratio: Some(ratio), episodes: count, agreement };
            let evidence = format!("{agree} of {count} clean reductions are to {factor} ± {OFF} of the data in flight");
            return Finding::known(named, evidence);
        }
        Finding::not_known(format!("{count} clean reductions differ, with a median of {ratio:.2}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn round(flight: f64, kind: Kind, queue: f64) -> Round {
        Round {
            at: 0,
            flight: flight as u64 * MSS,
            acknowledged: 0,
            times: Some((50e6 * queue, 50_000_000)),
            kind,
            has_short: false,
        }
    }

    /// Returns the controller that is found for a sawtooth. At 40 segments, the window falls to
    /// `factor` of itself. It grows by `step` segments per round up to `maximum`. Each round trip
    /// takes `queue` times the minimum.
    fn named(factor: f64, step: f64, maximum: f64, queue: f64) -> Finding<Named> {
        let mut sawtooth = Sawtooth::default();
        let mut window = 20.0_f64;
        for _ in 0..8 {
            for _ in 0..60 {
                sawtooth.round(round(window, Kind::Clean, queue), MSS);
                if window >= 40.0 {
                    break;
                }
                window = (window + step).min(maximum);
            }
            sawtooth.round(round(2.0 * window, Kind::Lossy, queue), MSS);
            window *= factor;
        }
        sawtooth.name(Path { mss: MSS, ..Path::default() })
    }

    fn family(found: &Finding<Named>) -> Option<Family> {
        found.value().map(|named| named.family)
    }

    #[test]
    fn the_factor_of_equal_reductions_names_the_family() {
        assert_eq!(family(&named(0.5, 1.0, 99.0, 1.5)), Some(Family::Reno));
        let cubic = named(0.7, 0.5, 99.0, 1.5);
        assert_eq!(family(&cubic), Some(Family::Cubic));
        assert_eq!(cubic.evidence(), Some("6 of 6 clean reductions are to 0.7 ± 0.08 of the data in flight"));
        assert_eq!(family(&named(0.9, 0.3, 99.0, 1.5)), None);
    }

    /// Vegas halves its window at random losses and keeps the queue short. Reno does the same on a
    /// path with random losses.
    #[test]
    fn half_without_a_queue_is_not_known() {
        let found = named(0.5, 1.0, 99.0, 1.0);
        let reason = "6 reductions to half, 0 of them after linear growth to a queue, expected 5";
        assert_eq!(found.reason(), Some(reason));
    }

    /// Vegas stops at 35 segments.
    #[test]
    fn growth_that_stops_is_not_renos() {
        assert_eq!(family(&named(0.5, 1.0, 35.0, 1.5)), None);
    }

    #[test]
    fn few_losses_are_inconclusive() {
        let mut sawtooth = Sawtooth::default();
        (0..4).for_each(|_| {
            (20..40).for_each(|window| sawtooth.round(round(f64::from(window), Kind::Clean, 1.5), MSS));
            sawtooth.round(round(80.0, Kind::Lossy, 1.5), MSS);
        });
        let reason = "2 clean reductions in 4 losses, expected at least 5";
        assert_eq!(
            sawtooth.name(Path::default()).reason(),
            Some(reason),
            "the first ends slow start, the last is not over"
        );
    }

    /// BBR has restored its window after two rounds.
    #[test]
    fn a_window_that_comes_back_at_once_is_no_reduction() {
        let mut sawtooth = Sawtooth::default();
        for _ in 0..8 {
            sawtooth.round(round(28.0, Kind::Clean, 1.2), MSS);
            (0..12).for_each(|_| sawtooth.round(round(40.0, Kind::Clean, 1.2), MSS));
            sawtooth.round(round(60.0, Kind::Lossy, 1.2), MSS);
        }
        assert_eq!(family(&sawtooth.name(Path::default())), None);
    }

    /// BBRv3 cruises, probes for two rounds, and cruises again at 0.75 of the window that it had
    /// reached.
    #[test]
    fn a_window_that_grows_in_its_last_rounds_only_is_no_sawtooth() {
        let mut sawtooth = Sawtooth::default();
        for _ in 0..8 {
            let windows = [30.0; 20].into_iter().chain([34.0, 40.0]);
            windows.for_each(|window| sawtooth.round(round(window, Kind::Clean, 1.2), MSS));
            sawtooth.round(round(60.0, Kind::Lossy, 1.5), MSS);
        }
        assert_eq!(family(&sawtooth.name(Path::default())), None);
    }

    #[test]
    fn a_window_that_something_else_limits_is_inconclusive() {
        let mut sawtooth = Sawtooth::default();
        for _ in 0..8 {
            (20..40).for_each(|window| sawtooth.round(round(f64::from(window), Kind::Clean, 1.5), MSS));
            sawtooth.round(round(40.0, Kind::Limited, 1.5), MSS);
            sawtooth.round(round(80.0, Kind::Lossy, 1.5), MSS);
        }
        assert_eq!(family(&sawtooth.name(Path::default())), None);
    }
}
