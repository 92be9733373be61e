//! Runs a scenario between two interfaces of this host: its path carries the traffic that the host
//! forwards from one to the other.
//!
//! The kernel forwards, by a bridge or by its routes. Forwarded packets are
//! [diverted](acklab_live::diversion) in front of the second interface. In real time, they pass the
//! links, queues, gates and cells between the nodes of the interfaces. Then the second interface
//! sends them. The kernel handles packets that are not IP and packets of the host itself. If this
//! process stalls, is overloaded or ends, the kernel forwards traffic directly.
//!
//! | module | contents |
//! |---|---|
//! | `hosts` | the two interfaces at the ports of the network |

mod hosts;

use crate::assemble::{self, Parts};
use crate::emulate::host_error;
use crate::emulate::live::{Monitor, Sample};
use crate::emulate::runner::Runner;
use crate::emulate::trust::Timing;
use crate::error::Error;
use crate::scenario::Scenario;
use crate::{Results, RunOptions};
use acklab_base::{Duration, Instant, NodeId, PortId};
pub use acklab_live::diversion::Method;
use acklab_live::forwarding::Forwarding;
use acklab_live::idling::{IdleProcessors, Wakefulness};
use acklab_live::realtime::Privileges;
use acklab_live::{Driver, Outlet, WallClock};
use acklab_measure::flow::Measured;
use hosts::{Boundary, InlineHosts, Interfaces};
use std::io;
use std::sync::mpsc::Sender;

/// The maximum remaining time in the path for which a queued packet is still delivered at the end
/// of a run. All these packets are delivered immediately.
const SETTLING: Duration = Duration::from_secs(600);

/// Options of a path between interfaces that are not part of the scenario.
#[derive(Clone, Debug, Default)]
pub struct InlineOptions {
    /// The options that a simulation has as well.
    pub run: RunOptions,
    /// The receiver of one sample per second, for a live view of the run.
    pub live: Option<Sender<Sample>>,
    /// The requested power-saving behavior of idle processors.
    pub processors: IdleProcessors,
    /// The method by which frames reach this process. Default: the best method that the system
    /// permits.
    pub method: Option<Method>,
}

/// The means of an established path between interfaces, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The means by which the kernel forwards without this process, for messages.
    pub forwarding: &'static str,
    /// The method by which frames reach this process, for messages.
    pub method: &'static str,
    /// The priority of the thread that carries packets, for messages.
    pub priority: &'static str,
}

/// Runs the path of `scenario` between its two interfaces, for its duration or until `goes_on`
/// returns `false`. Calls `goes_on` periodically. Calls `stands` once the path carries traffic.
/// Returns the tables of a simulation, followed by `interfaces` and `timing`.
///
/// The calling thread carries the packets. It gets real-time priority if the system permits that,
/// and should end afterwards.
///
/// # Errors
/// If the scenario has no interfaces, the process lacks a permission, or a capture cannot be
/// written.
pub fn inline(
    scenario: &Scenario,
    options: &InlineOptions,
    stands: impl FnOnce(&Standing),
    mut goes_on: impl FnMut() -> bool,
) -> Result<Results, Error> {
    let [one, other] = &scenario.interface[..] else { return Err(Error::NoInterfaces) };
    let parts = Parts::new(scenario, &options.run)?;
    let refused = |what: &str| host_error(what.to_owned());
    let forwarding = Forwarding::between([&one.device, &other.device])
        .map_err(|why| refused("cannot stand between the interfaces")(io::Error::other(why)))?;
    let node = |name: &str| parts.nodes.get(name).copied().unwrap_or(NodeId::NOWHERE);
    let nodes = [node(&one.node), node(&other.node)];
    let clock = WallClock::start();
    let interfaces = forwarding.interfaces();
    let boundaries = [0, 1].map(|side: usize| {
        let made = Boundary::new(&interfaces[side], &interfaces[1 - side], options.method);
        made.map_err(|why| {
            refused(&format!("cannot divert what comes in at \"{}\"", interfaces[side].name))(io::Error::other(why))
        })
    });
    let [first, second] = boundaries;
    let outlet = Outlet::new(vec![first?, second?], clock);
    let hosts = InlineHosts::new(outlet, nodes, clock);
    let port_at = |name: &str| {
        let here = [&one.node, &other.node].into_iter().position(|node| node == name);
        here.map(|port| PortId(port as u32)).into_iter().collect()
    };
    let (mut world, _) = parts.connect(scenario, &options.run, hosts, nodes, port_at)?;
    world.taps.ignore_drops();
    for node in nodes {
        world.attach_host(node).map_err(|why| refused("cannot attach an interface")(io::Error::other(why)))?;
    }
    let subjects = assemble::subjects(scenario, Vec::new());
    let privileges = Privileges::of_carrier(Wakefulness::keep(options.processors, clock));
    let driver = watching(&mut world, clock, &privileges).map_err(refused("cannot wait for frames"))?;
    let duration = (!scenario.is_endless()).then_some(scenario.duration);
    let monitor = options.live.clone().map(|to| Monitor::new(to, &mut world, duration));
    let mut runner = Runner::new(driver, Interfaces, subjects.clone(), monitor);
    stands(&Standing {
        forwarding: forwarding.kind().name(),
        method: world.hosts.method().name(),
        priority: privileges.granted().priority(),
    });

    let window = assemble::window(scenario);
    runner.run_until(&mut world, window.start, clock, &mut goes_on)?;
    let from = window.start.min(runner.now(window.start));
    world.hosts.open(from);
    world.hosts.outlet.reset();
    privileges.wakefulness().open(from);
    runner.run_until(&mut world, window.end, clock, &mut goes_on)?;
    let until = runner.now(window.end);
    let (mut tables, hops) = acklab_measure::tables(&mut world, &subjects, &scenario.measure.series, from..until);
    runner.run_until(&mut world, Instant::ZERO + scenario.duration, clock, &mut goes_on)?;
    // Queued packets leave the path in order. Then the kernel forwards traffic directly.
    let wakes = runner.driver().wakes();
    runner.driver().settle(&mut world, SETTLING);
    world.hosts.step_aside().map_err(refused("cannot step aside"))?;
    world.taps.finish()?;
    let hosts = &world.hosts;
    let overruns = hosts.overruns();
    let timing = Timing::of(&hosts.outlet, 0, scenario, &privileges, overruns);
    let verdict = timing.verdict(Vec::new());
    tables.extend(hosts.tables(scenario, forwarding.kind().name()));
    tables.push(timing.table(&verdict));
    Ok(Results { tables, wakes, hops, undeliverable: world.undeliverable() })
}

/// Returns the driver of `world`, which watches both diversions.
fn watching(world: &mut hosts::InlineWorld, clock: WallClock, privileges: &Privileges) -> io::Result<Driver> {
    let mut driver = Driver::new(world, clock)?;
    world.hosts.outlet.devices().iter().try_for_each(|boundary| driver.watch(boundary))?;
    driver.wake_early_while(privileges.wakefulness().is_awake());
    Ok(driver)
}
