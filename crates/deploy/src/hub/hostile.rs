//! Tests hubs against datagrams of an attacker. No datagram may cause a panic, change a byte of
//! data, or make a hub exceed its limits. Honest connections must continue.
//!
//! `ACKLAB_HOSTILE` sets the number of datagrams; ten million take some minutes.

use super::{Handle, Hub, HubCounters, STRANGERS_A_TURN};
use crate::association::Ends;
use crate::config::{Config, Limits, Server, settings};
use crate::pipe::Done;
use acklab_base::random::{Seed, Stream};
use acklab_base::{Bytes, Duration, Ecn, Instant};
use acklab_secure::Outbox;
use acklab_secure::identity::{Identity, Trust, client_config, server_config};
use acklab_secure::reset::ResetKey;
use acklab_transport::tack::Settings;
use rustls::NoKeyLog;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// The number of datagrams, if the environment does not set it.
const COUNT: u64 = 30_000;
const LIMITS: Limits =
    Limits { connections: 300, strangers: 64, per_address: 16, handshakes: 300, handshake: Duration::from_secs(10) };
/// The number of recorded datagrams of the honest connection that the attacker can change and
/// repeat.
const RECORDED: usize = 500;
/// The number of turns of the two honest hosts before time advances.
const ROUNDS: usize = 4;

fn address(host: u64) -> SocketAddr {
    let [.., a, b, c] = host.to_be_bytes();
    SocketAddr::from(([10, a, b, c], 4433))
}

const CLIENT: u64 = 1;
const SERVER: u64 = 2;

/// Two honest hosts, and an attacker that sees, repeats and forges their datagrams.
struct World {
    now: Instant,
    hubs: [Hub; 2],
    chance: Stream,
    recorded: VecDeque<(usize, Vec<u8>)>,
    /// Datagrams that the server has sent to addresses other than its client's.
    to_strangers: usize,
    from_strangers: usize,
}

impl World {
    fn new() -> Self {
        let (identity, ..) = Identity::generate(["server.test".to_owned()]).unwrap();
        let trust = Trust::Pinned(identity.fingerprint());
        // The buffer is small, so that the window is often full.
        let transport = Settings { receive_buffer: Bytes(50_000), ..settings() };
        let client = Some(client_config(trust, Arc::new(NoKeyLog)).unwrap());
        let client = Config { transport, client, ..Config::new() };
        let tls = server_config(identity, Arc::new(NoKeyLog)).unwrap();
        let server = Server { tls, reset_key: ResetKey::new(&[7; 32]), limits: LIMITS, always_retry: false };
        let server = Config { transport, server: Some(server), ..Config::new() };
        let now = Instant::ZERO + Duration::from_secs(1);
        let hubs = [client, server].map(|config| Hub::new(now, config).unwrap());
        let chance = Seed(5).stream("hostile");
        Self { now, hubs, chance, recorded: VecDeque::new(), to_strangers: 0, from_strangers: 0 }
    }

    /// Exchanges the datagrams of the honest hosts `ROUNDS` times.
    fn turn(&mut self) {
        for _ in 0..ROUNDS {
            for host in 0..2 {
                let mut out = Outbox::default();
                self.hubs[host].serve_strangers(self.now, STRANGERS_A_TURN);
                while let Some(to) = self.hubs[host].transmit(self.now, &mut out) {
                    let honest = if host == 0 { address(SERVER) } else { address(CLIENT) };
                    for (octets, ecn) in out.iter() {
                        if to != honest {
                            self.to_strangers += octets.len();
                            continue;
                        }
                        self.recorded.push_back((1 - host, octets.to_vec()));
                        let from = address(if host == 0 { CLIENT } else { SERVER });
                        self.hubs[1 - host].receive(self.now, self.now, from, ecn, &mut octets.to_vec());
                    }
                    out.clear();
                }
                self.hubs[host].notify_readers(self.now);
            }
        }
        while self.recorded.len() > RECORDED {
            self.recorded.pop_front();
        }
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        self.hubs.iter_mut().for_each(|hub| hub.wake(self.now));
        self.turn();
    }

