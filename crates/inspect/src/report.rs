//! The result.

use crate::bursts::{Bursts, bursts};
use crate::connection;
use crate::controller::Family;
use crate::quantiles::{Quantiles, median};
use crate::rate::{self, Point, advancing, of_bottleneck, tidy, train_rate};
use crate::receiver_clock::ReceiverClock;
use crate::spin::Spins;
use crate::thinning::{self, Thinning};
use crate::trace::Trace;
use crate::way;
use serde::Serialize;

/// Points of a curve in the report.
const POINTS: usize = 3000;
/// Packets with data that a direction needs to be described.
const LEAST_PACKETS: u64 = 1;
/// A side with less than this share of the round trip is that of an end.
const AT_END: f64 = 0.1;
/// A share of the time in which something else limited the sender, from which its rate may be below that of the path.
const MOSTLY: f64 = 0.5;

/// What a capture tells.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The time of the first packet, in seconds since 1970.
    pub start: f64,
    /// Seconds from the first packet to the last.
    pub duration: f64,
    /// What was read.
    pub counts: Counts,
    /// The connections, those with the most octets first.
    pub connections: Vec<Connection>,
}

/// What was read of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Packets.
    pub packets: u64,
    /// Of these, packets of other protocols.
    pub others: u64,
    /// Of these, packets whose headers cannot be read.
    pub malformed: u64,
    /// Connections.
    pub connections: u64,
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
    /// The two ends, as addresses with ports: the one first that sent the first packet.
    pub ends: [String; 2],
    /// Seconds from the start of the capture to its first packet.
    pub start: f64,
    /// Seconds from its first packet to its last.
    pub duration: f64,
    /// Packets both ways.
    pub packets: u64,
    /// Their octets.
    pub octets: u64,
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
    /// Octets that the receiver got, in order or not, in Mbps. Of QUIC, octets of payload that passed.
    pub goodput: f64,
    /// Its interval of 95 %, by batch means, as those of other quantities.
    pub goodput_interval: Option<[f64; 2]>,
    /// The rate of the bottleneck in IP octets, in Mbps.
    pub rate: Option<Estimate>,
    /// Whether the bottleneck may be faster, because something else limited the sender for most of the time.
    pub rate_is_lower_bound: bool,
    /// Round-trip times.
    pub round_trip: RoundTrip,
    /// Losses.
    pub losses: Losses,
    /// Acknowledgments; `None` if they cannot be seen.
    pub acks: Option<Acks>,
    /// What limited the sender; `None` if that cannot be seen from the point of capture.
    pub limits: Option<Limits>,
    /// The congestion controller; `None` if it cannot be told.
    pub controller: Option<Controller>,
    /// Segments marked Congestion Experienced at the point of capture.
    pub marked: u64,
    /// Whether the connection has timestamps and SACK.
    pub timestamps: bool,
    /// See `timestamps`.
    pub sack: bool,
    /// Points for figures.
    pub curves: Curves,
}

/// Round-trip times in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RoundTrip {
    /// The least, of both sides of the point; `None` if one of them was not seen.
    pub base: Option<f64>,
    /// The part between the point and the receiver.
    pub ahead: Option<f64>,
    /// The part between the point and the sender.
    pub behind: Option<f64>,
    /// Median, mean and 95th percentile of all samples of data, with the least of the other side.
    pub median: Option<f64>,
    /// See `median`.
    pub mean: Option<f64>,
    /// The interval of the mean.
    pub mean_interval: Option<[f64; 2]>,
    /// See `median`.
    pub p95: Option<f64>,
    /// Samples of data.
    pub samples: u64,
    /// The sides are known by the spin bit.
    pub by_spin_bit: bool,
}

/// Losses, in segments.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Losses {
    /// Retransmitted.
    pub retransmitted: u64,
    /// Of these, without need.
    pub spurious: u64,
    /// Lost before the point of capture.
    pub lost_before: u64,
    /// Lost behind it.
    pub lost_behind: u64,
    /// Lost / sent.
    pub share: f64,
    /// Its interval.
    pub share_interval: Option<[f64; 2]>,
    /// Reordered before the point of capture.
    pub reordered: u64,
}

