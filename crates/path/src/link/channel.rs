//! The propagation of packets from the server to the far end.

use super::LinkConfig;
use super::flight::Flight;
use crate::counters::Tally;
use crate::duplicate::Duplicate;
use crate::jitter::Arrivals;
use crate::loss::Loss;
use acklab_base::random::Stream;
use acklab_base::{Datagram, Instant};

/// The channel to the far end, and the packets in it.
#[derive(Clone, Debug)]
pub(super) struct Channel<D> {
    pub(super) in_flight: Flight<D>,
    arrivals: Arrivals,
    loss: Option<Loss>,
    duplicate: Option<Duplicate>,
    pub(super) can_overtake: bool,
}

impl<D: Datagram + Clone> Channel<D> {
    /// Returns the channel of `config`. `stream` returns the random stream of a component by name.
    pub(super) fn new(config: &LinkConfig, stream: impl Fn(&str) -> Stream) -> Self {
        Self {
            in_flight: Flight::new(),
            arrivals: Arrivals::new(
                config.delay,
                config.jitter.map(|jitter| (jitter, stream("jitter"))),
                config.reorder.map(|reorder| (reorder, stream("reorder"))),
            ),
            loss: config.loss.clone().map(|loss| Loss::new(loss, stream("loss"))),
            duplicate: config.duplicate.map(|duplicate| Duplicate::new(duplicate, stream("duplicate"))),
            can_overtake: config.reorder.is_some(),
        }
    }

    /// Returns `true` if packets arrive in the order in which they enter, each at most once.
    pub(super) const fn is_in_order(&self) -> bool {
        !self.can_overtake && self.duplicate.is_none()
    }

    /// Returns `true` if all packets arrive, in the order in which they enter, each once.
    #[inline]
    pub(super) const fn is_plain(&self) -> bool {
        self.loss.is_none() && self.is_in_order()
    }

    /// Returns when a packet that was sent at `sent` arrives, unless the channel loses it.
    #[inline]
    pub(super) fn arrival(&mut self, sent: Instant) -> Instant {
        self.arrivals.arrival(sent)
    }

    #[inline(always)]
    pub(super) fn send(&mut self, sent: Instant, packet: D, tally: &mut Tally) {
        if self.is_plain() {
            let arrival = self.arrival(sent);
            self.in_flight.push(arrival, packet);
        } else {
            self.send_impaired(sent, packet, tally);
        }
    }

    /// Sends a packet that may be lost, duplicated or overtaken.
    #[inline(never)]
    fn send_impaired(&mut self, sent: Instant, packet: D, tally: &mut Tally) {
        if self.loss.as_mut().is_some_and(Loss::loses_next) {
            return tally.loses(sent, packet.wire_len());
        }
        if self.duplicate.as_mut().is_some_and(Duplicate::duplicates_next) {
            tally.duplicates(sent, packet.wire_len());
            self.carry(sent, packet.clone());
        }
        self.carry(sent, packet);
    }

    fn carry(&mut self, sent: Instant, packet: D) {
        let arrival = self.arrival(sent);
        if self.can_overtake {
            self.in_flight.insert(arrival, packet);
        } else {
            self.in_flight.push(arrival, packet);
        }
    }
}
