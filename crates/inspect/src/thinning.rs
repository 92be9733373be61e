//! Finds whether ACKs are thinned on the path. A box then removes ACKs, so that the remaining ACKs
//! cover more segments (RFC 3449, §5.2).
//!
//! ACKs that cover many segments, or varying numbers of them, are not evidence: a receiver that
//! coalesces segments acknowledges each batch (GRO, LRO), and timers and busy applications have the
//! same effect. Two kinds of evidence show that an ACK was sent and is missing. One is a number
//! that the receiver's counter of this connection skips (`identification`). The other is an ACK
//! that echoes the timestamp of a later segment than the first that it covers (`echoes`). Without
//! such evidence, only ordinary delayed ACKs are identified. Other cases remain unknown.
//!
//! | part | contents |
//! |---|---|
//! | `coverage` | the number of segments that ACKs cover |
//! | `pace` | the pace of ACKs, and the rate of a busy return path |
//! | `compression` | finds whether ACKs that arrive together were sent apart |

mod compression;
mod coverage;
mod pace;

pub(crate) use compression::are_compressed;
pub(crate) use coverage::Coverage;
pub(crate) use pace::Pace;

use crate::direction::Ack;
use crate::finding::Finding;
use crate::{echoes, identification};
use serde::Serialize;

/// The thinning of ACKs between the receiver and the point of capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Thinning {
    /// No ACK is removed.
    None,
    /// The receiver itself acknowledges more than two segments at a time.
    SparseReceiver,
    /// A box on the path removes ACKs.
    Thinned,
    /// The ACKs were captured at the receiver, before any thinning.
    NotVisible,
    /// The evidence is insufficient.
    Unknown,
}

/// The minimum number of ACKs for a verdict; *chosen*: with this number, a share of 95 % is exact
/// to 6 %.
const MIN_ACKS: usize = 60;
/// The maximum number of segments per ACK of a receiver that follows RFC 5681, §4.2, with a margin
/// for a late ACK.
const STANDARD: f64 = 2.2;
/// The minimum share of ACKs that follow a rule, if the receiver acknowledges by a rule.
const RULE: f64 = 0.95;
/// The maximum number of segments per ACK at which almost every segment has its own ACK.
const EACH: f64 = 1.1;
/// The minimum share of the data that must be acknowledged in order, if only the ACKs of these data
/// show that no ACK is missing; *chosen*: the ACKs of a tenth of the data are a tenth of all ACKs.
const MIN_ORDERED: f64 = 0.9;
/// The maximum share of the data that the capture may lack; *chosen*: with larger gaps, the capture
/// also lacks ACKs.
const MAX_UNCAPTURED: f64 = 0.01;

/// The known properties of the ACKs of a direction.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) coverage: Coverage,
    pub(crate) pace: Pace,
    pub(crate) identifications: identification::Evidence,
    pub(crate) echoes: echoes::Evidence,
    /// The evidence that the point of capture is at the receiver. `None` without such evidence.
    pub(crate) at_receiver: Option<String>,
    /// `true` if the ACKs are encrypted, so that a box cannot read them.
    pub(crate) is_encrypted: bool,
    pub(crate) pure_acks: u64,
    /// Segments per pure ACK.
    pub(crate) ratio: f64,
    /// The share of the data that were acknowledged in order.
    pub(crate) ordered: f64,
    /// The share of the data that packets with data acknowledge.
    pub(crate) ridden: f64,
    /// The share of the data that the capture lacks.
    pub(crate) uncaptured: f64,
}

/// A verdict, and its evidence or the reason why the verdict is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) thinning: Thinning,
    pub(crate) text: String,
}

impl Verdict {
    fn of(thinning: Thinning, text: impl Into<String>) -> Self {
        Self { thinning, text: text.into() }
    }

    /// Returns the verdict as a finding, with its evidence or the reason why it is unknown.
    pub(crate) fn finding(&self) -> Finding<Thinning> {
        match self.thinning {
            Thinning::NotVisible | Thinning::Unknown => Finding::not_known(self.text.as_str()),
            known => Finding::known(known, self.text.as_str()),
        }
    }
}

/// Returns the coverage of ACKs, and their pace, with segments of `mss` octets.
pub(crate) fn seen(stretches: &[Vec<Ack>], mss: u32) -> (Coverage, Pace) {
    let acks: Vec<_> = stretches.iter().flat_map(|stretch| coverage::arrived(stretch, mss)).collect();
    (Coverage::of(&acks), Pace::of(&acks))
}

impl Case {
    /// Returns the verdict.
    pub(crate) fn verdict(&self) -> Verdict {
        self.prevented().unwrap_or_else(|| self.by_evidence().unwrap_or_else(|| self.by_rule()))
    }

