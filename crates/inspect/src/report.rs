//! The report of a capture.

mod acks;
mod clock;
mod controller;
mod curves;
mod limits;
mod losses;
mod rate;
mod round_trip;

pub use crate::connection::Protocol;
pub use acks::Acks;
pub use clock::{Clock, Step};
pub use controller::Controller;
pub use curves::Curves;
pub use limits::Limits;
pub use losses::Losses;
pub use round_trip::RoundTrip;

use crate::connection;
use crate::decapsulate::Unopened;
use crate::direction;
use crate::finding::{Finding, Statements};
use crate::qlog::{Source, Summary};
use rate::Seen;
use serde::Serialize;

/// The minimum number of packets with data for the description of a direction.
const MIN_PACKETS: u64 = 1;

/// The analysis of a capture.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The time of the first packet, in seconds since 1970.
    pub start: f64,
    /// Seconds from the first packet to the last.
    pub duration: f64,
    /// Counts of the input.
    pub counts: Counts,
    /// The clock of the capture.
    pub clock: Clock,
    /// Summary of a log, if the file is one.
    pub log: Option<Summary>,
    /// The connections, those with the most octets first.
    pub connections: Vec<Connection>,
}

/// Counts of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Packets.
    pub packets: u64,
    /// Packets of other protocols.
    pub others: u64,
    /// Packets of UDP among these that are not QUIC.
    pub other_udp_packets: u64,
    /// Their flows, with both directions counted as one.
    pub other_udp_flows: u64,
    /// Packets whose headers cannot be read.
    pub malformed: u64,
    /// Copies made by the capture, which are excluded from all other counts.
    pub duplicates: u64,
    /// Connections.
    pub connections: u64,
    /// Packets without a connection, by the reason.
    #[serde(flatten)]
    pub unopened: Unopened,
}

/// A connection.
#[derive(Clone, Debug, Serialize)]
pub struct Connection {
    /// The protocol.
    pub protocol: Protocol,
    /// The two ends, as addresses with ports. The first is the one that sent the first packet. In a
    /// log without addresses, client and server.
    pub ends: [String; 2],
    /// The origin of the connection, if it is in a log.
    pub source: Option<Source>,
    /// Seconds from the start of the capture to its first packet.
    pub start: f64,
    /// Seconds from its first packet to its last.
    pub duration: f64,
    /// Packets in both directions, without duplicates.
    pub packets: u64,
    /// Octets of these packets.
    pub octets: u64,
    /// Duplicates: copies of packets made by the capture.
    pub duplicates: u64,
    /// The mean time from a packet to its copy, in milliseconds.
    pub duplicate_distance: Option<f64>,
    /// The directions that carry data.
    #[serde(rename = "ways")]
    pub directions: Vec<Direction>,
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
    /// The position is undetermined.
    Unknown,
}

/// A number with its 95 % confidence interval.
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
pub struct Direction {
    /// The end that sends the data.
    pub from: String,
    /// The end that receives them.
    pub to: String,
    /// Where it was captured.
    pub position: Position,
    /// Seconds from the first data to the last.
    pub duration: f64,
    /// Octets of payload, including retransmissions.
    pub data_octets: u64,
    /// Segments of at most full size. A packet that a NIC splits later counts as several.
    pub data_segments: u64,
    /// Payload of a full-sized segment.
    pub mss: u32,
    /// Octets of an IP packet with a full-sized segment.
    pub packet_octets: u64,
    /// Octets that arrived at the receiver, in order or not, in Mbps; zero if unknown. For QUIC,
    /// and without ACKs, octets of payload that passed.
    pub goodput: f64,
    /// Its 95 % confidence interval, by batch means, as for the other quantities.
    pub goodput_interval: Option<[f64; 2]>,
    /// The rate of the bottleneck in IP octets, in Mbps.
    pub rate: Finding<Estimate>,
    /// `true` if the bottleneck may be faster, because another limit applied to the sender for most
    /// of the time, or because only a lower bound is known.
    pub rate_is_lower_bound: bool,
    /// Round-trip times.
    pub round_trip: RoundTrip,
    /// Losses.
    pub losses: Losses,
    /// Acknowledgments; `None` if they are not visible.
    pub acks: Option<Acks>,
    /// The limits of the sender; `None` if they are not visible at the point of capture.
    pub limits: Option<Limits>,
    /// The congestion controller.
    pub controller: Finding<Controller>,
    /// Segments marked Congestion Experienced at the point of capture.
    pub marked: u64,
    /// `true` if the connection has timestamps.
    pub timestamps: bool,
    /// `true` if the connection has SACK.
    pub sack: bool,
    /// The evidence of each finding, and the reasons why others are not known.
    #[serde(flatten)]
    pub statements: Statements,
    /// Points for figures.
    pub curves: Curves,
}

