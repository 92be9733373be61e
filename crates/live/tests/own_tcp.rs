//! The TCP of acklab and that of the kernel exchange data, in both roles, over IPv4 and IPv6.
//! Random octets cross a path in both directions that loses, reorders or marks packets, and arrive
//! as they were sent. With `--nocapture`, each test prints rows of the table in
//! `docs/models/validation.md`.
//!
//! The tests need the permission to create namespaces and TUN devices. Without it, they report that
//! they were skipped.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use acklab_base::random::{Seed, Stream};
use acklab_base::{Datagram, Duration, Ecn, Endpoint, Instant, Machine, NodeId, StreamEvent, StreamPort};
use acklab_live::netlink::{Device, Metrics, Netlink};
use acklab_live::socket::{Interest, Options, Tcp, Watch};
use acklab_live::{Namespace, Tun, WallClock};
use acklab_transport::ack::Policy;
use acklab_transport::cc::Controller;
use acklab_transport::octets::{Arrived, Written};
use acklab_transport::reading::Reading;
use acklab_transport::tcp::connection::State;
use acklab_transport::tcp::{self, Connection, Preset, Settings};
use acklab_wire::ipv4::{Checksums, Ipv4Fields};
use acklab_wire::tcp::{decode, encode_with};
use acklab_wire::{Endpoints, IpPacket, IpVersion};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

/// The addresses of the kernel and of acklab's end (RFC 2544, appendix C.2.2: networks for tests of
/// devices). [`IpVersion::address`] maps them to IPv6.
const KERNEL: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(198, 18, 0, 1), 8080);
const OWN: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(198, 19, 0, 1), 49152);
/// Octets in each direction, unless `ACKLAB_OCTETS` sets another number.
const SIZE: usize = 2_000_000;
/// The maximum time without progress.
const PATIENCE: Duration = Duration::from_secs(60);
/// The maximum interval between two checks of the kernel's sockets.
const TURN: Duration = Duration::from_millis(1);
const DELAY: Duration = Duration::from_millis(5);

/// The effects of a path on packets, in either direction.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    loss: f64,
    /// The chance that a packet takes twice the delay.
    reorders: f64,
    /// The chance that an ECN-capable packet is marked.
    marks: f64,
}

/// The path, with the packets in flight: each with its time of arrival, and whether it goes to the
/// kernel.
struct Wire {
    path: Path,
    chance: Stream,
    count: u64,
    under_way: BTreeMap<(Instant, u64), (bool, IpPacket)>,
}

impl Wire {
    fn carry(&mut self, now: Instant, to_kernel: bool, octets: Vec<u8>) {
        let mut packet = IpPacket::parse(octets, |_| NodeId::NOWHERE).unwrap();
        self.count += 1;
        if self.chance.chance(self.path.loss) {
            return;
        }
        if self.chance.chance(self.path.marks) && packet.ecn() != Ecn::NotEct {
            packet.set_ecn(Ecn::Ce);
        }
        let delay = if self.chance.chance(self.path.reorders) { DELAY * 2 } else { DELAY };
        self.under_way.insert((now + delay, self.count), (to_kernel, packet));
    }
}

/// acklab's end, with the octets of its stream.
struct Own {
    connection: Connection,
    ports: Endpoints,
    version: IpVersion,
    sends: Vec<u8>,
    written: Written,
    arrived: Arrived,
    read: Vec<u8>,
    has_closed: bool,
}

impl Own {
    fn accept(&mut self, now: Instant, packet: &IpPacket) {
        let segment = packet.segment().unwrap();
        if self.version == IpVersion::V4 {
            let whole = decode(packet.octets(), Checksums::Verify).expect("the kernel's packets have checksums");
            assert_eq!(whole.1, segment);
        }
        self.connection.accept(now, segment);
        let payload = &packet.octets()[packet.octets().len() - packet.payload()..];
        let start = self.connection.offset(&segment);
        while let Some((_, event)) = self.connection.take_stream_event() {
            match event {
                StreamEvent::Arrived(range) => {
                    let [from, to] = [range.start, range.end].map(|offset| (offset - start) as usize);
                    self.arrived.put(range.start, &payload[from..to]).unwrap();
                }
                StreamEvent::Acknowledged(below) => self.written.free(below),
                StreamEvent::Reset { .. } => panic!("the kernel resets the connection: {segment:?}"),
                _ => {}
            }
        }
    }

    /// Lets the application read and write as much as it can.
    fn run(&mut self, now: Instant) {
        let from = self.written.end() as usize;
        if self.connection.is_open() && !self.has_closed {
            let taken = self.connection.write(now, (self.sends.len() - from) as u64) as usize;
            self.written.append(&self.sends[from..from + taken]);
            if from + taken == self.sends.len() {
                self.connection.close(now);
                self.has_closed = true;
            }
        }
        let count = self.connection.read(now, u64::MAX);
        self.arrived.take(count, &mut self.read);
    }

