//! A scenario in real time: its network carries the packets of real hosts.
//!
//! Each node with a flow's end or an application is a network namespace whose only link is a TUN
//! device. The packets that its kernel sends enter the network of the scenario. The network has the
//! same links, queues, gates and cells as in a simulation, but runs in real time. Flows use the
//! kernel's TCP and UDP, or acklab's endpoints, which are additional ports of the network.
//!
//! In the order of reading:
//!
//! | module | contents |
//! |---|---|
//! | `addresses` | assigns the IP addresses of nodes |
//! | `packet` | the packet of a real host |
//! | `hosts` | the hosts of the network: TUN devices with the measurement of their flows, and acklab's endpoints |
//! | `end` | one end of a flow: measured from packets and from `TCP_INFO`, or an own endpoint |
//! | `kernel` | the requirements of a flow on the kernel, or the reason to refuse it |
//! | `traffic` | the applications of flows |
//! | `programs` | finds the connections of programs by their packets |
//! | `command` | commands on nodes |
//! | `live` | samples of a running emulation |
//! | `runner` | runs the world up to an instant, and takes samples on the way |
//! | `stage` | namespaces, devices, routes and sockets |
//! | `calibrate` | measures the capacity of this machine |
//! | `trust` | the lateness of packets, and whether the results are reliable |

mod addresses;
mod calibrate;
mod command;
pub(crate) mod end;
mod hosts;
mod kernel;
pub(crate) mod live;
pub(crate) mod packet;
mod programs;
pub(crate) mod runner;
mod stage;
mod traffic;
pub(crate) mod trust;

use crate::assemble::{self, Parts};
use crate::error::Error;
use crate::scenario::Scenario;
use crate::{Results, RunOptions};
use acklab_base::{Duration, Instant};
pub use acklab_live::idling::IdleProcessors;
use acklab_live::idling::Wakefulness;
pub use acklab_live::permission;
use acklab_live::realtime::Privileges;
use acklab_live::{WallClock, realtime};
use acklab_measure::Table;
use acklab_measure::flow::Measured;
pub use calibrate::{Calibration, calibrate};
use command::{Commands, Outcomes};
use live::Monitor;
pub use live::{CellSample, FlowSample, LatenessSample, LinkSample, Sample};
use runner::Runner;
use stage::Stage;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use traffic::Applications;
pub use traffic::Pace;
pub use trust::Verdict;

/// Options of an emulation that are not part of the scenario.
#[derive(Clone, Debug, Default)]
pub struct EmulateOptions {
    /// The options that a simulation also has.
    pub run: RunOptions,
    /// The folder for the output of applications. If `None`, the output is discarded.
    pub outputs: Option<PathBuf>,
    /// The name of the node that connects to the networks of this machine and, through them, to the
    /// Internet.
    pub internet: Option<String>,
    /// A command that uses the terminal. The run ends when the command ends.
    pub foreground: Option<Foreground>,
    /// The receiver of one sample per second, for a live view of the run.
    pub live: Option<Sender<Sample>>,
    /// The requested power-saving behavior of idle processors.
    pub processors: IdleProcessors,
    /// How applications of flows write.
    pub pace: Pace,
}

/// A command that uses the terminal.
#[derive(Clone, Debug)]
pub struct Foreground {
    /// The node on which the command runs.
    pub node: String,
    /// The program and its arguments. `{name}` is replaced by the address of the node `name`, as in
    /// applications.
    pub words: Vec<String>,
}

/// The results of an emulation.
#[derive(Clone, Debug)]
pub struct Emulation {
    /// The results that a simulation also has, followed by the tables `timing`, `kernel` and
    /// `applications`.
    pub results: Results,
    /// Whether the results are reliable.
    pub verdict: Verdict,
    /// The exit status of the command that uses the terminal: 128 plus the signal number if a
    /// signal ended it.
    pub exit_status: Option<i32>,
    /// When the run was stopped, if before its planned end. The results then cover the measurement
    /// window up to that time.
    pub stopped: Option<Instant>,
}

/// Runs `scenario` in real time. Calls `goes_on` periodically, and stops if it returns `false`.
/// Returns the measurements up to that time.
///
/// The calling thread carries the packets. It gets real-time priority if the system permits that,
/// moves to a new network namespace, and should end afterwards.
///
/// # Errors
/// If the process lacks a permission, a flow requires an ability that the kernel lacks, a capture
/// cannot be written, or `goes_on` returned `false` before the window of measurement began.
pub fn emulate(
    scenario: &Scenario,
    options: &EmulateOptions,
    mut goes_on: impl FnMut() -> bool,
) -> Result<Emulation, Error> {
    emulate_while(scenario, options, &mut goes_on)
}

/// The time between the creation of a world's first machine and the moment from which its packets
/// are carried. Most of this time is spent on locking memory. Without it, a flow that starts at
/// zero would be delayed.
const PREPARATION: Duration = Duration::from_millis(20);

