//! The samples of a running emulation: one per second.

use super::end::HostEnd;
use super::packet::RealPacket;
use super::programs;
use crate::assemble::World;
use acklab_base::endpoint::counter;
use acklab_base::{Duration, Instant};
use acklab_live::Lateness;
use acklab_measure::flow::{End, Measured};
use acklab_measure::{FlowInfo, Snapshot, Subjects};
use acklab_net::Hosts;
use acklab_wifi::airtime::Use;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::mpsc::Sender;

/// The interval of samples.
const INTERVAL: Duration = Duration::from_secs(1);

/// The events of one second of an emulation. Links and cells are measured only in the scenario's
/// measurement window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// The end of the second, from the start of the run, in seconds.
    pub time: f64,
    /// The duration of the run in seconds. `None` if it is unlimited.
    pub duration: Option<f64>,
    /// The directions of flows that carry data.
    pub flows: Vec<FlowSample>,
    /// The directions of links.
    pub links: Vec<LinkSample>,
    /// The Wi-Fi cells.
    pub cells: Vec<CellSample>,
    /// The lateness of deliveries. `None` if there were no deliveries.
    pub lateness: Option<LatenessSample>,
}

/// One direction of a flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowSample {
    /// The flow's name.
    pub flow: String,
    /// The goodput, in Mbps.
    pub throughput: f64,
    /// Smoothed round-trip time in milliseconds.
    pub srtt: Option<f64>,
    /// One-way delay of the last datagram, in milliseconds.
    pub delay: Option<f64>,
    /// Congestion window in segments.
    pub cwnd: Option<f64>,
    /// Acknowledgments sent per second.
    pub acks: Option<f64>,
    /// Retransmitted segments.
    pub retransmissions: Option<u64>,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkSample {
    /// The direction's name.
    pub link: String,
    /// The rate at which the link sent, in Mbps.
    pub rate: f64,
    /// The number of queued packets.
    pub queue: u64,
    /// Packets that the link's queue dropped.
    pub drops: u64,
    /// ACKs that the link's ACK filter removed.
    pub filtered: u64,
}

/// A Wi-Fi cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellSample {
    /// The cell's name.
    pub cell: String,
    /// The number of queued packets, by node.
    pub queues: BTreeMap<String, u64>,
    /// Shares of the airtime, by use.
    pub airtime: BTreeMap<&'static str, f64>,
}

/// The lateness of deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LatenessSample {
    /// The number of deliveries.
    pub deliveries: u64,
    /// The median lateness in microseconds.
    pub p50: f64,
    /// The 99th percentile of lateness in microseconds.
    pub p99: f64,
    /// The maximum lateness in microseconds.
    pub max: f64,
}

/// The bytes that a link has sent, the drops of its queue, and the number of queued packets.
#[derive(Clone, Copy)]
struct LinkCounts {
    sent: u64,
    dropped: u64,
    filtered: u64,
    waiting: u64,
}

/// Hosts outside this process, to which packets are delivered.
pub(crate) trait Real: Hosts<RealPacket> + Measured<End = HostEnd> {
    /// Returns the lateness of deliveries.
    fn lateness(&self) -> &Lateness;

    /// Returns the facts about the directions of flows that were found during the run, without the
    /// first `known`.
    fn infos_after(&self, _known: usize) -> &[FlowInfo] {
        &[]
    }
}

/// Takes samples and sends them to a receiver.
pub(crate) struct Monitor {
    to: Sender<Sample>,
    duration: Option<Duration>,
    last: Instant,
    next: Instant,
    ends: Vec<[Snapshot; 2]>,
    links: Vec<LinkCounts>,
    /// The airtime, by cell and by use of the air.
    airtime: Vec<[Duration; Use::ALL.len()]>,
}

impl Monitor {
    /// Creates a monitor of `world` at its start. The run lasts for `duration`, or until it is
    /// stopped.
    pub(crate) fn new<H: Real>(
        to: Sender<Sample>,
        world: &mut World<RealPacket, H>,
        duration: Option<Duration>,
    ) -> Self {
        let now = Instant::ZERO;
        let (ends, links, airtime) = (ends(world, now), links(world, now), airtime(world));
        Self { to, duration, last: now, next: now + INTERVAL, ends, links, airtime }
    }

    /// Returns when the next sample is due.
    pub(super) const fn next(&self) -> Instant {
        self.next
    }

    /// Replaces the monitor's list of flows by the changed flows of `world`.
    pub(super) fn renew<H: Real>(&mut self, world: &World<RealPacket, H>, now: Instant) {
        self.ends = ends(world, now);
    }