/// Acknowledgments.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Acks {
    /// Pure ACKs.
    pub count: u64,
    /// Of these, duplicates.
    pub duplicates: u64,
    /// Their octets.
    pub octets: u64,
    /// Segments with data to a pure ACK.
    pub ratio: Option<f64>,
    /// Its interval.
    pub ratio_interval: Option<[f64; 2]>,
    /// The number of segments that most ACKs cover, and the share of ACKs that cover so many.
    pub usual: u32,
    /// See `usual`.
    pub agreement: f64,
    /// Median time between ACKs, in milliseconds.
    pub spacing: Option<f64>,
    /// The rate of a return path that is busy with the ACKs that a box leaves, in Mbps of their octets.
    pub rate: Option<f64>,
    /// ACKs to a burst.
    pub burst: Option<f64>,
    /// Period of bursts in milliseconds: of ACKs, or at the receiver of data.
    pub period: Option<f64>,
    /// Whether ACKs that arrive together were sent apart.
    pub compressed: Option<bool>,
    /// What is removed.
    pub thinning: Thinning,
    /// The share of the receiver's packets that did not pass, by their numbers.
    pub missing: Option<f64>,
}

/// Shares of the time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Limits {
    /// The receive window was full.
    pub receive_window: f64,
    /// Everything was acknowledged, and the application sent nothing.
    pub application: f64,
}

/// The congestion controller.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Controller {
    /// Its likely family.
    pub family: Family,
    /// The data in flight after a loss / before it, the median.
    pub ratio: Option<f64>,
    /// Losses that this rests on.
    pub episodes: usize,
}

/// Points for figures: seconds from the first data, and octets.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Curves {
    /// New data: time, first octet, octets.
    pub data: Vec<(f64, u64, u32)>,
    /// Data that had passed before, or came out of order.
    pub repeated: Vec<(f64, u64, u32)>,
    /// Acknowledgments: time, octets acknowledged.
    pub acks: Vec<(f64, u64)>,
}

impl Connection {
    /// Describes a connection.
    pub(crate) fn of(connection: &connection::Connection) -> Self {
        let names = connection.ends.map(|end| end.to_string());
        let described = |from: usize| {
            let way = &connection.ways[from];
            let round_trip = RoundTrip::of(way, connection.spins.tell().then_some((&connection.spins, from)));
            (way.data_packets >= LEAST_PACKETS)
                .then(|| Way::of(way, connection.protocol, [&names[from], &names[1 - from]], round_trip))
        };
        Self {
            protocol: connection.protocol,
            ways: [0, 1].into_iter().filter_map(described).collect(),
            start: connection.first as f64 / 1e9,
            duration: (connection.last - connection.first) as f64 / 1e9,
            packets: connection.packets,
            octets: connection.octets,
            ends: names,
        }
    }
}

