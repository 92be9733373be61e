//! Hubs of two hosts over a network that drops, repeats, reorders and corrupts datagrams.

mod delivery;

use super::*;
use crate::association::Ends;
use crate::config::{Limits, Recording, Server};
use crate::pipe::WriteError;
use acklab_base::random::{Seed, Stream};
use acklab_live::udp::BUFFER;
use acklab_measure::{RecorderOptions, Series};
use acklab_secure::identity::{Identity, Trust, client_config, server_config};
use acklab_secure::reset::ResetKey;
use acklab_transport::ack::PolicyConfig;
use acklab_transport::ack::quic::Quic;
use acklab_transport::ack::tack::Tack;
use rustls::NoKeyLog;
use std::collections::BTreeMap;
use std::task::{Context, Poll};

const DELAY: Duration = Duration::from_millis(10);

fn address(host: u8) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, host], 4433))
}

/// Returns the configurations of a client and of a server. The client trusts the server's
/// certificate.
fn configs() -> [Config; 2] {
    let (identity, ..) = Identity::generate(["server.test".to_owned()]).unwrap();
    let trust = Trust::Pinned(identity.fingerprint());
    let client = Config { client: Some(client_config(trust, Arc::new(NoKeyLog)).unwrap()), ..Config::new() };
    let server = Server {
        tls: server_config(identity, Arc::new(NoKeyLog)).unwrap(),
        reset_key: ResetKey::new(&[7; 32]),
        limits: Limits::default(),
        always_retry: false,
    };
    [client, Config { server: Some(server), ..Config::new() }]
}

/// The impairments of the network: the probability of each per datagram.
#[derive(Clone, Copy, Debug, Default)]
struct Weather {
    loss: f64,
    repeats: f64,
    corrupts: f64,
    jitter: Duration,
}

const CLEAN: Weather = Weather { loss: 0.0, repeats: 0.0, corrupts: 0.0, jitter: Duration::ZERO };
const ROUGH: Weather = Weather { loss: 0.05, repeats: 0.05, corrupts: 0.05, jitter: Duration::from_millis(20) };

/// The client at address 1 and the server at address 2.
struct Net {
    now: Instant,
    hubs: [Hub; 2],
    weather: Weather,
    chance: Stream,
    under_way: BTreeMap<(Instant, u64), (SocketAddr, SocketAddr, Vec<u8>)>,
    count: u64,
    /// The client's address.
    client: SocketAddr,
    /// The sizes of the sent datagrams, by source.
    sent: HashMap<SocketAddr, Vec<usize>>,
    /// The period after which a host receives all datagrams of the period together. `kept` is the
    /// number of batches whose memory the hosts kept.
    pause: Duration,
    batches: u64,
    kept: u64,
}

impl Net {
    fn new(configs: [Config; 2], weather: Weather) -> Self {
        let now = Instant::ZERO + Duration::from_secs(1);
        let hubs = configs.map(|config| Hub::new(now, config).unwrap());
        let (under_way, chance) = (BTreeMap::new(), Seed(3).stream("net"));
        Self {
            now,
            hubs,
            weather,
            chance,
            under_way,
            count: 0,
            client: address(1),
            sent: HashMap::new(),
            pause: Duration::ZERO,
            batches: 0,
            kept: 0,
        }
    }

    fn drain(&mut self) {
        (0..2).for_each(|host| self.drain_from(host));
    }

    fn drain_from(&mut self, host: usize) {
        let mut out = Outbox::default();
        self.hubs[host].serve_strangers(self.now, usize::MAX);
        while let Some(to) = self.hubs[host].transmit(self.now, &mut out) {
            let from = if host == 0 { self.client } else { address(2) };
            for (octets, _) in out.iter() {
                let Weather { loss, repeats, corrupts, jitter } = self.weather;
                self.sent.entry(from).or_default().push(octets.len());
                for _ in 0..1 + usize::from(self.chance.chance(repeats)) {
                    let mut octets = octets.to_vec();
                    if self.chance.chance(corrupts) {
                        let place = self.chance.below(octets.len() as u64) as usize;
                        octets[place] ^= 1 << self.chance.below(8);
                    }
                    if !self.chance.chance(loss) {
                        let at = self.now + DELAY + Duration::from_nanos(self.chance.below(jitter.as_nanos() + 1));
                        self.under_way.insert((at, self.count), (from, to, octets));
                    }
                    self.count += 1;
                }
            }
            out.clear();
        }
        self.hubs[host].notify_readers(self.now);
    }

