//! Analysis of the packets of one connection.

use super::packet::Packet;
use super::scalar::Scalar;
use crate::connection::{Connection, Protocol};
use crate::packet::Acknowledged;
use crate::report::Connection as Described;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The maximum number of packets in flight that are followed. Chosen: it takes 64 MB of memory for
/// both directions, and a path of 10 Gbps and 1 s holds fewer.
const MAX_OUTSTANDING: usize = 1 << 20;
/// The maximum number of lost packets whose late acknowledgment is recognised. Chosen: on the same
/// path at 1 % of loss, fewer are lost in a round trip.
const MAX_LOST: usize = 1 << 14;
/// Octets of IPv4 and UDP around a packet.
const HEADERS: u64 = 28;
/// The number of windows of packets per direction with few and with many connections, and the
/// maximum number that counts as few. As in captures.
const WINDOWS: (usize, usize, usize) = (8, 2, 256);

/// A packet number, with its path.
type Number = (u64, u64);

/// Data in flight: for each packet number, the time of sending and the number of octets.
#[derive(Clone, Debug, Default)]
struct Outstanding {
    packets: BTreeMap<Number, (u64, u64)>,
    octets: u64,
}

impl Outstanding {
    fn insert(&mut self, number: Number, at: u64, octets: u64) {
        if self.packets.len() < MAX_OUTSTANDING {
            self.octets = self.octets.saturating_add(octets);
            if let Some((_, before)) = self.packets.insert(number, (at, octets)) {
                self.octets = self.octets.saturating_sub(before);
            }
        }
    }

    fn remove(&mut self, number: Number) -> Option<(u64, u64)> {
        let removed = self.packets.remove(&number)?;
        self.octets = self.octets.saturating_sub(removed.1);
        Some(removed)
    }
}

/// One connection of a log.
#[derive(Clone, Debug)]
pub(super) struct Logged {
    connection: Connection,
    /// Data that this end has sent, and data that it has received but not yet acknowledged.
    outstanding: [Outstanding; 2],
    lost: BTreeSet<Number>,
    /// The shortest time to an acknowledgment, in nanoseconds.
    minimum: Option<u64>,
    is_of_end: bool,
    addresses: Option<[String; 2]>,
    is_empty: bool,
}

/// Addresses in the event that starts a connection, before and since
/// draft-ietf-quic-qlog-quic-events-10.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Start<'a> {
    #[serde(borrow)]
    src_ip: Scalar<'a>,
    #[serde(borrow)]
    dst_ip: Scalar<'a>,
    #[serde(borrow)]
    src_port: Scalar<'a>,
    #[serde(borrow)]
    dst_port: Scalar<'a>,
    #[serde(borrow)]
    local: Tuple<'a>,
    #[serde(borrow)]
    remote: Tuple<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tuple<'a> {
    #[serde(borrow)]
    ip_v4: Scalar<'a>,
    #[serde(borrow)]
    ip_v6: Scalar<'a>,
    #[serde(borrow)]
    port_v4: Scalar<'a>,
    #[serde(borrow)]
    port_v6: Scalar<'a>,
}

impl Tuple<'_> {
    fn address(&self) -> Option<SocketAddr> {
        address(&self.ip_v4, &self.port_v4).or_else(|| address(&self.ip_v6, &self.port_v6))
    }
}

fn address(ip: &Scalar<'_>, port: &Scalar<'_>) -> Option<SocketAddr> {
    Some(SocketAddr::new(ip.text()?.parse().ok()?, u16::try_from(port.count().unwrap_or(0)).ok()?))
}

impl Logged {
    /// Returns a connection without packets, number `place` of its log. `is_of_end` means that one
    /// of its ends wrote the log.
    pub(super) fn new(place: usize, is_of_end: bool) -> Self {
        let nowhere = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
        let windows = if place < WINDOWS.2 { WINDOWS.0 } else { WINDOWS.1 };
        Self {
            connection: Connection::new([nowhere; 2], Protocol::Log, 0, windows),
            outstanding: <[Outstanding; 2]>::default(),
            lost: BTreeSet::new(),
            minimum: None,
            is_of_end,
            addresses: None,
            is_empty: true,
        }
    }

