//! A saturated cell, driven without a transport.

#![allow(unreachable_pub, reason = "others pass it on")]
#![allow(clippy::needless_pass_by_value, reason = "settings are written where they are passed")]

pub use super::packet::{Packet, attach_nodes};
use acklab_base::random::Seed;
use acklab_base::{Bytes, Instant, Machine};
use acklab_wifi::access::Category;
use acklab_wifi::{Cell, CellConfig};

/// A saturated flow of packets of one size.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    pub from: usize,
    pub to: usize,
    pub category: Category,
    pub size: Bytes,
}

impl Source {
    /// Returns a station that uploads packets of `size`, best effort.
    pub fn upload(station: usize, size: u64) -> Self {
        Self { from: station, to: 0, category: Category::BestEffort, size: Bytes(size) }
    }

    /// Returns the access point, downloading to a station.
    pub fn download(station: usize, size: u64) -> Self {
        Self { from: 0, to: station, category: Category::BestEffort, size: Bytes(size) }
    }

    /// Returns this source in another category.
    pub fn with(self, category: Category) -> Self {
        Self { category, ..self }
    }

    /// Returns a packet of this source, which is at index `place` of the list.
    pub fn packet(&self, place: usize) -> Packet {
        Packet { flow: place, to: self.to, category: self.category, size: self.size, number: 0 }
    }
}

/// Returns the cell of this JSON value, as in a scenario.
pub fn config(value: serde_json::Value) -> CellConfig {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"))
}

/// Returns a cell with these settings and this number of stations.
pub fn cell_of(stations: u32, settings: serde_json::Value) -> CellConfig {
    let mut cell = serde_json::json!({
        "name": "cell",
        "ap": {"name": "ap"},
        "station": [{"name": "sta", "count": stations}],
    });
    for (key, value) in settings.as_object().into_iter().flatten() {
        cell[key] = value.clone();
    }
    config(cell)
}

/// The results of a run.
pub struct Outcome {
    pub cell: Cell<Packet>,
    /// Octets that arrived, by source.
    pub octets: Vec<u64>,
    pub end: Instant,
}

impl Outcome {
    /// Returns the packets of this size that arrived per second, from all sources.
    pub fn packets_per_second(&self, size: u64) -> f64 {
        self.octets.iter().sum::<u64>() as f64 / size as f64 / self.seconds()
    }

    pub fn seconds(&self) -> f64 {
        self.end.as_nanos() as f64 / 1e9
    }
}

/// Returns a cell with all `sources` full, ready to be woken.
pub fn saturated(config: &CellConfig, sources: &[Source]) -> Cell<Packet> {
    start(config, sources, 1)
}

fn start(config: &CellConfig, sources: &[Source], seed: u64) -> Cell<Packet> {
    // More than twice the largest window of frames with two packets in each.
    const BACKLOG: usize = 1_200;
    let mut cell = Cell::new(config, Seed(seed)).unwrap_or_else(|error| panic!("{error:?}"));
    attach_nodes(&mut cell);
    for (index, source) in sources.iter().enumerate() {
        cell.carry(source.from, source.to, source.category).unwrap_or_else(|error| panic!("{error:?}"));
        for _ in 0..BACKLOG {
            cell.accept(Instant::ZERO, (source.from, source.packet(index)));
        }
    }
    cell
}

/// Wakes `cell` once, and replaces the packets that have left it.
pub fn wake(cell: &mut Cell<Packet>, sources: &[Source], now: Instant, mut arrived: impl FnMut(Packet)) {
    cell.wake(now);
    while let Some((_, packet)) = cell.poll(now) {
        arrived(packet);
        cell.accept(now, (sources[packet.flow].from, packet));
    }
    while let Some(flow) = cell.take_drop() {
        let place = super::packet::place_of(flow);
        cell.accept(now, (sources[place].from, sources[place].packet(place)));
    }
}

/// Runs the cell for `seconds` with all `sources` saturated.
pub fn run(config: &CellConfig, sources: &[Source], seconds: f64, seed: u64) -> Outcome {
    let mut cell = start(config, sources, seed);
    let end = Instant::from_nanos((seconds * 1e9) as u64);
    cell.measure(Instant::ZERO..end);
    let mut octets = vec![0; sources.len()];
    while let Some(now) = cell.deadline().filter(|now| *now < end) {
        wake(&mut cell, sources, now, |packet| octets[packet.flow] += packet.size.get());
    }
    Outcome { cell, octets, end }
}