    /// Runs the next event. Returns `false` if there is none.
    fn step(&mut self) -> bool {
        self.drain();
        let arrival = self.under_way.first_key_value().map(|((at, _), _)| *at);
        let deadlines = self.hubs.iter().filter_map(Hub::deadline).min();
        let Some(next) = arrival.into_iter().chain(deadlines).min() else { return false };
        self.now = self.now.max(next);
        if arrival == Some(next) {
            let (_, (from, to, octets)) = self.under_way.pop_first().unwrap();
            let host = usize::from(to == address(2));
            let (size, mut memory) = (octets.len(), Vec::with_capacity(BUFFER));
            memory.extend_from_slice(&octets);
            self.join(from, to, size, &mut memory);
            if host == 1 || to == self.client {
                let (length, place) = (memory.len(), memory.as_ptr());
                let mut batch = Batch { from, ecn: Ecn::NotEct, size, length, memory: &mut memory };
                self.hubs[host].receive_batch(self.now, self.now, &mut batch);
                self.batches += 1;
                self.kept += u64::from(memory.as_ptr() != place);
            }
        } else {
            self.hubs.iter_mut().for_each(|hub| hub.wake(self.now));
        }
        true
    }

    /// Joins datagrams of the same host and size within the pause, as the kernel does (GRO). The
    /// last datagram may be smaller.
    fn join(&mut self, from: SocketAddr, to: SocketAddr, size: usize, memory: &mut Vec<u8>) {
        let until = self.now + self.pause;
        let is_next = |((at, _), (source, target, _)): &(&(Instant, u64), &(SocketAddr, SocketAddr, Vec<u8>))| {
            *at < until && (*source, *target) == (from, to)
        };
        while let Some((&key, (.., octets))) = self.under_way.iter().find(is_next)
            && memory.len().is_multiple_of(size)
            && octets.len() <= size
            && memory.len() + octets.len() <= BUFFER
        {
            memory.extend_from_slice(octets);
            self.now = self.now.max(key.0);
            self.under_way.remove(&key);
        }
    }

    /// Suspends a host for this time. The host neither receives nor acts, while the other
    /// continues.
    fn sleep(&mut self, host: usize, time: Duration) {
        let until = self.now + time;
        loop {
            self.drain_from(1 - host);
            let arrival = self.under_way.first_key_value().map(|((at, _), _)| *at);
            let next = arrival.into_iter().chain(self.hubs[1 - host].deadline()).min();
            let Some(next) = next.filter(|at| *at <= until) else { break };
            self.now = self.now.max(next);
            if arrival == Some(next) {
                let (_, (from, to, mut octets)) = self.under_way.pop_first().unwrap();
                if usize::from(to == address(2)) != host {
                    self.hubs[1 - host].receive(self.now, self.now, from, Ecn::NotEct, &mut octets);
                }
            } else {
                self.hubs[1 - host].wake(self.now);
            }
        }
        self.now = until;
        self.hubs.iter_mut().for_each(|hub| hub.wake(until));
    }

    /// Returns `true` if either end has streams other than the first.
    fn keeps_streams(&self, host: usize, handle: Handle) -> bool {
        self.hubs[host].get(handle).unwrap().has_streams()
    }

    fn run_until(&mut self, mut is_done: impl FnMut(&mut Self) -> bool) {
        let start = self.now;
        while !is_done(self) {
            assert!(self.step(), "nothing is left to do at {}", self.now);
            assert!(self.now < start + Duration::from_secs(600), "it takes too long");
        }
    }

    fn connect(&mut self) -> [Handle; 2] {
        let client = self.hubs[0].connect(self.now, address(2), "server.test").unwrap();
        let mut server = None;
        self.run_until(|net| {
            server = server.or_else(|| net.hubs[1].accept());
            assert_eq!(net.hubs[0].lost(client), None);
            server.is_some() && net.hubs[0].get(client).unwrap().is_established()
        });
        [client, server.unwrap()]
    }

    /// Opens a stream at the client.
    fn open(&mut self, client: Handle) -> Ends {
        self.hubs[0].with(client, |end| end.open_stream()).flatten().unwrap()
    }

