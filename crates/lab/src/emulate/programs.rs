//! Connections of programs: traffic between the hosts in addition to the flows of the scenario.
//! They are found by their packets.
//!
//! A TCP connection begins with a SYN, an exchange over UDP with the first datagram between two
//! sockets. Each connection is a flow with a name such as `client:40312-server:5201`. The end that
//! sent the first packet comes first. Both directions are measured.

use super::end::{HostEnd, KernelEnd};
use super::packet::RealPacket;
use crate::assemble::{PathFacts, observers};
use crate::scenario::Scenario;
use acklab_base::{Bytes, Datagram, FlowKey, Instant, NodeId};
use acklab_measure::flow::Flow;
use acklab_measure::subjects::TransportLabels;
use acklab_measure::{FlowInfo, FlowProbe, Probes};
use acklab_wire::tcp::Flags;
use std::collections::BTreeMap;

/// The maximum number of measured connections. Each uses some kilobytes of memory, and a port scan
/// opens many.
const MOST: usize = 4096;
/// The name of programs' traffic in the table of flows.
pub(super) const TRAFFIC: &str = "program";

/// A path between two hosts, and a probe of its traffic.
struct Path {
    facts: PathFacts,
    probe: FlowProbe,
}

/// The connections of programs.
pub(super) struct Programs {
    /// The names of nodes, by their number.
    names: Vec<String>,
    paths: BTreeMap<(NodeId, NodeId), Path>,
    /// The maximum payload of a datagram.
    full: Bytes,
    /// The index of the first program's connection among the flows.
    first: usize,
    count: usize,
    /// For each connection, the facts about both directions that the tables require.
    infos: Vec<FlowInfo>,
    /// For each direction, the time at which its last data were sent.
    last: Vec<Instant>,
}

/// A connection that was found, and the flow keys of its packets.
pub(super) struct Found {
    pub(super) ends: [HostEnd; 2],
    pub(super) keys: [FlowKey; 2],
    pub(super) probes: Probes,
}

impl Programs {
    /// Creates the tracker of programs for a network with these nodes and paths between its hosts.
    pub(super) fn new(
        scenario: &Scenario,
        names: Vec<String>,
        paths: BTreeMap<(NodeId, NodeId), PathFacts>,
        full: Bytes,
    ) -> Self {
        let path = |facts: PathFacts| Path { probe: observers::probe_of_program(scenario, &facts), facts };
        let paths = paths.into_iter().map(|(ends, facts)| (ends, path(facts))).collect();
        Self { names, paths, full, first: 0, count: 0, infos: Vec::new(), last: Vec::new() }
    }

    /// Returns the facts about the found directions, without the first `known`, for the results
    /// tables.
    pub(super) fn infos_after(&self, known: usize) -> &[FlowInfo] {
        &self.infos[known.min(self.infos.len())..]
    }

    /// Returns the connection that `packet` begins. The host at `from` sends the packet, and it
    /// belongs to none of the known `flows`. Returns `None` if the packet begins no connection, or
    /// if there are too many connections.
    pub(super) fn find(&mut self, now: Instant, from: NodeId, packet: &RealPacket, flows: usize) -> Option<Found> {
        let ([source, destination], is_tcp) = (packet.ip().sockets()?, !packet.ip().is_udp());
        let begins = |flags: Flags| flags.contains(Flags::SYN) && !flags.contains(Flags::ACK);
        if self.count == MOST || (is_tcp && !begins(packet.segment()?.flags)) {
            return None;
        }
        let to = packet.destination();
        let [forward, back] = [self.paths.get(&(from, to))?, self.paths.get(&(to, from))?];
        let keys = [packet.flow(), packet.ip().reverse_flow()?];
        let probes = Probes { forward: forward.probe.clone(), reverse: Some(Box::new(back.probe.clone())) };
        let [near, far] = [(from, source), (to, destination)]
            .map(|(node, socket)| format!("{}:{}", self.names[node.index()], socket.port()));
        let infos = [(forward, from, to, format!("{near}-{far}")), (back, to, from, format!("{far}-{near}"))].map(
            |(path, from, to, name)| FlowInfo {
                name,
                from: self.names[from.index()].clone(),
                to: self.names[to.index()].clone(),
                traffic: TRAFFIC.to_owned(),
                start: now,
                labels: TransportLabels {
                    protocol: if is_tcp { "tcp" } else { "udp" }.to_owned(),
                    ..TransportLabels::default()
                },
                ..path.facts.info.clone()
            },
        );
        if self.count == 0 {
            self.first = flows;
        }
        self.count += 1;
        self.infos.extend(infos);
        self.last.extend([now; 2]);
        let ends = [0, 1].map(|end| HostEnd::Kernel(KernelEnd::of_program(end, is_tcp, self.full)));
        Some(Found { ends, keys, probes })
    }

    /// Records that this end of a flow sends data. Ignores flows of the scenario.
    pub(super) fn note_data(&mut self, now: Instant, flow: usize, end: u8) {
        let direction = flow.checked_sub(self.first).map(|connection| 2 * connection + usize::from(end));
        if let Some(last) = direction.and_then(|direction| self.last.get_mut(direction)) {
            *last = now;
        }
    }

    /// Ends the measurement. Only directions with data in the measurement window remain in `flows`.
    /// Returns the facts about these directions for the results tables, and the number of flows
    /// that are still measured.
    pub(super) fn settle(&mut self, now: Instant, flows: &mut Vec<Flow<HostEnd>>) -> (Vec<FlowInfo>, usize) {
        let first = if self.count == 0 { flows.len() } else { self.first };
        // A connection is considered active from its first packet to its last data, because packets
        // do not show whether a program has more to send.
        let ended = |(info, last): (FlowInfo, Instant)| FlowInfo { stop: Some(last), ..info };
        let mut infos = std::mem::take(&mut self.infos).into_iter().zip(std::mem::take(&mut self.last)).map(ended);
        self.count = MOST;
        let mut remaining = Vec::new();
        for (number, mut flow) in std::mem::take(flows).into_iter().enumerate() {
            if number < first {
                flows.push(flow);
                continue;
            }
            let kept = flow.drop_silent(now);
            let own: Vec<FlowInfo> = infos.by_ref().take(2).collect();
            remaining.extend(own.into_iter().zip(kept).filter_map(|(info, is_kept)| is_kept.then_some(info)));
            if kept.contains(&true) {
                flows.push(flow);
            }
        }
        (remaining, first)
    }
}
