//! A cell between endpoints that acknowledge received segments: as much of TCP as a driver can
//! observe.

#![allow(unreachable_pub, reason = "others pass it on")]

use super::nodes::attach_nodes;
use super::typed::Typed;
use acklab_base::random::Seed;
use acklab_base::{Ecn, FlowKey, Instant, Machine};
use acklab_wifi::access::Category;
use acklab_wifi::{Cell, CellConfig};
use acklab_wire::Endpoints;
use acklab_wire::tcp::{Flags, Options, Segment, SeqNumber, Timestamps};
use serde_json::Value;

pub const MSS: u32 = 1448;

/// A flow from one node to another, with the instants of its segments in order.
#[derive(Clone, Debug)]
pub struct Flow {
    pub from: usize,
    pub to: usize,
    pub joins: Vec<Instant>,
    /// The unit of the timestamps in ACKs, in microseconds; `None` for ACKs without timestamps.
    pub clock: Option<u64>,
    /// The number of segments per ACK.
    pub every: usize,
}

impl Flow {
    pub fn new(from: usize, to: usize, joins: Vec<Instant>) -> Self {
        Self { from, to, joins, clock: None, every: 1 }
    }
}

/// The ACKs that a flow's receiver sent, and the ACKs that reached the sender, each with its
/// instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Acks {
    pub data: Vec<(Instant, usize)>,
    pub sent: Vec<(Instant, Typed)>,
    pub arrived: Vec<(Instant, Typed)>,
    /// The number of packets that were reported as dropped inside the cell.
    pub dropped: u64,
}

pub fn data(connection: u32, to: usize, number: usize) -> Typed {
    let segment = Segment {
        ecn: Ecn::NotEct,
        seq: SeqNumber(1 + (number as u32 - 1) * MSS),
        ack: SeqNumber(1),
        flags: Flags::ACK,
        window: 512,
        options: Options::default(),
        payload: MSS,
    };
    Typed { number, ..Typed::new(Endpoints::of_connection(connection), to, 0, segment) }
}

/// Returns the ACK with this number of a flow that has received `segments`.
pub fn ack(connection: u32, to: usize, number: usize, segments: usize, timestamps: Option<Timestamps>) -> Typed {
    let segment = Segment {
        seq: SeqNumber(1),
        ack: SeqNumber(1 + segments as u32 * MSS),
        window: 512,
        options: Options { timestamps, ..Options::default() },
        payload: 0,
        ..data(connection, to, 1).segment
    };
    Typed { number, ..Typed::new(Endpoints::of_connection(connection).reverse(), to, 0, segment) }
}

/// Drives a cell with these flows until it is quiescent. Returns the cell, and the ACKs of each
/// flow.
///
/// # Panics
/// If it does not become quiescent, or the settings are invalid.
pub fn drive(settings: &Value, flows: &[Flow], keeps_air: bool) -> (Cell<Typed>, Vec<Acks>) {
    let config: CellConfig =
        serde_json::from_value(settings.clone()).unwrap_or_else(|error| panic!("{error}: {settings}"));
    let mut cell: Cell<Typed> = Cell::new(&config, Seed(3)).unwrap_or_else(|error| panic!("{error}"));
    attach_nodes(&mut cell);
    let mut joins = Vec::new();
    for (index, flow) in flows.iter().enumerate() {
        cell.carry(flow.from, flow.to, Category::BestEffort).unwrap_or_else(|error| panic!("{error}"));
        cell.carry(flow.to, flow.from, Category::BestEffort).unwrap_or_else(|error| panic!("{error}"));
        joins.extend(flow.joins.iter().zip(1..).map(|(at, number)| (*at, index, data(index as u32, flow.to, number))));
    }
    joins.sort_by_key(|(at, connection, packet)| (*at, *connection, packet.number));
    if keeps_air {
        cell.log_air();
    }
    let mut joins = joins.into_iter().peekable();
    let mut acks = vec![Acks::default(); flows.len()];
    let flow_keys = |of: fn(u32) -> Typed| (0..flows.len() as u32).map(|connection| of(connection).flow).collect();
    let data_flows: Vec<FlowKey> = flow_keys(|connection| data(connection, 0, 1));
    let ack_flows: Vec<FlowKey> = flow_keys(|connection| ack(connection, 0, 1, 1, None));
    for wakes in 0.. {
        let next = [cell.deadline(), joins.peek().map(|(at, ..)| *at)].into_iter().flatten().min();
        let Some(now) = next.filter(|next| *next < Instant::FAR_FUTURE) else { break };
        assert!(wakes < 500_000, "the cell does not fall silent");
        while let Some((_, connection, packet)) = joins.next_if(|(at, ..)| *at == now) {
            cell.accept(now, (flows[connection].from, packet));
        }
        if cell.deadline().is_some_and(|due| due <= now) {
            cell.wake(now);
        }
        while let Some((at, packet)) = cell.poll(now) {
            assert_eq!(at, packet.to.index());
            if let Some(connection) = ack_flows.iter().position(|of_acks| *of_acks == packet.flow) {
                acks[connection].arrived.push((now, packet));
                continue;
            }
            let connection = data_flows.iter().position(|of_data| *of_data == packet.flow).expect("it was sent");
            let (flow, acks) = (&flows[connection], &mut acks[connection]);
            acks.data.push((now, packet.number));
            if acks.data.len().is_multiple_of(flow.every) || packet.number == flow.joins.len() {
                let highest = acks.data.iter().map(|(_, number)| *number).max().unwrap_or(0);
                let value = |clock: u64| (now.as_nanos() / 1_000 / clock) as u32;
                let timestamps =
                    flow.clock.map(|clock| Timestamps { value: value(clock), echo: value(clock).wrapping_sub(3) });
                let ack = ack(connection as u32, flow.from, acks.sent.len() + 1, highest, timestamps);
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
