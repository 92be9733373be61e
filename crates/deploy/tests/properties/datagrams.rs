//! Properties of the endpoints, for any datagrams of strangers. The tests of this crate and the
//! fuzz target `tack_strangers` share them.

use acklab_base::{Duration, Ecn, Instant};
use acklab_deploy::config::{Limits, Server};
use acklab_deploy::{Config, Handle, Hub};
use acklab_secure::identity::{Identity, Trust, client_config, server_config};
use acklab_secure::reset::ResetKey;
use acklab_secure::{Hello, Outbox};
use acklab_wire::tack::protected::{Level, first_octet, head};
use acklab_wire::tack::version::{AMPLIFICATION, MIN_OPEN};
use acklab_wire::tack::{ConnectionId, HEADER, TAG, VERSION};
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::quic::{Keys, Version};
use rustls::{NoKeyLog, Side};
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};

const NAME: &str = "server.test";
const CLIENT: u8 = 1;
const SERVER: u8 = 2;
const STRANGER: u8 = 66;
const LIMITS: Limits =
    Limits { connections: 4, strangers: 2, per_address: 2, handshakes: 3, handshake: Duration::from_secs(10) };

static TLS: LazyLock<(Arc<rustls::ClientConfig>, Arc<rustls::ServerConfig>)> = LazyLock::new(|| {
    let (identity, ..) = Identity::generate([NAME.to_owned()]).unwrap();
    let trust = Trust::Pinned(identity.fingerprint());
    (client_config(trust, Arc::new(NoKeyLog)).unwrap(), server_config(identity, Arc::new(NoKeyLog)).unwrap())
});

fn address(host: u8) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, host], 4433))
}

/// Returns the keys that any observer of `seed` can derive (RFC 9001, §5.2).
fn keys(seed: &[u8], side: Side) -> Keys {
    TLS13_AES_128_GCM_SHA256.tls13().unwrap().quic_suite().unwrap().keys(seed, side, Version::V1)
}

/// Returns the first datagram of a client, with `frames` after the header, padded to the minimum
/// size.
pub(crate) fn first_datagram(frames: &[u8]) -> Vec<u8> {
    let seed = [0, 0, 0, 1, 0, 0, 0, 2];
    let mut header = vec![first_octet(Level::Initial, false, 1)];
    header.extend([0; 8]);
    header.extend(seed);
    let mut payload = frames.to_vec();
    payload.resize(payload.len().max(MIN_OPEN - (HEADER + TAG) as usize), 0);
    let tag = keys(&seed, Side::Client).local.packet.encrypt_in_place(1, &header, &mut payload).unwrap();
    [&header[..], &payload, tag.as_ref()].concat()
}

/// Returns the frames of a first datagram.
pub(crate) fn frames_of(datagram: &[u8]) -> Vec<u8> {
    let (header, mut payload) = (&datagram[..HEADER as usize], datagram[HEADER as usize..].to_vec());
    let number = u32::from_be_bytes(*header[9..].first_chunk().unwrap());
    let keys = keys(&header[9..], Side::Server);
    keys.remote.packet.decrypt_in_place(number.into(), header, &mut payload).unwrap().to_vec()
}

/// Returns a packet of a server with these frames, in response to the first datagram of the client
/// `id`.
fn answer(id: ConnectionId, frames: &[u8]) -> Vec<u8> {
    const NUMBER: u32 = 0;
    let mut payload = vec![0; 4];
    payload.extend_from_slice(frames);
    payload.resize(payload.len().max(16), 0);
    let keys = keys(&id.0.to_be_bytes(), Side::Server);
    let length = 4 + payload.len() as u16 + TAG as u16;
    let mut packet = vec![first_octet(Level::Initial, false, NUMBER)];
    packet.extend(id.0.to_be_bytes());
    packet.extend(length.to_be_bytes());
    packet.extend(NUMBER.to_be_bytes());
    let tag = keys.local.packet.encrypt_in_place(NUMBER.into(), &packet, &mut payload).unwrap();
    let number_at = packet.len() - 4;
    packet.extend_from_slice(&payload);
    packet.extend_from_slice(tag.as_ref());
    // As for a packet with a long header, two bits of whose first octet are masked here
    // (`protected`).
    let (head, rest) = packet.split_at_mut(number_at);
    let (number, sampled) = rest.split_at_mut(4);
    let mut first = 0x83;
    keys.local.header.encrypt_in_place(&sampled[..16], &mut first, number).unwrap();
    head[0] ^= (first ^ 0x83) & 0b11;
    packet
}

fn client(now: Instant) -> Hub {
    Hub::new(now, Config { client: Some(Arc::clone(&TLS.0)), ..Config::new() }).unwrap()
}

/// Returns a client that opens a connection, and its first datagram.
fn opening(now: Instant) -> (Hub, Vec<u8>) {
    let (mut hub, mut out) = (client(now), Outbox::default());
    hub.connect(now, address(SERVER), NAME).unwrap();
    hub.transmit(now, &mut out).unwrap();
    let datagram = out.iter().next().unwrap().0.to_vec();
    (hub, datagram)
}

