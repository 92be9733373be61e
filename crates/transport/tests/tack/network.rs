//! Ends of TACK connections in a hostile network.

use crate::hostile::{self, End};
use acklab_base::random::Seed;
use acklab_transport::ack::Policy;
use acklab_transport::cc::Controller;
use acklab_transport::reading::Reading;
use acklab_transport::tack::{Connection, Phase, Settings};
use acklab_wire::ipv4::{Checksums, Extent, Ipv4Fields};
use acklab_wire::tack::{Packet, decode};
use acklab_wire::{Endpoints, Pdu};

pub(crate) use hostile::Path;

pub(crate) type Network = hostile::Network<Connection>;

pub(crate) fn ends(settings: &Settings, reads: Option<u64>, seed: Seed) -> [Connection; 2] {
    let built_in = "only what is built in is drawn";
    let controller =
        |name| Controller::new(&settings.congestion, &settings.controller_start(seed, name)).expect(built_in);
    let policy = || Policy::new(settings.ack).expect(built_in);
    let reading = if reads.is_some() { Reading::OnDemand } else { Reading::AtOnce };
    [
        Connection::client(settings, controller("f"), policy(), seed, "f"),
        Connection::server(settings, controller("f_back"), policy(), seed, "f").with_reading(reading),
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
    fn is_closed(&self) -> bool {
        matches!(self.phase(), Phase::Closed { .. })
    }

    fn through_octets(packet: &Packet) -> Packet {
        let (endpoints, mut octets) = (Endpoints::of_connection(0), Vec::new());
        packet.encode(endpoints, Ipv4Fields::default(), Extent::Whole, &mut octets).expect("it fits");
        let (_, again) = decode(&octets, Checksums::Verify).expect("it decodes");
        assert_eq!(&again, packet);
        again
    }
}
