//! The ACK filter of CAKE, rule by rule that of Linux's `cake_ack_filter` (`net/sched/sch_cake.c`).
//!
//! A segment that acknowledges comes to the tail and may remove one older ACK of its flow. Of those that it outdates, the one nearest
//! to the head goes, if another one stands behind it that is outdated as well; so two ACKs of a flow remain, and the loss of one does
//! not silence it. The aggressive filter leaves one: the only one that is outdated goes too, if it is next to the tail and their ECN
//! flags are equal.

use super::chain::Chain;
use super::{AckFilter, Rule, is_after};
use crate::queue::Settings;
use acklab_base::units::Limit;
use acklab_base::{AckHeader, Datagram, FlowKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of CAKE's ACK filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What it may hold; without a limit, everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// Leave one ACK instead of two (tc-cake's `ack-filter-aggressive`).
    pub aggressive: bool,
}

impl Settings for Config {
    type Discipline<D> = AckFilter<D, Cake>;

    fn discipline<D: Datagram>(self) -> AckFilter<D, Cake> {
        AckFilter::new(self.limit, Cake { aggressive: self.aggressive })
    }
}

/// ECE and CWR, in the bits of [`AckHeader::ecn`].
const ECE_CWR: u8 = 0b011;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cake {
    pub(super) aggressive: bool,
}

impl Rule for Cake {
    fn outdated<D: Datagram>(&self, chain: &Chain<D>, flow: FlowKey, newer: AckHeader) -> Option<usize> {
        let mut first: Option<(usize, u8)> = None;
        for at in chain.of_flow(flow) {
            let Some(older) = chain.packet(at).and_then(Datagram::ack_header) else { continue };
            let flags = older.ecn & ECE_CWR;
            // Behind it the flags change: it is the last to say what it says of them.
            first = first.filter(|(_, before)| *before == flags);
            if outdates(newer, older) {
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

/// May `older` go for all that it says itself? `newer` acknowledges more: by its number, or with the same number by SACK.
fn outdates(newer: AckHeader, older: AckHeader) -> bool {
    if !may_go(older, newer.timestamps) || is_after(older.ack, newer.ack) {
        return false;
    }
    match compare(older, newer) {
        Sacked::Less => true,
        Sacked::Same => older.ack != newer.ack,
        Sacked::More => false,
    }
}

/// `cake_tcph_may_drop`, and without payload: nothing but ACK, ECE and CWR among the flags, AE included; only options that it knows; and
/// neither clock ahead of the newer one's, which are zero if it has none.
fn may_go(older: AckHeader, newer: Option<(u32, u32)>) -> bool {
    let (value, echo) = newer.unwrap_or_default();
    let is_ahead = older.timestamps.is_some_and(|older| is_after(older.0, value) || is_after(older.1, echo));
    older.is_pure && !older.has_other_content && older.ecn & !ECE_CWR == 0 && !is_ahead
}

/// What an older ACK has sacked, against a newer one.
enum Sacked {
    Less,
    Same,
    /// Something that the newer one does not have, or a D-SACK: it must not get lost.
    More,
}

/// `cake_tcph_sack_compare`.
fn compare(older: AckHeader, newer: AckHeader) -> Sacked {
    let (blocks, of_newer) = (older.sack.as_slice(), newer.sack.as_slice());
    let octets = |blocks: &[(u32, u32)]| {
        blocks.iter().fold(0u32, |sum, (start, end)| sum.wrapping_add(end.wrapping_sub(*start)))
    };
    let holds = |&(start, end): &(u32, u32)| {
        let is_duplicate = is_after(older.ack, start);
        !is_duplicate && of_newer.iter().any(|outer| !is_after(outer.0, start) && !is_after(end, outer.1))
    };
    if !blocks.iter().all(holds) {
        Sacked::More
    } else if octets(of_newer) > octets(blocks) {
        Sacked::Less
    } else {
        Sacked::Same
    }
}
