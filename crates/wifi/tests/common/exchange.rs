//! TCP exchanges, data in one direction and ACKs in the other, over any carrier between nodes, in
//! either form of packet.

#![allow(unreachable_pub, reason = "others pass it on")]

use super::form::Form;
use super::typed::Typed;
use acklab_base::{Duration, Ecn, FlowKey, Instant, Machine};
use acklab_wifi::access::Category;
use acklab_wire::Endpoints;
use acklab_wire::ipv4::Checksums;
use acklab_wire::tcp::{self, Flags, Options, SackBlock, Segment, SeqNumber, Timestamps};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Small, so that a limit in packets and one in octets differ.
const MSS: u32 = 500;
/// The number of SACK blocks that fit in a header with timestamps (RFC 2018, §3).
const SACK_BLOCKS: usize = 3;

/// A carrier of packets between nodes.
pub trait Carrier<D>: Machine<Datagram = (usize, D)> {
    /// Returns the flow of a packet that was dropped.
    fn take_drop(&mut self) -> Option<FlowKey>;
}

/// Segments from one node to another.
#[derive(Clone, Debug)]
pub struct Flow {
    pub from: usize,
    pub to: usize,
    pub category: Category,
    /// The time at which each segment is sent, and its number. A repeated number is a
    /// retransmission.
    joins: Vec<(Instant, u32)>,
    is_ecn_capable: bool,
    has_timestamps: bool,
    /// The number of segments per ACK.
    every: usize,
}

/// The delivered packets with place and time, and the flows of dropped packets.
#[derive(Debug, Default, PartialEq)]
pub struct Trace {
    pub arrived: Vec<(Instant, usize, Vec<u8>)>,
    pub dropped: Vec<(Instant, FlowKey)>,
}

/// Returns flows between pairs of nodes in `ends`.
pub fn flows(ends: Vec<(usize, usize)>) -> impl Strategy<Value = Vec<Flow>> {
    let flow = (
        prop::sample::select(ends),
        prop::sample::select(vec![Category::BestEffort, Category::BestEffort, Category::Video]),
        prop::collection::vec((0..30_000_u64, 0..40_u32, 1..20_u32), 1..5),
        any::<(bool, bool)>(),
        1..3_usize,
    );
    let flow = flow.prop_map(|((from, to), category, bursts, (is_ecn_capable, has_timestamps), every)| {
        // Bursts of segments, which may overlap.
        let burst = |(at, first, count)| {
            (first..first + count).map(move |number| (Instant::ZERO + Duration::from_micros(at), number))
        };
        let mut joins: Vec<(Instant, u32)> = bursts.into_iter().flat_map(burst).collect();
        joins.sort_unstable();
        Flow { from, to, category, joins, is_ecn_capable, has_timestamps, every }
    });
    prop::collection::vec(flow, 1..4)
}

/// The state of a receiver.
#[derive(Default)]
struct Receiver {
    segments: BTreeSet<u32>,
    unacknowledged: usize,
    acks: u32,
}

impl Receiver {
    /// Returns the ACK of a segment, if it is due.
    fn receive(&mut self, now: Instant, flow: &Flow, segment: &Segment) -> Option<Segment> {
        let number = (segment.seq.0 - 1) / MSS;
        let is_next = number == self.next() && self.segments.range(number..).next().is_none();
        self.segments.insert(number);
        self.unacknowledged += 1;
        let is_due = !is_next || segment.ecn == Ecn::Ce || self.unacknowledged >= flow.every;
        if !is_due {
            return None;
        }
        self.unacknowledged = 0;
        self.acks += 1;
        let clock = |at: Instant| (at.as_nanos() / 1_000_000) as u32;
        let timestamps = flow.has_timestamps.then(|| Timestamps { value: clock(now), echo: clock(now) / 2 });
        let echo = if segment.ecn == Ecn::Ce { Flags::ECE } else { Flags::NONE };
        // Some ACKs carry PSH or another window: filters must not treat them like the other ACKs.
        let push = if self.acks.is_multiple_of(17) { Flags::PSH } else { Flags::NONE };
        Some(Segment {
            ecn: Ecn::NotEct,
            seq: SeqNumber(1),
            ack: SeqNumber(1 + self.next() * MSS),
            flags: Flags::ACK | echo | push,
            window: if self.acks.is_multiple_of(13) { 400 } else { 512 },
            options: Options { timestamps, sack: self.runs(), ..Options::default() },
            payload: 0,
        })
    }

