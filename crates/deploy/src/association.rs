//! The state of one connection at one host: the transport's machine, its protection, its streams
//! and its path.
//!
//! | module | verb |
//! |---|---|
//! | `receive` | a datagram arrives |
//! | `transmit` | datagrams leave |
//! | `record` | tables and logs are written |
//! | `streams` | an application reads and writes |
//! | `path` | the peer's address, and its changes |
//! | `run` | bytes of one batch reach the reader without a copy |

mod path;
mod receive;
mod record;
mod run;
mod streams;
mod transmit;

use crate::config::Config;
use crate::error::{ConnectError, Lost};
use crate::pipe::{Backlog, Pool};
use acklab_base::event::Closing;
use acklab_base::random::Seed;
use acklab_base::units::Segments;
use acklab_base::{Bytes, Duration, Endpoint, Instant, Machine, StreamPort, Vitals};
use acklab_measure::Recorder;
use acklab_measure::qlog::VantagePoint;
use acklab_secure::reset::TOKEN;
use acklab_secure::{Hello, Outbox, Piece, RefusedCounts, Session};
use acklab_transport::ack::Policy;
use acklab_transport::cc::Controller;
use acklab_transport::reading::Reading;
use acklab_transport::tack::{Connection, Phase, Settings};
use acklab_wire::tack::protected::SEALED_AT;
use acklab_wire::tack::{BELOW, ConnectionId, TAG};
use path::Path;
use ring::rand::{SecureRandom, SystemRandom};
use run::Run;
use rustls::pki_types::ServerName;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Waker;
use streams::Stream;

pub(crate) use streams::Ends;

/// The maximum size of IP packets on an interface that does not report its MTU.
const ETHERNET: u64 = 1500;
/// The bytes of an initial window of Ethernet packets (RFC 9002, §7.2).
const MAX_INITIAL: u64 = 14_720;
/// The difference between the lengths of the IPv6 header and the IPv4 header in bytes (RFC 8200,
/// §3).
const LONGER_V6: u64 = 20;
/// The number of probe timeouts for which a closed connection keeps its id. It answers packets with
/// its Close frame during this time (RFC 9000, §10.2).
const DRAINING: u64 = 3;
/// The code of a connection that ends because the host has no memory (RFC 9000, §20.1:
/// INTERNAL_ERROR). It is above the codes of applications.
const NO_MEMORY: u32 = 1 << 31 | 0x01;
/// The minimum time for which a client waits for a server, even if the idle timeout is shorter.
const MIN_HANDSHAKE: Duration = Duration::from_secs(1);

/// Returns random bits of the operating system.
pub(crate) fn random() -> Result<u64, ConnectError> {
    let mut octets = [0; 8];
    SystemRandom::new().fill(&mut octets).map_err(|_| ConnectError::Randomness)?;
    Ok(u64::from_ne_bytes(octets))
}

/// Returns a connection id that cannot be guessed.
fn random_id() -> Result<ConnectionId, ConnectError> {
    random().map(|id| ConnectionId(id.max(1)))
}

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct Association {
    settings: Settings,
    /// The seed of the connection's random streams.
    seed: Seed,
    machine: Connection,
    session: Session,
    path: Path,
    streams: BTreeMap<u32, Stream>,
    /// Streams that the peer has opened and the application has not accepted.
    opened: VecDeque<u32>,
    /// Streams for which the application has dropped the sending or receiving half.
    left: BTreeSet<u32>,
    /// Streams to which the application has written.
    writers: BTreeSet<u32>,
    /// Streams whose readers must be notified.
    changed: Vec<u32>,
    blocks: Vec<bytes::Bytes>,
    run: Run,
    /// `true` if data were dropped for lack of memory.
    has_no_memory: bool,
    receive_buffer: u64,
    pool: Arc<Pool>,
    /// The backlog, shared with the streams.
    backlog: Arc<Backlog>,
    /// The wakers of tasks that wait for the handshake, a stream of the peer, permission for
    /// another stream, or the end of the connection.
    pub(crate) wakers: Wakers,
    lost: Option<Lost>,
    /// The deadline of the handshake.
    handshake_until: Instant,
    /// When the connection ended. `None` while it is open.
    ended: Option<Instant>,
    /// Datagrams that are ready to be sent, but that the path does not permit yet.
    waiting: Outbox,
    pieces: Vec<Piece>,
    recorder: Option<Box<Recorder>>,
    pub(crate) counters: Counters,
}

