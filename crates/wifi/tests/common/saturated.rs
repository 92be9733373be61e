//! A cell whose queues never run dry, driven without a transport.

use acklab_base::random::Seed;
use acklab_base::{AckHeader, Bytes, Datagram, Ecn, FlowId, Instant, Machine};
use acklab_wifi::access::Category;
use acklab_wifi::{Cell, Config};

/// A packet that is nothing but octets of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    pub flow: FlowId,
    pub size: Bytes,
}

impl Datagram for Packet {
    fn wire_len(&self) -> Bytes {
        self.size
    }

    fn flow(&self) -> FlowId {
        self.flow
    }

    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    fn set_ecn(&mut self, _ecn: Ecn) {}

    fn ack_header(&self) -> Option<AckHeader> {
        None
    }
}

/// A flow that always has packets of one size waiting.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    pub from: usize,
    pub to: usize,
    pub category: Category,
    pub size: Bytes,
}

impl Source {
    /// A station that uploads packets of `size`, best effort.
    pub fn upload(station: usize, size: u64) -> Self {
        Self { from: station, to: 0, category: Category::BestEffort, size: Bytes(size) }
    }

    /// The access point, downloading to a station.
    pub fn download(station: usize, size: u64) -> Self {
        Self { from: 0, to: station, category: Category::BestEffort, size: Bytes(size) }
    }
}

/// Runs the cell for `seconds` with all `sources` saturated. Returns it, and by source the octets that arrived after a tenth of the time.
pub fn run(config: &Config, sources: &[Source], seconds: f64, seed: u64) -> (Cell<Packet>, Vec<u64>) {
    const BACKLOG: usize = 200;
    let mut cell = Cell::new(config, Seed(seed)).unwrap_or_else(|error| panic!("{error:?}"));
    for (index, source) in sources.iter().enumerate() {
        let flow = FlowId::data(index as u32);
        cell.carry(flow, source.from, source.to, source.category).unwrap_or_else(|error| panic!("{error:?}"));
    }
    let end = Instant::from_nanos((seconds * 1e9) as u64);
    let from = Instant::from_nanos(end.as_nanos() / 10);
    cell.measure(from..end);
    let mut arrived = vec![0; sources.len()];
    for (index, source) in sources.iter().enumerate() {
        for _ in 0..BACKLOG {
            cell.accept(Instant::ZERO, Packet { flow: FlowId::data(index as u32), size: source.size });
        }
    }
    while let Some(now) = cell.deadline()
        && now < end
    {
        cell.wake(now);
        while let Some(packet) = cell.poll(now) {
            if now >= from {
                arrived[packet.flow.connection() as usize] += packet.size.get();
            }
            cell.accept(now, packet);
        }
    }
    (cell, arrived)
}
