//! The flows of acklab's stack. Their ends are the endpoints of a simulation. Their packets are
//! encoded as bytes here.

use super::super::hosts::RealWorld;
use super::Cast;
use crate::assemble::{FlowParts, Plans};
use crate::error::Error;
use crate::packet::Route;
use crate::scenario::Scenario;
use crate::socket::Pattern;
use acklab_base::random::Seed;
use acklab_measure::Series;
use acklab_wire::Endpoints;

/// Attaches the ends of a flow with these addresses and ports. Returns the flow's plans.
pub(super) fn add(
    world: &mut RealWorld,
    scenario: &Scenario,
    Cast { flow, ends: [from, to], .. }: &Cast,
    endpoints: Endpoints,
    part: FlowParts,
) -> Result<Plans, Error> {
    let (version, dscp, protocol) = (scenario.ip_version(), flow.category.dscp(), part.protocol());
    let ways = [(endpoints, *to), (endpoints.reverse(), *from)];
    let routes = ways.map(|(way, to)| Route { dscp, version, ..Route::new(protocol, way, to) });
    let keys = ways.map(|(way, _)| version.flow_key(way, protocol));
    let refused = |source| Error::Attach { flow: flow.name.clone(), source };
    // Packets that arrive at one end have the flow key of the packets that the other end sends.
    world.attach(*from, keys[1]).map_err(refused)?;
    world.attach(*to, keys[0]).map_err(refused)?;
    let patterns = [0, 1].map(|end| Pattern::new(Seed(scenario.seed), &flow.name, end));
    let probes = part.probes(scenario);
    let (ends, plans) = part.split();
    let bind = |pool: &mut _| ends.bind(&plans.0.flow, Seed(scenario.seed), routes, pool);
    let added = world.hosts.add_own(bind, keys, probes, patterns);
    if scenario.measure.series.contains(&Series::Decisions) {
        added.record_decisions();
    }
    Ok(plans)
}