    /// Takes the sample that is due at `now`, and sends it to the receiver.
    pub(super) fn sample<H: Real>(&mut self, world: &mut World<RealPacket, H>, subjects: &Subjects, now: Instant) {
        let seconds = now.since(self.last).as_secs_f64();
        let lateness = world.hosts.lateness().second(self.last.as_nanos() / 1_000_000_000);
        let micros = |lateness: Duration| lateness.as_nanos() as f64 / 1e3;
        let sample = Sample {
            time: now.as_secs_f64(),
            duration: self.duration.map(Duration::as_secs_f64),
            flows: self.flows(world, subjects, now, seconds),
            links: self.link_samples(world, subjects, now, seconds),
            cells: self.cells(world, subjects, seconds),
            lateness: lateness.map(|second| LatenessSample {
                deliveries: second.deliveries,
                p50: micros(second.p50),
                p99: micros(second.p99),
                max: micros(second.max),
            }),
        };
        self.last = now;
        self.next = now + INTERVAL;
        // If the receiver is gone, the run continues.
        let _ = self.to.send(sample);
    }

    fn flows<H: Real>(
        &mut self,
        world: &World<RealPacket, H>,
        subjects: &Subjects,
        now: Instant,
        seconds: f64,
    ) -> Vec<FlowSample> {
        let after = ends(world, now);
        // Adds the connections of programs that have begun since the last sample.
        self.ends.resize_with(after.len(), Default::default);
        let mut samples = Vec::new();
        let mut infos = subjects.flows.iter();
        for ((flow, before), after) in world.hosts.flows().iter().zip(&self.ends).zip(&after) {
            let directions = if flow.probes.reverse.is_some() { vec![(0, 1), (1, 0)] } else { vec![(0, 1)] };
            for (from, to) in directions {
                let Some(info) = infos.next() else { break };
                if info.traffic == programs::TRAFFIC && after[to].received == 0 {
                    continue;
                }
                let (sent, received) = (after[from].since(&before[from]), after[to].since(&before[to]));
                let (state, arrived) = (flow.ends[from].state(), flow.ends[to].state());
                let millis = |time: Option<Duration>| time.map(|time| time.as_millis_f64());
                samples.push(FlowSample {
                    flow: info.name.clone(),
                    throughput: received.received as f64 * 8.0 / 1e6 / seconds,
                    srtt: millis(state.smoothed_rtt),
                    delay: millis(arrived.transit),
                    cwnd: state.window.map(|octets| octets as f64 / info.payload as f64),
                    acks: received.count(counter::ACKS_SENT).map(|acks| acks as f64 / seconds),
                    retransmissions: sent.count(counter::RETRANSMISSIONS),
                });
            }
        }
        self.ends = after;
        samples
    }

    fn link_samples<H: Real>(
        &mut self,
        world: &mut World<RealPacket, H>,
        subjects: &Subjects,
        now: Instant,
        seconds: f64,
    ) -> Vec<LinkSample> {
        let after = links(world, now);
        let samples =
            subjects.links.iter().zip(self.links.iter().zip(&after)).map(|(info, (before, after))| LinkSample {
                link: info.name.clone(),
                rate: (after.sent - before.sent) as f64 * 8.0 / 1e6 / seconds,
                queue: after.waiting,
                drops: after.dropped - before.dropped,
                filtered: after.filtered - before.filtered,
            });
        let samples = samples.collect();
        self.links = after;
        samples
    }

    fn cells<H: Real>(&mut self, world: &World<RealPacket, H>, subjects: &Subjects, seconds: f64) -> Vec<CellSample> {
        let after = airtime(world);
        let samples = world.cells().iter().zip(&subjects.cells).zip(self.airtime.iter().zip(&after)).map(
            |((cell, info), (before, after))| {
                let shares = Use::ALL.iter().zip(before.iter().zip(after)).filter_map(|(what, (before, after))| {
                    let time = after.as_secs_f64() - before.as_secs_f64();
                    (time > 0.0).then(|| (what.name(), time / seconds))
                });
                let queues = info.nodes.iter().enumerate();
                CellSample {
                    cell: info.name.clone(),
                    queues: queues
                        .map(|(node, name)| (name.clone(), cell.queues_of(node).map(|queue| queue.length).sum()))
                        .collect(),
                    airtime: shares.collect(),
                }
            },
        );
        let samples = samples.collect();
        self.airtime = after;
        samples
    }
}

fn ends<H: Real>(world: &World<RealPacket, H>, now: Instant) -> Vec<[Snapshot; 2]> {
    world.hosts.flows().iter().map(|flow| [flow.ends[0].snapshot(now), flow.ends[1].snapshot(now)]).collect()
}

fn links<H: Real>(world: &mut World<RealPacket, H>, now: Instant) -> Vec<LinkCounts> {
    let counters = world.links_and_cells().0.iter_mut().map(|link| link.counters(now));
    let counts = counters.map(|counters| LinkCounts {
        sent: counters.bytes_served.get(),
        dropped: counters.dropped,
        filtered: counters.filtered,
        waiting: counters.queue.current(),
    });
    counts.collect()
}

fn airtime<H: Real>(world: &World<RealPacket, H>) -> Vec<[Duration; Use::ALL.len()]> {
    world.cells().iter().map(|cell| Use::ALL.map(|what| cell.decided_airtime().total(what))).collect()
}