impl Connection {
    /// Describes the direction of a connection whose ends have these names. It was captured with a
    /// clock of `tick` nanoseconds.
    pub(crate) fn of(connection: &connection::Connection, names: [String; 2], tick: f64) -> Self {
        let described = |from: usize| {
            let direction = &connection.directions[from];
            let round_trip =
                RoundTrip::of(direction, connection.spins.are_used().then_some((&connection.spins, from)), tick);
            (direction.volume.packets >= MIN_PACKETS).then(|| {
                let ends = [&names[from], &names[1 - from]];
                let mut described = Direction::of(direction, connection.protocol, ends, round_trip, tick);
                if let Some(evidence) = &connection.evidence {
                    described.statements.add("protocol", &Finding::known(connection.protocol, evidence));
                }
                described
            })
        };
        Self {
            protocol: connection.protocol,
            directions: [0, 1].into_iter().filter_map(described).collect(),
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

impl Direction {
    fn of(
        direction: &direction::Direction,
        protocol: Protocol,
        [from, to]: [&String; 2],
        round_trip: RoundTrip,
        tick: f64,
    ) -> Self {
        let is_quic = protocol == Protocol::Quic;
        let position = round_trip.position();
        let seen = Seen::of(direction, position, &round_trip, is_quic, tick);
        let overhead = direction.volume.overhead();
        let packet_octets = u64::from(direction.mss()) + direction.volume.headers();
        let first = direction.volume.first.unwrap_or_default();
        let duration = direction.volume.duration() as f64 / 1e9;
        let limits = if is_quic { None } else { Limits::of(direction, position) };
        let goodput = direction.goodput();
        let (rate, rate_is_lower_bound) = seen.rate_of_ip(overhead, limits);
        let payload_rate = rate.value().filter(|_| !rate_is_lower_bound).map(|rate| rate.value * 125e3 / overhead);
        let is_bursty = seen.bursts.is_some_and(|bursts| bursts.period.is_some());
        let controller = Controller::of(direction, position, payload_rate, is_bursty);
        let mut statements = Statements::default();
        statements.add("rate", &rate);
        round_trip.state(&mut statements);
        statements.add("controller", &controller);
        statements.add("goodput", &goodput);
        let is_encrypted = protocol == Protocol::Log;
        let acks = (!is_quic).then(|| Acks::of(direction, position, &seen, is_encrypted, &mut statements));
        Self {
            from: from.clone(),
            to: to.clone(),
            position,
            duration,
            data_octets: direction.volume.octets,
            data_segments: direction.volume.segments,
            mss: direction.mss(),
            packet_octets,
            goodput: goodput.value().copied().unwrap_or_default(),
            goodput_interval: direction.interval(|taken| (taken.carried as f64 * 8e-6, taken.at as f64 / 1e9)),
            rate,
            rate_is_lower_bound,
            losses: Losses::of(direction, position),
            acks,
            limits,
            controller,
            marked: direction.volume.marked,
            timestamps: direction.has_timestamps,
            sack: direction.has_sack,
            statements,
            curves: Curves::of(direction, first),
            round_trip,
        }
    }
}