    /// Returns a datagram of the attacker: its target host, its source address, and its bytes.
    fn attack(&mut self) -> (usize, SocketAddr, Vec<u8>) {
        let stranger = address(100 + self.chance.below(1 << 20));
        let honest = [address(SERVER), address(CLIENT)];
        let place = self.chance.below(self.recorded.len() as u64) as usize;
        let (to, mut octets) = self.recorded[place].clone();
        let from = if self.chance.chance(0.5) { honest[to] } else { stranger };
        match self.chance.below(5) {
            // An unchanged copy.
            0 => {}
            // Some bytes changed.
            1 => {
                for _ in 0..1 + self.chance.below(4) {
                    let place = self.chance.below(octets.len() as u64) as usize;
                    octets[place] ^= 1 << self.chance.below(8);
                }
            }
            // Cut or extended.
            2 => octets.resize(self.chance.below(1500) as usize, 0x1f),
            // Two joined datagrams.
            3 => {
                let other = self.chance.below(self.recorded.len() as u64) as usize;
                let half = octets.len() / 2;
                octets.truncate(half);
                octets.extend_from_slice(&self.recorded[other].1);
            }
            // Noise after a valid header.
            _ => {
                let keeps = self.chance.below(20).min(octets.len() as u64) as usize;
                for octet in &mut octets[keeps..] {
                    *octet = self.chance.below(256) as u8;
                }
            }
        }
        (to, from, octets)
    }

    fn is_lost(&self, handles: [Handle; 2]) -> bool {
        (0..2).any(|host| self.hubs[host].lost(handles[host]).is_some())
    }
}

/// Bytes of a pattern, from the client to the server.
struct Flow {
    from: Ends,
    to: Option<Ends>,
    written: u64,
    read: u64,
}