/// The initial parameters of a connection.
#[derive(Clone, Copy)]
struct Birth {
    settings: Settings,
    seed: Seed,
    path: Path,
    handshake_until: Instant,
}

/// The wakers of waiting tasks, by the awaited event.
#[derive(Debug, Default)]
pub(crate) struct Wakers {
    pub(crate) established: Vec<Waker>,
    pub(crate) opened: Vec<Waker>,
    pub(crate) may_open: Vec<Waker>,
    pub(crate) closed: Vec<Waker>,
}

impl Wakers {
    fn wake_all(&mut self) {
        let Self { established, opened, may_open, closed } = self;
        for waker in [established, opened, may_open, closed].into_iter().flat_map(std::mem::take) {
            waker.wake();
        }
    }
}

/// The number of datagrams, and the bytes of their UDP payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Datagrams sent.
    pub datagrams_sent: u64,
    /// Bytes of the datagrams sent.
    pub octets_sent: u64,
    /// Datagrams received.
    pub datagrams_received: u64,
    /// Bytes of the datagrams received.
    pub octets_received: u64,
    /// The number of changes of the peer's address.
    pub migrations: u64,
}

/// The name of the random streams of a connection.
const NAME: &str = "deployed";

/// The block size of AES in bytes.
const AES_BLOCK: u64 = 16;
/// Packet sizes are rounded down to whole blocks if the reduction is at most one byte per this many
/// bytes. That costs up to 0.4 % of a link and saves 2 to 3 % of the processor time.
const PRICE: u64 = 256;

/// Returns the maximum packet size up to `packet` that consists of whole cipher blocks. Returns
/// `packet` if that size is much smaller. The bytes of an incomplete last block take as long as 200
/// others: 65 ns at both ends ([measured](../../../docs/decisions/packets.md)).
fn in_whole_blocks(packet: u64) -> u64 {
    let left_over = packet.saturating_sub(BELOW + SEALED_AT + TAG) % AES_BLOCK;
    if left_over <= packet / PRICE { packet - left_over } else { packet }
}

/// Returns the settings for a path whose interface sends IP packets of up to `largest` bytes.
fn settings_for(settings: &Settings, remote: SocketAddr, largest: Option<u64>) -> Result<Settings, ConnectError> {
    let largest = settings.packet.get().min(largest.unwrap_or(ETHERNET));
    let settings = Settings { packet: Bytes(largest), ..*settings };
    let settings = if remote.is_ipv6() { settings.behind(LONGER_V6) } else { settings };
    let settings = Settings { packet: Bytes(in_whole_blocks(settings.packet.get())), ..settings };
    // The initial window contains fewer packets if they are larger than Ethernet packets (RFC 9002,
    // §7.2).
    let window = (MAX_INITIAL / settings.mss()).max(2).min(settings.initial_window.0.into());
    let settings = Settings { initial_window: Segments(window as u32), ..settings };
    settings.check().map_err(|fault| ConnectError::of(&fault))?;
    Ok(settings)
}

fn controller(settings: &Settings, seed: Seed) -> Option<Controller> {
    Controller::new(&settings.congestion, &settings.controller_start(seed, NAME))
}

fn machine(settings: &Settings, seed: Seed, id: ConnectionId, is_client: bool) -> Result<Connection, ConnectError> {
    let controller = controller(settings, seed).ok_or(ConnectError::OwnStrategy)?;
    let policy = Policy::new(settings.ack).ok_or(ConnectError::OwnStrategy)?;
    let make = if is_client { Connection::client } else { Connection::server };
    let mut machine = make(settings, controller, policy, seed, NAME).with_id(id).with_reading(Reading::OnDemand);
    machine.record_streams();
    Ok(machine)
}

