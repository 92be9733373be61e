//! ACKs-first scheduling (RFC 3449, §5.4.1): pure ACKs leave before all other packets.
//!
//! If data and ACKs share a slow link, an ACK in a FIFO waits for the data ahead of it. So a burst
//! of data delays the ACK clock of the other direction. Here pure ACKs form a separate band that is
//! served with strict priority; the packet in service is not interrupted. Each band is a FIFO with
//! its own limit, like a class of Linux's `prio` (`net/sched/sch_prio.c`). So data cannot use up
//! the capacity for ACKs.

use super::fifo::Fifo;
use super::{Discipline, Settings, Verdict};
use crate::counters::Tally;
use acklab_base::random::Stream;
use acklab_base::units::Limit;
use acklab_base::{Bytes, Datagram, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of ACKs-first scheduling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The capacity of each of the two bands (pure ACKs, and all other packets). Unlimited by
    /// default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
}

impl Settings for Config {
    type Discipline<D> = AcksFirst<D>;

    fn discipline<D: Datagram>(self, _draws: Stream) -> AcksFirst<D> {
        let band = || Fifo::new(self.limit, None);
        AcksFirst { acks: band(), rest: band() }
    }
}

/// Two bands. The first is served first.
#[derive(Clone, Debug)]
pub(crate) struct AcksFirst<D> {
    acks: Fifo<(Instant, D)>,
    rest: Fifo<(Instant, D)>,
}

impl<D: Datagram> Discipline<D> for AcksFirst<D> {
    fn offer(&mut self, now: Instant, packet: D, room: bool, tally: &mut Tally) -> Verdict<D> {
        let is_ack = packet.ack_header().is_some_and(|header| header.is_pure);
        let band = if is_ack { &mut self.acks } else { &mut self.rest };
        band.offer(now, packet, room, tally)
    }

    fn head(&self) -> Option<(Instant, &D)> {
        self.acks.head().or_else(|| self.rest.head())
    }

    fn take_head(&mut self, _leaves: Instant, _tally: &mut Tally) -> Option<(Instant, D)> {
        self.acks.pop().or_else(|| self.rest.pop())
    }

    fn any(&self, mut predicate: impl FnMut(&D) -> bool) -> bool {
        self.acks.any(&mut predicate) || self.rest.any(&mut predicate)
    }

    fn take_out(&mut self, mut wanted: impl FnMut(Instant, &D) -> bool) -> Vec<(Instant, D)> {
        let mut taken = self.acks.take_out(&mut wanted);
        taken.extend(self.rest.take_out(&mut wanted));
        taken
    }

    fn len(&self) -> usize {
        self.acks.len() + self.rest.len()
    }

    fn bytes(&self) -> Bytes {
        self.acks.bytes + self.rest.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Packet, ack, data, draws};
    use super::*;

    fn queue(limit: Option<Limit>) -> AcksFirst<Packet> {
        Config { limit }.discipline(draws())
    }

    fn offer(queue: &mut AcksFirst<Packet>, packet: Packet) -> bool {
        matches!(queue.offer(Instant::ZERO, packet, true, &mut Tally::new()), Verdict::Queued)
    }

    fn order(queue: &mut AcksFirst<Packet>) -> Vec<Packet> {
        std::iter::from_fn(|| queue.take_head(Instant::ZERO, &mut Tally::new())).map(|(_, packet)| packet).collect()
    }

    #[test]
    fn acks_leave_ahead_of_data_in_their_order() {
        let mut queue = queue(None);
        let with_data = ack(1, 7).with(|header| header.is_pure = false);
        for packet in [data(1500), with_data, ack(1, 10), data(700), ack(2, 20), ack(1, 11)] {
            assert!(offer(&mut queue, packet));
        }
        assert_eq!((queue.len(), queue.bytes()), (6, Bytes(1500 + 700 + 4 * 52)));
        assert_eq!(queue.head().map(|(_, packet)| *packet), Some(ack(1, 10)));
        let expected = [ack(1, 10), ack(2, 20), ack(1, 11), data(1500), with_data, data(700)];
        assert_eq!(order(&mut queue), expected, "an ACK with data is data");
    }

    #[test]
    fn data_do_not_fill_the_places_of_acks() {
        let mut queue = queue(Some(Limit::Packets(2)));
        let accepted = [data(1500), data(1500), data(1500), ack(1, 1), ack(1, 2), ack(1, 3)];
        assert_eq!(accepted.map(|packet| offer(&mut queue, packet)), [true, true, false, true, true, false]);
    }

    #[test]
    fn what_is_taken_out_comes_from_both_bands() {
        let mut queue = queue(None);
        for packet in [data(1500), ack(1, 1), data(700), ack(2, 2)] {
            assert!(offer(&mut queue, packet));
        }
        let taken = queue.take_out(|_, packet| packet.flow == 1 || packet.size == 700);
        assert_eq!(taken.into_iter().map(|(_, packet)| packet).collect::<Vec<_>>(), [ack(1, 1), data(700)]);
        assert_eq!(order(&mut queue), [ack(2, 2), data(1500)]);
    }
}
