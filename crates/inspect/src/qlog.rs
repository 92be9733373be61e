//! Logs of QUIC endpoints in qlog, in place of packets: what they sent and received, with the frames that no capture can read.
//!
//! Events of both the deployed version 0.3 (draft-ietf-quic-qlog-quic-events-01) and of the later drafts are read: packets sent, received and lost. Names may have a category in front.
//! The log of one end tells its two directions as a capture at that end does. A log of another transport that maps itself to QUIC's terms is read alike.

use crate::clock::Clock;
use crate::connection::Connection;
use crate::report::{Counts, Protocol, Report};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Packets in flight that are followed.
const MOST_OUTSTANDING: usize = 1 << 20;
/// Octets of IPv4 and UDP around a packet.
const HEADERS: u64 = 28;

/// A record of a log: an event. What others hold is passed over.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Event {
    /// Milliseconds.
    pub time: f64,
    /// The name, with or without its category.
    pub name: String,
    /// What happened.
    pub data: Data,
}

/// The data of an event.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Data {
    header: Header,
    raw: Raw,
    frames: Vec<Frame>,
    src_ip: Option<String>,
    dst_ip: Option<String>,
    src_port: Option<u16>,
    dst_port: Option<u16>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Header {
    packet_type: Option<String>,
    packet_number: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Raw {
    length: Option<u64>,
    payload_length: Option<u64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Frame {
    frame_type: String,
    length: Option<u64>,
    raw: Raw,
    acked_ranges: Vec<Vec<u64>>,
}

impl Frame {
    /// Octets of a stream, or of a datagram of an application.
    fn payload(&self) -> u64 {
        match self.frame_type.as_str() {
            "stream" | "datagram" => self.length.or(self.raw.payload_length).or(self.raw.length).unwrap_or(0),
            _ => 0,
        }
    }
}

/// Data in flight, by packet number: when they were sent, and how many octets.
type Outstanding = BTreeMap<u64, (u64, u64)>;

/// Reads the events of a log in order of time.
#[derive(Clone, Debug)]
pub struct Reader {
    connection: Option<Connection>,
    clock: Clock<()>,
    /// What this end has sent, and what it has received and not acknowledged yet.
    outstanding: [Outstanding; 2],
    /// The shortest time to an acknowledgment, in nanoseconds.
    least: Option<u64>,
    runs: usize,
    events: u64,
    ends: [SocketAddr; 2],
}

impl Default for Reader {
    fn default() -> Self {
        let nowhere = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
        Self {
            connection: None,
            clock: Clock::default(),
            outstanding: [Outstanding::new(), Outstanding::new()],
            least: None,
            runs: 8,
            events: 0,
            ends: [nowhere; 2],
        }
    }
}

impl Reader {
    /// Reads an event.
    pub fn event(&mut self, event: &Event) {
        let name = event.name.rsplit(':').next().unwrap_or_default();
        let at = if event.time > 0.0 { (event.time * 1e6) as u64 } else { 0 };
        self.events += 1;
        self.clock.read(at);
        match name {
            "connection_started" => self.starts(&event.data),
            "packet_sent" => self.packet(at, 0, &event.data),
            "packet_received" => self.packet(at, 1, &event.data),
            "packet_lost" => self.lost(&event.data),
            _ => self.events -= 1,
        }
    }

    fn starts(&mut self, data: &Data) {
        let end = |ip: &Option<String>, port: Option<u16>| {
            Some(SocketAddr::new(ip.as_deref()?.parse().ok()?, port.unwrap_or_default()))
        };
        if let (Some(here), Some(there)) = (end(&data.src_ip, data.src_port), end(&data.dst_ip, data.dst_port)) {
            self.ends = [here, there];
        }
    }

    /// The end `from` has sent a packet: 0 is the end of the log.
    fn packet(&mut self, at: u64, from: usize, data: &Data) {
        let is_early =
            matches!(data.header.packet_type.as_deref(), Some("initial" | "handshake" | "retry" | "Initial"));
        let Some(number) = data.header.packet_number.filter(|_| !is_early) else { return };
        let Self { ends, runs, outstanding, least, .. } = self;
        let connection = self.connection.get_or_insert_with(|| Connection::new(*ends, Protocol::Log, at, *runs));
        let size = data.raw.length.unwrap_or_else(|| data.frames.iter().map(Frame::payload).sum()) + HEADERS;
        connection.last = connection.last.max(at);
        connection.packets += 1;
        connection.octets += size;
        let payload: u64 = data.frames.iter().map(Frame::payload).sum();
        if payload > 0 {
            connection.ways[from].log_data(at, payload, size);
            if outstanding[from].len() < MOST_OUTSTANDING {
                outstanding[from].insert(number, (at, payload));
            }
        }
        let ranges = data.frames.iter().filter(|frame| frame.frame_type == "ack").flat_map(|frame| &frame.acked_ranges);
        let mut acknowledges = false;
        let mut covered = Covered::default();
        for range in ranges {
            acknowledges = true;
            covered.add(range, &mut outstanding[1 - from]);
        }
        if acknowledges {
            let way = &mut connection.ways[1 - from];
            if let Some(sent) = covered.newest.filter(|_| from == 1) {
                let took = at.saturating_sub(sent);
                way.round_trip.ahead(took, false);
                way.round_trip.handshake_behind(0);
                *least = Some(least.map_or(took, |least| least.min(took)));
            }
            let flight = outstanding[1 - from].values().map(|(_, octets)| octets).sum();
            way.log_ack(at, &Acknowledged { octets: covered.octets, flight, size, is_pure: payload == 0 });
        }
    }

    fn lost(&mut self, data: &Data) {
        let (Some(number), Some(connection)) = (data.header.packet_number, &mut self.connection) else { return };
        if self.outstanding[0].remove(&number).is_some() {
            connection.ways[0].log_loss();
        }
    }

    /// What the log tells. A log of no packets has no connection.
    #[must_use]
    pub fn finish(self) -> Report {
        let counts = |connections| Counts { packets: self.events, connections, ..Counts::default() };
        let Some(mut connection) = self.connection else {
            return Report {
                start: 0.0,
                duration: 0.0,
                counts: counts(0),
                clock: self.clock.describe(),
                connections: Vec::new(),
            };
        };
        let received = &mut connection.ways[1].round_trip;
        received.handshake_ahead(0);
        if let Some(least) = self.least {
            // What comes to this end has been on its way for as long as what leaves it.
            received.handshake_behind(least);
        }
        let start = connection.first as f64 / 1e9;
        let mut described = connection.describe(self.clock.tick());
        described.start -= start;
        Report {
            start,
            duration: described.duration,
            counts: counts(1),
            clock: self.clock.describe(),
            connections: vec![described],
        }
    }
}

/// What an acknowledgment says of data that were in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledged {
    /// Octets that it acknowledges for the first time.
    pub(crate) octets: u64,
    /// Octets still in flight.
    pub(crate) flight: u64,
    /// Octets of its packet.
    pub(crate) size: u64,
    /// It came without data.
    pub(crate) is_pure: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Covered {
    octets: u64,
    /// When the largest packet that is newly acknowledged was sent, if it is the largest of the ACK (RFC 9002, §5.1).
    newest: Option<u64>,
    largest: u64,
}

impl Covered {
    /// Removes the packets of a range, both ends included; one number stands alone.
    fn add(&mut self, range: &[u64], outstanding: &mut Outstanding) {
        let (Some(&first), Some(&last)) = (range.first(), range.last()) else { return };
        if last > self.largest {
            (self.largest, self.newest) = (last, None);
        }
        while let Some((&number, _)) = outstanding.range(first..=last.max(first)).next_back() {
            let Some((at, octets)) = outstanding.remove(&number) else { break };
            self.octets += octets;
            if number == self.largest {
                self.newest = Some(at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: &str, length: u64, ranges: Vec<Vec<u64>>) -> Frame {
        Frame { frame_type: kind.to_owned(), length: Some(length), acked_ranges: ranges, ..Frame::default() }
    }

    fn event(time: f64, name: &str, number: u64, frames: Vec<Frame>) -> Event {
        let header = Header { packet_number: Some(number), packet_type: Some("1RTT".to_owned()) };
        Event { time, name: name.to_owned(), data: Data { header, frames, ..Data::default() } }
    }

    /// Packets of 1000 octets, one a millisecond, acknowledged by twos after 20 ms.
    #[test]
    fn a_transfer_tells_rate_round_trip_and_ratio() {
        let mut events = Vec::new();
        for number in 0..2000_u64 {
            let sent = number as f64;
            events.push(event(sent, "transport:packet_sent", number, vec![frame("stream", 1000, vec![])]));
            if number % 2 == 1 {
                let ranges = vec![vec![number.saturating_sub(20), number]];
                events.push(event(sent + 20.0, "quic:packet_received", number, vec![frame("ack", 0, ranges)]));
            }
        }
        events.sort_by(|one, other| one.time.total_cmp(&other.time));
        let mut reader = Reader::default();
        events.iter().for_each(|event| reader.event(event));
        let report = reader.finish();
        let way = &report.connections[0].ways[0];
        // 1000 octets in 1 ms, with 28 octets of headers each.
        assert!((way.rate.value().unwrap().value - 8.224).abs() < 0.05, "{:?}", way.rate);
        assert!((way.round_trip.base.value().unwrap() - 20.0).abs() < 0.01);
        assert!((way.acks.as_ref().unwrap().ratio.unwrap() - 2.0).abs() < 0.05);
        assert!((way.goodput - 8.0).abs() < 0.1);
        assert_eq!(way.losses.retransmitted, 0);
    }

    #[test]
    fn losses_are_those_that_the_end_declared() {
        let mut reader = Reader::default();
        for number in 0..100 {
            reader.event(&event(number as f64, "packet_sent", number, vec![frame("stream", 1000, vec![])]));
        }
        reader.event(&event(101.0, "recovery:packet_lost", 7, vec![]));
        reader.event(&event(101.0, "recovery:packet_lost", 7, vec![]));
        let report = reader.finish();
        assert_eq!(report.connections[0].ways[0].losses.retransmitted, 1);
    }

    #[test]
    fn a_log_without_packets_has_no_connection() {
        assert!(Reader::default().finish().connections.is_empty());
    }
}