    fn write(&mut self, host: usize, handle: Handle, stream: &Ends, octets: &[u8]) -> Result<usize, WriteError> {
        let written = match stream.outlet.poll_write(&Context::from_waker(Waker::noop()), octets) {
            Poll::Ready(written) => written?.octets,
            Poll::Pending => 0,
        };
        self.hubs[host].serve_streams(self.now, &mut vec![(handle, stream.id)]);
        Ok(written)
    }

    /// Reads the available data. Returns `true` at the end of the stream.
    fn read(&mut self, host: usize, handle: Handle, stream: &Ends, to: &mut Vec<u8>) -> bool {
        let context = Context::from_waker(Waker::noop());
        let is_at_end = loop {
            match stream.inlet.poll_read(&context, 10_000, |octets| to.extend_from_slice(octets)) {
                Poll::Ready(Ok(done)) if done.octets == 0 => break true,
                Poll::Ready(Ok(_)) => {}
                Poll::Pending => break false,
                Poll::Ready(Err(error)) => panic!("{error:?}"),
            }
        };
        self.hubs[host].serve_streams(self.now, &mut vec![(handle, stream.id)]);
        is_at_end
    }

    /// Returns the server's end of a stream that the client opened, once the stream has arrived.
    /// Does not change earlier streams.
    fn accept_stream(&mut self, server: Handle, stream: &Ends) -> Option<Ends> {
        loop {
            let ends = self.hubs[1].with(server, |end| end.accept_stream()).flatten()?;
            if ends.id == stream.id {
                return Some(ends);
            }
        }
    }

    /// Sends random bytes from the client to the server on a new stream.
    fn carry(&mut self, handles: [Handle; 2], size: usize) {
        self.carry_together(handles, 1, size);
    }

    /// Sends the same data on several streams simultaneously.
    fn carry_together(&mut self, [client, server]: [Handle; 2], streams: usize, size: usize) {
        let all: Vec<u8> = (0..size).map(|_| self.chance.below(256) as u8).collect();
        let mut flows: Vec<_> = (0..streams).map(|_| (self.open(client), 0, Vec::new(), None, false)).collect();
        self.run_until(|net| {
            for (stream, sent, ..) in flows.iter_mut().filter(|(_, sent, ..)| *sent < all.len()) {
                *sent += net.write(0, client, stream, &all[*sent..]).unwrap();
                if *sent == all.len() {
                    net.hubs[0].with(client, |end| end.finish_stream(net.now, stream.id));
                }
            }
            while let Some(ends) = net.hubs[1].with(server, |end| end.accept_stream()).flatten() {
                if let Some(flow) = flows.iter_mut().find(|(stream, ..)| stream.id == ends.id) {
                    flow.3 = Some(ends);
                }
            }
            for (_, _, read, accepted, is_read) in &mut flows {
                *is_read |= accepted.as_ref().is_some_and(|ends| net.read(1, server, ends, read));
            }
            flows.iter().all(|(.., is_read)| *is_read)
        });
        assert!(flows.iter().all(|(_, _, read, ..)| *read == all), "every octet once and in order");
    }
}

#[test]
fn octets_arrive_over_a_clean_network_after_one_round_trip() {
    let mut net = Net::new(configs(), CLEAN);
    let start = net.now;
    let handles = net.connect();
    assert!(net.now <= start + DELAY * 4, "the server has all after a round trip and a half: {}", net.now.since(start));
    assert_eq!(net.sent[&net.client][0], 1200, "the first datagram");
    net.carry(handles, 1_000_000);
}

#[test]
fn octets_arrive_over_a_rough_network() {
    let mut net = Net::new(configs(), ROUGH);
    let handles = net.connect();
    net.carry(handles, 1_000_000);
    let refused: u64 = net.hubs[1].get(handles[1]).unwrap().refused().of(Refused::Forged);
    assert!(refused > 10, "corrupted datagrams are refused: {refused}");
}

/// Transfers three streams simultaneously, with packets in turn, and then one stream.
#[test]
fn octets_arrive_in_batches_whose_memory_is_kept() {
    // If packets are reordered, few packets of a batch are in sequence.
    let fair = Weather { loss: 0.005, repeats: 0.005, corrupts: 0.005, jitter: Duration::ZERO };
    for (weather, least) in [(CLEAN, 20), (fair, 10), (ROUGH, 0)] {
        let mut net = Net::new(configs(), weather);
        let handles = net.connect();
        net.pause = Duration::from_millis(40);
        net.carry_together(handles, 3, 300_000);
        // Each run generates new keys, which changes the lost packets. With an eighth of these
        // bytes, the fair network sometimes keeps only 8 batches.
        net.carry(handles, 8_000_000);
        assert!(net.kept >= least, "{} in {weather:?}", net.kept);
    }
}

