//! A cell between ends that acknowledge what they receive: as much of TCP as a driver sees.

#![allow(unreachable_pub, reason = "others pass it on")]

use super::nodes::attach_nodes;
use acklab_base::random::Seed;
use acklab_base::{AckHeader, Bytes, Datagram, Ecn, FlowKey, Instant, Machine, NodeId};
use acklab_wifi::access::Category;
use acklab_wifi::{Cell, CellConfig};
use acklab_wire::rohc::Ack;
use acklab_wire::tcp::{Flags, Options, Segment, SeqNumber, Timestamps};
use acklab_wire::{Endpoints, Pdu};
use serde_json::Value;

pub const MSS: u32 = 1448;

/// A segment, and its place among those of its flow, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    pub segment: Segment,
    pub connection: u32,
    /// Does it come from the connection's sender of data?
    pub is_data: bool,
    /// The node of the cell that it goes to.
    pub to: usize,
    pub number: usize,
}

impl Packet {
    fn endpoints(&self) -> Endpoints {
        let endpoints = Endpoints::of_connection(self.connection);
        if self.is_data { endpoints } else { endpoints.reverse() }
    }
}

impl Datagram for Packet {
    fn wire_len(&self) -> Bytes {
        self.segment.wire_len()
    }

    fn flow(&self) -> FlowKey {
        self.endpoints().flow_key(self.segment.protocol())
    }

    fn destination(&self) -> NodeId {
        NodeId(self.to as u32)
    }

    fn ecn(&self) -> Ecn {
        self.segment.ecn
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.segment.set_ecn(ecn);
    }

    fn ack_header(&self) -> Option<AckHeader> {
        self.segment.ack_header()
    }

    fn is_pure_ack(&self) -> bool {
        self.segment.is_pure_ack()
    }
}

impl acklab_wifi::Packet for Packet {
    fn ack(&self) -> Option<Ack> {
        self.is_pure_ack().then(|| Ack::of(self.segment, self.endpoints()))
    }

    fn with_ack(&self, ack: &Ack, _: Option<Self>) -> Self {
        Self { segment: ack.segment, ..*self }
    }
}

/// From one node to another, with the segments in the order of their instants.
#[derive(Clone, Debug)]
pub struct Flow {
    pub from: usize,
    pub to: usize,
    pub joins: Vec<Instant>,
    /// The unit of the timestamps in ACKs, in microseconds; without it, none.
    pub clock: Option<u64>,
    /// Segments to an ACK.
    pub every: usize,
}

impl Flow {
    pub fn new(from: usize, to: usize, joins: Vec<Instant>) -> Self {
        Self { from, to, joins, clock: None, every: 1 }
    }
}

/// What a flow's receiver has sent and what of it has come to the sender, with the instants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Acks {
    pub data: Vec<(Instant, usize)>,
    pub sent: Vec<(Instant, Packet)>,
    pub arrived: Vec<(Instant, Packet)>,
    /// Reported as dropped inside the cell.
    pub dropped: u64,
}

pub fn data(connection: u32, to: usize, number: usize) -> Packet {
    let segment = Segment {
        ecn: Ecn::NotEct,
        seq: SeqNumber(1 + (number as u32 - 1) * MSS),
        ack: SeqNumber(1),
        flags: Flags::ACK,
        window: 512,
        options: Options::default(),
        payload: MSS,
    };
    Packet { segment, connection, is_data: true, to, number }
}

/// The ACK with this number of a flow that has received `segments`.
pub fn ack(connection: u32, to: usize, number: usize, segments: usize, timestamps: Option<Timestamps>) -> Packet {
    let segment = Segment {
        seq: SeqNumber(1),
        ack: SeqNumber(1 + segments as u32 * MSS),
        window: 512,
        options: Options { timestamps, ..Options::default() },
        payload: 0,
        ..data(connection, to, 1).segment
    };
    Packet { segment, connection, is_data: false, to, number }
}

/// Drives a cell with these flows until it falls silent. Gives it back with what became of the ACKs of each flow.
///
/// # Panics
/// If it does not fall silent, or is none.
pub fn drive(settings: &Value, flows: &[Flow], keeps_air: bool) -> (Cell<Packet>, Vec<Acks>) {
    let config: CellConfig =
        serde_json::from_value(settings.clone()).unwrap_or_else(|error| panic!("{error}: {settings}"));
    let mut cell: Cell<Packet> = Cell::new(&config, Seed(3)).unwrap_or_else(|error| panic!("{error}"));
    attach_nodes(&mut cell);
    let mut joins = Vec::new();
    for (index, flow) in flows.iter().enumerate() {
        cell.carry(flow.from, flow.to, Category::BestEffort).unwrap_or_else(|error| panic!("{error}"));
        cell.carry(flow.to, flow.from, Category::BestEffort).unwrap_or_else(|error| panic!("{error}"));
        joins.extend(flow.joins.iter().zip(1..).map(|(at, number)| (*at, data(index as u32, flow.to, number))));
    }
    joins.sort_by_key(|(at, packet)| (*at, packet.connection, packet.number));
    if keeps_air {
        cell.log_air();
    }
    let mut joins = joins.into_iter().peekable();
    let mut acks = vec![Acks::default(); flows.len()];
    let ack_flows: Vec<FlowKey> =
        (0..flows.len()).map(|connection| ack(connection as u32, 0, 1, 1, None).flow()).collect();
    for wakes in 0.. {
        let next = [cell.deadline(), joins.peek().map(|(at, _)| *at)].into_iter().flatten().min();
        let Some(now) = next.filter(|next| *next < Instant::FAR_FUTURE) else { break };
        assert!(wakes < 500_000, "the cell does not fall silent");
        while let Some((_, packet)) = joins.next_if(|(at, _)| *at == now) {
            cell.accept(now, (flows[packet.connection as usize].from, packet));
        }
        if cell.deadline().is_some_and(|due| due <= now) {
            cell.wake(now);
        }
        while let Some((at, packet)) = cell.poll(now) {
            assert_eq!(at, packet.to);
            let connection = packet.connection;
            let (flow, acks) = (&flows[connection as usize], &mut acks[connection as usize]);
            if !packet.is_data {
                acks.arrived.push((now, packet));
                continue;
            }
            acks.data.push((now, packet.number));
            if acks.data.len().is_multiple_of(flow.every) || packet.number == flow.joins.len() {
                let highest = acks.data.iter().map(|(_, number)| *number).max().unwrap_or(0);
                let value = |clock: u64| (now.as_nanos() / 1_000 / clock) as u32;
                let timestamps =
                    flow.clock.map(|clock| Timestamps { value: value(clock), echo: value(clock).wrapping_sub(3) });
                let ack = ack(connection, flow.from, acks.sent.len() + 1, highest, timestamps);
                acks.sent.push((now, ack));
                cell.accept(now, (flow.to, ack));
            }
        }
        while let Some(flow) = cell.take_drop() {
            let of_acks = ack_flows.iter().position(|of_acks| *of_acks == flow);
            of_acks.into_iter().for_each(|connection| acks[connection].dropped += 1);
        }
    }
    (cell, acks)
}
