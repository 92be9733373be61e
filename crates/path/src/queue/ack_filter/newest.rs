//! The ACK filter in which a new ACK supersedes at most one older ACK.
//!
//! * **`duplicates`**, in place, is Figure 1 of Kim et al., "On the cross-layer impact of TCP ACK
//!   thinning on IEEE 802.11 wireless MAC dynamics" (VTC 2006): searching from the head, the first
//!   pure ACK of the flow with a strictly smaller number is overwritten. If duplicates are queued,
//!   the newer ACK thus overtakes the second of them.
//! * **`news`** loses no information. ACKs with equal numbers stay, so that duplicates count
//!   towards fast retransmit and window updates are not lost. An ACK with a SACK option stays,
//!   because the next may not repeat its blocks, such as a D-SACK. An ACK with other ECN flags
//!   stays, because each one counts (RFC 3168, §6.1.3; RFC 9768). Only the newest queued ACK of the
//!   flow can be superseded, so that no ACK overtakes a duplicate.
//! * **`nothing`** leaves one ACK of a flow.

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
    /// The position of the newer ACK.
    pub place: Place,
}

/// The ACKs that an ACK filter keeps in addition to the newest of their flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keeps {
    /// ACKs with information that the newer one may lack: duplicates, ACKs with SACK blocks, ACKs
    /// with other ECN flags.
    #[default]
    News,
    /// ACKs with the acknowledgment number of the newer one; the first with a smaller number is
    /// removed (Kim et al., VTC 2006, Figure 1).
    Duplicates,
    /// None: the newest queued ACK is removed in any case.
    Nothing,
}

/// The position of an ACK that supersedes an older one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// The position of the older one, so that no delay is added (Kim et al., VTC 2006, §II-A).
    #[default]
    InPlace,
    /// The tail, as without a filter: the older one is only removed (RFC 3449, "ACK Filtering").
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
