//! The ACK filter of CAKE, with the rules of Linux's `cake_ack_filter` (`net/sched/sch_cake.c`).
//!
//! An acknowledging segment joins the tail and may remove one older ACK of its flow. Of the ACKs that it supersedes, the one nearest
//! to the head is removed, provided that another superseded one stands behind it. Two ACKs of a flow thus remain, so that the loss of
//! one does not stop the feedback. The aggressive filter leaves one: it also removes the only superseded ACK, if that is the last of its
//! flow and has the same ECN flags.

use super::chain::Chain;
use super::{AckFilter, Rule};
use crate::numbers::is_after;
use crate::queue::Settings;
use acklab_base::random::Stream;
use acklab_base::units::Limit;
use acklab_base::{AckHeader, Datagram, FlowKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of CAKE's ACK filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The capacity; unlimited by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// Leave one ACK instead of two (tc-cake's `ack-filter-aggressive`).
    pub aggressive: bool,
}

impl Settings for Config {
    type Discipline<D> = AckFilter<D, Cake>;

    fn discipline<D: Datagram>(self, _draws: Stream) -> AckFilter<D, Cake> {
        AckFilter::new(self.limit, Cake { aggressive: self.aggressive })
    }
}

/// ECE and CWR, in the bits of [`AckHeader::ecn`].
const ECE_CWR: u8 = 0b011;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cake {
    pub(in crate::queue) aggressive: bool,
}

impl Rule for Cake {
    fn superseded<D: Datagram>(&self, chain: &Chain<D>, flow: FlowKey, newer: AckHeader) -> Option<usize> {
        let mut first: Option<(usize, u8)> = None;
        for at in chain.of_flow(flow) {
            let Some(older) = chain.packet(at).and_then(Datagram::ack_header) else { continue };
            let flags = older.ecn & ECE_CWR;
            // If the flags change behind an ACK, it is the last one with its flags and must stay.
            first = first.filter(|(_, before)| *before == flags);
            if supersedes(newer, older) {
                if let Some((first, _)) = first {
                    return Some(first);
                }
                first = Some((at, flags));
            }
        }
        let (only, flags) = first?;
        (self.aggressive && chain.is_last_of_flow(only) && flags == newer.ecn & ECE_CWR).then_some(only)
    }
}

/// Returns `true` if `older` may be dropped and `newer` acknowledges more: by a larger acknowledgment number, or by SACK with the same
/// number.
fn supersedes(newer: AckHeader, older: AckHeader) -> bool {
    if !may_drop(older, newer.timestamps) || is_after(older.ack, newer.ack) {
        return false;
    }
    match compare(older, newer) {
        Sacked::Less => true,
        Sacked::Same => older.ack != newer.ack,
        Sacked::More => false,
    }
}

/// `cake_tcph_may_drop`, and the check for payload: the segment has no flags but ACK, ECE and CWR (AE is not allowed), no unknown
/// options, and neither timestamp is ahead of the newer segment's, which count as zero if it has none.
fn may_drop(older: AckHeader, newer: Option<(u32, u32)>) -> bool {
    let (value, echo) = newer.unwrap_or_default();
    let is_ahead = older.timestamps.is_some_and(|older| is_after(older.0, value) || is_after(older.1, echo));
    older.is_pure && !older.has_other_content && older.ecn & !ECE_CWR == 0 && !is_ahead
}

/// The SACK blocks of an older ACK compared with those of a newer one.
enum Sacked {
    Less,
    Same,
    /// The older ACK has a block that the newer one does not cover, or a D-SACK, so it must stay.
    More,
}

/// `cake_tcph_sack_compare`.
fn compare(older: AckHeader, newer: AckHeader) -> Sacked {
    let (blocks, of_newer) = (older.sack.as_slice(), newer.sack.as_slice());
    let octets = |blocks: &[(u32, u32)]| {
        blocks.iter().fold(0u32, |sum, (start, end)| sum.wrapping_add(end.wrapping_sub(*start)))
    };
    let is_covered = |&(start, end): &(u32, u32)| {
        let is_duplicate = is_after(older.ack, start);
        !is_duplicate && of_newer.iter().any(|outer| !is_after(outer.0, start) && !is_after(end, outer.1))
    };
    if !blocks.iter().all(is_covered) {
        Sacked::More
    } else if octets(of_newer) > octets(blocks) {
        Sacked::Less
    } else {
        Sacked::Same
    }
}
