//! The connections that are followed.

use crate::clock::{Clock, Testimony};
use crate::connection::Connection;
use crate::link_layer::LinkLayer;
use crate::packet::Packet;
use crate::report::{self, Protocol, Report};
use acklab_base::{Datagram, FlowKey, Instant, NodeId};
use acklab_wire::IpPacket;
use std::collections::{BTreeMap, VecDeque};

/// What bounds the memory.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Connections that are followed at a time. The one that has been silent for longest makes room.
    pub most_connections: usize,
    /// Connections in the report: those with the most octets.
    pub most_reported: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { most_connections: 4096, most_reported: 1000 }
    }
}

/// Octets at the start of a packet that hold all headers: of IPv6 with extensions, and of TCP with options.
const HEADERS: usize = 256;
/// Windows of packets that are kept of a direction while there are few connections, and while there are many.
const WINDOWS: (usize, usize) = (8, 2);
/// Directions with points for figures: a page shows six, and leaves out those of few segments.
const MAX_DRAWN: usize = 8;
/// While there are more connections than this, there are many.
const FEW: usize = 256;
/// UDP's port of QUIC (RFC 9114, §3.1) and others: a flow of UDP is taken for QUIC if it begins with a long header of a version.
const LONG_HEADER: u8 = 0xc0;

/// The connections of a capture.
///
/// Packets are told in the order of the capture by [`frame`](Self::frame); [`finish`](Self::finish) returns what they tell.
#[derive(Clone, Debug)]
pub struct Inspector {
    options: Options,
    slots: Vec<Connection>,
    keys: Vec<[FlowKey; 2]>,
    by_key: BTreeMap<FlowKey, (u32, u8)>,
    /// The last that was found: packets come in trains.
    recent: [Option<(FlowKey, (u32, u8))>; 2],
    finished: Vec<report::Connection>,
    counts: report::Counts,
    clock: Clock<Option<IpPacket>>,
    /// Buffers of packets that have been followed.
    spare: Vec<Vec<u8>>,
}

