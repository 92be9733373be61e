//! Who watches the network: captures, monitors of the air, and the count of what each flow has lost to queues.

use crate::air::Air;
use crate::capture::{Capture, Error};
use crate::packet::Packet;
use acklab_base::{FlowKey, FlowTable, Instant, PortId};
use acklab_net::Taps;
use acklab_wifi::Cell;

/// A place that packets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The entrance of a link direction.
    Entrance(usize),
    /// The exit of a link direction.
    Exit(usize),
    /// A port, both ways.
    Port(PortId),
}

/// All that watches a run.
#[derive(Default)]
pub(crate) struct Watch {
    captures: Vec<Capture>,
    /// The captures of a run, by the places at which they listen.
    listeners: Vec<(Place, usize)>,
    /// The first failure of a capture, after which it holds no more.
    failed: Option<Error>,
    /// What is kept of the air, by cell.
    pub(crate) air: Vec<Air>,
    /// Packets that boxes have turned away.
    drops: FlowTable<u64>,
}

impl Watch {
    /// `capture` listens at these places.
    pub(crate) fn add(&mut self, capture: Capture, places: impl IntoIterator<Item = Place>) {
        let index = self.captures.len();
        self.captures.push(capture);
        self.listeners.extend(places.into_iter().map(|place| (place, index)));
    }

    /// Packets of this flow that boxes have turned away in the window of measurement.
    pub(crate) fn drops(&self, flow: FlowKey) -> u64 {
        self.drops.get(flow).copied().unwrap_or_default()
    }

    /// The first failure of a capture.
    pub(crate) fn check(&mut self) -> Result<(), Error> {
        self.air.iter_mut().try_for_each(Air::check)?;
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Finish all captures.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        self.air.iter_mut().try_for_each(Air::finish)?;
        self.captures.drain(..).try_for_each(Capture::finish)
    }

    #[inline]
    fn pass(&mut self, place: Place, now: Instant, packet: &Packet) {
        if !self.listeners.is_empty() {
            self.record(place, now, packet);
        }
    }

    fn record(&mut self, place: Place, now: Instant, packet: &Packet) {
        for (listener, capture) in &self.listeners {
            if *listener == place
                && self.failed.is_none()
                && let Err(error) = self.captures[*capture].record(now, packet)
            {
                self.failed = Some(error);
            }
        }
    }
}

impl Taps<Packet> for Watch {
    #[inline]
    fn enters_link(&mut self, direction: usize, now: Instant, packet: &Packet) {
        self.pass(Place::Entrance(direction), now, packet);
    }

    #[inline]
    fn leaves_link(&mut self, direction: usize, now: Instant, packet: &Packet) {
        self.pass(Place::Exit(direction), now, packet);
    }

    #[inline]
    fn enters_port(&mut self, port: PortId, now: Instant, packet: &Packet) {
        self.pass(Place::Port(port), now, packet);
    }

    #[inline]
    fn leaves_port(&mut self, port: PortId, now: Instant, packet: &Packet) {
        self.pass(Place::Port(port), now, packet);
    }

    fn dropped(&mut self, flow: FlowKey) {
        *self.drops.entry(flow, || 0) += 1;
    }

    fn cell_woke(&mut self, index: usize, cell: &mut Cell<Packet>) {
        let air = &mut self.air[index];
        if air.listens() {
            let settled = cell.settled();
            air.note(cell.take_log(), settled);
        }
    }
}