    /// Returns the first segment that is missing.
    fn next(&self) -> u32 {
        (0..)
            .zip(&self.segments)
            .find(|(place, number)| place != *number)
            .map_or(self.segments.len() as u32, |(place, _)| place)
    }

    /// Returns the SACK blocks beyond the first missing segment, the last first.
    fn runs(&self) -> tcp::SackBlocks {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for number in self.segments.range(self.next()..) {
            match runs.last_mut().filter(|(_, end)| end == number) {
                Some((_, end)) => *end += 1,
                None => runs.push((*number, number + 1)),
            }
        }
        let at = |number: u32| SeqNumber(1 + number * MSS);
        runs.iter().rev().take(SACK_BLOCKS).map(|(start, end)| SackBlock { start: at(*start), end: at(*end) }).collect()
    }
}

fn data(flow: &Flow, number: u32) -> Segment {
    Segment {
        ecn: if flow.is_ecn_capable { Ecn::Ect0 } else { Ecn::NotEct },
        seq: SeqNumber(1 + number * MSS),
        ack: SeqNumber(1),
        flags: Flags::ACK,
        window: 512,
        options: Options::default(),
        payload: MSS,
    }
}

/// Drives `carrier` with these flows until it is quiescent.
///
/// # Panics
/// If it does not become quiescent, or delivers packets that were not sent.
pub fn run<D: Form, C: Carrier<D>>(carrier: &mut C, flows: &[Flow]) -> Trace {
    let endpoints = |connection: usize| Endpoints::of_connection(connection as u32);
    let of_data = |connection: usize, number: u32| {
        let flow = &flows[connection];
        let typed = Typed::new(endpoints(connection), flow.to, flow.category.dscp(), data(flow, number));
        (flow.from, D::of(&typed))
    };
    let of_ack = |connection: usize, ack: Segment| {
        let flow = &flows[connection];
        let typed = Typed::new(endpoints(connection).reverse(), flow.from, flow.category.dscp(), ack);
        (flow.to, D::of(&typed))
    };
    let keys: Vec<FlowKey> = (0..flows.len()).map(|connection| endpoints(connection).flow_key(6)).collect();
    let mut joins: Vec<(Instant, usize, u32)> = Vec::new();
    for (connection, flow) in flows.iter().enumerate() {
        joins.extend(flow.joins.iter().map(|(at, number)| (*at, connection, *number)));
    }
    joins.sort_unstable();
    let mut joins = joins.into_iter().peekable();
    let mut receivers: Vec<Receiver> = flows.iter().map(|_| Receiver::default()).collect();
    let mut trace = Trace::default();
    for wakes in 0.. {
        let next = [carrier.deadline(), joins.peek().map(|(at, ..)| *at)].into_iter().flatten().min();
        let Some(now) = next.filter(|next| *next < Instant::FAR_FUTURE) else { break };
        assert!(wakes < 200_000, "the carrier does not fall silent");
        while let Some((_, connection, number)) = joins.next_if(|(at, ..)| *at == now) {
            carrier.accept(now, of_data(connection, number));
        }
        if carrier.deadline().is_some_and(|due| due <= now) {
            carrier.wake(now);
        }
        while let Some((node, packet)) = carrier.poll(now) {
            let octets = packet.octets();
            let (_, segment) = tcp::decode(&octets, Checksums::Verify).unwrap_or_else(|error| panic!("{error}"));
            if let Some(connection) = keys.iter().position(|key| *key == packet.flow())
                && let Some(ack) = receivers[connection].receive(now, &flows[connection], &segment)
            {
                carrier.accept(now, of_ack(connection, ack));
            }
            trace.arrived.push((now, node, octets));
        }
        trace.dropped.extend(std::iter::from_fn(|| carrier.take_drop()).map(|flow| (now, flow)));
    }
    trace
}