/// TACK's policy depends on time. Policies that count packets ignore batches.
#[test]
fn a_batch_has_one_tack() {
    // Returns the number of datagrams of each host, the number of datagrams in batches, and the
    // number of batches.
    let counts = |ack| {
        let configs = configs().map(|config| Config { transport: Settings { ack, ..config.transport }, ..config });
        let mut net = Net::new(configs, CLEAN);
        let handles = net.connect();
        net.pause = Duration::from_millis(5);
        let count = |net: &Net| [net.sent[&address(1)].len() as u64, net.sent[&address(2)].len() as u64, net.batches];
        let before = count(&net);
        net.carry(handles, 2_000_000);
        let after = count(&net);
        [0, 1, 2].map(|place| after[place] - before[place])
    };
    let law = PolicyConfig::Tack(Tack { per_packet_startup: false, ..Tack::default() });
    let [data, acks, batches] = counts(law);
    assert!(acks <= batches && batches * 2 < data, "{acks} of {data} in {batches}");
    let every = PolicyConfig::Quic(Quic { packets: 1, reordering_threshold: 0, ..Quic::default() });
    let [data, acks, batches] = counts(every);
    assert!(acks >= data && batches * 2 < data, "{acks} of {data} in {batches}");
}

/// A batch may contain datagrams of unknown senders, of other connections and without a connection.
#[test]
fn octets_arrive_whatever_a_batch_holds_besides() {
    let mut net = Net::new(configs(), CLEAN);
    let handles = net.connect();
    let other = net.connect();
    net.carry(handles, 1_000_000);
    net.carry(other, 1_000_000);
    let streams = [handles, other].map(|[client, _]| (client, net.open(client)));
    let all: Vec<u8> = (0..30_000).map(|_| net.chance.below(256) as u8).collect();
    let mut memory = Vec::with_capacity(BUFFER);
    for (client, stream) in &streams {
        assert_eq!(net.write(0, *client, stream, &all).unwrap(), all.len());
    }
    net.sleep(1, DELAY - Duration::from_micros(1));
    let mut datagrams: Vec<Vec<u8>> = net.under_way.values().map(|(_, _, octets)| octets.clone()).collect();
    net.under_way.clear();
    let size = datagrams.iter().map(Vec::len).max().unwrap();
    datagrams.retain(|octets| octets.len() == size);
    datagrams.truncate(40);
    // The datagrams of both connections in their order, and noise.
    for (place, datagram) in datagrams.iter().enumerate() {
        memory.extend_from_slice(datagram);
        if place % 10 == 0 {
            memory.extend((0..size).map(|_| net.chance.below(256) as u8));
        }
    }
    let (length, from) = (memory.len(), address(1));
    let place = memory.as_ptr();
    let mut batch = Batch { from, ecn: Ecn::NotEct, size, length, memory: &mut memory };
    net.hubs[1].receive_batch(net.now, net.now, &mut batch);
    assert_ne!(memory.as_ptr(), place, "of {length} octets");
    for ((_, stream), [_, server]) in streams.iter().zip([handles, other]) {
        let (mut read, mut accepted) = (Vec::new(), None);
        net.run_until(|net| {
            accepted = accepted.take().or_else(|| net.accept_stream(server, stream));
            accepted.as_ref().is_some_and(|ends| {
                net.read(1, server, ends, &mut read);
                read.len() == all.len()
            })
        });
        assert!(read == all, "every octet once and in order");
    }
}

#[test]
fn keys_are_updated_while_octets_flow() {
    let [client, server] = configs();
    let mut net = Net::new([Config { update_keys_after: Some(50), ..client }, server], ROUGH);
    let handles = net.connect();
    net.carry(handles, 1_000_000);
    let updates = [0, 1].map(|host| net.hubs[host].get(handles[host]).unwrap().key_updates());
    assert!(updates[0] > 5 && updates[0].abs_diff(updates[1]) <= 1, "{updates:?}");
}

