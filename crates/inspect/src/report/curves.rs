//! Points for figures.

use crate::direction::{self, Passing};
use crate::overview::Span;
use crate::trace;
use serde::Serialize;

/// Points of a time–sequence plot. Times are in seconds from the first data. Octets are counted
/// from the first stored octet.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Curves {
    /// Spans of time in which all packets are shown: data and the returning ACKs.
    pub windows: Vec<Window>,
    /// The course of the whole direction, if windows omit packets.
    pub overview: Vec<Point>,
}

/// A span of time with all of its packets.
#[derive(Clone, Debug, Serialize)]
pub struct Window {
    /// Data: the time, the first octet and the number of octets.
    pub data: Vec<(f64, u64, u32)>,
    /// Retransmitted data.
    pub retransmitted: Vec<(f64, u64, u32)>,
    /// Data that were overtaken by later data.
    pub reordered: Vec<(f64, u64, u32)>,
    /// Acknowledgments: time, octets acknowledged, octets up to the right edge of the receive
    /// window.
    pub acks: Vec<(f64, u64, Option<u64>)>,
    /// Blocks beyond an ACK that the receiver has: time, first octet, octets.
    pub sacked: Vec<(f64, u64, u64)>,
}

/// The state of a direction at an instant.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Point {
    /// Seconds.
    pub at: f64,
    /// Octets sent.
    pub sent: Option<u64>,
    /// Octets acknowledged.
    pub acknowledged: Option<u64>,
    /// Octets up to the right edge of the receive window.
    pub edge: Option<u64>,
    /// The extent of data that were retransmitted since the previous point: first octet, octets.
    pub retransmitted: Option<(u64, u64)>,
    /// The extent of data that arrived late.
    pub reordered: Option<(u64, u64)>,
}

/// The origin of the axes of a figure.
struct Origin {
    at: u64,
    octet: u64,
}

impl Curves {
    /// Returns the curves of a direction whose first data passed at `first`.
    pub(super) fn of(direction: &direction::Direction, first: u64) -> Self {
        let kept = direction.trace.windows();
        let starts = kept.iter().flat_map(|window| &window.data).map(|data| data.start);
        let origin = Origin { at: first, octet: starts.min().unwrap_or_default() };
        let overview = if direction.trace.is_whole() {
            Vec::new()
        } else {
            direction.overview.spans().map(|(at, span)| Point::of(at, span, &origin)).collect()
        };
        Self { windows: kept.iter().map(|window| Window::of(window, &origin)).collect(), overview }
    }
}

impl Origin {
    fn seconds(&self, at: u64) -> f64 {
        at.saturating_sub(self.at) as f64 / 1e9
    }

    const fn octets(&self, place: u64) -> u64 {
        place.saturating_sub(self.octet)
    }
}

impl Window {
    fn of(window: &trace::Window, origin: &Origin) -> Self {
        let passed = |kinds: &[Passing]| {
            let data = window.data.iter().filter(|data| kinds.contains(&data.passing));
            data.map(|data| (origin.seconds(data.at), origin.octets(data.start), data.length)).collect()
        };
        let acks = window.acks.iter().map(|ack| {
            let edge = ack.window.map(|window| origin.octets(ack.ack + u64::from(window)));
            (origin.seconds(ack.at), origin.octets(ack.ack), edge)
        });
        let held = window.held.iter();
        Self {
            data: passed(&[Passing::New, Passing::Misfiled]),
            retransmitted: passed(&[Passing::Retransmitted]),
            reordered: passed(&[Passing::Reordered]),
            acks: acks.collect(),
            sacked: held
                .map(|held| (origin.seconds(held.at), origin.octets(held.start), held.end - held.start))
                .collect(),
        }
    }
}

impl Point {
    fn of(at: u64, span: &Span, origin: &Origin) -> Self {
        let extent = |(start, end): (u64, u64)| (origin.octets(start), end - start);
        Self {
            at: origin.seconds(at),
            sent: span.highest.map(|octet| origin.octets(octet)),
            acknowledged: span.acknowledged.map(|octet| origin.octets(octet)),
            edge: span.edge.map(|octet| origin.octets(octet)),
            retransmitted: span.retransmitted.map(extent),
            reordered: span.reordered.map(extent),
        }
    }
}
