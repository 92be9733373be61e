//! The thread that serves all connections of a socket.
//!
//! The thread waits for the socket and for deadlines. Its timers have the nanosecond precision that
//! pacing needs. It reads and writes datagrams in batches.

use crate::config::Config;
use crate::error::ConnectError;
use crate::hub::{Handle, Hub, STRANGERS_A_TURN};
use crate::moderation::Moderation;
use acklab_base::Instant;
use acklab_live::WallClock;
use acklab_live::udp::{self, Received, UdpPort, Wait};
use acklab_secure::Outbox;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// The state that the thread of an endpoint shares with applications.
#[derive(Debug)]
pub(crate) struct Shared {
    hub: Mutex<Hub>,
    /// Streams that applications have written to or read from.
    noted: Mutex<Vec<(Handle, u32)>>,
    pub(crate) clock: WallClock,
    waker: OwnedFd,
    /// `true` if the thread sleeps and must be woken.
    sleeps: AtomicBool,
    stops: AtomicBool,
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Hub> {
        self.hub.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Records that an application has written to a stream or read from it.
    pub(crate) fn note(&self, handle: Handle, stream: u32) {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).push((handle, stream));
        self.stir();
    }

    /// Moves the recorded streams to `noted`, which is empty.
    fn take_noted(&self, noted: &mut Vec<(Handle, u32)>) {
        std::mem::swap(noted, &mut *self.noted.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Records that there may be something to send.
    pub(crate) fn stir(&self) {
        if self.sleeps.swap(false, Ordering::SeqCst) {
            udp::wake(&self.waker);
        }
    }
}

/// The thread of an endpoint, and its shared state. Dropping the driver stops the thread.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) shared: Arc<Shared>,
    pub(crate) address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl Driver {
    /// Starts the thread of an endpoint with this socket.
    pub(crate) fn start(port: UdpPort, config: Config) -> Result<Self, ConnectError> {
        let (clock, address) = (WallClock::start(), port.address()?);
        let hub = Mutex::new(Hub::new(clock.now(), config)?.asking_for_mtu(udp::mtu_towards));
        let wait = Wait::new(&port)?;
        let (sleeps, stops) = (AtomicBool::new(false), AtomicBool::new(false));
        let shared = Arc::new(Shared { hub, noted: Mutex::default(), clock, waker: wait.waker()?, sleeps, stops });
        let served = Arc::<Shared>::clone(&shared);
        let name = format!("acklab {address}");
        let thread = std::thread::Builder::new().name(name).spawn(move || serve(&served, port, wait))?;
        Ok(Self { shared, address, thread: Some(thread) })
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.shared.lock().close_all(self.shared.now(), 0);
        self.shared.stops.store(true, Ordering::Release);
        self.shared.sleeps.store(true, Ordering::Release);
        self.shared.stir();
        if let Some(thread) = self.thread.take() {
            // The thread first sends a Close frame on all connections. This takes at most the
            // known round-trip time.
            _ = thread.join();
        }
    }
}

/// The maximum number of batches that are read from the socket without interruption. Then datagrams
/// of unknown senders are served and the stop flag is checked. The limit bounds the work if a
/// sender fills the socket without end. The batches have the size of a default socket buffer
/// (`rmem_default`).
const BATCHES: usize = 32;

/// The number of bytes in datagrams after which readers are woken while more datagrams are read.
/// For fewer bytes, readers are woken before the thread sleeps, because a wake-up costs as much as
/// a few datagrams of GRO.
const ENOUGH: usize = 256 << 10;

/// Datagrams that did not fit into the socket's buffer.
struct Held {
    to: SocketAddr,
    /// The number of bytes of these datagrams that were sent.
    sent: usize,
}

/// The thread of an endpoint.
struct Server<'s> {
    shared: &'s Shared,
    port: UdpPort,
    wait: Wait,
    out: Outbox,
    held: Option<Held>,
    moderation: Moderation,
    noted: Vec<(Handle, u32)>,
    /// Datagrams received from now on arrived after this instant.
    arrived: Instant,
}

/// Serves an endpoint in its thread until it is stopped.
fn serve(shared: &Shared, port: UdpPort, wait: Wait) {
    let (out, moderation, noted) = (Outbox::default(), Moderation::default(), Vec::new());
    let mut server = Server { shared, port, wait, out, held: None, moderation, noted, arrived: shared.now() };
    while !server.run_once().unwrap_or_else(|_| {
        // A socket that fails permanently would fail again immediately.
        std::thread::sleep(std::time::Duration::from_millis(10));
        false
    }) {}
}

impl Server<'_> {
    /// Receives and sends all datagrams that are ready, and then waits. Returns `true` once the
    /// endpoint is stopped and has no more data to send.
    fn run_once(&mut self) -> io::Result<bool> {
        let shared = self.shared;
        shared.sleeps.store(false, Ordering::Release);
        let (mut datagrams, mut round_trip, mut may_have_more) = (0, None, true);
        let mut unnotified = 0;
        for turn in 0..BATCHES {
            let asked = shared.now();
            let received = self.port.receive()?;
            may_have_more = received != Received::Nothing;
            if turn > 0 && !may_have_more {
                self.arrived = self.arrived.max(asked);
                break;
            }
            shared.take_noted(&mut self.noted);
            let now = shared.now();
            {
                let mut hub = shared.lock();
                let at = self.arrival(now);
                self.port.batches(|batch| {
                    unnotified += batch.length;
                    datagrams += batch.length.div_ceil(batch.size) as u64;
                    hub.receive_batch(now, at, batch);
                });
                self.arrived = if received == Received::Some { at } else { at.max(asked) };
                hub.serve_streams(now, &mut self.noted);
                hub.wake(now);
                round_trip = hub.last_round_trip().or(round_trip);
            }
            self.transmit()?;
            if unnotified >= ENOUGH {
                unnotified = 0;
                shared.lock().notify_readers(now);
            }
            if self.held.is_some() {
                break;
            }
        }
        if self.held.is_none() {
            shared.lock().serve_strangers(shared.now(), STRANGERS_A_TURN);
            self.transmit()?;
        }
        shared.lock().notify_readers(shared.now());
        // From here on, each write wakes this thread. Earlier writes are processed below.
        shared.sleeps.store(true, Ordering::SeqCst);
        shared.take_noted(&mut self.noted);
        let (now, mut hub) = (shared.now(), shared.lock());
        hub.serve_streams(now, &mut self.noted);
        let is_over = shared.stops.load(Ordering::Acquire) && !hub.has_farewells();
        let (deadline, is_idle) = (hub.deadline(), !may_have_more && !hub.has_busy() || self.held.is_some());
        drop(hub);
        if is_over {
            return Ok(true);
        }
        let pause = self.moderation.next(now, datagrams, round_trip);
        if is_idle {
            match pause {
                Some(until) if self.held.is_none() => {
                    self.wait.pause(&shared.clock, deadline.map_or(until, |at| at.min(until)))?;
                }
                _ => _ = self.wait.until(&shared.clock, deadline, &self.port, self.held.is_some())?,
            }
        }
        Ok(false)
    }

    /// Returns the arrival time of the datagrams read at `now`. Even if the system clock steps,
    /// this time is not before the last time at which the socket was empty.
    fn arrival(&self, now: Instant) -> Instant {
        Instant::from_nanos(now.as_nanos().saturating_sub(self.port.age().as_nanos())).max(self.arrived).min(now)
    }

    fn transmit(&mut self) -> io::Result<()> {
        let Self { shared, port, out, held, .. } = self;
        loop {
            let (to, skip) = match held.take() {
                Some(Held { to, sent }) => (to, sent),
                None => {
                    let next = shared.lock().transmit(shared.now(), out);
                    match next {
                        Some(to) => (to, 0),
                        None => return Ok(()),
                    }
                }
            };
            let mut done = 0;
            for (octets, size, ecn) in out.runs() {
                let start = done;
                done += octets.len();
                if done <= skip {
                    continue;
                }
                let from = skip.saturating_sub(start);
                let sent = port.send(to, ecn, &octets[from..], size)?;
                if from + sent < octets.len() {
                    *held = Some(Held { to, sent: start + from + sent });
                    return Ok(());
                }
            }
            out.clear();
        }
    }
}