impl Way {
    fn of(way: &way::Way, protocol: Protocol, [from, to]: [&String; 2], round_trip: RoundTrip) -> Self {
        let is_quic = protocol == Protocol::Quic;
        let position = round_trip.position();
        let ack_stretches = way.acks.stretches();
        let arrivals: Vec<Vec<Point>> = way.data.stretches().iter().map(|stretch| arrivals(stretch)).collect();
        let curve = |stretch: &Vec<way::Ack>| advancing(stretch.iter().map(|ack| (ack.at, ack.delivered)));
        let acknowledged: Vec<Vec<Point>> = ack_stretches.iter().map(curve).collect();
        // At the sender no data have been through the bottleneck; elsewhere they may have.
        let data = (arrivals.as_slice(), way.data.stride());
        let acks = (acknowledged.as_slice(), way.acks.stride());
        let (passed, seen) = match position {
            _ if is_quic => (data.0, data),
            Position::Sender => (&[][..], acks),
            Position::Receiver => (data.0, data),
            Position::Middle | Position::Unknown => (data.0, acks),
        };
        let clock = ReceiverClock::of(&ack_stretches).and_then(|clock| clock.rate());
        let (rate, bursts) = rate_and_bursts(passed, &acknowledged, position == Position::Receiver, seen, clock);
        let overhead = way.wire_octets as f64 / way.data_octets.max(1) as f64;
        let first = way.first_data.unwrap_or_default();
        let duration = way.last_data.saturating_sub(first) as f64 / 1e9;
        let limits = match position {
            Position::Sender | Position::Middle if !is_quic => way.limits.shares(),
            _ => None,
        }
        .map(|(receive_window, application)| Limits { receive_window, application });
        let is_limited = |limits: Limits| limits.receive_window + limits.application > MOSTLY;
        let carried = if is_quic { way.data_octets } else { way.delivered() };
        let losses = &way.losses.counts;
        Self {
            from: from.clone(),
            to: to.clone(),
            position,
            duration,
            data_octets: way.data_octets,
            data_segments: way.data_segments,
            mss: way.mss(),
            packet_octets: u64::from(way.mss())
                + (way.wire_octets.saturating_sub(way.data_octets)) / way.data_segments.max(1),
            goodput: if duration > 0.0 { carried as f64 * 8e-6 / duration } else { 0.0 },
            goodput_interval: way.interval(|taken| (taken.carried as f64 * 8e-6, taken.at as f64 / 1e9)),
            rate: rate.map(|rate| Estimate::of(rate.estimate, overhead * 8e-6)),
            rate_is_lower_bound: limits.is_some_and(is_limited) || rate.is_some_and(|rate| rate.is_lower_bound),
            losses: Losses {
                retransmitted: losses.retransmitted(),
                spurious: losses.spurious(),
                lost_before: losses.lost_before,
                lost_behind: losses.repeated - losses.spurious(),
                share: losses.lost() as f64 / (way.data_segments + losses.lost_before).max(1) as f64,
                // Of a share below zero or above one nothing is to be said.
                share_interval: way
                    .interval(|taken| (taken.lost as f64, taken.segments as f64))
                    .map(|both| both.map(|share| share.clamp(0.0, 1.0))),
                reordered: losses.reordered,
            },
            acks: (!is_quic).then(|| {
                let evidence = thinning::evidence(&ack_stretches, way.mss());
                let missing = way.identifications.missing();
                let period = bursts.and_then(|bursts| bursts.period);
                let compressed = match (rate, period) {
                    (Some(rate), Some(period)) if position != Position::Receiver => {
                        thinning::are_compressed(&ack_stretches, rate.estimate.value, period)
                    }
                    _ => None,
                };
                let is_encrypted = protocol == Protocol::Log;
                let thinning = thinning::verdict(&evidence, missing, position == Position::Receiver, is_encrypted);
                let is_busy = thinning == Thinning::Thinned && evidence.pace.is_of_return_path();
                Acks {
                    count: way.pure_acks,
                    duplicates: way.duplicate_acks,
                    octets: way.ack_octets,
                    ratio: (way.pure_acks > 0).then(|| way.data_segments as f64 / way.pure_acks as f64),
                    ratio_interval: way.interval(|taken| (taken.segments as f64, taken.acks as f64)),
                    usual: evidence.usual,
                    agreement: evidence.agreement,
                    spacing: spacing(&ack_stretches),
                    rate: is_busy.then_some(evidence.pace.rate * 8e-6),
                    burst: bursts.map(|bursts| bursts.mean_length),
                    period: period.map(|period| period / 1e6),
                    compressed,
                    thinning,
                    missing,
                }
            }),
            limits,
            controller: Controller::of(way, &round_trip, position),
            marked: way.marked,
            timestamps: way.has_timestamps,
            sack: way.has_sack,
            curves: Curves::of(way, first),
            round_trip,
        }
    }
}

/// Rate and bursts depend on each other: bursts are told apart by the rate, and a rate is measured over whole bursts. The curves have a point for each arrival; `seen` are
/// those in which bursts are looked for, with the stride of their samples. `clock` is the rate by the receiver's clock.
fn rate_and_bursts(
    data: &[Vec<Point>],
    acks: &[Vec<Point>],
    is_behind: bool,
    (seen, stride): (&[Vec<Point>], u64),
    clock: Option<rate::Estimate>,
) -> (Option<rate::Rate>, Option<Bursts>) {
    let together = |curves: &[Vec<Point>]| curves.iter().map(|curve| tidy(curve.iter().copied())).collect::<Vec<_>>();
    let (data, acks, single) = (&together(data), &together(acks), &together(seen));
    // Long trains, which no burst misleads, give the first rate.
    let whole = |curve: &Vec<Point>| Some((curve.last()?.0.checked_sub(curve.first()?.0)?) as f64);
    let longest = seen.iter().filter_map(whole).fold(0.0, f64::max);
    let rough =
        train_rate(single, Some(longest / 400.0)).or(clock).map(|rate| rate.value).or_else(|| rate::mean(single));
    let Some(rough) = rough else { return (of_bottleneck(data, acks, is_behind, None, clock), None) };
    let period = bursts(seen, stride, rough).and_then(|found| found.period);
    let rate = of_bottleneck(data, acks, is_behind, period, clock);
    let found = bursts(seen, stride, rate.map_or(rough, |rate| rate.estimate.value));
    (rate, found)
}

/// The octets that have arrived, over time. What arrives again counts again: the bottleneck has carried it.
fn arrivals(stretch: &[way::Data]) -> Vec<Point> {
    let mut octets = 0;
    advancing(stretch.iter().map(|data| {
        octets += u64::from(data.length);
        (data.at, octets)
    }))
}

fn spacing(stretches: &[Vec<way::Ack>]) -> Option<f64> {
    let pairs = stretches.iter().flat_map(|stretch| stretch.windows(2));
    let mut gaps: Vec<f64> = pairs.map(|two| two[1].at.saturating_sub(two[0].at) as f64 / 1e6).collect();
    median(&mut gaps)
}