/// Returns the frames of the first datagram of a client.
pub(crate) fn frames_of_a_client() -> Vec<u8> {
    frames_of(&opening(Instant::ZERO).1)
}

/// A client and a server with a connection, and strangers.
struct World {
    now: Instant,
    client: Hub,
    server: Hub,
    connections: [Handle; 2],
    /// The server's ID of the connection, which observers can see.
    id: [u8; 8],
    /// The octets from strangers to the server, and those from the server to them.
    from_strangers: usize,
    to_strangers: usize,
}

impl World {
    fn new() -> Self {
        let (tls, reset_key) = (Arc::clone(&TLS.1), ResetKey::new(&[7; 32]));
        let server = Server { tls, reset_key, limits: LIMITS, always_retry: false };
        let now = Instant::ZERO + Duration::from_secs(1);
        let server = Hub::new(now, Config { server: Some(server), ..Config::new() }).unwrap();
        let mut client = client(now);
        let handle = client.connect(now, address(SERVER), NAME).unwrap();
        let (connections, id) = ([handle; 2], [0; 8]);
        let mut world = Self { now, client, server, connections, id, from_strangers: 0, to_strangers: 0 };
        let accepted = std::iter::from_fn(|| {
            world.turn();
            Some(world.server.accept())
        });
        world.connections[1] = accepted.take(10).flatten().next().unwrap();
        world
    }

    /// Runs both ends once.
    fn turn(&mut self) {
        let mut out = Outbox::default();
        for _ in 0..3 {
            while self.client.transmit(self.now, &mut out).is_some() {
                for (octets, ecn) in out.iter() {
                    if head(octets).is_some_and(|head| head.level == Level::Session) {
                        self.id.copy_from_slice(&octets[1..9]);
                    }
                    self.server.receive(self.now, self.now, address(CLIENT), ecn, &mut octets.to_vec());
                }
                out.clear();
            }
            self.server.serve_strangers(self.now, usize::MAX);
            while let Some(to) = self.server.transmit(self.now, &mut out) {
                for (octets, ecn) in out.iter() {
                    if to == address(CLIENT) {
                        self.client.receive(self.now, self.now, address(SERVER), ecn, &mut octets.to_vec());
                    } else {
                        self.to_strangers += octets.len();
                    }
                }
                out.clear();
            }
            self.client.serve_strangers(self.now, usize::MAX);
        }
        self.now += Duration::from_millis(1);
        self.client.wake(self.now);
        self.server.wake(self.now);
    }

    fn send_to_server(&mut self, mut datagram: Vec<u8>) {
        self.from_strangers += datagram.len();
        self.server.receive(self.now, self.now, address(STRANGER), Ecn::NotEct, &mut datagram);
    }
}

/// Responds to a client, as an attacker in the place of the server.
fn answer_a_client(now: Instant, frames: &[u8]) {
    let (mut hub, mut datagram) = opening(now);
    let id = Hello::read(&mut datagram, Ecn::NotEct).unwrap().source;
    hub.receive(now, now, address(SERVER), Ecn::NotEct, &mut answer(id, frames));
    let mut out = Outbox::default();
    while hub.transmit(now, &mut out).is_some() {
        out.clear();
    }
}

/// Checks that strangers get at most three times the octets that they send, open no connection, and
/// end none. `octets` are datagrams: a kind, a length of two octets, and that many octets.
///
/// # Panics
/// If it does not hold.
pub(crate) fn strangers_move_nothing(mut octets: &[u8]) {
    let mut world = World::new();
    while let Some(([kind, high, low], rest)) = octets.split_first_chunk() {
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(rest.len());
        let (body, rest) = rest.split_at(length);
        octets = rest;
        match kind % 5 {
            0 => world.send_to_server(body.to_vec()),
            1 => world.send_to_server(first_datagram(body)),
            2 => answer_a_client(world.now, body),
            3 => world.client.receive(world.now, world.now, address(SERVER), Ecn::NotEct, &mut body.to_vec()),
            // A datagram that seems to belong to the connection.
            _ => {
                let first = VERSION << 4 | (body.first().copied().unwrap_or_default() & 0x0f);
                let mut datagram = [&[first], &world.id[..], body.get(1..).unwrap_or_default()].concat();
                world.server.receive(world.now, world.now, address(CLIENT), Ecn::NotEct, &mut datagram);
            }
        }
        world.turn();
        assert!(world.server.connections() <= LIMITS.connections);
    }
    let (from, to) = (world.from_strangers, world.to_strangers);
    assert!(to <= AMPLIFICATION as usize * from, "{to} octets for {from}");
    assert_eq!(world.server.accept(), None, "no stranger was authenticated");
    assert_eq!(world.client.lost(world.connections[0]), None);
    assert_eq!(world.server.lost(world.connections[1]), None);
}
