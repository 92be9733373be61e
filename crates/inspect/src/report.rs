//! The result.

mod acks;
mod clock;
mod controller;
mod curves;
mod limits;
mod losses;
mod rate;
mod round_trip;

pub use acks::Acks;
pub use clock::{Clock, Step};
pub use controller::Controller;
pub use curves::Curves;
pub use limits::Limits;
pub use losses::Losses;
pub use round_trip::RoundTrip;

use crate::connection;
use crate::decapsulate::Unopened;
use crate::finding::{Finding, Statements};
use crate::qlog::{Source, Summary};
use crate::way;
use rate::Seen;
use serde::Serialize;

/// Packets with data that a direction needs to be described.
const LEAST_PACKETS: u64 = 1;

/// What a capture tells.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The time of the first packet, in seconds since 1970.
    pub start: f64,
    /// Seconds from the first packet to the last.
    pub duration: f64,
    /// What was read.
    pub counts: Counts,
    /// The clock of the capture.
    pub clock: Clock,
    /// What was read of a log, if the file is one.
    pub log: Option<Summary>,
    /// The connections, those with the most octets first.
    pub connections: Vec<Connection>,
}

/// What was read of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Packets.
    pub packets: u64,
    /// Of these, packets of other protocols.
    pub others: u64,
    /// Of the others, packets of UDP that is not QUIC.
    pub other_udp_packets: u64,
    /// Their flows, both directions together.
    pub other_udp_flows: u64,
    /// Of the packets, those whose headers cannot be read.
    pub malformed: u64,
    /// Of these, copies that the capture made, which count for nothing else.
    pub duplicates: u64,
    /// Connections.
    pub connections: u64,
    /// Packets without a connection, by the reason.
    #[serde(flatten)]
    pub unopened: Unopened,
}

/// The protocol of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// QUIC, of which the headers and the spin bit can be read.
    Quic,
    /// The log of an endpoint in qlog: QUIC, or what maps itself to its terms.
    Log,
}

/// A connection.
#[derive(Clone, Debug, Serialize)]
pub struct Connection {
    /// The protocol.
    pub protocol: Protocol,
    /// The two ends, as addresses with ports: the one first that sent the first packet. In a log
    /// without addresses, as client and server.
    pub ends: [String; 2],
    /// Where the connection comes from, if it comes from a log.
    pub source: Option<Source>,
    /// Seconds from the start of the capture to its first packet.
    pub start: f64,
    /// Seconds from its first packet to its last.
    pub duration: f64,
    /// Packets both ways, without duplicates.
    pub packets: u64,
    /// Their octets.
    pub octets: u64,
    /// Copies of packets that the capture made: the file has them more than once.
    pub duplicates: u64,
    /// The mean time from a packet to its copy, in milliseconds.
    pub duplicate_distance: Option<f64>,
    /// The directions that carry data.
    pub ways: Vec<Way>,
}

/// Where a direction was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Position {
    /// At the sender of the data.
    Sender,
    /// At their receiver.
    Receiver,
    /// Between them.
    Middle,
    /// It cannot be told.
    Unknown,
}

/// A number with its interval of 95 %.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// One direction of a connection.
#[derive(Clone, Debug, Serialize)]
pub struct Way {
    /// The end that sends the data.
    pub from: String,
    /// The end that receives them.
    pub to: String,
    /// Where it was captured.
    pub position: Position,
    /// Seconds from the first data to the last.
    pub duration: f64,
    /// Octets of payload, retransmissions included.
    pub data_octets: u64,
    /// Segments of full size or less: a packet that a card cuts later counts as several.
    pub data_segments: u64,
    /// Payload of a full-sized segment.
    pub mss: u32,
    /// Octets of an IP packet with a full-sized segment.
    pub packet_octets: u64,
    /// Octets that the receiver got, in order or not, in Mbps; zero if it is not known. Of QUIC,
    /// and without ACKs, octets of payload that passed.
    pub goodput: f64,
    /// Its interval of 95 %, by batch means, as those of other quantities.
    pub goodput_interval: Option<[f64; 2]>,
    /// The rate of the bottleneck in IP octets, in Mbps.
    pub rate: Finding<Estimate>,
    /// Whether the bottleneck may be faster, because something else limited the sender for most of
    /// the time, or nothing but a lower bound is known.
    pub rate_is_lower_bound: bool,
    /// Round-trip times.
    pub round_trip: RoundTrip,
    /// Losses.
    pub losses: Losses,
    /// Acknowledgments; `None` if they cannot be seen.
    pub acks: Option<Acks>,
    /// What limited the sender; `None` if that cannot be seen from the point of capture.
    pub limits: Option<Limits>,
    /// The congestion controller.
    pub controller: Finding<Controller>,
    /// Segments marked Congestion Experienced at the point of capture.
    pub marked: u64,
    /// Whether the connection has timestamps and SACK.
    pub timestamps: bool,
    /// See `timestamps`.
    pub sack: bool,
    /// What supports each finding, and why others are not known.
    #[serde(flatten)]
    pub statements: Statements,
    /// Points for figures.
    pub curves: Curves,
}