    fn poll(&mut self, now: Instant, wire: &mut Wire) {
        while let Some(segment) = self.connection.poll(now) {
            let (mut payload, mut packet) = (Vec::new(), Vec::new());
            self.connection.report_octets(&segment, &mut |_, range| {
                assert!(self.written.copy(range, &mut payload), "what is sent is kept");
            });
            encode_with(&segment, &payload, self.ports, Ipv4Fields::default(), &mut packet).unwrap();
            self.version.convert(&mut packet);
            wire.carry(now, true, packet);
        }
    }
}

/// The kernel's end.
struct Kernel {
    tun: Tun,
    listens: Option<Tcp>,
    socket: Option<Tcp>,
    sends: Vec<u8>,
    written: usize,
    read: Vec<u8>,
    is_at_end: bool,
}

impl Kernel {
    fn run(&mut self) {
        if self.socket.is_none() {
            self.socket = self.listens.as_ref().and_then(|listens| listens.accept().unwrap());
        }
        let Some(socket) = &self.socket else { return };
        if !socket.info().unwrap().is_open() && self.written == 0 {
            return;
        }
        if self.written < self.sends.len() {
            self.written += socket.write(&self.sends[self.written..]).unwrap();
            if self.written == self.sends.len() {
                socket.finish().unwrap();
            }
        }
        let mut octets = vec![0; 1 << 16];
        while !self.is_at_end
            && let Some(count) = socket.read(&mut octets).unwrap()
        {
            self.is_at_end = count == 0;
            self.read.extend(&octets[..count]);
        }
    }
}

/// Runs both ends until each has all data. Returns what each has read, and the state of acklab's
/// end.
fn run(own: &mut Own, kernel: &mut Kernel, path: Path) -> Instant {
    let clock = WallClock::start();
    let watch = Watch::new().unwrap();
    watch.add(&kernel.tun, 0, Interest::Both).unwrap();
    let chance = Seed(3).stream("path");
    let mut wire = Wire { path, chance, count: 0, under_way: BTreeMap::new() };
    own.connection.record_streams();
    if let Some(socket) = &kernel.socket {
        socket.connect(own.version.socket(OWN)).unwrap();
    } else {
        own.connection.open(Instant::ZERO);
    }
    let is_done = |own: &Own, kernel: &Kernel| {
        kernel.is_at_end
            && own.connection.is_at_end()
            && matches!(own.connection.state(), State::TimeWait | State::Closed)
    };
    let (mut moved, mut moved_at) = (0, Instant::ZERO);
    while !is_done(own, kernel) {
        let now = clock.now();
        if own.read.len() + kernel.read.len() > moved {
            (moved, moved_at) = (own.read.len() + kernel.read.len(), now);
        }
        assert!(now < moved_at + PATIENCE, "{path:?}: {:?}, nothing since {moved_at}", own.connection.state());
        while let Some(entry) = wire.under_way.first_entry().filter(|entry| entry.key().0 <= now) {
            match entry.remove() {
                (true, packet) => kernel.tun.write(packet.octets()).unwrap(),
                (false, packet) => {
                    own.accept(now, &packet);
                    own.run(now);
                    own.poll(now, &mut wire);
                }
            }
        }
        if own.connection.deadline().is_some_and(|due| due <= now) {
            own.connection.wake(now);
        }
        own.run(now);
        own.poll(now, &mut wire);
        kernel.run();
        let mut packet = Vec::with_capacity(65_535);
        while kernel.tun.read(&mut packet).unwrap() {
            let taken = std::mem::replace(&mut packet, Vec::with_capacity(65_535));
            // Announcements of IPv6 (ICMPv6) do not belong to the connection.
            let is_tcp = IpPacket::parse(taken.clone(), |_| NodeId::NOWHERE).unwrap().segment().is_some();
            if is_tcp {
                wire.carry(clock.now(), false, taken);
            }
        }
        let arrival = wire.under_way.first_key_value().map(|((at, _), _)| *at);
        let next = [arrival, own.connection.deadline()].into_iter().flatten().min();
        let wait = next.map_or(TURN, |next| next.since(clock.now()).min(TURN));
        watch.wait(wait, &mut Vec::new()).unwrap();
    }
    clock.now()
}

fn random(name: &str) -> Vec<u8> {
    let size = std::env::var("ACKLAB_OCTETS").map_or(SIZE, |size| size.parse().expect("ACKLAB_OCTETS is a number"));
    let mut chance = Seed(7).stream(name);
    (0..size / 8).flat_map(|_| chance.octets()).collect()
}

/// The sockets of the kernel and of acklab's end, in packets of one version.
trait Sockets {
    fn socket(self, at: SocketAddrV4) -> SocketAddr;
}

impl Sockets for IpVersion {
    fn socket(self, at: SocketAddrV4) -> SocketAddr {
        (self.address(*at.ip()), at.port()).into()
    }
}