impl Association {
    pub(crate) fn client(
        now: Instant,
        config: &Config,
        pool: &Arc<Pool>,
        remote: SocketAddr,
        largest: Option<u64>,
        name: ServerName<'static>,
    ) -> Result<Self, ConnectError> {
        let tls = config.client.clone().ok_or(ConnectError::NoClient)?;
        let (id, seed) = (random_id()?, Seed(random()?));
        let settings = settings_for(&config.transport, remote, largest)?;
        let mut machine = machine(&settings, seed, id, true)?;
        machine.open(now);
        let session = Session::client(tls, name, id);
        let handshake_until = now + config.transport.idle_timeout.max(MIN_HANDSHAKE);
        let birth = Birth { settings, seed, path: Path::validated(remote), handshake_until };
        Ok(Self::new(now, machine, session, birth, config, pool))
    }

    pub(crate) fn server(
        now: Instant,
        config: &Config,
        pool: &Arc<Pool>,
        remote: SocketAddr,
        largest: Option<u64>,
        hello: &Hello,
        is_validated: bool,
    ) -> Result<Self, ConnectError> {
        let server = config.server.as_ref().ok_or(ConnectError::NoServer)?;
        let (id, seed) = (random_id()?, Seed(random()?));
        let settings = settings_for(&config.transport, remote, largest)?;
        let machine = machine(&settings, seed, id, false)?;
        let reset = server.reset_key.token(id);
        let session = Session::server(server.tls.clone(), hello, id, &reset, is_validated);
        let session = session.map_err(|fault| ConnectError::Settings(fault.to_string()))?;
        // Until the handshake is complete, the session limits the data sent to an unauthenticated
        // peer.
        let handshake_until = now + server.limits.handshake;
        let birth = Birth { settings, seed, path: Path::validated(remote), handshake_until };
        Ok(Self::new(now, machine, session, birth, config, pool))
    }

    fn new(
        now: Instant,
        mut machine: Connection,
        mut session: Session,
        birth: Birth,
        config: &Config,
        pool: &Arc<Pool>,
    ) -> Self {
        let Birth { settings, seed, path, handshake_until } = birth;
        let end = if session.is_server() { VantagePoint::Server } else { VantagePoint::Client };
        let recorder = config
            .recording
            .as_ref()
            .map(|recording| record::recorder(now, recording, &settings, path.address(), end, &mut machine));
        if let Some(packets) = config.update_keys_after {
            session.update_keys_after(packets);
        }
        Self {
            settings,
            seed,
            machine,
            session,
            path,
            streams: BTreeMap::new(),
            opened: VecDeque::new(),
            left: BTreeSet::new(),
            writers: BTreeSet::new(),
            changed: Vec::new(),
            blocks: Vec::new(),
            run: Run::default(),
            has_no_memory: false,
            receive_buffer: settings.receive_buffer.get(),
            pool: Arc::clone(pool),
            backlog: Arc::default(),
            wakers: Wakers::default(),
            lost: None,
            handshake_until,
            ended: None,
            waiting: Outbox::default(),
            pieces: Vec::new(),
            recorder,
            counters: Counters::default(),
        }
    }

    pub(crate) const fn id(&self) -> ConnectionId {
        self.machine.id()
    }

    pub(crate) const fn remote(&self) -> SocketAddr {
        self.path.address()
    }

    /// Returns `true` if the peer is authenticated and the connection is open.
    pub(crate) fn is_established(&self) -> bool {
        self.machine.phase() == Phase::Established && self.session.is_complete()
    }

    /// Returns the reason why the connection has ended. Returns `None` if it has not ended.
    pub(crate) const fn lost(&self) -> Option<&Lost> {
        self.lost.as_ref()
    }

    pub(crate) fn vitals(&self) -> Vitals {
        self.machine.vitals()
    }

    /// Returns the minimum round-trip time that either end has reported.
    pub(crate) fn min_round_trip(&self) -> Option<Duration> {
        self.machine.min_round_trip()
    }