    /// Returns the verdict if a condition prevents any other verdict.
    fn prevented(&self) -> Option<Verdict> {
        let unknown = |text: String| Some(Verdict::of(Thinning::Unknown, text));
        if let Some(text) = &self.at_receiver {
            return Some(Verdict::of(Thinning::NotVisible, text.as_str()));
        }
        if self.pure_acks < MIN_ACKS as u64 {
            return unknown(format!("pure ACKs: found {}, expected at least {MIN_ACKS}", self.pure_acks));
        }
        if self.ridden > 0.5 {
            return unknown(format!("{:.0} % of the data are acknowledged by packets with data", 100.0 * self.ridden));
        }
        if self.uncaptured > MAX_UNCAPTURED {
            return unknown(format!(
                "the capture lacks {:.1} % of the data that were acknowledged, and may lack ACKs",
                100.0 * self.uncaptured
            ));
        }
        None
    }

    /// Returns the verdict from identifications or timestamps that show whether ACKs are missing.
    fn by_evidence(&self) -> Option<Verdict> {
        if self.is_encrypted {
            return Some(self.whole("no box can read what is encrypted"));
        }
        if self.ratio <= EACH {
            return Some(Verdict::of(Thinning::None, format!("{:.2} segments per ACK: each has its own", self.ratio)));
        }
        match (&self.identifications, &self.echoes) {
            (identification::Evidence::Missing(share, text), _) if *share < identification::MISSING => {
                Some(self.whole(text))
            }
            (_, echoes::Evidence::Whole(text)) if self.ordered < MIN_ORDERED && self.ratio > STANDARD => {
                Some(Verdict::of(
                    Thinning::Unknown,
                    format!(
                        "{text}, but {:.0} % of the data were acknowledged while others were missing",
                        100.0 * (1.0 - self.ordered)
                    ),
                ))
            }
            (_, echoes::Evidence::Whole(text)) => Some(self.whole(text)),
            (identification::Evidence::Missing(_, text), _) | (_, echoes::Evidence::Missing(text)) => {
                Some(Verdict::of(Thinning::Thinned, text.as_str()))
            }
            _ => None,
        }
    }

    /// Returns the verdict that no ACK is removed, as `text` states.
    fn whole(&self, text: &str) -> Verdict {
        let Coverage { mean, largest, count, .. } = self.coverage;
        if count < MIN_ACKS {
            return Verdict::of(
                Thinning::Unknown,
                format!("ACKs of data in order: found {count}, expected at least {MIN_ACKS}"),
            );
        }
        if mean <= STANDARD {
            return Verdict::of(Thinning::None, text);
        }
        Verdict::of(
            Thinning::SparseReceiver,
            format!("{text}; the receiver acknowledges batches of up to {largest} segments"),
        )
    }