    /// Reads the addresses in the event that starts the connection. Most stacks omit some of them.
    pub(super) fn starts(&mut self, data: &str) {
        let Ok(start) = serde_json::from_str::<Start>(data) else { return };
        let here = address(&start.src_ip, &start.src_port).or_else(|| start.local.address());
        let there = address(&start.dst_ip, &start.dst_port).or_else(|| start.remote.address());
        if let (Some(here), Some(there)) = (here, there) {
            self.addresses = Some([here, there].map(|address| address.to_string()));
        }
    }

    /// Records a packet on `path` that the end `from` has sent. End 0 is the one whose packets the
    /// log shows as sent.
    pub(super) fn packet(&mut self, at: u64, from: usize, path: u64, packet: &Packet) {
        let Self { connection, outstanding, .. } = self;
        if self.is_empty {
            (connection.first, self.is_empty) = (at, false);
        }
        // Clocks step back, and threads write events out of order. The times of a connection must
        // not decrease.
        connection.last = connection.last.max(at);
        let at = connection.last;
        let size = packet.size.unwrap_or(packet.payload).saturating_add(HEADERS);
        connection.packets += 1;
        connection.octets = connection.octets.saturating_add(size);
        let Some(number) = packet.number.filter(|_| !packet.is_early) else { return };
        if packet.payload > 0 {
            connection.directions[from].log_data(at, packet.payload, size);
            outstanding[from].insert((path, number), at, packet.payload);
        }
        if let Some(ranges) = &packet.acknowledges {
            self.acknowledges(at, from, ranges, size, packet.payload == 0);
        }
    }

    fn acknowledges(&mut self, at: u64, from: usize, ranges: &[(u64, u64, u64)], size: u64, is_pure: bool) {
        let data = &mut self.outstanding[1 - from];
        let direction = &mut self.connection.directions[1 - from];
        let mut covered = Covered::default();
        for range in ranges {
            covered.add(*range, data);
        }
        if from == 1 {
            for &(path, first, last) in ranges {
                while let Some(&number) = self.lost.range((path, first)..=(path, last)).next() {
                    self.lost.remove(&number);
                    // The packet arrived late, so the retransmission of its data was spurious.
                    direction.delivery.losses.counts.needless += 1;
                }
            }
        }
        if let Some(sent) = covered.newest.filter(|_| from == 1) {
            let took = at.saturating_sub(sent);
            direction.round_trip.ahead(took, false);
            if self.is_of_end {
                direction.round_trip.handshake_behind(0);
            }
            self.minimum = Some(self.minimum.map_or(took, |minimum| minimum.min(took)));
        }
        direction.log_ack(at, &Acknowledged { octets: covered.octets, flight: data.octets, size, is_pure });
    }

    /// Records a packet that this end has declared lost.
    pub(super) fn lost(&mut self, path: u64, packet: &Packet) {
        let Some(number) = packet.number.filter(|_| !packet.is_early) else { return };
        if self.outstanding[0].remove((path, number)).is_some() {
            self.connection.directions[0].log_loss();
            if self.lost.len() == MAX_LOST {
                self.lost.pop_first();
            }
            self.lost.insert((path, number));
        }
    }

    /// Describes the connection. `names` are used for its ends if the log has no addresses. Its
    /// clock has a tick of `tick` nanoseconds. Returns `None` without packets.
    pub(super) fn describe(mut self, names: [String; 2], tick: f64) -> Option<Described> {
        if self.is_empty {
            return None;
        }
        let received = &mut self.connection.directions[1].round_trip;
        if self.is_of_end {
            received.handshake_ahead(0);
            if let Some(minimum) = self.minimum {
                // A packet to this end takes as long as a packet from it.
                received.handshake_behind(minimum);
            }
        }
        Some(Described::of(&self.connection, self.addresses.unwrap_or(names), tick))
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Covered {
    octets: u64,
    /// The time of sending of the largest newly acknowledged packet, if it is the largest of the
    /// ACK (RFC 9002, §5.1).
    newest: Option<u64>,
    largest: Number,
}

impl Covered {
    /// Removes the packets of a range, both ends included.
    fn add(&mut self, (path, first, last): (u64, u64, u64), outstanding: &mut Outstanding) {
        if (path, last) > self.largest {
            (self.largest, self.newest) = ((path, last), None);
        }
        while let Some((&number, _)) = outstanding.packets.range((path, first)..=(path, last)).next_back() {
            let Some((at, octets)) = outstanding.remove(number) else { break };
            self.octets = self.octets.saturating_add(octets);
            if number == self.largest {
                self.newest = Some(at);
            }
        }
    }
}
