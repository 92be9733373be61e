//! One run.

use crate::build::{self, Plan, World};
use crate::error::Error;
use crate::results;
use crate::scenario::Scenario;
use crate::strategies::Strategies;
use crate::table::Table;
use acklab_base::Instant;
use acklab_drive::{Outcome, VirtualClock};
use std::ops::Range;
use std::path::PathBuf;

/// What a run needs beyond its scenario.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The folder that trace files are relative to.
    pub base: PathBuf,
    /// The folder that captures are written into; without it, none is.
    pub captures: Option<PathBuf>,
    /// Strategies that the scenario names and that are not built in.
    pub strategies: Strategies,
}

/// What a run yields.
#[derive(Clone, Debug)]
pub struct Results {
    /// The tables, `flows`, `links`, `network` and `acks` first, then the series that were asked for.
    pub tables: Vec<Table>,
    /// How often a machine was woken: the work that the run took.
    pub wakes: u64,
    /// Packets that links have delivered.
    pub hops: u64,
    /// Packets that were dropped because no way led to their destination, or no port took their flow.
    pub undeliverable: u64,
}

/// Run `scenario` to its end. `goes_on` is asked now and then whether to continue; after every wake-up if a strategy is not built in,
/// for then it may know of a failure after which nothing counts.
///
/// # Errors
/// If a strategy is missing, a trace cannot be read, a capture cannot be written, or `goes_on` said no.
pub fn run(scenario: &Scenario, options: &RunOptions, mut goes_on: impl FnMut() -> bool) -> Result<Results, Error> {
    let (mut world, plan) = build::build(scenario, options)?;
    let mut clock = VirtualClock::new(&mut world);
    if scenario.flow.iter().any(|flow| flow.custom_names().next().is_some()) {
        clock.call_back_always();
    }
    let end = Instant::ZERO + scenario.duration;
    let Range { start: from, end: until } = build::window(scenario);

    if from > Instant::ZERO {
        advance(&mut clock, &mut world, from, &mut goes_on)?;
    }
    world.hosts.open(from);
    advance(&mut clock, &mut world, until, &mut goes_on)?;
    let (tables, hops) = measure(&mut world, &plan, scenario, from, until);
    if end > until {
        advance(&mut clock, &mut world, end, &mut goes_on)?;
    }
    world.taps.finish()?;
    Ok(Results { tables, wakes: clock.wakes(), hops, undeliverable: world.undeliverable() })
}

fn advance(
    clock: &mut VirtualClock,
    world: &mut World,
    until: Instant,
    goes_on: &mut impl FnMut() -> bool,
) -> Result<(), Error> {
    match clock.run(world, until, goes_on) {
        Outcome::Stopped => Err(Error::Stopped),
        Outcome::Done => world.taps.check().map_err(Error::from),
    }
}

fn measure(world: &mut World, plan: &Plan, scenario: &Scenario, from: Instant, until: Instant) -> (Vec<Table>, u64) {
    let links: Vec<_> = world.links_and_cells().0.iter_mut().map(|link| link.counters(until)).collect();
    world.flush_taps();
    let through_cells = world.cells().iter().flat_map(acklab_wifi::Cell::counters).map(|counters| counters.delivered);
    let hops = links.iter().map(|counters| counters.packets_out).chain(through_cells).sum();
    (results::tables(world, plan, scenario, &links, from, until), hops)
}