impl Inspector {
    /// An inspector that has seen nothing.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            options,
            slots: Vec::new(),
            keys: Vec::new(),
            by_key: BTreeMap::new(),
            recent: [None; 2],
            finished: Vec::new(),
            counts: report::Counts::default(),
            clock: Clock::default(),
            spare: Vec::new(),
        }
    }

    /// A frame with this link layer was captured at `at`. Of `length` octets on the wire, `octets` are present.
    pub fn frame(&mut self, at: Instant, link_layer: LinkLayer, octets: &[u8], length: u32) {
        self.counts.packets += 1;
        let packet = self.parse(link_layer, octets, length);
        let nanos = at.as_nanos();
        let place = self.clock.read(nanos);
        if let Some(packet) = self.clock.add(nanos, packet) {
            self.jump((place, nanos, packet));
        }
        self.follow(false);
    }

    /// The IP packet in a frame.
    fn parse(&mut self, link_layer: LinkLayer, octets: &[u8], length: u32) -> Option<IpPacket> {
        let Some(packet) = link_layer.ip_packet(octets) else {
            self.counts.others += 1;
            return None;
        };
        let header = octets.len() - packet.len();
        let mut buffer = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(HEADERS));
        buffer.clear();
        buffer.extend_from_slice(&packet[..packet.len().min(HEADERS)]);
        complete_length(&mut buffer, (length as usize).saturating_sub(header));
        let parsed = IpPacket::parse(buffer, |_| NodeId::NOWHERE).ok();
        self.counts.malformed += u64::from(parsed.is_none());
        parsed
    }

    /// Follows packets of which no earlier one is expected.
    #[inline]
    fn follow(&mut self, is_over: bool) {
        while let Some((at, packet)) = self.clock.release(is_over) {
            let Some(mut packet) = packet else { continue };
            if !self.packet(at, &packet) {
                self.counts.others += 1;
            }
            self.spare.push(packet.take_octets());
        }
    }

    /// The time of a packet jumps, or it follows one that does.
    #[cold]
    fn jump(&mut self, packet: (u64, u64, Option<IpPacket>)) {
        let mut queue = VecDeque::from([packet]);
        while let Some((place, nanos, packet)) = queue.pop_front() {
            let Some(packet) = self.clock.add(nanos, packet) else { continue };
            let (at, jump) = self.clock.jump(nanos);
            self.follow(false);
            let shows = packet.as_ref().map_or((0, Testimony::Silent), |packet| self.testify(at, jump, packet));
            for held in self.clock.hold((place, nanos, packet), shows).into_iter().rev() {
                queue.push_front(held);
            }
        }
    }

    /// The place of the connection of a packet at `at`, and what the packet shows of a jump of the times.
    fn testify(&mut self, at: i128, jump: i128, packet: &IpPacket) -> (u32, Testimony) {
        let Some((segment, (slot, from))) = packet.segment().zip(self.look_up(packet.flow())) else {
            return (0, Testimony::Silent);
        };
        (slot, self.slots[slot as usize].testify(at, jump, from.into(), &segment))
    }

    /// Returns whether the packet belongs to a connection.
    fn packet(&mut self, at: u64, packet: &IpPacket) -> bool {
        let wire = packet.wire_len().get();
        if let Some(segment) = packet.segment() {
            let Some((slot, mut from)) = self.find(at, packet, Protocol::Tcp) else { return false };
            if self.slots[slot as usize].is_another(from.into(), &segment) {
                self.replace(slot, at, packet);
                from = 0;
            }
            let steps = self.clock.steps();
            let connection = &mut self.slots[slot as usize];
            connection.advance(at, steps);
            let packet = Packet {
                at: connection.last,
                captured: at,
                segment: &segment,
                wire,
                identification: packet.identification(),
            };
            let is_new = connection.segment(from.into(), &packet);
            self.counts.duplicates += u64::from(!is_new);
            return true;
        }
        let Some((payload, length)) = packet.datagram_payload() else { return false };
        let is_known = self.look_up(packet.flow()).is_some();
        if !is_known && payload.first().is_none_or(|first| first & LONG_HEADER != LONG_HEADER) {
            return false;
        }
        let Some((slot, from)) = self.find(at, packet, Protocol::Quic) else { return false };
        let steps = self.clock.steps();
        let connection = &mut self.slots[slot as usize];
        connection.packets += 1;
        connection.octets += wire;
        connection.advance(at, steps);
        connection.datagram(connection.last, from.into(), payload, length as u32, wire);
        true
    }

    #[inline]
    fn look_up(&mut self, key: FlowKey) -> Option<(u32, u8)> {
        if let Some((_, found)) = self.recent.iter().flatten().find(|(recent, _)| *recent == key) {
            return Some(*found);
        }
        let found = *self.by_key.get(&key)?;
        self.recent = [Some((key, found)), self.recent[0]];
        Some(found)
    }

    /// The connection of a packet and the end that has sent it. It is followed from now on if it is new.
    #[inline]
    fn find(&mut self, at: u64, packet: &IpPacket, protocol: Protocol) -> Option<(u32, u8)> {
        match self.look_up(packet.flow()) {
            Some(found) => Some(found),
            None => self.begin(at, packet, protocol),
        }
    }

    #[cold]
    fn begin(&mut self, at: u64, packet: &IpPacket, protocol: Protocol) -> Option<(u32, u8)> {
        let ends = packet.sockets()?;
        if self.slots.len() >= self.options.most_connections {
            self.make_room();
        }
        let windows = if self.slots.len() < FEW { WINDOWS.0 } else { WINDOWS.1 };
        let slot = self.slots.len() as u32;
        let keys = [packet.flow(), packet.reverse_flow()?];
        self.slots.push(Connection::new(ends, protocol, at, windows));
        self.keys.push(keys);
        self.by_key.insert(keys[1], (slot, 1));
        self.by_key.insert(keys[0], (slot, 0));
        Some((slot, 0))
    }

    /// Ends the connection in `slot`. `packet` opens another one between the same ports.
    #[cold]
    fn replace(&mut self, slot: u32, at: u64, packet: &IpPacket) {
        let (Some(ends), Some(reverse)) = (packet.sockets(), packet.reverse_flow()) else { return };
        let place = slot as usize;
        let another = Connection::new(ends, Protocol::Tcp, at, self.slots[place].windows());
        let ended = std::mem::replace(&mut self.slots[place], another);
        self.keys[place] = [packet.flow(), reverse];
        for (end, key) in self.keys[place].into_iter().enumerate().rev() {
            self.by_key.insert(key, (slot, end as u8));
        }
        self.recent = [None; 2];
        self.end(&ended);
    }

    /// Ends the quarter of connections that has been silent for longest.
    #[cold]
    fn make_room(&mut self) {
        let mut order: Vec<usize> = (0..self.slots.len()).collect();
        order.sort_by_key(|&slot| (self.slots[slot].last, slot));
        order.truncate((self.slots.len() / 4).max(1));
        order.sort_unstable();
        for slot in order.into_iter().rev() {
            let connection = self.slots.swap_remove(slot);
            let keys = self.keys.swap_remove(slot);
            keys.iter().for_each(|key| {
                self.by_key.remove(key);
            });
            if let Some(moved) = self.keys.get(slot) {
                for (end, key) in moved.iter().enumerate().rev() {
                    self.by_key.insert(*key, (slot as u32, end as u8));
                }
            }
            self.end(&connection);
        }
        self.recent = [None; 2];
    }

    fn end(&mut self, connection: &Connection) {
        self.counts.connections += 1;
        self.finished.push(connection.describe(self.clock.tick()));
        if self.finished.len().is_multiple_of(MAX_DRAWN) {
            self.draw_largest();
        }
        if self.finished.len() >= 2 * self.options.most_reported.max(1) {
            self.keep_largest();
        }
    }

    fn keep_largest(&mut self) {
        self.finished.sort_by(|one, other| other.octets.cmp(&one.octets).then(one.start.total_cmp(&other.start)));
        self.finished.truncate(self.options.most_reported);
        self.draw_largest();
    }

    /// Drops the points for figures of all but the largest directions: they are most of the memory of a report.
    fn draw_largest(&mut self) {
        let ways = self.finished.iter_mut().flat_map(|connection| &mut connection.ways);
        let mut drawn: Vec<_> = ways.filter(|way| !way.curves.windows.is_empty()).collect();
        drawn.sort_by_key(|way| std::cmp::Reverse(way.data_octets));
        drawn.into_iter().skip(MAX_DRAWN).for_each(|way| way.curves = report::Curves::default());
    }

    /// What the packets tell.
    #[must_use]
    pub fn finish(mut self) -> Report {
        loop {
            let again = self.clock.judge(true);
            if again.is_empty() {
                break;
            }
            again.into_iter().for_each(|packet| self.jump(packet));
        }
        self.follow(true);
        for connection in std::mem::take(&mut self.slots) {
            self.end(&connection);
        }
        self.keep_largest();
        let (first, last) = self.clock.span();
        for connection in &mut self.finished {
            connection.start -= first as f64 / 1e9;
        }
        Report {
            start: first as f64 / 1e9,
            duration: (last - first) as f64 / 1e9,
            counts: self.counts,
            clock: self.clock.describe(),
            connections: self.finished,
        }
    }
}

/// Writes the length of the packet where its header has none: cards that cut segments leave that to be done (TCP segmentation offload).
fn complete_length(packet: &mut [u8], length: usize) {
    if let [version, _, high, low, ..] = packet
        && *version >> 4 == 4
        && (*high, *low) == (0, 0)
    {
        [*high, *low] = (length.min(usize::from(u16::MAX)) as u16).to_be_bytes();
    }
}