impl Estimate {
    fn of(estimate: rate::Estimate, factor: f64) -> Self {
        Self { value: estimate.value * factor, low: estimate.low * factor, high: estimate.high * factor }
    }
}

impl RoundTrip {
    /// Those of a direction. `spins` are the spin bits, if they tell something, and the end that sends in this direction.
    fn of(way: &way::Way, spins: Option<(&Spins, usize)>) -> Self {
        let millis = |nanos: u64| nanos as f64 / 1e6;
        let least = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        let by_spin_bit = spins.is_some();
        let (ahead, behind) = way.round_trip.least();
        let ahead = least(ahead, spins.and_then(|(spins, from)| spins.least_to(1 - from)));
        let behind = least(behind, spins.and_then(|(spins, from)| spins.least_to(from)));
        let both = ahead.zip(behind).map(|(one, other)| one + other);
        let base = least(both, spins.and_then(|(spins, _)| spins.least_whole()));
        let (samples, other, side) = if by_spin_bit {
            (&way.round_trip.whole, 0.0, 2)
        } else {
            // Samples of the two sides do not belong together: those of the side that varies count with the median of the other.
            let sides = [&way.round_trip.ahead, &way.round_trip.behind];
            let spread = |side: &Quantiles| Some(side.quantile(0.95)? - side.quantile(0.05)?);
            let [varies, steady] = if spread(sides[1]) > spread(sides[0]) { [sides[1], sides[0]] } else { sides };
            let (least_of_other, side) = if std::ptr::eq(steady, sides[0]) { (ahead, 1) } else { (behind, 0) };
            (varies, steady.quantile(0.5).or(least_of_other.map(|nanos| nanos as f64)).unwrap_or(0.0), side)
        };
        let of_samples = |nanos: Option<f64>| Some((nanos? + other) / 1e6);
        Self {
            base: base.map(millis),
            ahead: ahead.map(millis),
            behind: behind.map(millis),
            median: of_samples(samples.quantile(0.5)),
            mean: of_samples(samples.mean()),
            mean_interval: way
                .interval(|taken| (taken.times[side].0, taken.times[side].1 as f64))
                .map(|both| both.map(|nanos| (nanos + other) / 1e6)),
            p95: of_samples(samples.quantile(0.95)),
            samples: samples.count(),
            by_spin_bit,
        }
    }

    fn position(&self) -> Position {
        match (self.ahead, self.behind) {
            (Some(ahead), Some(behind)) if behind < AT_END * (ahead + behind) => Position::Sender,
            (Some(ahead), Some(behind)) if ahead < AT_END * (ahead + behind) => Position::Receiver,
            (Some(_), Some(_)) => Position::Middle,
            // The log of a receiver that sends nothing whose round trip could be told.
            (Some(0.0), None) => Position::Receiver,
            _ => Position::Unknown,
        }
    }
}

impl Controller {
    fn of(way: &way::Way, round_trip: &RoundTrip, position: Position) -> Option<Self> {
        if position == Position::Receiver {
            return None;
        }
        let inflation = round_trip.median.zip(round_trip.base).map(|(median, base)| median / base);
        let ratio = way.reactions.ratio();
        way.reactions.family(inflation).map(|family| Self {
            family,
            ratio: ratio.map(|(ratio, _)| ratio),
            episodes: ratio.map_or(0, |(_, episodes)| episodes),
        })
    }
}

impl Curves {
    fn of(way: &way::Way, first: u64) -> Self {
        let seconds = |at: u64| at.saturating_sub(first) as f64 / 1e9;
        let data: Vec<way::Data> = way.data.stretches().concat();
        let begin = data.first().map_or(0, |data| data.start);
        let point = |data: &way::Data| (seconds(data.at), data.start.saturating_sub(begin), data.length);
        let (new, repeated): (Vec<&way::Data>, Vec<&way::Data>) = data.iter().partition(|data| data.is_new);
        let acks: Vec<way::Ack> = Trace::stretches(&way.acks).concat();
        Self {
            data: every(&new).map(|data| point(data)).collect(),
            repeated: every(&repeated).map(|data| point(data)).collect(),
            acks: every(&acks).map(|ack| (seconds(ack.at), ack.ack.saturating_sub(begin))).collect(),
        }
    }
}

/// So many items, evenly spaced, that no more than a figure can show are left.
fn every<T>(items: &[T]) -> impl Iterator<Item = &T> {
    items.iter().step_by(items.len().div_ceil(POINTS).max(1))
}