#[test]
fn a_server_that_nobody_believes_gets_no_connection() {
    let ([client, _], [_, server]) = (configs(), configs());
    let mut net = Net::new([client, server], CLEAN);
    let client = net.hubs[0].connect(net.now, address(2), "server.test").unwrap();
    net.run_until(|net| net.hubs[0].lost(client).is_some());
    let Some(Lost::Handshake { reason, .. }) = net.hubs[0].lost(client) else {
        panic!("{:?}", net.hubs[0].lost(client))
    };
    assert!(reason.contains("certificate"), "{reason}");
    net.run_until(|net| net.hubs[1].connections() == 0);
    assert_eq!(net.hubs[1].accept(), None);
}

#[test]
fn a_client_that_must_show_its_address_comes_back_with_a_token() {
    let [client, mut server] = configs();
    server.server.as_mut().unwrap().always_retry = true;
    let mut net = Net::new([client, server], CLEAN);
    let handles = net.connect();
    assert_eq!((net.hubs[1].counters().retries, net.hubs[1].counters().accepted), (1, 1));
    net.carry(handles, 100_000);
}

#[test]
fn a_stranger_gets_three_times_what_it_sends() {
    let mut net = Net::new(configs(), CLEAN);
    net.hubs[0].connect(net.now, address(2), "server.test").unwrap();
    net.drain();
    let (_, (_, _, mut hello)) = net.under_way.pop_first().unwrap();
    let victim = address(66);
    net.hubs[1].receive(net.now, net.now, victim, Ecn::NotEct, &mut hello);
    net.hubs[1].serve_strangers(net.now, 1);
    while net.hubs[1].connections() > 0 {
        net.drain();
        let next = net.hubs[1].deadline().unwrap();
        net.now = net.now.max(next);
        net.hubs[1].wake(net.now);
    }
    let sent: usize = net.sent[&address(2)].iter().sum();
    assert!(sent > 1000 && sent <= 3 * 1200, "{sent}");
}

#[test]
fn nobody_is_accepted_once_all_connections_are_closed() {
    let mut net = Net::new(configs(), CLEAN);
    net.connect();
    net.hubs[1].close_all(net.now, 0);
    net.hubs[0].connect(net.now, address(2), "server.test").unwrap();
    net.run_until(|net| !net.hubs[1].has_farewells());
    assert_eq!(net.hubs[1].counters().accepted, 1, "the second came too late");
    assert!(net.now < Instant::ZERO + Duration::from_secs(2), "no caller waits for it: {}", net.now);
}

#[test]
fn a_client_whose_address_changes_is_followed() {
    let mut net = Net::new(configs(), CLEAN);
    let handles = net.connect();
    net.carry(handles, 200_000);
    net.client = address(9);
    net.carry(handles, 200_000);
    let server = net.hubs[1].get(handles[1]).unwrap();
    assert_eq!((server.remote(), server.counters.migrations), (address(9), 1));
}

#[test]
fn a_packet_that_was_recorded_moves_nothing() {
    let mut net = Net::new(configs(), CLEAN);
    let handles = net.connect();
    net.carry(handles, 100_000);
    let stream = net.open(handles[0]);
    net.write(0, handles[0], &stream, b"acknowledge").unwrap();
    net.drain();
    let (_, (_, _, mut recorded)) = net.under_way.last_key_value().map(|(key, value)| (*key, value.clone())).unwrap();
    net.carry(handles, 100_000);
    net.hubs[1].receive(net.now, net.now, address(66), Ecn::NotEct, &mut recorded);
    assert_eq!(net.hubs[1].get(handles[1]).unwrap().remote(), address(1));
    net.carry(handles, 100_000);
}

#[test]
fn a_server_that_has_forgotten_its_client_resets_them() {
    let [client, server] = configs();
    let mut net = Net::new([client, server.clone()], CLEAN);
    let handles = net.connect();
    net.carry(handles, 100_000);
    net.hubs[1] = Hub::new(net.now, server).unwrap();
    let stream = net.open(handles[0]);
    net.write(0, handles[0], &stream, &[0; 5000]).unwrap();
    net.run_until(|net| net.hubs[0].lost(handles[0]).is_some());
    assert_eq!((net.hubs[0].lost(handles[0]), net.hubs[1].counters().resets > 0), (Some(Lost::Reset), true));
}

#[test]
fn the_peer_learns_why_a_connection_is_closed() {
    let mut net = Net::new(configs(), ROUGH);
    let handles = net.connect();
    net.hubs[0].close(net.now, handles[0], 42);
    net.run_until(|net| net.hubs[1].lost(handles[1]).is_some());
    assert_eq!(net.hubs[1].lost(handles[1]), Some(Lost::Peer { code: 42 }));
    net.run_until(|net| net.hubs.iter().all(|hub| hub.connections() == 0));
}

