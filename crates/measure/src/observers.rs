//! The observers of the network: captures, monitors of the air, and the drops of each flow.

use crate::air::AirMonitor;
use crate::capture::{Capture, Error};
use crate::observed::Observed;
use acklab_base::{FlowKey, FlowTable, Instant, PortId};
use acklab_net::{Network, Taps};
use acklab_wifi::Cell;

/// A network of packets `P` with hosts `H` that is measured.
pub type World<P, H> = Network<P, H, Observers<P>>;

/// A point of the network at which packets are captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapturePoint {
    /// The entry of a link direction.
    LinkEntry(usize),
    /// The exit of a link direction.
    LinkExit(usize),
    /// A port, in both directions.
    Port(PortId),
}

/// The observers of a run.
pub struct Observers<P> {
    captures: Vec<Capture>,
    /// Capture points, each with the index of the capture that records it.
    points: Vec<(CapturePoint, usize)>,
    /// The first failure of a capture. Afterwards, nothing is recorded.
    failed: Option<Error>,
    /// The monitor of the air, by cell.
    pub(crate) air: Vec<AirMonitor<P>>,
    /// The number of packets that queues have dropped, by flow. `None` if no series needs it.
    drops: Option<FlowTable<u64>>,
}

impl<P: Observed> Observers<P> {
    /// Creates observers with a monitor for each cell, and without captures of packets.
    #[must_use]
    pub fn new(air: Vec<AirMonitor<P>>) -> Self {
        Self { air, captures: Vec::new(), points: Vec::new(), failed: None, drops: Some(FlowTable::new()) }
    }

    /// Adds a capture of these points.
    pub fn add(&mut self, capture: Capture, points: impl IntoIterator<Item = CapturePoint>) {
        let index = self.captures.len();
        self.captures.push(capture);
        self.points.extend(points.into_iter().map(|point| (point, index)));
    }

    /// Returns the monitor of each cell's air.
    #[must_use]
    pub fn air(&self) -> &[AirMonitor<P>] {
        &self.air
    }

    /// Returns the number of this flow's packets that queues have dropped in the measurement
    /// window.
    #[must_use]
    pub fn drops(&self, flow: FlowKey) -> u64 {
        self.drops.as_ref().and_then(|drops| drops.get(flow)).copied().unwrap_or_default()
    }

    /// Stops counting the drops of flows. If new flows were added without end, the counts would
    /// grow without bound.
    pub fn ignore_drops(&mut self) {
        self.drops = None;
    }

    /// Returns the first failure of a capture.
    ///
    /// # Errors
    /// If a capture has failed.
    pub fn check(&mut self) -> Result<(), Error> {
        self.air.iter_mut().try_for_each(AirMonitor::check)?;
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Finishes all captures.
    ///
    /// # Errors
    /// If a capture has failed or cannot be written.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.air.iter_mut().try_for_each(AirMonitor::finish)?;
        self.captures.drain(..).try_for_each(Capture::finish)
    }

    /// Records a packet. This function is rarely called, because few runs record packets.
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
    fn is_watching(&self) -> bool {
        !self.points.is_empty()
    }

    fn enters_link(&mut self, direction: usize, now: Instant, packet: &P) {
        self.record(CapturePoint::LinkEntry(direction), now, packet);
    }

    fn leaves_link(&mut self, direction: usize, now: Instant, packet: &P) {
        self.record(CapturePoint::LinkExit(direction), now, packet);
    }

    fn enters_port(&mut self, port: PortId, now: Instant, packet: &P) {
        self.record(CapturePoint::Port(port), now, packet);
    }

    fn leaves_port(&mut self, port: PortId, now: Instant, packet: &P) {
        self.record(CapturePoint::Port(port), now, packet);
    }

    fn dropped(&mut self, flow: FlowKey) {
        if let Some(drops) = &mut self.drops {
            *drops.entry(flow, || 0) += 1;
        }
    }

    fn cell_woke(&mut self, index: usize, cell: &mut Cell<P>) {
        let air = &mut self.air[index];
        if air.is_in_use() {
            let settled = cell.settled();
            air.record(cell.take_log(), settled);
        }
    }
}
