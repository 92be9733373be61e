//! One run of a scenario.

use crate::assemble::{self, World};
use crate::error::Error;
use crate::scenario::{Scenario, Stack};
use crate::strategies::Strategies;
use acklab_base::{Instant, MachineId, PortId};
use acklab_drive::{Outcome, VirtualClock};
use acklab_measure::Table;
use acklab_measure::flow::Measured;
use acklab_measure::qlog;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Options of a run that are not part of the scenario.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The folder to which the paths of trace files are relative.
    pub base: PathBuf,
    /// The folder for captures. If `None`, no capture is written.
    pub captures: Option<PathBuf>,
    /// The folder and format of the endpoints' logs. If `None`, no log is written. A flow over a
    /// transport without its own packets, such as UDP, has no log.
    pub qlog: Option<qlog::Options>,
    /// The user's strategies that the scenario names.
    pub strategies: Strategies,
    /// The progress of the run, for a display.
    pub progress: Progress,
}

/// The share of a run's duration that has passed. Clones share the value.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<AtomicU32>);

impl Progress {
    /// The number of parts in which the progress of a run is reported.
    const PARTS: u32 = 1000;

    /// Returns the share of the duration, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        f64::from(self.0.load(Ordering::Relaxed)) / f64::from(Self::PARTS)
    }
}

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Results {
    /// The tables. First `flows`, `links`, `network` and `acks`, then the tables of cells and the
    /// requested series.
    pub tables: Vec<Table>,
    /// The number of wake-ups, which measures the computing work.
    pub wakes: u64,
    /// The number of packets that links and cells delivered.
    pub hops: u64,
    /// The number of packets that were dropped because their destination had no route or their flow
    /// had no port.
    pub undeliverable: u64,
}

/// Runs `scenario` to its end. Calls `goes_on` periodically, and stops if it returns `false`. Calls
/// `goes_on` after every wake-up if the scenario uses a strategy of the user, because the strategy
/// may have failed.
///
/// # Errors
/// If there is no flow, a flow requires the kernel's stack, a strategy is missing, a trace cannot
/// be read, a capture or a log cannot be written, or `goes_on` returned `false`.
pub fn run(scenario: &Scenario, options: &RunOptions, mut goes_on: impl FnMut() -> bool) -> Result<Results, Error> {
    run_while(scenario, options, &mut goes_on)
}

/// Runs [`run`] for any `goes_on`. A generic function would compile the event loop, and all code
/// inlined into it, for each caller.
fn run_while(scenario: &Scenario, options: &RunOptions, goes_on: &mut dyn FnMut() -> bool) -> Result<Results, Error> {
    if scenario.flow.is_empty() {
        return Err(Error::NoFlow);
    }
    if let Some(flow) = scenario.flows().into_iter().find(|flow| flow.stack == Some(Stack::Kernel)) {
        return Err(Error::KernelStack { flow: flow.name });
    }
    let (mut world, subjects) = assemble::assemble(scenario, options)?;
    let mut clock = VirtualClock::new(&mut world);
    if scenario.flow.iter().any(|flow| !flow.transport.custom_names().is_empty()) {
        clock.call_back_always();
    }
    let end = Instant::ZERO + scenario.duration;
    let mut advance = |clock: &mut VirtualClock, world: &mut World, until: Instant| {
        advance(scenario, (clock, world), until, end, &options.progress, goes_on)
    };
    let Range { start: from, end: until } = assemble::window(scenario);

    if from > Instant::ZERO {
        advance(&mut clock, &mut world, from)?;
    }
    world.hosts.open(from);
    advance(&mut clock, &mut world, until)?;
    let (tables, hops) = acklab_measure::tables(&mut world, &subjects, &scenario.measure.series, from..until);
    if end > until {
        advance(&mut clock, &mut world, end)?;
    }
    world.taps.finish()?;
    world.hosts.finish_logs()?;
    Ok(Results { tables, wakes: clock.wakes(), hops, undeliverable: world.undeliverable() })
}

/// Runs to `until` in parts. Each part is an equal share of the time to `end`. The order of events
/// does not depend on the parts.
fn advance(
    scenario: &Scenario,
    (clock, world): (&mut VirtualClock, &mut World),
    until: Instant,
    end: Instant,
    progress: &Progress,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<(), Error> {
    let part = (end.as_nanos() / u64::from(Progress::PARTS)).max(1);
    while clock.now() < until {
        let passed = u32::try_from(clock.now().as_nanos() / part).unwrap_or(Progress::PARTS);
        progress.0.store(passed.min(Progress::PARTS), Ordering::Relaxed);
        let next = Instant::from_nanos(part.saturating_mul(u64::from(passed) + 1));
        match clock.run(world, next.min(until), &mut *goes_on) {
            Outcome::Done => {}
            Outcome::Stopped => return Err(Error::Stopped),
            Outcome::Standstill(machine) => {
                let who = name_of(scenario, world.port_of(machine), machine);
                return Err(Error::Standstill { who, seconds: clock.now().as_secs_f64() });
            }
        }
    }
    world.taps.check()?;
    world.hosts.check_logs().map_err(Error::from)
}

/// Returns the name of a machine: the flow, the link direction or the cell. `port` is the port if
/// the machine is an endpoint or a proxy.
fn name_of(scenario: &Scenario, port: Option<PortId>, machine: MachineId) -> String {
    let directions = 2 * scenario.link.len();
    match (port, machine.0 as usize) {
        // The flows' ends have the first ports, in the order of the scenario.
        (Some(port), _) => match scenario.flows().get(port.index() / 2) {
            Some(flow) => format!("flow {}", flow.name),
            None => "a proxy (pep)".to_owned(),
        },
        (None, direction) if direction < directions => {
            format!("link {}", assemble::direction_name(scenario, direction))
        }
        (None, cell) => format!("cell {}", scenario.wifi[cell - directions].name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_progress_has_the_name_of_the_scenario() {
        const CELL: &str = include_str!("../benches/cost/wifi_n_download.toml");
        let scenario = crate::scenario::load(CELL, "cell", &["flow.0.name=download".to_owned()], None).unwrap();
        let names = [0, 1, 2].map(|machine| name_of(&scenario, None, MachineId(machine)));
        assert_eq!(names, ["link wire_forward", "link wire_reverse", "cell cell"]);
        assert_eq!(name_of(&scenario, Some(PortId(1)), MachineId(4)), "flow download");
        assert_eq!(name_of(&scenario, Some(PortId(2)), MachineId(5)), "a proxy (pep)");
    }
}
