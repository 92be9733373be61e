//! The filter that looks for one ACK to take the place of.
//!
//! * **`duplicates`**, in place, is Figure 1 of Kim et al., "On the cross-layer impact of TCP ACK thinning on IEEE 802.11 wireless MAC
//!   dynamics" (VTC 2006): from the head on, the first pure ACK of the flow with a strictly smaller number is overwritten. Where
//!   duplicates wait, the newer one comes ahead of the second of them.
//! * **`news`** loses nothing. Equal numbers stay, so duplicates count towards fast retransmit, and a window update is not swallowed.
//!   An ACK with a SACK option stays: its blocks, a D-SACK among them, may not be repeated by the next. So does one whose ECN flags
//!   differ: each one counts (RFC 3168, §6.1.3; RFC 9768). Only the newest ACK of the flow is looked at, so that none comes ahead of a
//!   duplicate.
//! * **`nothing`** leaves one ACK of a flow.

use super::chain::Chain;
use super::{AckFilter, Rule, is_after};
use crate::queue::Settings;
use acklab_base::units::Limit;
use acklab_base::{AckHeader, Datagram, FlowKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of an ACK filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What it may hold; without a limit, everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// Which ACKs never go.
    pub keeps: Keeps,
    /// Where the newest waits.
    pub place: Place,
}

/// Which ACKs an ACK filter lets stand beside the newest of their flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keeps {
    /// Those that say something which the newer one may not: duplicates, those with SACK blocks, those whose ECN flags differ.
    #[default]
    News,
    /// Those with the number of the newer one; the first with a smaller one goes (Kim et al., VTC 2006, Figure 1).
    Duplicates,
    /// None: the newest goes, whatever it says.
    Nothing,
}

/// Where the newest ACK waits that an older one has made room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Where the older one stood, so no delay is added (Kim et al., VTC 2006, §II-A).
    #[default]
    InPlace,
    /// At the tail, where it would have stood without a filter: the older one is only removed (RFC 3449, "ACK Filtering").
    Tail,
}

impl Settings for Config {
    type Discipline<D> = AckFilter<D, Newest>;

    fn discipline<D: Datagram>(self) -> AckFilter<D, Newest> {
        AckFilter::new(self.limit, Newest { keeps: self.keeps, place: self.place })
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Newest {
    pub(super) keeps: Keeps,
    pub(super) place: Place,
}

impl Rule for Newest {
    fn outdated<D: Datagram>(&self, chain: &Chain<D>, flow: FlowKey, newer: AckHeader) -> Option<usize> {
        if !newer.is_pure {
            return None;
        }
        if self.keeps == Keeps::Duplicates {
            let mut acks = chain.of_flow(flow);
            return acks.find(|at| chain.pure_ack(*at).is_some_and(|older| is_after(newer.ack, older.ack)));
        }
        let (at, older) = chain.newest_ack(flow)?;
        let goes = match self.keeps {
            Keeps::Nothing => !is_after(older.ack, newer.ack),
            _ => !chain.is_duplicate(at) && says_all(newer, older),
        };
        goes.then_some(at)
    }

    fn takes_its_place(&self) -> bool {
        self.place == Place::InPlace
    }
}

/// Does `newer` say all that `older` says?
fn says_all(newer: AckHeader, older: AckHeader) -> bool {
    is_after(newer.ack, older.ack) && older.sack.is_empty() && newer.ecn == older.ecn
}
