//! Acknowledgments of a direction.

use super::Position;
use super::rate::Seen;
use crate::direction;
use crate::finding::{Finding, Statements};
use crate::identification;
use crate::quantiles::median;
use crate::thinning::{self, Case, Thinning};
use serde::Serialize;

/// The maximum share of data that packets with data acknowledge. Above it, as in requests and
/// replies, pure ACKs are rare, and their ratio does not describe the receiver; *chosen*.
const RIDDEN: f64 = 0.5;

/// Acknowledgments.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Acks {
    /// The number of pure ACKs.
    pub count: u64,
    /// The number of these ACKs that are duplicate ACKs.
    pub duplicates: u64,
    /// The number of octets of the pure ACKs.
    pub octets: u64,
    /// The number of segments with data per pure ACK. `None` if most data are acknowledged by
    /// packets with data.
    pub ratio: Option<f64>,
    /// The 95 % confidence interval of the ratio.
    pub ratio_interval: Option<[f64; 2]>,
    /// The most frequent number of segments that an ACK covers.
    pub usual: u32,
    /// The share of ACKs that cover this number of segments.
    pub agreement: f64,
    /// The median time between ACKs, in milliseconds.
    pub spacing: Option<f64>,
    /// The rate of the return path, in Mbps of ACKs. Present if thinned ACKs keep the path busy.
    pub rate: Option<f64>,
    /// The mean number of ACKs per burst.
    pub burst: Option<f64>,
    /// The period of bursts in milliseconds. At the receiver, it is the period of bursts of data.
    pub period: Option<f64>,
    /// `true` if ACKs that arrive together were sent at different times.
    pub compressed: Option<bool>,
    /// Whether ACKs are removed on the path.
    pub thinning: Thinning,
    /// The share of the receiver's packets that did not pass the point of capture, according to
    /// their IP identifications.
    pub missing: Option<f64>,
}

impl Acks {
    /// Returns the acknowledgments of a direction that was captured at `position`. If the source is
    /// a log of QUIC, the ACKs are encrypted, so a box on the path cannot read them.
    pub(super) fn of(
        direction: &direction::Direction,
        position: Position,
        seen: &Seen,
        is_encrypted: bool,
        statements: &mut Statements,
    ) -> Self {
        let ratio = ratio(direction);
        statements.add("ratio", &ratio);
        let stretches = &seen.ack_stretches;
        let (coverage, pace) = thinning::seen(stretches, direction.mss());
        let case = Case {
            coverage,
            pace,
            identifications: direction.identifications.evidence(),
            echoes: direction.echoes.evidence(),
            at_receiver: at_receiver(direction, position),
            is_encrypted,
            pure_acks: direction.acks.pure,
            ratio: direction.volume.segments as f64 / direction.acks.pure.max(1) as f64,
            ordered: direction.ordered(),
            ridden: direction.ridden(),
            uncaptured: direction.delivery.uncaptured() as f64 / direction.carried().max(1) as f64,
        };
        let verdict = case.verdict();
        let missing = missing(&case);
        statements.add("thinning", &verdict.finding());
        statements.add("missing", &missing);
        let period = seen.bursts.and_then(|bursts| bursts.period);
        let compressed = match (seen.rate.value(), period) {
            (Some(rate), Some(period)) if position != Position::Receiver => {
                thinning::are_compressed(stretches, rate.estimate.value, period)
            }
            _ => None,
        };
        let is_busy = verdict.thinning == Thinning::Thinned && pace.is_of_return_path();
        Self {
            count: direction.acks.pure,
            duplicates: direction.acks.duplicates,
            octets: direction.acks.octets,
            ratio: ratio.value().copied(),
            ratio_interval: ratio
                .value()
                .and_then(|_| direction.interval(|taken| (taken.segments as f64, taken.acks as f64))),
            usual: coverage.usual,
            agreement: coverage.agreement,
            spacing: spacing(stretches),
            rate: is_busy.then_some(pace.rate * 8e-6),
            burst: seen.bursts.map(|bursts| bursts.mean_length),
            period: period.map(|period| period / 1e6),
            compressed,
            thinning: verdict.thinning,
            missing: missing.value().copied(),
        }
    }
}

/// Returns the evidence that the point of capture is at the receiver. Returns `None` without such
/// evidence.
fn at_receiver(direction: &direction::Direction, position: Position) -> Option<String> {
    if position == Position::Receiver {
        return Some("captured at the receiver, where each ACK that it sends is seen".to_owned());
    }
    direction.hops.are_none_of_acks()
}

/// Returns the share of the receiver's packets that are missing.
fn missing(case: &Case) -> Finding<f64> {
    match (&case.at_receiver, &case.identifications) {
        (Some(reason), _) | (None, identification::Evidence::Nothing(reason)) => Finding::not_known(reason.as_str()),
        (None, identification::Evidence::Missing(share, text)) => Finding::known(*share, text.as_str()),
    }
}

/// Returns the number of segments with data per pure ACK.
fn ratio(direction: &direction::Direction) -> Finding<f64> {
    if direction.acks.pure == 0 {
        return Finding::not_known("no pure ACK was captured");
    }
    let ridden = direction.ridden();
    if ridden > RIDDEN {
        return Finding::not_known(format!(
            "{:.0} % of the data are acknowledged by packets with data",
            100.0 * ridden
        ));
    }
    Finding::known(
        direction.volume.segments as f64 / direction.acks.pure as f64,
        format!("{} segments, {} pure ACKs", direction.volume.segments, direction.acks.pure),
    )
}

fn spacing(stretches: &[Vec<direction::Ack>]) -> Option<f64> {
    let pairs = stretches.iter().flat_map(|stretch| stretch.windows(2));
    let mut gaps: Vec<f64> = pairs.map(|two| two[1].at.saturating_sub(two[0].at) as f64 / 1e6).collect();
    median(&mut gaps)
}