/// Runs [`emulate`] for any `goes_on`. As it is not generic, it is compiled once.
fn emulate_while(
    scenario: &Scenario,
    options: &EmulateOptions,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Emulation, Error> {
    let parts = Parts::new(scenario, &options.run)?;
    parts.refuse_split_ways()?;
    let mut stage = Stage::new(scenario, options, &parts)?;
    let clock = WallClock::start_in(PREPARATION);
    let (mut world, traffic, plans) = stage.populate(scenario, options, parts, clock)?;
    let subjects = assemble::subjects(scenario, plans);
    let before = stage.overruns()?;
    let jobs = stage.jobs(scenario, options)?;

    // From here on, several threads use the clock.
    let applications = Applications::start(traffic, options.pace, clock)
        .map_err(host_error("cannot start the applications of flows"))?;
    let has_jobs = !jobs.is_empty();
    let commands = if has_jobs {
        Some(Commands::start(jobs, clock).map_err(host_error("cannot start the thread of the commands"))?)
    } else {
        None
    };
    let wakefulness = Wakefulness::keep(options.processors, clock);
    // Commands run in their own processes. The system places them on any processor.
    if !has_jobs {
        realtime::share_a_processor();
    }
    let privileges = Privileges::of_carrier(wakefulness);
    let driver = hosts::driver_of(&mut world, clock, &privileges)?;
    let monitor = options.live.clone().map(|to| Monitor::new(to, &mut world, Some(scenario.duration)));
    let mut runner = Runner::new(driver, hosts::read, subjects, monitor);
    let mut goes_on = || goes_on() && !commands.as_ref().is_some_and(Commands::has_foreground_ended);

    let end = Instant::ZERO + scenario.duration;
    let Range { start: from, end: until } = assemble::window(scenario);
    runner.run_until(&mut world, from, clock, &mut goes_on)?;
    let was_stopped_before = runner.has_ended_early();
    let from = from.min(runner.now(from));
    world.hosts.open(from);
    world.hosts.outlet.reset();
    privileges.wakefulness().open(from);
    runner.run_until(&mut world, until, clock, &mut goes_on)?;
    let until = runner.now(until);
    let found = world.hosts.settle(until);
    runner.replace_found(&world, found, until);
    let (mut tables, hops) =
        acklab_measure::tables(&mut world, runner.subjects(), &scenario.measure.series, from..until);
    let mut timing = {
        let hosts = &world.hosts;
        trust::Timing::of(&hosts.outlet, hosts.ignored, scenario, &privileges, stage.overruns()? - before)
    };
    runner.run_until(&mut world, end, clock, &mut goes_on)?;
    world.taps.finish()?;
    let mut failures = stage.failures();
    failures.extend(world.hosts.failures());
    timing.count_waits("the application of the flows", &applications.finish(), &(from..until));
    let outcomes = commands.map_or_else(|| Ok(Outcomes::default()), Commands::finish)?;
    timing.count_waits("a command in the background", &outcomes.waits_of_orphans, &(from..until));
    let reports = outcomes.reports;
    for report in &reports {
        timing.count_waits(&format!("\"{}\"", report.name), &report.waits, &(from..until));
    }
    let has_foreground_ended =
        reports.iter().any(|report| report.is_foreground && (report.ended.is_some() || report.failure.is_some()));
    let stopped = (runner.has_ended_early() && !has_foreground_ended).then(|| runner.now(end));
    if let Some(at) = stopped {
        if was_stopped_before {
            return Err(Error::Stopped);
        }
        timing.stop(at);
    }
    let verdict = timing.verdict(failures);
    tables.push(timing.table(&verdict));
    tables.push(stage.provenance()?);
    if has_jobs {
        tables.push(applications_table(&reports));
    }
    let foreground = reports.iter().find(|report| report.is_foreground);
    let exit_status = foreground.and_then(|report| report.status.or(report.signal.map(|signal| 128 + signal)));
    if let Some((report, why)) = foreground.and_then(|report| Some((report, report.failure.clone()?))) {
        return Err(Error::Host { what: format!("cannot run `{}`", report.command), source: io::Error::other(why) });
    }
    let results = Results { tables, wakes: runner.driver().wakes(), hops, undeliverable: world.undeliverable() };
    Ok(Emulation { results, verdict, exit_status, stopped })
}

/// Returns the error of an action that the system refuses.
pub(crate) fn host_error(what: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
    let what = what.into();
    |source| Error::Host { what, source }
}

fn applications_table(reports: &[command::Report]) -> Table {
    let seconds = |at: Option<Instant>| at.map(Instant::as_secs_f64);
    Table::new("applications")
        .text("application", reports.iter().map(|report| report.name.clone()))
        .text("node", reports.iter().map(|report| report.node.clone()))
        .text("command", reports.iter().map(|report| report.command.clone()))
        .number("start_time", "s", reports.iter().map(|report| seconds(report.started)))
        .number("stop_time", "s", reports.iter().map(|report| seconds(report.ended)))
        .count("exit_status", "", reports.iter().map(|report| report.status.map(|status| status as u64)))
        .count("signal", "", reports.iter().map(|report| report.signal.map(|signal| signal as u64)))
        .text("failure", reports.iter().map(|report| report.failure.clone()))
        .number("worst_second_waiting", "", reports.iter().map(command::Report::worst_waiting))
}
