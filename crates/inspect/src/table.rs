//! Assigns frames to connections.

use crate::clock::{Clock, JumpEvidence};
use crate::connection::Protocol;
use crate::decapsulate::{Decapsulator, Found, LinkType};
use crate::duplicates::Datagrams;
use crate::hosts::{Between, Hosts};
use crate::packet::{Packet, ipv4_source, time_to_live};
use crate::quic::flows::{Belongs, Flows};
use crate::quic::recognise as quic;
use crate::repetition::Repetition;
use crate::report::{self, Report};
use crate::slots::{Ends, Place, Slots};
use acklab_base::{Datagram, Instant};
use acklab_wire::IpPacket;
use acklab_wire::tcp::Segment;
use std::collections::VecDeque;

/// Limits of memory.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The maximum number of connections that are followed. Above it, those that were silent
    /// longest are evicted.
    pub most_connections: usize,
    /// The maximum number of connections in the report: those with the most octets.
    pub most_reported: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { most_connections: 4096, most_reported: 1000 }
    }
}

/// The connections of a capture.
///
/// [`frame`](Self::frame) takes packets in the order of the capture; [`finish`](Self::finish)
/// returns the report.
#[derive(Clone, Debug)]
pub struct Inspector {
    slots: Slots,
    udp: Flows,
    counts: report::Counts,
    hosts: Hosts,
    datagrams: Datagrams,
    clock: Clock<Found>,
    decapsulator: Decapsulator,
    repetition: Repetition,
}

impl Inspector {
    /// Returns an inspector without packets.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            slots: Slots::new(options.most_connections, options.most_reported),
            udp: Flows::default(),
            counts: report::Counts::default(),
            hosts: Hosts::default(),
            datagrams: Datagrams::default(),
            clock: Clock::default(),
            decapsulator: Decapsulator::default(),
            repetition: Repetition::default(),
        }
    }

    /// Processes a frame with this link type that was captured at `at`. `octets` are the present
    /// part of its `length` octets on the wire.
    pub fn frame(&mut self, at: Instant, link_type: LinkType, octets: &[u8], length: u32) {
        self.counts.packets += 1;
        let nanos = at.as_nanos();
        if self.repetition.repeats(nanos, octets) {
            self.counts.duplicates += 1;
            return;
        }
        let found = self.decapsulator.frame(nanos, link_type, octets, length);
        let place = self.clock.read(nanos);
        if let Some(found) = self.clock.add(nanos, found) {
            self.jump((place, nanos, found));
        }
        self.follow(false);
    }

    /// Processes packets that no earlier one may precede.
    #[inline]
    fn follow(&mut self, is_over: bool) {
        while let Some((at, found)) = self.clock.release(is_over) {
            for packet in found {
                if !self.packet(at, &packet) {
                    self.decapsulator.refuse(&packet);
                }
                self.decapsulator.reuse(packet);
            }
        }
    }

    /// Processes a frame whose time jumps, or that follows such a frame.
    #[cold]
    fn jump(&mut self, frame: (u64, u64, Found)) {
        let mut queue = VecDeque::from([frame]);
        while let Some((place, nanos, found)) = queue.pop_front() {
            let Some(found) = self.clock.add(nanos, found) else { continue };
            let (at, jump) = self.clock.jump(nanos);
            self.follow(false);
            let shows = found.first().map_or((0, JumpEvidence::Silent), |packet| self.jump_evidence(at, jump, packet));
            for held in self.clock.hold((place, nanos, found), shows).into_iter().rev() {
                queue.push_front(held);
            }
        }
    }

    /// Returns the place of the connection of a packet at `at`, and the evidence of the packet on a
    /// jump of the times.
    fn jump_evidence(&mut self, at: i128, jump: i128, packet: &IpPacket) -> (u32, JumpEvidence) {
        let Some((segment, Place { slot, from })) = packet.segment().zip(self.slots.look_up(packet.flow())) else {
            return (0, JumpEvidence::Silent);
        };
        (slot, self.slots.connection(slot).jump_evidence(at, jump, from.into(), &segment))
    }

    /// Processes a packet. Returns `true` if it belongs to a connection.
    fn packet(&mut self, at: u64, packet: &IpPacket) -> bool {
        let wire = packet.wire_len().get();
        let others = match (packet.identification(), ipv4_source(packet)) {
            (Some(identification), Some(source)) => self.hosts.packet(source, packet.flow(), identification),
            _ => Between::default(),
        };
        if let Some(segment) = packet.segment() {
            return self.segment(at, packet, &segment, others);
        }
        let Some((head, length)) = packet.datagram_payload() else { return false };
        if let Some(Place { slot, .. }) = self.slots.look_up(packet.flow())
            && let Some(distance) = self.datagrams.copy_of(at, packet.flow(), packet.identification(), head, length)
        {
            self.slots.connection(slot).duplicates.datagram(distance);
            self.counts.duplicates += 1;
            return true;
        }
        let datagram = quic::Datagram { at, steps: self.clock.steps(), head, length: length as u32, wire };
        match self.udp.datagram(&mut self.slots, packet, &datagram, &self.clock) {
            Belongs::ToConnection(before) => {
                self.decapsulator.withdraw(packet, before);
                self.counts.other_udp_packets -= before;
                true
            }
            Belongs::ToOthers => {
                self.counts.other_udp_packets += 1;
                false
            }
        }
    }

    /// Processes a segment of TCP. Returns `true` if it belongs to a connection.
    #[inline]
    fn segment(&mut self, at: u64, packet: &IpPacket, segment: &Segment, others: Between) -> bool {
        let place = match self.slots.look_up(packet.flow()) {
            Some(place) => place,
            None => {
                let Some(ends) = Ends::of(packet) else { return false };
                Place { slot: self.slots.begin(at, &ends, Protocol::Tcp, &self.clock), from: 0 }
            }
        };
        let Place { slot, mut from } = place;
        if self.slots.connection(slot).is_another(from.into(), segment)
            && let Some(ends) = Ends::of(packet)
        {
            self.slots.replace(slot, at, &ends, &self.clock);
            from = 0;
        }
        let connection = self.slots.connection(slot);
        connection.advance(at, self.clock.steps());
        let packet = Packet {
            at: connection.last,
            captured: at,
            segment,
            wire: packet.wire_len().get(),
            identification: packet.identification(),
            others,
            time_to_live: time_to_live(packet),
        };
        let is_new = connection.segment(from.into(), &packet);
        self.counts.duplicates += u64::from(!is_new);
        true
    }

    /// Returns the report of the packets.
    #[must_use]
    pub fn finish(mut self) -> Report {
        loop {
            let again = self.clock.classify(true);
            if again.is_empty() {
                break;
            }
            again.into_iter().for_each(|packet| self.jump(packet));
        }
        self.follow(true);
        self.counts.unopened = std::mem::take(&mut self.decapsulator).finish();
        self.counts.others = self.counts.unopened.others();
        self.counts.malformed = self.counts.unopened.unreadable;
        self.counts.other_udp_flows = self.udp.others();
        let (first, last) = self.clock.span();
        let (connections, mut largest) = self.slots.finish(&self.clock);
        for connection in &mut largest {
            connection.start -= first as f64 / 1e9;
        }
        self.counts.connections = connections;
        Report {
            start: first as f64 / 1e9,
            duration: (last - first) as f64 / 1e9,
            counts: self.counts,
            clock: self.clock.describe(),
            log: None,
            connections: largest,
        }
    }
}