impl Connection {
    /// Describes a connection whose ends have these names, and that was captured with a clock of
    /// `tick` nanoseconds.
    pub(crate) fn of(connection: &connection::Connection, names: [String; 2], tick: f64) -> Self {
        let described = |from: usize| {
            let way = &connection.ways[from];
            let round_trip = RoundTrip::of(way, connection.spins.tell().then_some((&connection.spins, from)), tick);
            (way.volume.packets >= LEAST_PACKETS).then(|| {
                let ends = [&names[from], &names[1 - from]];
                let mut described = Way::of(way, connection.protocol, ends, round_trip, tick);
                if let Some(evidence) = &connection.evidence {
                    described.statements.add("protocol", &Finding::known(connection.protocol, evidence));
                }
                described
            })
        };
        Self {
            protocol: connection.protocol,
            ways: [0, 1].into_iter().filter_map(described).collect(),
            start: connection.first as f64 / 1e9,
            duration: (connection.last - connection.first) as f64 / 1e9,
            packets: connection.packets,
            octets: connection.octets,
            duplicates: connection.duplicates.count,
            duplicate_distance: connection.duplicates.mean_distance(),
            ends: names,
            source: None,
        }
    }
}

impl Way {
    fn of(way: &way::Way, protocol: Protocol, [from, to]: [&String; 2], round_trip: RoundTrip, tick: f64) -> Self {
        let is_quic = protocol == Protocol::Quic;
        let position = round_trip.position();
        let seen = Seen::of(way, position, &round_trip, is_quic, tick);
        let overhead = way.volume.overhead();
        let packet_octets = u64::from(way.mss()) + way.volume.headers();
        let first = way.volume.first.unwrap_or_default();
        let duration = way.volume.duration() as f64 / 1e9;
        let limits = if is_quic { None } else { Limits::of(way, position) };
        let goodput = way.goodput();
        let (rate, rate_is_lower_bound) = seen.rate_of_ip(overhead, limits);
        let payload_rate = rate.value().filter(|_| !rate_is_lower_bound).map(|rate| rate.value * 125e3 / overhead);
        let is_bursty = seen.bursts.is_some_and(|bursts| bursts.period.is_some());
        let controller = Controller::of(way, position, payload_rate, is_bursty);
        let mut statements = Statements::default();
        statements.add("rate", &rate);
        round_trip.state(&mut statements);
        statements.add("controller", &controller);
        statements.add("goodput", &goodput);
        let is_encrypted = protocol == Protocol::Log;
        let acks = (!is_quic).then(|| Acks::of(way, position, &seen, is_encrypted, &mut statements));
        Self {
            from: from.clone(),
            to: to.clone(),
            position,
            duration,
            data_octets: way.volume.octets,
            data_segments: way.volume.segments,
            mss: way.mss(),
            packet_octets,
            goodput: goodput.value().copied().unwrap_or_default(),
            goodput_interval: way.interval(|taken| (taken.carried as f64 * 8e-6, taken.at as f64 / 1e9)),
            rate,
            rate_is_lower_bound,
            losses: Losses::of(way, position),
            acks,
            limits,
            controller,
            marked: way.volume.marked,
            timestamps: way.has_timestamps,
            sack: way.has_sack,
            statements,
            curves: Curves::of(way, first),
            round_trip,
        }
    }
}
