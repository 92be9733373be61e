//! The observers of the network: captures, monitors of the air, and the drops of each flow.

use crate::air::AirMonitor;
use crate::capture::{Capture, Error};
use crate::packet::{Observed, Packet};
use acklab_base::{FlowKey, FlowTable, Instant, PortId};
use acklab_net::Taps;
use acklab_wifi::Cell;

/// A point of the network at which packets are captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CapturePoint {
    /// The entry of a link direction.
    LinkEntry(usize),
    /// The exit of a link direction.
    LinkExit(usize),
    /// A port, in both directions.
    Port(PortId),
}

/// The observers of a run.
pub(crate) struct Observers<P = Packet> {
    captures: Vec<Capture>,
    /// Points, each with the index of a capture that records it.
    points: Vec<(CapturePoint, usize)>,
    /// The first failure of a capture. After it, nothing more is recorded.
    failed: Option<Error>,
    /// By cell, the monitor of its air.
    pub(crate) air: Vec<AirMonitor<P>>,
    /// By flow, the packets that queues have dropped.
    drops: FlowTable<u64>,
}

impl<P: Observed> Observers<P> {
    /// Observers without captures of packets, and with a monitor for each cell.
    pub(crate) fn new(air: Vec<AirMonitor<P>>) -> Self {
        Self { air, captures: Vec::new(), points: Vec::new(), failed: None, drops: FlowTable::new() }
    }

    /// Adds a capture of these points.
    pub(crate) fn add(&mut self, capture: Capture, points: impl IntoIterator<Item = CapturePoint>) {
        let index = self.captures.len();
        self.captures.push(capture);
        self.points.extend(points.into_iter().map(|point| (point, index)));
    }

    /// The packets of this flow that queues have dropped in the window of measurement.
    pub(crate) fn drops(&self, flow: FlowKey) -> u64 {
        self.drops.get(flow).copied().unwrap_or_default()
    }

    /// Returns the first failure of a capture as an error.
    pub(crate) fn check(&mut self) -> Result<(), Error> {
        self.air.iter_mut().try_for_each(AirMonitor::check)?;
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Finishes all captures.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        self.air.iter_mut().try_for_each(AirMonitor::finish)?;
        self.captures.drain(..).try_for_each(Capture::finish)
    }

    #[inline]
    fn pass(&mut self, point: CapturePoint, now: Instant, packet: &P) {
        if !self.points.is_empty() {
            self.record(point, now, packet);
        }
    }

    /// Few runs record packets, and [`pass`](Self::pass) runs at each step of a packet.
    #[cold]
    fn record(&mut self, passed: CapturePoint, now: Instant, packet: &P) {
        for (point, capture) in &self.points {
            if *point == passed
                && self.failed.is_none()
                && let Err(error) = self.captures[*capture].record(now, packet)
            {
                self.failed = Some(error);
            }
        }
    }
}

impl<P: Observed> Taps<P> for Observers<P> {
    #[inline]
    fn enters_link(&mut self, direction: usize, now: Instant, packet: &P) {
        self.pass(CapturePoint::LinkEntry(direction), now, packet);
    }

    #[inline]
    fn leaves_link(&mut self, direction: usize, now: Instant, packet: &P) {
        self.pass(CapturePoint::LinkExit(direction), now, packet);
    }

    #[inline]
    fn enters_port(&mut self, port: PortId, now: Instant, packet: &P) {
        self.pass(CapturePoint::Port(port), now, packet);
    }

    #[inline]
    fn leaves_port(&mut self, port: PortId, now: Instant, packet: &P) {
        self.pass(CapturePoint::Port(port), now, packet);
    }

    fn dropped(&mut self, flow: FlowKey) {
        *self.drops.entry(flow, || 0) += 1;
    }

    fn cell_woke(&mut self, index: usize, cell: &mut Cell<P>) {
        let air = &mut self.air[index];
        if air.is_in_use() {
            let settled = cell.settled();
            air.record(cell.take_log(), settled);
        }
    }
}