    pub(crate) const fn machine(&self) -> &Connection {
        &self.machine
    }

    pub(crate) const fn refused(&self) -> &RefusedCounts {
        self.session.refused()
    }

    /// Returns the token of a stateless reset by the peer's host, if the token is known.
    pub(crate) const fn reset_token(&self) -> Option<&[u8; TOKEN]> {
        self.session.reset_token()
    }

    /// Records that the peer's host has reset the connection.
    pub(crate) fn on_reset(&mut self, now: Instant) {
        self.end(now, Lost::Reset);
    }

    pub(crate) fn key_updates(&self) -> u64 {
        self.session.key_updates()
    }

    /// Raises the peer's limits: the number of open streams, and the data per stream.
    pub(crate) fn raise_limits(&mut self, now: Instant, streams: u32, receive_buffer: u64) {
        self.machine.raise_limits(now, streams, receive_buffer);
        self.receive_buffer = self.receive_buffer.max(receive_buffer);
    }

    fn probe_timeout(&self) -> Duration {
        self.machine.probe_timeout()
    }

    /// Ends the connection with the code `code` of the application.
    pub(crate) fn close(&mut self, now: Instant, code: u32) {
        self.machine.abort(code);
        self.end(now, Lost::Here { code });
    }

    /// Ends the connection.
    fn end(&mut self, now: Instant, lost: Lost) {
        if self.lost.is_none() {
            // If this end closed the connection, the peer is notified. Otherwise there is no peer
            // to notify.
            self.machine.abandon(Closing::Reset);
            self.notify_readers(now);
            self.streams.values_mut().for_each(|stream| stream.lose(&lost));
            self.lost = Some(lost);
            self.ended = Some(now);
            self.wakers.wake_all();
        }
    }

    /// Returns when the id of the connection is freed. An absent peer is not notified.
    fn gone_at(&self) -> Option<Instant> {
        let speaks = !matches!(self.lost, Some(Lost::TimedOut | Lost::Reset));
        self.ended.map(|at| if speaks { at + self.probe_timeout() * DRAINING } else { at })
    }

    /// Returns `true` if nothing refers to the connection any more.
    pub(crate) fn is_gone(&self, now: Instant) -> bool {
        self.gone_at().is_some_and(|at| now >= at)
    }

    /// Returns `true` if the peer has not confirmed the end of the connection.
    pub(crate) fn has_farewell(&self) -> bool {
        self.machine.deadline().is_some() || self.machine.may_transmit()
    }

    pub(crate) fn wake(&mut self, now: Instant) {
        if self.machine.deadline().is_some_and(|at| at <= now) {
            self.machine.wake(now);
        }
        if !self.session.is_complete() && now >= self.handshake_until {
            self.end(now, Lost::TimedOut);
        }
        self.wake_path(now);
        self.look(now);
    }

    /// Returns the time at which the connection must be woken.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let handshake = (!self.session.is_complete() && self.lost.is_none()).then_some(self.handshake_until);
        let sample = self.recorder.as_ref().filter(|_| self.lost.is_none()).and_then(|recorder| recorder.deadline());
        // While data are queued for lack of credit, timers of the transport cannot send anything.
        let is_held = !self.path.is_proven() && !self.waiting.is_empty();
        let transport = if is_held { None } else { self.machine.deadline() };
        [transport, sample, handshake, self.gone_at(), self.path.deadline()].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_have_whole_blocks_where_that_costs_few_octets() {
        // An IPv4 packet has 28 bytes of IPv4 and UDP headers, 13 unencrypted bytes and 16 bytes of
        // the authentication tag. IPv6 needs 20 more, which the machine does not include.
        assert_eq!([1500, 9000].map(in_whole_blocks), [57 + 90 * 16, 57 + 558 * 16]);
        assert_eq!([1480, 1492].map(in_whole_blocks), [1480, 1492], "more than five octets would be lost");
        assert_eq!([0, 57, 1497].map(in_whole_blocks), [0, 57, 1497]);
    }
}
