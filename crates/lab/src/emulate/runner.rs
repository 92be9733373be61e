//! Runs a world in real time, up to an instant or until it is stopped. Takes samples during the
//! run.

use super::host_error;
use super::live::{Monitor, Real};
use super::packet::RealPacket;
use crate::assemble::World;
use crate::error::Error;
use acklab_base::Instant;
use acklab_live::{Devices, Driver, Outcome, WallClock};
use acklab_measure::{FlowInfo, Subjects};

/// The driver with its devices and its monitor, and the time at which the run was stopped.
pub(crate) struct Runner<D> {
    driver: Driver,
    devices: D,
    subjects: Subjects,
    /// The number of directions of the scenario's flows. The directions of found flows follow.
    of_scenario: usize,
    monitor: Option<Monitor>,
    ended_early: Option<Instant>,
}

impl<D: Copy> Runner<D> {
    pub(crate) fn new(driver: Driver, devices: D, subjects: Subjects, monitor: Option<Monitor>) -> Self {
        let of_scenario = subjects.flows.len();
        Self { driver, devices, subjects, of_scenario, monitor, ended_early: None }
    }

    /// Returns the subjects of the measurement.
    pub(crate) const fn subjects(&self) -> &Subjects {
        &self.subjects
    }

    /// Replaces the flows of `world` that were found during the run by `found`.
    pub(crate) fn replace_found<H: Real>(&mut self, world: &World<RealPacket, H>, found: Vec<FlowInfo>, now: Instant) {
        self.subjects.flows.truncate(self.of_scenario);
        self.subjects.flows.extend(found);
        self.monitor.iter_mut().for_each(|monitor| monitor.renew(world, now));
    }

    /// Runs until `until`, unless the run was stopped.
    pub(crate) fn run_until<H: Real>(
        &mut self,
        world: &mut World<RealPacket, H>,
        until: Instant,
        clock: WallClock,
        goes_on: &mut impl FnMut() -> bool,
    ) -> Result<(), Error>
    where
        D: Devices<World<RealPacket, H>>,
    {
        while self.ended_early.is_none() {
            let part = self.monitor.as_ref().map_or(until, |monitor| monitor.next().min(until));
            let outcome = self.driver.run(world, part, self.devices, &mut *goes_on);
            if outcome.map_err(host_error("a device failed"))? == Outcome::Stopped {
                self.ended_early = Some(clock.now().min(until));
            } else if let Some(monitor) = self.monitor.as_mut().filter(|monitor| monitor.next() == part) {
                let known = self.subjects.flows.len() - self.of_scenario;
                self.subjects.flows.extend_from_slice(world.hosts.infos_after(known));
                monitor.sample(world, &self.subjects, part);
            }
            if part == until {
                break;
            }
        }
        world.taps.check().map_err(Error::from)
    }

    /// Returns `planned`, or the time at which the run was stopped.
    pub(crate) fn now(&self, planned: Instant) -> Instant {
        self.ended_early.unwrap_or(planned)
    }

    /// Returns `true` if the run was stopped.
    pub(crate) const fn has_ended_early(&self) -> bool {
        self.ended_early.is_some()
    }

    pub(crate) const fn driver(&mut self) -> &mut Driver {
        &mut self.driver
    }
}
