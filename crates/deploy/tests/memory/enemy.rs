//! A client that follows the protocol until its connection is open, and then sends arbitrary
//! frames.

use acklab_base::random::Seed;
use acklab_base::{Ecn, Instant, Machine, StreamPort};
use acklab_deploy::config::settings;
use acklab_secure::identity::{Trust, client_config};
use acklab_secure::{Outbox, Session, Step};
use acklab_transport::ack::Policy;
use acklab_transport::cc::Controller;
use acklab_transport::reading::Reading;
use acklab_transport::streams::StreamOperations as _;
use acklab_transport::tack::{Connection, Phase, Settings};
use acklab_wire::tack::{ConnectionId, Frame, Frames, Packet, PktSeq, Stream, Timestamp};
use rustls::NoKeyLog;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);
/// The maximum number of octets of a stream frame with one octet of the stream.
const FRAME: usize = 16;
/// The number of frames in a datagram of Ethernet.
const FRAMES: usize = 1400 / FRAME;

pub(super) struct Enemy {
    socket: UdpSocket,
    to: SocketAddr,
    start: std::time::Instant,
    machine: Connection,
    session: Session,
    /// The server's ID of the connection.
    remote: ConnectionId,
    /// Octets of the first stream.
    written: Vec<u8>,
    number: u64,
    out: Outbox,
}

impl Enemy {
    /// Opens a connection to the far side of a proxy at `to`.
    pub(super) fn connect(to: SocketAddr, from: [u8; 4], fingerprint: &str, seed: u64) -> Self {
        let socket = UdpSocket::bind(SocketAddr::from((from, 0))).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(2))).unwrap();
        let settings = Settings { mtu_discovery: false, packet: acklab_base::Bytes(1400), ..settings() };
        let (seed, id) = (Seed(seed), ConnectionId(seed + 1));
        let controller = Controller::new(&settings.congestion, &settings.controller_start(seed, "enemy")).unwrap();
        let policy = Policy::new(settings.ack).unwrap();
        let mut machine = Connection::client(&settings, controller, policy, seed, "enemy")
            .with_id(id)
            .with_reading(Reading::OnDemand);
        machine.open(Instant::ZERO);
        let tls = client_config(Trust::Pinned(fingerprint.parse().unwrap()), std::sync::Arc::new(NoKeyLog)).unwrap();
        let session = Session::client(tls, "proxy.test".try_into().unwrap(), id);
        let start = std::time::Instant::now();
        let (remote, written, out) = (ConnectionId(0), Vec::new(), Outbox::default());
        let mut enemy = Self { socket, to, start, machine, session, remote, written, number: 0, out };
        let is_open = |enemy: &Self| enemy.machine.phase() == Phase::Established && enemy.session.is_complete();
        // A packet of the open connection has been sent.
        enemy.follow_until(|enemy| is_open(enemy) && enemy.remote != ConnectionId(0));
        enemy
    }

    fn now(&self) -> Instant {
        Instant::from_nanos(self.start.elapsed().as_nanos() as u64)
    }

    /// Follows the protocol until a condition holds.
    fn follow_until(&mut self, holds: impl Fn(&Self) -> bool) {
        while !holds(self) {
            assert!(self.start.elapsed() < PATIENCE, "{:?}", self.machine.phase());
            let now = self.now();
            if self.machine.deadline().is_some_and(|at| at <= now) {
                self.machine.wake(now);
            }
            while let Some(packet) = self.machine.poll(now) {
                self.remote = packet.connection;
                self.number = self.machine.packets_sent();
                let written = &self.written;
                let mut copy = |_: u32, range: std::ops::Range<u64>, to: &mut Vec<u8>| {
                    to.extend_from_slice(&written[range.start as usize..range.end as usize]);
                };
                self.session.seal(&packet, &mut copy, &mut self.out);
            }
            self.send();
            let mut datagram = vec![0; 65_536];
            let Ok(length) = self.socket.recv(&mut datagram) else { continue };
            let (mut packet, mut pieces) = (Packet::default(), Vec::new());
            if let Ok(true) = self.session.open(&mut datagram[..length], Ecn::NotEct, &mut packet, &mut pieces) {
                _ = self.machine.accept(self.now(), packet);
            }
            while let Some(step) = self.session.take_step() {
                match step {
                    Step::Repeat => self.machine.repeat_open(),
                    Step::Complete => {}
                    Step::Failed { reason, .. } => panic!("{reason}"),
                }
            }
        }
    }

    fn send(&mut self) {
        for (octets, _) in self.out.iter() {
            // Sending may fail if the server is full.
            _ = self.socket.send_to(octets, self.to);
        }
        self.out.clear();
    }

    /// Sends these octets on the first stream, and waits for one octet in return.
    pub(super) fn ask(&mut self, octets: &[u8]) {
        self.written = octets.to_vec();
        let stream = self.machine.open_stream().unwrap();
        let now = self.now();
        assert_eq!(self.machine.write_to(stream, octets.len() as u64), Ok(octets.len() as u64), "{now}");
        self.follow_until(|enemy| enemy.machine.readable_of(stream) > 0);
    }

    /// Waits until the server closes the connection. Returns the error code.
    pub(super) fn closed(&mut self) -> u32 {
        self.follow_until(|enemy| matches!(enemy.machine.phase(), Phase::Closed { .. }));
        match self.machine.phase() {
            Phase::Closed { code } => code,
            _ => 0,
        }
    }

    /// Sends single octets of these streams at these offsets, many per datagram. Returns the number
    /// of datagrams that the system has accepted.
    pub(super) fn scatter(&mut self, pieces: impl Iterator<Item = (u32, u64)>) {
        let pieces: Vec<_> = pieces.collect();
        for pieces in pieces.chunks(FRAMES) {
            let frames: Frames = pieces
                .iter()
                .map(|&(id, offset)| Frame::Stream(Stream { id, offset, length: 1, is_end: false }))
                .collect();
            let departed = Timestamp(self.start.elapsed().as_micros() as u32);
            let number = PktSeq::of(self.number);
            let packet = Packet { ecn: Ecn::NotEct, connection: self.remote, number, departed, frames };
            self.number += 1;
            let mut copy = |_: u32, _: std::ops::Range<u64>, to: &mut Vec<u8>| to.push(7);
            assert!(self.session.seal(&packet, &mut copy, &mut self.out));
            self.send();
            // A socket holds some hundred datagrams.
            if self.number.is_multiple_of(64) {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }
}
