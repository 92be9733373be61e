//! Packets that have passed a hop leave the cell or are relayed to another station.

use super::distribution::Distribution;
use super::{ACCESS_POINT, Cell};
use crate::hack::End;
use crate::packet::Packet;
use acklab_base::{Datagram, Instant};
use std::collections::VecDeque;

/// Packets that have passed a hop.
#[derive(Clone, Debug)]
pub(super) struct Arrivals<D> {
    /// Packets, each with the node at which it leaves the cell.
    delivered: VecDeque<(usize, D)>,
    /// Packets at the access point, each with the station to which it is relayed.
    relayed: Vec<(usize, D)>,
}

impl<D> Default for Arrivals<D> {
    fn default() -> Self {
        Self { delivered: VecDeque::new(), relayed: Vec::new() }
    }
}

impl<D: Datagram> Arrivals<D> {
    /// Adds `packet`, which has arrived at the node `at`.
    pub(super) fn add(&mut self, packet: D, distribution: &Distribution, at: usize) {
        let onwards = if at == ACCESS_POINT { distribution.exit(packet.destination()) } else { None };
        match onwards.filter(|exit| *exit != at) {
            Some(exit) => self.relayed.push((exit, packet)),
            None => self.delivered.push_back((at, packet)),
        }
    }

    pub(super) fn has_delivered(&self) -> bool {
        !self.delivered.is_empty()
    }

    pub(super) fn take(&mut self) -> Option<(usize, D)> {
        self.delivered.pop_front()
    }
}

/// Delivers packets to the layers above the MAC at the node `at`. The decompressor observes
/// uncompressed TCP ACKs.
pub(super) fn pass_up<D: Packet>(
    arrivals: &mut Arrivals<D>,
    distribution: &Distribution,
    at: usize,
    hack: &mut Option<Box<End<D>>>,
) -> impl FnMut(D) {
    move |packet| {
        if let Some(end) = hack {
            end.receives_plain(&packet);
        }
        arrivals.add(packet, distribution, at);
    }
}

impl<D: Packet> Cell<D> {
    /// Enqueues the packets at the access point that are relayed to another station.
    pub(super) fn relay(&mut self, now: Instant) {
        if self.arrivals.relayed.is_empty() {
            return;
        }
        let mut relayed = std::mem::take(&mut self.arrivals.relayed);
        relayed.drain(..).for_each(|(to, packet)| self.send_on(now, ACCESS_POINT, to, packet));
        self.arrivals.relayed = relayed;
    }
}