/// Transfers octets in both directions, with acklab's end in this role.
fn cross(name: &str, opens: bool, version: IpVersion, path: Path, ecn: tcp::ecn::EcnConfig, kernel_ecn: &str) {
    let namespace = match Namespace::new() {
        Ok(namespace) => namespace,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    let tun = match Tun::new(&namespace, "test0") {
        Ok(tun) => tun,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    namespace.set("net/ipv4/tcp_ecn", kernel_ecn).unwrap();
    let netlink = Netlink::new(&namespace).unwrap();
    // The longer header of IPv6 makes packets longer, but segments no shorter.
    let mtu = 1500 + version.longer_by() as u32;
    netlink.configure(tun.index(), Device { mtu, queue_len: 10_000, gso_max_segs: 1 }).unwrap();
    netlink.bring_up(tun.index()).unwrap();
    netlink.add_address(tun.index(), version.address(*KERNEL.ip())).unwrap();
    netlink.add_route(tun.index(), version.address(*OWN.ip()), &Metrics::default()).unwrap();
    let socket = Tcp::bound(&namespace, version.socket(KERNEL), &Options::default()).unwrap();
    let (listens, socket) = if opens { (Some(socket), None) } else { (None, Some(socket)) };
    if let Some(listens) = &listens {
        listens.listen().unwrap();
    }
    let config = tcp::TcpConfig { ecn, ..Settings::of(Preset::Linux).config() };
    let controller = Controller::new(&config.congestion, &config.controller_start(Seed(1), "f")).unwrap();
    let policy = Policy::new(config.ack).unwrap();
    let end = if opens { Connection::active } else { Connection::passive };
    let mut own = Own {
        connection: end(config, controller, policy, Seed(1), "f").with_reading(Reading::OnDemand),
        ports: Endpoints { source: OWN, destination: KERNEL },
        version,
        sends: random("own"),
        written: Written::default(),
        arrived: Arrived::default(),
        read: Vec::new(),
        has_closed: false,
    };
    let sends = random("kernel");
    let mut kernel = Kernel { tun, listens, socket, sends, written: 0, read: Vec::new(), is_at_end: false };
    let took = run(&mut own, &mut kernel, path);
    assert_eq!((own.read.len(), kernel.read.len()), (kernel.sends.len(), own.sends.len()));
    assert!(own.read == kernel.sends, "the kernel's octets arrive as they were sent");
    assert!(kernel.read == own.sends, "our octets arrive as they were sent");
    assert_eq!(own.written.kept(), 0, "all is freed");
    let agreed = own.connection.receiving().agreement().unwrap().ecn;
    // The kernel 6.18 answers accurate ECN with classic ECN.
    let expected = if ecn == tcp::ecn::EcnConfig::Off { ecn } else { tcp::ecn::EcnConfig::Classic };
    assert_eq!(agreed, expected, "{name}");
    let (role, sender) = (if opens { "opens" } else { "is opened" }, own.connection.sending().counters());
    let kernel_sent_again = kernel.socket.as_ref().map_or(0, |socket| socket.info().unwrap().total_retrans());
    println!(
        "| {name} | {role} | {version:?} | {:.1} s | {} | {kernel_sent_again} | {} |",
        took.as_secs_f64(),
        sender.retransmissions,
        sender.mark_reductions
    );
}

/// Transfers octets across `path` in both roles and over both versions of IP. The transfers run at
/// the same time, because they mostly wait.
fn cross_each(name: &str, path: Path, ecn: tcp::ecn::EcnConfig, kernel_ecn: &str) {
    std::thread::scope(|scope| {
        for version in [IpVersion::V4, IpVersion::V6] {
            for opens in [true, false] {
                scope.spawn(move || cross(name, opens, version, path, ecn, kernel_ecn));
            }
        }
    });
}

#[test]
fn octets_cross_a_clean_path() {
    cross_each("clean", Path::default(), tcp::ecn::EcnConfig::Off, "0");
}

#[test]
fn octets_cross_a_path_that_loses() {
    cross_each("1 % lost", Path { loss: 0.01, ..Path::default() }, tcp::ecn::EcnConfig::Off, "0");
}

#[test]
fn octets_cross_a_path_that_reorders() {
    cross_each("2 % reordered", Path { reorders: 0.02, ..Path::default() }, tcp::ecn::EcnConfig::Off, "0");
}

#[test]
fn octets_cross_a_path_that_marks() {
    cross_each("2 % marked", Path { marks: 0.02, ..Path::default() }, tcp::ecn::EcnConfig::Classic, "1");
}

/// A kernel without accurate ECN falls back to classic ECN.
#[test]
fn octets_cross_a_path_that_marks_with_accurate_ecn() {
    let path = Path { marks: 0.02, loss: 0.005, ..Path::default() };
    cross_each("2 % marked, 0.5 % lost; accurate ECN", path, tcp::ecn::EcnConfig::Accurate, "1");
}
