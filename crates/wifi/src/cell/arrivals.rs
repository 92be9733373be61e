//! Packets are at the end of a hop. There they leave the cell, or go on to another station.

use super::{Cell, Route, TxqId};
use crate::hack::End;
use crate::packet::Packet;
use acklab_base::{Datagram, Instant};
use std::collections::VecDeque;

/// Packets that have passed a hop.
#[derive(Clone, Debug)]
pub(super) struct Arrivals<D> {
    /// At the end of their way.
    delivered: VecDeque<D>,
    /// At the access point, with the queue in which they go on.
    relayed: Vec<(TxqId, D)>,
}

impl<D> Default for Arrivals<D> {
    fn default() -> Self {
        Self { delivered: VecDeque::new(), relayed: Vec::new() }
    }
}

impl<D: Datagram> Arrivals<D> {
    /// `packet` has passed `hop`. `routes` are those by which packets of that hop may go on.
    pub(super) fn add(&mut self, packet: D, routes: &[Option<Route>], hop: TxqId) {
        match routes.get(packet.flow().0 as usize).copied().flatten().and_then(|route| route.second) {
            Some(second) if second != hop => self.relayed.push((second, packet)),
            _ => self.delivered.push_back(packet),
        }
    }

    pub(super) fn has_delivered(&self) -> bool {
        !self.delivered.is_empty()
    }

    pub(super) fn take(&mut self) -> Option<D> {
        self.delivered.pop_front()
    }
}

/// Takes what goes up at the end of `hop`. A plain ACK is shown to what receives compressed ones.
pub(super) fn goes_up<D: Packet>(
    arrivals: &mut Arrivals<D>,
    routes: &[Option<Route>],
    hop: TxqId,
    hack: &mut Option<Box<End<D>>>,
) -> impl FnMut(D) {
    move |packet| {
        if let Some(end) = hack {
            end.receives_plain(&packet);
        }
        arrivals.add(packet, routes, hop);
    }
}

impl<D: Packet> Cell<D> {
    /// What has arrived at the access point for another station joins the queue there.
    pub(super) fn relay(&mut self, now: Instant) {
        if self.arrivals.relayed.is_empty() {
            return;
        }
        let mut relayed = std::mem::take(&mut self.arrivals.relayed);
        relayed.drain(..).for_each(|(second, packet)| self.admit(now, second, packet));
        self.arrivals.relayed = relayed;
    }
}
