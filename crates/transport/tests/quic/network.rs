//! Ends of QUIC connections in a hostile network.

use crate::hostile::{self, End};
use acklab_base::random::Seed;
use acklab_transport::ack::Policy;
use acklab_transport::cc::Controller;
use acklab_transport::quic::settings::CONNECTION_ID;
use acklab_transport::quic::{Connection, Phase, Settings};
use acklab_transport::reading::Reading;
use acklab_wire::ipv4::{Checksums, Extent, Ipv4Fields};
use acklab_wire::quic::{Datagram, decode};
use acklab_wire::{Endpoints, Pdu};

pub(crate) use hostile::Path;

pub(crate) type Network = hostile::Network<Connection>;

pub(crate) fn ends(settings: &Settings, reads: Option<u64>, seed: Seed) -> [Connection; 2] {
    ends_of([settings; 2], reads, seed)
}

/// Ends with different settings.
pub(crate) fn ends_of(settings: [&Settings; 2], reads: Option<u64>, seed: Seed) -> [Connection; 2] {
    let built_in = "only what is built in is drawn";
    let configs = settings.map(Settings::config);
    let controller = |end: usize, name| {
        Controller::new(&configs[end].congestion, &configs[end].controller_start(seed, name)).expect(built_in)
    };
    let policy = |end: usize| Policy::new(configs[end].ack).expect(built_in);
    let reading = if reads.is_some() { Reading::OnDemand } else { Reading::AtOnce };
    let [client, server] = settings;
    [
        Connection::client(client, controller(0, "f"), policy(0), seed, "f").with_peer(server),
        Connection::server(server, controller(1, "f_back"), policy(1), seed, "f")
            .with_reading(reading)
            .with_peer(client),
    ]
}

impl Network {
    pub(crate) fn new(settings: &Settings, paths: [Path; 2], reads: Option<u64>, as_octets: bool, seed: Seed) -> Self {
        Self::of(ends(settings, reads, seed), paths, reads, as_octets, seed)
    }
}

impl End for Connection {
    fn is_closed(&self) -> bool {
        matches!(self.phase(), Phase::Closed(_))
    }

    fn through_octets(packet: &Datagram) -> Datagram {
        let (endpoints, mut octets) = (Endpoints::of_connection(0), Vec::new());
        packet.encode(endpoints, Ipv4Fields::default(), Extent::Whole, &mut octets).expect("it fits");
        let (_, again) = decode(&octets, CONNECTION_ID as usize, Checksums::Verify).expect("it decodes");
        assert_eq!(&again, packet);
        again
    }
}
