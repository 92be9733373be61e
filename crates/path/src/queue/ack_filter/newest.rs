//! The ACK filter in which a new ACK supersedes at most one older ACK.
//!
//! * **`duplicates`**, in place, is Figure 1 of Kim et al., "On the cross-layer impact of TCP ACK
//!   thinning on IEEE 802.11 wireless MAC dynamics" (VTC 2006): searching from the head, the first
//!   pure ACK of the flow with a strictly smaller number is overwritten. If duplicates are queued,
//!   the newer ACK thus overtakes the second duplicate.
//! * **`news`** loses no information. An ACK is not removed if the newer ACK has the same number,
//!   so that neither duplicates for fast retransmit nor window updates are lost. An ACK with a SACK
//!   option is not removed, because the next ACK may not repeat its blocks, such as a D-SACK. An
//!   ACK with other ECN flags is not removed, because the sender evaluates each ACK's flags (RFC
//!   3168, §6.1.3; RFC 9768). Only the newest queued ACK of the flow can be superseded, so that no
//!   ACK overtakes a duplicate.
//! * **`nothing`** always removes the older ACK, so that one ACK of a flow remains.

use super::chain::Chain;
use super::{AckFilter, Rule};
use crate::queue::Settings;
use acklab_base::random::Stream;
use acklab_base::units::Limit;
use acklab_base::{AckHeader, Datagram, FlowKey, is_after};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of an ACK filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The capacity; unlimited by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// The ACKs that are never removed.
    pub keeps: Keeps,
    /// The position of an ACK that supersedes an older ACK.
    pub place: Place,
}

/// The ACKs that an ACK filter keeps in addition to the newest of their flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keeps {
    /// Keeps ACKs with information that the newer ACK may lack: duplicates, ACKs with SACK blocks,
    /// and ACKs with other ECN flags.
    #[default]
    News,
    /// Keeps ACKs with the acknowledgment number of the newer ACK. The first ACK with a smaller
    /// number is removed (Kim et al., VTC 2006, Figure 1).
    Duplicates,
    /// Keeps no other ACK: the newest queued ACK of the flow is always removed.
    Nothing,
}

/// The position of an ACK that supersedes an older ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// The newer ACK takes the position of the older ACK, so that no delay is added (Kim et al.,
    /// VTC 2006, §II-A).
    #[default]
    InPlace,
    /// The newer ACK joins the tail, as without a filter, and the older ACK is removed (RFC 3449,
    /// "ACK Filtering").
    Tail,
}

impl Settings for Config {
    type Discipline<D> = AckFilter<D, Newest>;

    fn discipline<D: Datagram>(self, _draws: Stream) -> AckFilter<D, Newest> {
        AckFilter::new(self.limit, Newest { keeps: self.keeps, place: self.place })
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Newest {
    pub(super) keeps: Keeps,
    pub(super) place: Place,
}

impl Rule for Newest {
    fn superseded<D: Datagram>(&self, chain: &Chain<D>, flow: FlowKey, newer: AckHeader) -> Option<usize> {
        if !newer.is_pure {
            return None;
        }
        if self.keeps == Keeps::Duplicates {
            let mut acks = chain.of_flow(flow);
            return acks.find(|at| chain.pure_ack(*at).is_some_and(|older| is_after(newer.ack, older.ack)));
        }
        let (at, older) = chain.newest_ack(flow)?;
        let is_superseded = match self.keeps {
            Keeps::Nothing => !is_after(older.ack, newer.ack),
            _ => !chain.is_duplicate(at) && has_all_of(newer, older),
        };
        is_superseded.then_some(at)
    }

    fn keeps_position(&self) -> bool {
        self.place == Place::InPlace
    }
}

/// Returns `true` if `newer` carries all information of `older`.
fn has_all_of(newer: AckHeader, older: AckHeader) -> bool {
    is_after(newer.ack, older.ack) && older.sack.is_empty() && newer.ecn == older.ecn
}