#[test]
fn a_client_that_is_killed_leaves_nothing_behind() {
    let [client, mut server] = configs();
    server.transport.idle_timeout = Duration::from_secs(5);
    let mut net = Net::new([client.clone(), server], CLEAN);
    let handles = net.connect();
    let stream = net.open(handles[0]);
    net.write(0, handles[0], &stream, &[0; 500_000]).unwrap();
    for _ in 0..200 {
        net.step();
    }
    let killed = net.now;
    net.hubs[0] = Hub::new(net.now, client).unwrap();
    net.weather.loss = 1.0;
    net.run_until(|net| net.hubs[1].connections() == 0);
    assert_eq!(net.hubs[1].lost(handles[1]), Some(Lost::TimedOut));
    assert!(net.now < killed + Duration::from_secs(8), "{}", net.now.since(killed));
    assert!(net.hubs[1].by_id.is_empty() && net.hubs[1].by_client.is_empty() && net.hubs[1].deadlines.is_empty());
}

#[test]
fn a_server_of_another_version_ends_the_attempt() {
    let mut net = Net::new(configs(), CLEAN);
    let client = net.hubs[0].connect(net.now, address(2), "server.test").unwrap();
    net.drain();
    let (_, (from, _, mut hello)) = net.under_way.pop_first().unwrap();
    // The first datagram (Open) of a client of version 2.
    hello[0] = 0x20 | (hello[0] & 0x0f);
    net.hubs[1].receive(net.now, net.now, from, Ecn::NotEct, &mut hello);
    net.hubs[1].serve_strangers(net.now, 1);
    assert_eq!(net.hubs[1].counters().other_versions, 1);
    net.drain();
    let (_, (server, _, answer)) = net.under_way.pop_first().unwrap();
    // An answer of a server that supports version 1 has no effect.
    net.hubs[0].receive(net.now, net.now, server, Ecn::NotEct, &mut answer.clone());
    net.hubs[0].serve_strangers(net.now, 1);
    assert_eq!(net.hubs[0].lost(client), None);
    let mut other = answer;
    let version = other.iter_mut().rev().nth(16).unwrap();
    assert_eq!(std::mem::replace(version, 2), 1, "the only version that the server knows");
    net.hubs[0].receive(net.now, net.now, address(66), Ecn::NotEct, &mut other.clone());
    net.drain();
    assert_eq!(net.hubs[0].lost(client), None, "it comes from elsewhere");
    net.hubs[0].receive(net.now, net.now, server, Ecn::NotEct, &mut other);
    net.drain();
    assert!(matches!(net.hubs[0].lost(client), Some(Lost::Violation { .. })), "{:?}", net.hubs[0].lost(client));
}

#[test]
fn a_connection_is_recorded_as_in_a_simulation() {
    let [client, server] = configs();
    let series = vec![Series::OperatingPoint, Series::Events];
    let options = RecorderOptions { series, sample_interval: Some(DELAY), ..RecorderOptions::default() };
    let recording = Some(Recording { options, ..Recording::default() });
    let mut net = Net::new([Config { recording, ..client }, server], CLEAN);
    let handles = net.connect();
    net.carry(handles, 1_000_000);
    let now = net.now;
    let tables = net.hubs[0].with(handles[0], |end| end.finish_recording(now)).flatten().unwrap().unwrap();
    let names: Vec<&str> = tables.iter().map(|table| table.name()).collect();
    assert_eq!(names, ["flows", "acks", "operating_point", "events"]);
    let batch = tables.into_iter().nth(2).unwrap().into_arrow().unwrap();
    assert!(batch.num_rows() > 10, "{}", batch.num_rows());
}

#[test]
fn a_server_without_room_says_so() {
    let [client, mut server] = configs();
    server.server.as_mut().unwrap().limits.connections = 1;
    let mut net = Net::new([client, server], CLEAN);
    net.connect();
    let second = net.hubs[0].connect(net.now, address(2), "server.test").unwrap();
    net.run_until(|net| net.hubs[0].lost(second).is_some());
    let lost = net.hubs[0].lost(second);
    assert!(matches!(lost, Some(Lost::Handshake { code: admission::BUSY, .. })), "{lost:?}");
}