/// Returns the byte at an offset. Nearby bytes have different values.
fn octet(offset: u64) -> u8 {
    (offset.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

impl Flow {
    fn begin(world: &mut World, handles: [Handle; 2]) -> Self {
        let from = world.hubs[0].with(handles[0], |end| end.open_stream()).flatten().unwrap();
        Self { from, to: None, written: 0, read: 0 }
    }

    fn go_on(&mut self, world: &mut World, handles: [Handle; 2]) {
        let context = Context::from_waker(Waker::noop());
        let octets: Vec<u8> = (self.written..self.written + 300).map(octet).collect();
        if let Poll::Ready(taken) = self.from.outlet.poll_write(&context, &octets) {
            self.written += taken.unwrap().octets as u64;
        }
        world.hubs[0].serve_streams(world.now, &mut vec![(handles[0], self.from.id)]);
        if self.to.is_none() {
            self.to = world.hubs[1].with(handles[1], |end| end.accept_stream()).flatten();
        }
        let Some(to) = &self.to else { return };
        let read = &mut self.read;
        let check = |octets: &[u8]| {
            for found in octets {
                assert_eq!(*found, octet(*read), "octet {read}");
                *read += 1;
            }
        };
        let done = to.inlet.poll_read(&context, usize::MAX, check);
        assert!(!matches!(done, Poll::Ready(Ok(Done { octets: 0, .. }) | Err(_))), "{done:?}");
        world.hubs[1].serve_streams(world.now, &mut vec![(handles[1], to.id)]);
    }
}

#[test]
fn an_honest_connection_survives_an_enemy() {
    let mut world = World::new();
    let handles = connect(&mut world);
    let mut flow = Flow::begin(&mut world, handles);
    let count = std::env::var("ACKLAB_HOSTILE").map_or(COUNT, |text| text.parse().unwrap());
    for number in 0..count {
        let (to, from, mut octets) = world.attack();
        if to == 1 && from != address(CLIENT) {
            world.from_strangers += octets.len();
        }
        world.hubs[to].receive(world.now, world.now, from, Ecn::NotEct, &mut octets);
        assert!(world.hubs[1].connections() <= LIMITS.connections, "{}", world.hubs[1].connections());
        if number.is_multiple_of(20) {
            world.pass(Duration::from_millis(5));
            flow.go_on(&mut world, handles);
        }
        assert!(!world.is_lost(handles), "datagram {number}");
    }
    assert!(world.to_strangers <= 3 * world.from_strangers, "{} for {}", world.to_strangers, world.from_strangers);
    assert_eq!(world.hubs[1].accept(), None, "no other client was authenticated");
    assert!(flow.read > count / 10, "octets flow: {}", flow.read);
}

/// Opens a connection between the honest hosts.
fn connect(world: &mut World) -> [Handle; 2] {
    let client = world.hubs[0].connect(world.now, address(SERVER), "server.test").unwrap();
    let mut server = None;
    while server.is_none() {
        world.pass(Duration::from_millis(1));
        server = world.hubs[1].accept();
    }
    [client, server.unwrap()]
}

/// Returns a datagram that opens a connection.
fn first_datagram(world: &mut World) -> Vec<u8> {
    world.hubs[0].connect(world.now, address(SERVER), "server.test").unwrap();
    let mut out = Outbox::default();
    world.hubs[0].transmit(world.now, &mut out).unwrap();
    out.iter().next().unwrap().0.to_vec()
}

/// Returns the bytes of a connection that arrive in 50 turns of 5 ms, and the server's counters.
/// Before each turn, the first datagrams of `flood` other clients arrive simultaneously.
fn read_under_flood(flood: u64) -> (u64, HubCounters) {
    let mut world = World::new();
    let handles = connect(&mut world);
    let mut flow = Flow::begin(&mut world, handles);
    let mut hello = first_datagram(&mut world);
    for turn in 0..50 {
        for host in 0..flood {
            world.hubs[1].receive(world.now, world.now, address(1000 + turn * flood + host), Ecn::NotEct, &mut hello);
        }
        world.pass(Duration::from_millis(5));
        flow.go_on(&mut world, handles);
    }
    (flow.read, *world.hubs[1].counters())
}

#[test]
fn a_flood_of_first_datagrams_neither_slows_a_connection_nor_causes_unbounded_work() {
    let (read, _) = read_under_flood(0);
    let (flooded, counters) = read_under_flood(1000);
    assert_eq!(flooded, read);
    assert!(read > 0);
    let served = counters.accepted + counters.retries + counters.turned_away;
    assert!(served > 50, "clients are served in each turn: {served}");
    assert!(served <= 50 * (ROUNDS * STRANGERS_A_TURN) as u64 + 2, "{served}");
    assert!(counters.dropped > 40_000, "{}", counters.dropped);
}

#[test]
fn a_flood_of_first_datagrams_keeps_bounded_state() {
    let mut world = World::new();
    let hello = first_datagram(&mut world);
    for host in 0..5000 {
        world.hubs[1].receive(world.now, world.now, address(1000 + host), Ecn::NotEct, &mut hello.clone());
        world.hubs[1].serve_strangers(world.now, 1);
    }
    let counters = *world.hubs[1].counters();
    assert_eq!(world.hubs[1].connections(), LIMITS.strangers, "the others have to show their address");
    assert_eq!(counters.retries, 5000 - LIMITS.strangers as u64);
    world.turn();
    assert!(world.to_strangers <= 3 * 5000 * hello.len());
    // An honest client can still connect.
    let client = world.hubs[0].connect(world.now, address(SERVER), "server.test").unwrap();
    let mut server = None;
    for _ in 0..100 {
        world.pass(Duration::from_millis(1));
        server = server.or_else(|| world.hubs[1].accept());
    }
    assert!(server.is_some() && world.hubs[0].lost(client).is_none());
    // Clients that sent nothing more are dropped.
    for _ in 0..20 {
        world.pass(Duration::from_secs(1));
    }
    assert!(world.hubs[1].connections() <= 2, "{}", world.hubs[1].connections());
}