    /// Returns the verdict by the behaviour of the receiver itself.
    fn by_rule(&self) -> Verdict {
        let Coverage { mean, by_rule, usual, largest, count, .. } = self.coverage;
        let (numbers, echoes, is_open) = match (&self.identifications, &self.echoes) {
            (identification::Evidence::Nothing(numbers), echoes::Evidence::Nothing(echoes)) => {
                (numbers.as_str(), echoes.as_str(), false)
            }
            (identification::Evidence::Nothing(numbers), echoes::Evidence::Open(echoes)) => {
                (numbers.as_str(), echoes.as_str(), true)
            }
            _ => ("", "", false),
        };
        let unknown = |text: String| Verdict::of(Thinning::Unknown, format!("{text}; {numbers}; {echoes}"));
        if count < MIN_ACKS {
            return unknown(format!("ACKs of data in order: found {count}, expected at least {MIN_ACKS}"));
        }
        if mean > STANDARD && by_rule >= RULE {
            // A receiver of many segments causes this, and so does a box that passes only one ACK
            // of a group.
            return unknown(format!(
                "{:.0} % of the ACKs cover {usual} segments, or fewer after a timer",
                100.0 * by_rule
            ));
        }
        if mean > STANDARD {
            return unknown(format!(
                "ACKs cover up to {largest} segments by no rule, {mean:.1} on average: batches of the receiver, or a box"
            ));
        }
        // A stack that echoes the newest timestamp is more common than a box that passes exactly
        // every second ACK.
        if by_rule < RULE && (is_open || self.pace.is_of_return_path()) {
            return unknown(format!("{mean:.2} segments per ACK, by no rule"));
        }
        Verdict::of(Thinning::None, format!("{mean:.2} segments per ACK, as receivers send them by RFC 5681, §4.2"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a direction whose ACKs cover `mean` segments on average. The share `by_rule` of them
    /// follows a rule. There is no further evidence.
    fn case(mean: f64, by_rule: f64) -> Case {
        let coverage = Coverage { mean, by_rule, usual: mean as u32, largest: 12, count: 400, agreement: by_rule };
        Case {
            coverage,
            pace: Pace::default(),
            identifications: identification::Evidence::Nothing("zero".to_owned()),
            echoes: echoes::Evidence::Nothing("no timestamps".to_owned()),
            at_receiver: None,
            is_encrypted: false,
            pure_acks: 500,
            ratio: mean,
            ordered: 0.95,
            ridden: 0.0,
            uncaptured: 0.0,
        }
    }

    fn found(case: &Case) -> Thinning {
        case.verdict().thinning
    }

    #[test]
    fn ordinary_delayed_acks_are_the_receivers() {
        assert_eq!(found(&case(1.99, 0.99)), Thinning::None);
        // A box in a steady state always passes one ACK in four.
        assert_eq!(found(&case(8.0, 0.99)), Thinning::Unknown);
    }

    /// Batches of GRO cause this, and so does a box.
    #[test]
    fn without_evidence_irregular_acks_are_not_known() {
        let verdict = case(6.0, 0.2).verdict();
        assert_eq!(verdict.thinning, Thinning::Unknown);
        assert!(verdict.text.contains("zero; no timestamps"), "{}", verdict.text);
    }

    #[test]
    fn evidence_decides() {
        let missing = |share| identification::Evidence::Missing(share, "numbers".to_owned());
        let with = |identifications, echoes| found(&Case { identifications, echoes, ..case(6.0, 0.2) });
        let (nothing, no_numbers) = (case(0.0, 0.0).echoes, case(0.0, 0.0).identifications);
        let [whole, later] =
            [echoes::Evidence::Whole("whole".to_owned()), echoes::Evidence::Missing("later".to_owned())];
        assert_eq!(with(missing(0.6), nothing.clone()), Thinning::Thinned);
        assert_eq!(with(no_numbers.clone(), later.clone()), Thinning::Thinned);
        assert_eq!(with(missing(0.0), nothing), Thinning::SparseReceiver);
        assert_eq!(with(no_numbers, whole.clone()), Thinning::SparseReceiver);
        // Evidence that no ACK is missing has precedence.
        assert_eq!(with(missing(0.0), later), Thinning::SparseReceiver);
        assert_eq!(with(missing(0.6), whole), Thinning::SparseReceiver);
    }

    #[test]
    fn each_segment_has_its_ack() {
        assert_eq!(found(&case(1.02, 0.5)), Thinning::None);
    }

    /// Timestamps give evidence only for ACKs in order. ACKs after losses may be missing.
    #[test]
    fn whole_acks_in_order_are_not_all() {
        let echoes = echoes::Evidence::Whole("whole".to_owned());
        assert_eq!(found(&Case { echoes: echoes.clone(), ordered: 0.6, ..case(6.0, 0.2) }), Thinning::Unknown);
        assert_eq!(found(&Case { echoes, ordered: 0.6, ..case(1.9, 0.2) }), Thinning::None);
    }

    #[test]
    fn conditions_prevent_a_verdict() {
        let thinned = Case { echoes: echoes::Evidence::Missing("later".to_owned()), ..case(6.0, 0.2) };
        assert_eq!(found(&thinned), Thinning::Thinned);
        assert_eq!(found(&Case { at_receiver: Some("there".to_owned()), ..thinned.clone() }), Thinning::NotVisible);
        assert_eq!(found(&Case { pure_acks: 40, ..thinned.clone() }), Thinning::Unknown);
        assert_eq!(found(&Case { ridden: 0.9, ..thinned.clone() }), Thinning::Unknown);
        assert_eq!(found(&Case { uncaptured: 0.1, ..thinned.clone() }), Thinning::Unknown);
        assert_eq!(found(&Case { is_encrypted: true, ..thinned }), Thinning::SparseReceiver);
    }

    #[test]
    fn the_pace_of_a_link_and_later_echoes_leave_it_open() {
        let pace = Pace { share: 0.9, varies: 0.3, count: 400, rate: 5e4 };
        let echoes = echoes::Evidence::Open("later".to_owned());
        assert_eq!(found(&Case { pace, ..case(1.8, 0.6) }), Thinning::Unknown);
        assert_eq!(found(&Case { echoes: echoes.clone(), ..case(1.8, 0.6) }), Thinning::Unknown);
        assert_eq!(found(&Case { pace, echoes, ..case(2.0, 0.99) }), Thinning::None);
    }
}