#[test]
fn what_is_written_to_a_lost_connection_is_refused() {
    let mut net = Net::new(configs(), CLEAN);
    let [client, _] = net.connect();
    let stream = net.open(client);
    net.hubs[0].close(net.now, client, 0);
    assert_eq!(net.write(0, client, &stream, b"late"), Err(WriteError::Lost(Lost::Here { code: 0 })));
}

/// RFC 9000, §3.5: within a round trip, the sender receives the request. It then drops its unsent
/// data.
#[test]
fn a_reader_that_leaves_tells_the_sender() {
    for weather in [CLEAN, ROUGH] {
        let mut net = Net::new(configs(), weather);
        let [client, server] = net.connect();
        let stream = net.open(client);
        net.write(0, client, &stream, &[7; 300_000]).unwrap();
        let mut ends = None;
        net.run_until(|net| {
            ends = ends.take().or_else(|| net.accept_stream(server, &stream));
            ends.is_some()
        });
        let (ends, left) = (ends.unwrap(), net.now);
        net.hubs[1].with(server, |end| {
            end.stop_stream(ends.id, 42);
            end.release_stream(left, ends.id, 1);
            end.finish_stream(left, ends.id);
            end.release_stream(left, ends.id, 0);
        });
        let mut refused = None;
        net.run_until(|net| {
            refused = net.write(0, client, &stream, b"more").err();
            refused.is_some()
        });
        assert_eq!(refused, Some(WriteError::Stopped(42)));
        assert!(weather.loss > 0.0 || net.now <= left + DELAY * 3, "{}", net.now.since(left));
        let now = net.now;
        net.hubs[0].with(client, |end| {
            end.release_stream(now, stream.id, 0);
            end.release_stream(now, stream.id, 1);
        });
        net.run_until(|net| {
            net.drain();
            [(0, client), (1, server)].iter().all(|(host, handle)| !net.keeps_streams(*host, *handle))
        });
        net.carry([client, server], 100_000);
    }
}

/// RFC 9000, §9.4: the congestion window of one path does not apply to another. A new port is a new
/// mapping of the same path.
#[test]
fn congestion_control_begins_anew_only_on_another_path() {
    let mut net = Net::new(configs(), CLEAN);
    let [client, server] = net.connect();
    // The server sends data, so that it has a congestion window.
    let fetch = |net: &mut Net, size: usize| {
        let stream = net.open(client);
        net.write(0, client, &stream, b"?").unwrap();
        let (mut ends, mut written, mut read) = (None, 0, Vec::new());
        net.run_until(|net| {
            ends = ends.take().or_else(|| net.accept_stream(server, &stream));
            if let Some(ends) = &ends
                && written < size
            {
                written += net.write(1, server, ends, &vec![1; size - written]).unwrap();
            }
            net.read(0, client, &stream, &mut read);
            read.len() == size
        });
    };
    let window = |net: &Net| net.hubs[1].get(server).unwrap().vitals().window.unwrap();
    fetch(&mut net, 2_000_000);
    let grown = window(&net);
    net.client.set_port(9999);
    fetch(&mut net, 100_000);
    assert!(window(&net) >= grown / 2, "another port: {}, {grown} before", window(&net));
    net.client = address(9);
    fetch(&mut net, 1000);
    assert!(window(&net) < grown / 2, "another address: {}, {grown} before", window(&net));
    fetch(&mut net, 2_000_000);
    assert_eq!(net.hubs[1].get(server).unwrap().counters.migrations, 2);
}

/// A suspended host receives nothing, and its timers are late.
#[test]
fn a_host_that_wakes_in_time_goes_on_and_one_that_wakes_late_begins_anew() {
    for (seconds, survives) in [(20, true), (40, false)] {
        let mut net = Net::new(configs(), CLEAN);
        let handles = net.connect();
        let stream = net.open(handles[0]);
        net.write(0, handles[0], &stream, &[0; 400_000]).unwrap();
        for _ in 0..60 {
            net.step();
        }
        net.sleep(0, Duration::from_secs(seconds));
        if survives {
            net.carry(handles, 300_000);
        } else {
            net.run_until(|net| net.hubs[0].lost(handles[0]).is_some());
            assert_eq!(net.hubs[0].lost(handles[0]), Some(Lost::TimedOut));
            assert_eq!(net.hubs[1].lost(handles[1]), Some(Lost::TimedOut));
            let again = net.connect();
            net.carry(again, 300_000);
        }
    }
}
