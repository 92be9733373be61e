//! Ends of TACK connections in a hostile network.

use crate::hostile::{self, End};
use acklab_base::Instant;
use acklab_base::random::Seed;
use acklab_transport::ack::Policy;
use acklab_transport::cc::Controller;
use acklab_transport::tack::{Connection, Phase, Settings};
use acklab_transport::tcp::receiver::Reading;
use acklab_wire::ipv4::{Checksums, Extent, Ipv4Fields};
use acklab_wire::tack::{Frame, Packet, decode};
use acklab_wire::{Endpoints, Pdu};
use std::ops::Range;

pub(crate) use hostile::Path;

pub(crate) type Network = hostile::Network<Connection>;

fn ends(settings: &Settings, reads: Option<u64>, seed: Seed) -> [Connection; 2] {
    let built_in = "only what is built in is drawn";
    let controller =
        |name| Controller::new(&settings.congestion, &settings.controller_start(seed, name)).expect(built_in);
    let policy = || Policy::new(settings.ack).expect(built_in);
    let reading = if reads.is_some() { Reading::OnDemand } else { Reading::AtOnce };
    [
        Connection::opener(settings, controller("f"), policy(), seed, "f"),
        Connection::answerer(settings, controller("f_back"), policy(), seed, "f").with_reading(reading),
    ]
}

impl Network {
    pub(crate) fn new(settings: &Settings, paths: [Path; 2], reads: Option<u64>, as_octets: bool, seed: Seed) -> Self {
        Self::of(ends(settings, reads, seed), paths, reads, as_octets, seed)
    }

    pub(crate) fn phases(&self) -> [Phase; 2] {
        self.ends.each_ref().map(Connection::phase)
    }
}

impl End for Connection {
    fn is_established(&self) -> bool {
        self.phase() == Phase::Established
    }

    fn is_closed(&self) -> bool {
        matches!(self.phase(), Phase::Closed { .. })
    }

    fn open_another(&mut self) -> u32 {
        self.open_stream().expect("the peer lets it be opened")
    }

    fn ids(&self) -> Vec<u32> {
        self.stream_ids().collect()
    }

    fn write_on(&mut self, stream: u32, octets: u64) -> u64 {
        self.write_to(stream, octets).expect("the stream is open")
    }

    fn close_on(&mut self, stream: u32) {
        self.close_stream(stream).expect("the stream is open");
    }

    fn read_on(&mut self, now: Instant, stream: u32, most: u64) {
        self.read_from(now, stream, most).expect("the stream is known");
    }

    fn readable_on(&self, stream: u32) -> u64 {
        self.readable_of(stream)
    }

    fn received_on(&self, stream: u32) -> u64 {
        self.received_of(stream)
    }

    fn delivered_on(&self, stream: u32) -> u64 {
        self.delivered_of(stream)
    }

    fn is_at_end_on(&self, stream: u32) -> bool {
        self.is_stream_at_end(stream)
    }

    fn pieces(packet: &Packet) -> Vec<(u32, Range<u64>)> {
        let piece = |frame: &Frame| match frame {
            Frame::Stream(stream) => Some((stream.id, stream.offset..stream.end())),
            _ => None,
        };
        packet.frames.iter().filter_map(piece).collect()
    }

    fn through_octets(packet: &Packet) -> Packet {
        let (endpoints, mut octets) = (Endpoints::of_connection(0), Vec::new());
        packet.encode(endpoints, Ipv4Fields::default(), Extent::Whole, &mut octets).expect("it fits");
        let (_, again) = decode(&octets, Checksums::Verify).expect("it decodes");
        assert_eq!(&again, packet);
        again
    }
}
