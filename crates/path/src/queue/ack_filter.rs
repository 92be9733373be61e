//! An older ACK goes when a newer one of its flow comes.
//!
//! What the older one alone says is lost with it, so filters differ in what they let stand ([`Keeps`]), and in where the newer one
//! then waits ([`Place`]):
//!
//! * **`duplicates`**, in place, is Figure 1 of Kim et al., "On the cross-layer impact of TCP ACK thinning on IEEE 802.11 wireless MAC
//!   dynamics" (VTC 2006): from the head on, the first pure ACK of the flow with a strictly smaller number is overwritten. Where
//!   duplicates wait, the newer one comes ahead of the second of them.
//! * **`news`** loses nothing. Equal numbers stay, so duplicates count towards fast retransmit, and a window update is not swallowed.
//!   An ACK with a SACK option stays: its blocks, a D-SACK among them, may not be repeated by the next. So does one whose ECN flags
//!   differ: each one counts (RFC 3168, §6.1.3; RFC 9768). Only the newest ACK of the flow is looked at, so that none comes ahead of a
//!   duplicate.
//! * **`nothing`** leaves one ACK of a flow.
//! * That of CAKE stands in `cake`.

mod cake;
mod chain;

use super::{Keeps, Place, Verdict, has_room};
use acklab_base::units::Limit;
use acklab_base::{AckHeader, Datagram, FlowKey, Instant};
use chain::Chain;

#[derive(Clone, Debug)]
pub(crate) struct AckFilter<D> {
    limit: Option<Limit>,
    rule: Rule,
    pub(super) chain: Chain<D>,
}

/// Which older ACK goes, and where the newer one waits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    Newest { keeps: Keeps, place: Place },
    Cake { aggressive: bool },
}

impl<D: Datagram> AckFilter<D> {
    pub(crate) const fn new(limit: Option<Limit>, rule: Rule) -> Self {
        Self { limit, rule, chain: Chain::new() }
    }

    pub(crate) fn offer(&mut self, now: Instant, packet: D, room: bool) -> Verdict<D> {
        let (size, header) = (packet.wire_len(), packet.ack_header());
        if let Some(older) = header.and_then(|newer| self.outdated(packet.flow(), newer)) {
            let gone = if matches!(self.rule, Rule::Newest { place: Place::InPlace, .. }) {
                self.chain.replace(older, packet)
            } else {
                let gone = self.chain.remove(older).map(|(_, packet)| packet);
                self.chain.push(now, packet, false);
                gone
            };
            return gone.map_or(Verdict::Queued, Verdict::Replaced);
        }
        if !room || !has_room(self.limit, self.chain.len(), self.chain.bytes(), size) {
            return Verdict::Dropped(packet);
        }
        let is_duplicate = header.is_some_and(|newer| {
            newer.is_pure && self.newest(packet.flow()).is_some_and(|(_, older)| older.ack == newer.ack)
        });
        self.chain.push(now, packet, is_duplicate);
        Verdict::Queued
    }

    /// The place of the one that goes, if one does.
    fn outdated(&self, flow: FlowKey, newer: AckHeader) -> Option<usize> {
        let keeps = match self.rule {
            Rule::Cake { aggressive } => return cake::redundant(&self.chain, flow, newer, aggressive),
            Rule::Newest { .. } if !newer.is_pure => return None,
            Rule::Newest { keeps, .. } => keeps,
        };
        if keeps == Keeps::Duplicates {
            let mut acks = self.chain.of_flow(flow);
            return acks.find(|at| self.chain.pure_ack(*at).is_some_and(|older| is_after(newer.ack, older.ack)));
        }
        let (at, older) = self.newest(flow)?;
        let goes = match keeps {
            Keeps::Nothing => !is_after(older.ack, newer.ack),
            _ => !self.chain.is_duplicate(at) && says_all(newer, older),
        };
        goes.then_some(at)
    }

    /// The newest pure ACK of the flow.
    fn newest(&self, flow: FlowKey) -> Option<(usize, AckHeader)> {
        self.chain.of_flow_newest_first(flow).find_map(|at| Some((at, self.chain.pure_ack(at)?)))
    }
}

/// Does `newer` say all that `older` says?
fn says_all(newer: AckHeader, older: AckHeader) -> bool {
    is_after(newer.ack, older.ack) && older.sack.is_empty() && newer.ecn == older.ecn
}

/// Does sequence number `a` come after `b` (RFC 9293, §3.4)?
const fn is_after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() > 0
}

#[cfg(test)]
mod tests;
