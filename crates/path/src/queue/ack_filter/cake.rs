//! The ACK filter of CAKE, with the rules of Linux's `cake_ack_filter` (`net/sched/sch_cake.c`).
//!
//! An acknowledging segment joins the tail and may remove one older ACK of its flow. The filter
//! removes the superseded ACK nearest to the head, provided that another superseded ACK is behind
//! it. So two ACKs of a flow remain, and the loss of one does not stop the feedback. The aggressive
//! filter leaves only one ACK. It also removes the only superseded ACK if this is the last ACK of
//! its flow and has the same ECN flags.
//!
//! The kernel's filter interprets ECE and CWR according to RFC 3168. It keeps every ACK with AE or
//! with an AccECN option. With `accurate_ecn`, the filter supports Accurate ECN (RFC 9768) and
//! removes such ACKs without loss of information. No kernel has such a filter. The option's
//! counters are totals of the connection, so an ACK with the option is redundant if a newer ACK has
//! as many counters. Without the option, an ACK is redundant if the next ACK repeats its counter
//! ACE.

use super::chain::Chain;
use super::{AckFilter, Rule};
use crate::queue::Settings;
use acklab_base::random::Stream;
use acklab_base::units::Limit;
use acklab_base::{AckHeader, Datagram, FlowKey, is_after};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of CAKE's ACK filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The capacity; unlimited by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// If `true`, one ACK of a flow remains in the queue instead of two (tc-cake's
    /// `ack-filter-aggressive`).
    pub aggressive: bool,
    /// If `true`, AE, CWR and ECE are read as the counter ACE, and AccECN options as counters (RFC
    /// 9768). Use it only if all flows use Accurate ECN.
    pub accurate_ecn: bool,
}

impl Settings for Config {
    type Discipline<D> = AckFilter<D, Cake>;

    fn discipline<D: Datagram>(self, _draws: Stream) -> AckFilter<D, Cake> {
        AckFilter::new(self.limit, Cake { aggressive: self.aggressive, accurate_ecn: self.accurate_ecn })
    }
}

/// ECE and CWR, in the bits of [`AckHeader::ecn`].
const ECE_CWR: u8 = 0b011;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cake {
    pub(in crate::queue) aggressive: bool,
    pub(in crate::queue) accurate_ecn: bool,
}

impl Cake {
    /// Returns the flags that must not change behind a removed ACK.
    const fn flags(&self, header: AckHeader) -> u8 {
        match (self.accurate_ecn, header.accurate_ecn) {
            (false, _) => header.ecn & ECE_CWR,
            (true, 0) => header.ecn,
            (true, _) => 0,
        }
    }

    /// Returns `true` if `older` may be dropped and `newer` acknowledges more: by a larger
    /// acknowledgment number, or by SACK with the same number.
    fn supersedes(&self, newer: AckHeader, older: AckHeader) -> bool {
        if !self.may_drop(older, newer) || is_after(older.ack, newer.ack) {
            return false;
        }
        match compare(older, newer) {
            Sacked::Less => true,
            Sacked::Same => older.ack != newer.ack,
            Sacked::More => false,
        }
    }

    /// `cake_tcph_may_drop`, and the check for payload: the segment has no flags except ACK, ECE
    /// and CWR (AE is not allowed), and no unknown options. Neither of its timestamps is ahead of
    /// the timestamps of the newer segment. These are zero if the newer segment has no timestamps.
    fn may_drop(&self, older: AckHeader, newer: AckHeader) -> bool {
        let (value, echo) = newer.timestamps.unwrap_or_default();
        let is_ahead = older.timestamps.is_some_and(|older| is_after(older.0, value) || is_after(older.1, echo));
        let counts_on = self.accurate_ecn && (1..=newer.accurate_ecn).contains(&older.accurate_ecn);
        let is_known = counts_on || !older.has_other_content;
        older.is_pure && is_known && (self.accurate_ecn || older.ecn & !ECE_CWR == 0) && !is_ahead
    }
}

impl Rule for Cake {
    fn superseded<D: Datagram>(&self, chain: &Chain<D>, flow: FlowKey, newer: AckHeader) -> Option<usize> {
        let mut first: Option<(usize, u8)> = None;
        for at in chain.of_flow(flow) {
            let Some(older) = chain.packet(at).and_then(Datagram::ack_header) else { continue };
            let flags = self.flags(older);
            // If the flags change behind an ACK, this ACK is the last one with its flags, so it is
            // not removed.
            first = first.filter(|(_, before)| *before == flags);
            if self.supersedes(newer, older) {
                if let Some((first, _)) = first {
                    return Some(first);
                }
                first = Some((at, flags));
            }
        }
        let (only, flags) = first?;
        (self.aggressive && chain.is_last_of_flow(only) && flags == self.flags(newer)).then_some(only)
    }
}

/// The result of comparing the SACK blocks of an older ACK with the blocks of a newer ACK.
enum Sacked {
    Less,
    Same,
    /// The older ACK has a block that the newer ACK does not cover, or a D-SACK, so it is not
    /// removed.
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
