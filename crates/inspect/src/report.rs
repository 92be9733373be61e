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
    /// The time from the first packet to the last, in seconds.
    pub duration: f64,
    /// Counts of the packets and connections.
    pub counts: Counts,
    /// The clock of the capture.
    pub clock: Clock,
    /// A summary of the log. `None` if the file is a capture.
    pub log: Option<Summary>,
    /// The connections, in descending order of their octets.
    pub connections: Vec<Connection>,
}

/// Counts of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// The number of packets.
    pub packets: u64,
    /// The number of packets of other protocols.
    pub others: u64,
    /// The number of these packets that are UDP, but not QUIC.
    pub other_udp_packets: u64,
    /// The number of flows of these UDP packets. Both directions are one flow.
    pub other_udp_flows: u64,
    /// The number of packets whose headers cannot be read.
    pub malformed: u64,
    /// The number of copies made by the capture. All other counts exclude them.
    pub duplicates: u64,
    /// The number of connections.
    pub connections: u64,
    /// The number of packets without a connection, by reason.
    #[serde(flatten)]
    pub unopened: Unopened,
}

/// A connection.
#[derive(Clone, Debug, Serialize)]
pub struct Connection {
    /// The transport protocol.
    pub protocol: Protocol,
    /// The addresses and ports of the two ends. The end that sent the first packet comes first. In
    /// a log without addresses, they are client and server.
    pub ends: [String; 2],
    /// The origin of the connection in a log. `None` for a capture.
    pub source: Option<Source>,
    /// The time from the start of the capture to the connection's first packet, in seconds.
    pub start: f64,
    /// The time from the connection's first packet to its last, in seconds.
    pub duration: f64,
    /// The number of packets in both directions, without duplicates.
    pub packets: u64,
    /// The number of octets of these packets.
    pub octets: u64,
    /// The number of duplicates: copies of packets made by the capture.
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
    /// At the receiver of the data.
    Receiver,
    /// Between the sender and the receiver.
    Middle,
    /// The position is undetermined.
    Unknown,
}

/// A number with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// One direction of a connection.
#[derive(Clone, Debug, Serialize)]
pub struct Direction {
    /// The end that sends the data.
    pub from: String,
    /// The end that receives the data.
    pub to: String,
    /// The point at which the direction was captured.
    pub position: Position,
    /// The time from the first data to the last, in seconds.
    pub duration: f64,
    /// The number of octets of payload, including retransmissions.
    pub data_octets: u64,
    /// The number of segments of at most full size. A packet that a NIC splits later is counted as
    /// several segments.
    pub data_segments: u64,
    /// The payload of a full-sized segment in octets.
    pub mss: u32,
    /// The size of an IP packet with a full-sized segment, in octets.
    pub packet_octets: u64,
    /// The rate, in Mbps, at which octets arrived at the receiver, in order or not. Zero if
    /// unknown. For QUIC, and without ACKs, the rate of payload at the point of capture.
    pub goodput: f64,
    /// The 95 % confidence interval of the goodput. It is computed by batch means, as for the other
    /// quantities.
    pub goodput_interval: Option<[f64; 2]>,
    /// The rate of the bottleneck in Mbps, for IP octets.
    pub rate: Finding<Estimate>,
    /// `true` if the bottleneck may be faster, because another limit applied to the sender for most
    /// of the time, or because only a lower bound is known.
    pub rate_is_lower_bound: bool,
    /// Round-trip times.
    pub round_trip: RoundTrip,
    /// Losses.
    pub losses: Losses,
    /// Acknowledgments. `None` if they are not visible.
    pub acks: Option<Acks>,
    /// The limits of the sender. `None` if they are not visible at the point of capture.
    pub limits: Option<Limits>,
    /// The congestion controller.
    pub controller: Finding<Controller>,
    /// The number of segments marked Congestion Experienced at the point of capture.
    pub marked: u64,
    /// `true` if the connection uses timestamps.
    pub timestamps: bool,
    /// `true` if the connection uses SACK.
    pub sack: bool,
    /// The evidence of each finding, or the reason why a value is unknown.
    #[serde(flatten)]
    pub statements: Statements,
    /// Points for figures.
    pub curves: Curves,
}

impl Connection {
    /// Describes one direction of a connection. `names` are the names of the connection's ends.
    /// `tick` is the tick of the capture's clock in nanoseconds.
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
