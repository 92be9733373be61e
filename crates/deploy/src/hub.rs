//! All connections of a socket, without the socket. A driver passes received datagrams to this
//! machine and sends the datagrams that the machine returns.
//!
//! | module | contents |
//! |---|---|
//! | `admission` | decides which unauthenticated clients get a connection |
//! | `strangers` | queues datagrams of unknown senders, and bounds their work |

mod admission;
mod strangers;

use crate::association::Association;
use crate::config::Config;
use crate::error::{ConnectError, Lost};
use crate::pipe::Pool;
use acklab_base::{Duration, Ecn, Instant};
use acklab_live::udp::Batch;
use acklab_secure::token::Tokens;
use acklab_secure::{Hello, Outbox, Refused, RefusedCounts, hello, reset};
use acklab_transport::tack::Settings;
use acklab_wire::tack::ConnectionId;
use acklab_wire::tack::Frame;
use acklab_wire::tack::decode::decode_datagram;
use acklab_wire::tack::protected::head;
use acklab_wire::tack::version;
use admission::{Admission, Visitors};
use rustls::pki_types::ServerName;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Waker;
use strangers::Strangers;

pub(crate) use admission::host_of;
pub(crate) use strangers::TURN as STRANGERS_A_TURN;

/// The maximum number of queued stateless answers. It limits the replies to a flood.
const MAX_ANSWERS: usize = 256;

/// A connection of a hub. A handle is never reused for another connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle {
    place: usize,
    /// The number of earlier connections in the slot.
    generation: u64,
}

/// A slot for a connection.
#[derive(Debug, Default)]
struct Slot {
    generation: u64,
    association: Option<Box<Association>>,
    /// `true` if the connection may have data to send.
    is_busy: bool,
    /// `true` if readers of the connection must be notified.
    is_untold: bool,
    deadline: Option<Instant>,
}

/// The counters of a hub.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HubCounters {
    /// Connections that were accepted.
    pub accepted: u64,
    /// Clients that had to validate their address.
    pub retries: u64,
    /// Clients that were refused because there were too many.
    pub turned_away: u64,
    /// Handshakes that were abandoned to make room for others.
    pub given_up: u64,
    /// Stateless resets that were sent.
    pub resets: u64,
    /// Clients that use another version of the protocol.
    pub other_versions: u64,
    /// Datagrams without a connection that were dropped unread, because too many were queued.
    pub dropped: u64,
}

/// All connections of a socket.
#[derive(Debug)]
pub struct Hub {
    config: Arc<Config>,
    slots: Vec<Slot>,
    /// Slots that are free.
    free: Vec<usize>,
    by_id: HashMap<ConnectionId, Handle>,
    /// The connection to which the last packet was addressed. The next packet probably has the same
    /// destination.
    last: Option<(ConnectionId, Handle)>,
    /// Clients by their address and the connection id that they chose. The table identifies
    /// repeated first datagrams (Opens).
    by_client: HashMap<(SocketAddr, ConnectionId), Handle>,
    /// Connections by the tokens of their stateless resets.
    by_reset_token: HashMap<[u8; reset::TOKEN], Handle>,
    deadlines: BTreeSet<(Instant, Handle)>,
    /// Connections that may have data to send.
    busy: VecDeque<Handle>,
    /// Connections whose readers must be notified.
    unnotified: VecDeque<Handle>,
    tokens: Tokens,
    visitors: Visitors,
    /// Clients' connections that the application has not accepted yet.
    accepted: VecDeque<Handle>,
    /// The keys of `by_client`, for connections whose handshake is incomplete.
    clients: HashMap<Handle, (SocketAddr, ConnectionId)>,
    pending: HashSet<Handle>,
    acceptors: Vec<Waker>,
    /// Returns the maximum IP packet of the interface towards an address, if known.
    mtu_towards: fn(SocketAddr) -> Option<u64>,
    /// Memory for the data that applications write and read.
    pool: Arc<Pool>,
    /// Queued datagrams that belong to no connection.
    strangers: Strangers,
    /// Stateless answers that are ready to be sent.
    answers: VecDeque<(SocketAddr, Vec<u8>)>,
    /// The counts of refused datagrams that belong to no connection.
    refused: RefusedCounts,
    counters: HubCounters,
}

impl Hub {
    /// Creates a hub without connections.
    ///
    /// # Errors
    /// If the settings are invalid.
    pub fn new(now: Instant, config: Config) -> Result<Self, ConnectError> {
        config.transport.check().map_err(|fault| ConnectError::of(&fault))?;
        Ok(Self {
            config: Arc::new(config),
            slots: Vec::new(),
            free: Vec::new(),
            by_id: HashMap::new(),
            last: None,
            by_client: HashMap::new(),
            by_reset_token: HashMap::new(),
            deadlines: BTreeSet::new(),
            busy: VecDeque::new(),
            unnotified: VecDeque::new(),
            tokens: Tokens::new(now).map_err(|_| ConnectError::Randomness)?,
            visitors: Visitors::default(),
            accepted: VecDeque::new(),
            clients: HashMap::new(),
            pending: HashSet::new(),
            acceptors: Vec::new(),
            mtu_towards: |_| None,
            pool: Arc::default(),
            strangers: Strangers::default(),
            answers: VecDeque::new(),
            refused: RefusedCounts::default(),
            counters: HubCounters::default(),
        })
    }

    /// Sets the function that returns the maximum IP packet of the interface towards an address.
    /// The default is the maximum of Ethernet.
    #[must_use]
    pub fn asking_for_mtu(self, mtu_towards: fn(SocketAddr) -> Option<u64>) -> Self {
        Self { mtu_towards, ..self }
    }

    /// Sets the settings of future connections.
    ///
    /// # Errors
    /// If they are invalid.
    pub fn set_transport(&mut self, settings: Settings) -> Result<(), ConnectError> {
        settings.check().map_err(|fault| ConnectError::of(&fault))?;
        Arc::make_mut(&mut self.config).transport = settings;
        Ok(())
    }

    /// Returns the number of connections. Includes connections that are opening or ending.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Returns the counters of the hub.
    #[must_use]
    pub const fn counters(&self) -> &HubCounters {
        &self.counters
    }

    /// Returns the counts of refused datagrams that belong to no connection.
    #[must_use]
    pub const fn refused(&self) -> &RefusedCounts {
        &self.refused
    }

    /// Opens a connection to the server `name` at `remote`.
    ///
    /// # Errors
    /// If the configuration does not allow it.
    pub fn connect(&mut self, now: Instant, remote: SocketAddr, name: &str) -> Result<Handle, ConnectError> {
        let name = ServerName::try_from(name.to_owned()).map_err(|_| ConnectError::Name(name.to_owned()))?;
        let association = Association::client(now, &self.config, &self.pool, remote, (self.mtu_towards)(remote), name)?;
        let handle = self.add(association);
        self.pending.insert(handle);
        Ok(handle)
    }

    fn add(&mut self, association: Association) -> Handle {
        let place = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() - 1
        });
        let slot = &mut self.slots[place];
        let handle = Handle { place, generation: slot.generation };
        self.by_id.insert(association.id(), handle);
        slot.association = Some(Box::new(association));
        self.touch(handle);
        handle
    }

    /// Receives a datagram at `now`, which arrived at the host at `at`. Decrypts it in place.
    /// Queues a datagram without a connection for [`serve_strangers`](Self::serve_strangers).
    pub fn receive(&mut self, now: Instant, at: Instant, from: SocketAddr, ecn: Ecn, datagram: &mut [u8]) {
        let Some(handle) = head(datagram).and_then(|head| self.known(head.connection)) else {
            return self.receive_unknown(now, from, ecn, datagram);
        };
        if let Some(association) = self.association(handle) {
            association.receive(now, at, from, ecn, datagram);
        }
        self.touch(handle);
    }

    /// Receives datagrams that arrived together. The hub may keep their memory.
    pub fn receive_batch(&mut self, now: Instant, at: Instant, batch: &mut Batch<'_>) {
        let (from, ecn) = (batch.from, batch.ecn);
        let mut of_batch = None;
        for place in batch.places() {
            let Some(handle) = head(&batch.memory[place.clone()]).and_then(|head| self.known(head.connection)) else {
                self.receive_unknown(now, from, ecn, &batch.memory[place]);
                continue;
            };
            let is_first = of_batch.is_none();
            let owner = *of_batch.get_or_insert(handle);
            let Some(association) = self.association(handle) else { continue };
            if is_first {
                association.begin_batch(batch);
            }
            if handle == owner {
                association.receive_at(now, at, from, ecn, batch.memory, place);
            } else {
                association.receive(now, at, from, ecn, &mut batch.memory[place]);
                self.touch(handle);
            }
        }
        if let Some(handle) = of_batch {
            if let Some(association) = self.association(handle) {
                association.end_batch(batch);
            }
            self.touch(handle);
        }
    }

    /// Passes arrived data to the readers of all connections that have
    /// [transmitted](Self::transmit) since the last call.
    pub fn notify_readers(&mut self, now: Instant) {
        while let Some(handle) = self.unnotified.pop_front() {
            if let Some(association) = self.association(handle) {
                association.notify_readers(now);
                self.slots[handle.place].is_untold = false;
            }
        }
    }

    /// Returns the connection to which a packet is addressed.
    fn known(&mut self, id: ConnectionId) -> Option<Handle> {
        if let Some((last, handle)) = self.last
            && last == id
        {
            return Some(handle);
        }
        let handle = *self.by_id.get(&id)?;
        self.last = Some((id, handle));
        Some(handle)
    }

    /// Receives a datagram without a connection: from a new client, for a connection that has
    /// ended, or a stateless reset.
    fn receive_unknown(&mut self, now: Instant, from: SocketAddr, ecn: Ecn, datagram: &[u8]) {
        if let Some(token) = reset::token_of(datagram)
            && let Some(&handle) = self.by_reset_token.get(token)
            && let Some(association) = self.association(handle)
        {
            association.on_reset(now);
            return self.touch(handle);
        }
        if !self.strangers.push(from, ecn, datagram) {
            self.counters.dropped += 1;
        }
    }

    /// Serves up to `most` queued datagrams that belong to no connection.
    pub fn serve_strangers(&mut self, now: Instant, most: usize) {
        for _ in 0..most {
            let Some(mut stranger) = self.strangers.pop() else { return };
            let (from, datagram) = (stranger.from, &mut stranger.datagram);
            match head(datagram) {
                _ if hello::opens(datagram) => self.receive_hello(now, from, stranger.ecn, datagram),
                Some(head) => self.answer_unknown(from, head.connection, datagram.len()),
                None => self.receive_other(now, from, datagram),
            }
            self.strangers.give_back(stranger.datagram);
        }
    }

    /// Receives a datagram whose format is unknown in this version.
    fn receive_other(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) {
        if let Ok(answer) = decode_datagram(datagram, Ecn::NotEct, |_, _| ())
            && matches!(answer.frames.last(), Some(Frame::Versions(_)))
        {
            let opening: Vec<Handle> = self.pending.iter().copied().collect();
            for handle in opening {
                self.with(handle, |end| end.receive_versions(now, from, &answer));
            }
            return;
        }
        self.refused.count(Refused::Form);
        if self.config.server.is_some()
            && let Some(answer) = version::answer(datagram)
        {
            self.counters.other_versions += 1;
            let mut octets = Vec::new();
            acklab_wire::tack::encode::append_header(&answer, &mut octets);
            answer.frames.iter().for_each(|frame| acklab_wire::tack::encode::append_frame(frame, &mut octets));
            octets.resize(octets.len() + acklab_wire::tack::TAG as usize, 0);
            self.answer(from, octets);
        }
    }

    /// Answers a packet of `length` bytes that refers to an unknown connection.
    fn answer_unknown(&mut self, from: SocketAddr, id: ConnectionId, length: usize) {
        self.refused.count(Refused::Connection);
        let reset = self.config.server.as_ref().and_then(|server| server.reset_key.answer(id, length));
        if let Some(reset) = reset {
            self.counters.resets += 1;
            self.answer(from, reset);
        }
    }

    fn answer(&mut self, to: SocketAddr, octets: Vec<u8>) {
        if self.answers.len() < MAX_ANSWERS {
            self.answers.push_back((to, octets));
        }
    }

    fn receive_hello(&mut self, now: Instant, from: SocketAddr, ecn: Ecn, datagram: &mut [u8]) {
        let config = Arc::<Config>::clone(&self.config);
        let Some(server) = &config.server else { return self.refused.count(Refused::Connection) };
        let hello = match Hello::read(datagram, ecn) {
            Ok(hello) => hello,
            Err(refused) => return self.refused.count(refused),
        };
        if let Some(&handle) = self.by_client.get(&(from, hello.source)) {
            if let Some(association) = self.association(handle) {
                association.receive_hello(now, from, &hello);
            }
            return self.touch(handle);
        }
        let has_token = hello.token.as_ref().is_some_and(|token| self.tokens.check(now, from, hello.source, token));
        match self.visitors.admit(server, self.connections(), from, has_token) {
            Admission::Accept => self.accept_client(now, &config, from, &hello, has_token),
            Admission::Retry => {
                self.counters.retries += 1;
                if let Ok(token) = self.tokens.make(now, from, hello.source) {
                    self.answer_hello(from, |out| hello.answer_with_token(&token, out));
                }
            }
            Admission::TurnAway => {
                self.counters.turned_away += 1;
                self.answer_hello(from, |out| hello.answer_with_close(admission::BUSY, out));
            }
        }
    }

    fn answer_hello(&mut self, to: SocketAddr, write: impl FnOnce(&mut Outbox)) {
        let mut out = Outbox::default();
        write(&mut out);
        let answers: Vec<Vec<u8>> = out.iter().map(|(octets, _)| octets.to_vec()).collect();
        answers.into_iter().for_each(|octets| self.answer(to, octets));
    }

    fn accept_client(&mut self, now: Instant, config: &Config, from: SocketAddr, hello: &Hello, is_validated: bool) {
        // If the system provides no random numbers, the client's next attempt may succeed.
        let mtu = (self.mtu_towards)(from);
        let Ok(mut association) = Association::server(now, config, &self.pool, from, mtu, hello, is_validated) else {
            return;
        };
        association.receive_hello(now, from, hello);
        if let Some(server) = &config.server
            && let Some(oldest) = self.visitors.makes_room(server.limits.handshakes)
        {
            self.remove(oldest);
            self.counters.given_up += 1;
        }
        let handle = self.add(association);
        self.visitors.add(handle, from, is_validated);
        self.by_client.insert((from, hello.source), handle);
        self.clients.insert(handle, (from, hello.source));
        self.pending.insert(handle);
        self.counters.accepted += 1;
    }

    /// Wakes the connections whose deadline is due.
    pub fn wake(&mut self, now: Instant) {
        while let Some(&(at, handle)) = self.deadlines.first()
            && at <= now
        {
            self.deadlines.pop_first();
            self.slots[handle.place].deadline = None;
            let Some(association) = self.association(handle) else { continue };
            association.wake(now);
            if association.is_gone(now) {
                self.remove(handle);
            } else {
                self.touch(handle);
            }
        }
    }

    fn remove(&mut self, handle: Handle) {
        let slot = &mut self.slots[handle.place];
        slot.generation += 1;
        if let Some(at) = slot.deadline.take() {
            self.deadlines.remove(&(at, handle));
        }
        (slot.is_busy, slot.is_untold) = (false, false);
        self.last = None;
        if let Some(association) = slot.association.take() {
            self.free.push(handle.place);
            self.by_id.remove(&association.id());
            if let Some(token) = association.reset_token() {
                self.by_reset_token.remove(token);
            }
        }
        if let Some(client) = self.clients.remove(&handle) {
            self.by_client.remove(&client);
        }
        self.visitors.remove(handle);
        self.pending.remove(&handle);
    }

    /// Records that a connection has changed.
    fn touch(&mut self, handle: Handle) {
        let slot = &mut self.slots[handle.place];
        if slot.generation == handle.generation && !std::mem::replace(&mut slot.is_busy, true) {
            self.busy.push_back(handle);
        }
    }

    /// Returns when the hub must be woken, if no datagram arrives.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    /// Records that applications have written to these streams or read from them.
    pub(crate) fn serve_streams(&mut self, now: Instant, noted: &mut Vec<(Handle, u32)>) {
        for (handle, stream) in noted.drain(..) {
            if let Some(association) = self.association(handle) {
                association.serve_stream(now, stream);
                self.touch(handle);
            }
        }
    }

    /// Returns the minimum round-trip time of the connection that received the last datagram.
    pub(crate) fn last_round_trip(&self) -> Option<Duration> {
        let (_, handle) = self.last?;
        self.get(handle)?.min_round_trip()
    }

    /// Moves datagrams to send now into `out`. All have the same destination. Returns this
    /// destination, or `None` if there are no datagrams.
    pub fn transmit(&mut self, now: Instant, out: &mut Outbox) -> Option<SocketAddr> {
        if let Some((to, octets)) = self.answers.pop_front() {
            out.push(&octets);
            return Some(to);
        }
        while let Some(handle) = self.busy.pop_front() {
            let Some(association) = self.association(handle) else { continue };
            association.look(now);
            let has_more = association.transmit(now, out);
            let (to, deadline, has_untold) = (association.remote(), association.deadline(), association.has_untold());
            let slot = &mut self.slots[handle.place];
            slot.is_busy = false;
            if has_untold && !std::mem::replace(&mut slot.is_untold, true) {
                self.unnotified.push_back(handle);
            }
            self.schedule(handle, deadline);
            if has_more {
                self.touch(handle);
            }
            self.note_established(handle);
            if !out.is_empty() {
                return Some(to);
            }
        }
        None
    }

    fn schedule(&mut self, handle: Handle, deadline: Option<Instant>) {
        let before = std::mem::replace(&mut self.slots[handle.place].deadline, deadline);
        if before == deadline {
            return;
        }
        if let Some(at) = before {
            self.deadlines.remove(&(at, handle));
        }
        if let Some(at) = deadline {
            self.deadlines.insert((at, handle));
        }
    }

    /// Records that a handshake may have ended.
    fn note_established(&mut self, handle: Handle) {
        if !self.pending.contains(&handle) {
            return;
        }
        let Some(association) = self.get(handle) else { return };
        let (is_established, is_lost) = (association.is_established(), association.lost().is_some());
        if let Some(token) = association.reset_token().copied() {
            self.by_reset_token.insert(token, handle);
        }
        if is_established && self.clients.contains_key(&handle) {
            self.accepted.push_back(handle);
            self.acceptors.drain(..).for_each(Waker::wake);
        }
        if is_established || is_lost {
            self.pending.remove(&handle);
            self.visitors.on_complete(handle);
        }
    }

    /// Returns the next authenticated connection of a client.
    pub fn accept(&mut self) -> Option<Handle> {
        self.accepted.pop_front()
    }

    pub(crate) fn wake_on_accept(&mut self, waker: Waker) {
        self.acceptors.push(waker);
    }

    /// Ends a connection with the code `code` of the application.
    pub fn close(&mut self, now: Instant, handle: Handle, code: u32) {
        if let Some(association) = self.association(handle) {
            association.close(now, code);
            self.touch(handle);
        }
    }

    /// Ends all connections, and accepts no further connections.
    pub fn close_all(&mut self, now: Instant, code: u32) {
        // A client that connects later would keep the endpoint running until the client's handshake
        // times out.
        Arc::make_mut(&mut self.config).server = None;
        let handle = |(place, slot): (usize, &Slot)| Handle { place, generation: slot.generation };
        let all: Vec<Handle> = self.slots.iter().enumerate().map(handle).collect();
        all.into_iter().for_each(|handle| self.close(now, handle, code));
        self.acceptors.drain(..).for_each(Waker::wake);
    }

    /// Returns the reason why a connection has ended. Returns `None` if it has not ended.
    #[must_use]
    pub fn lost(&self, handle: Handle) -> Option<Lost> {
        match self.get(handle) {
            Some(association) => association.lost().cloned(),
            None => Some(Lost::TimedOut),
        }
    }

    /// Calls `act` with a connection. Then checks the connection for changes.
    pub(crate) fn with<T>(&mut self, handle: Handle, act: impl FnOnce(&mut Association) -> T) -> Option<T> {
        let result = act(self.association(handle)?);
        self.touch(handle);
        Some(result)
    }

    /// Calls `act` with a connection. `act` must not cause a change that is visible to the peer.
    pub(crate) fn look<T>(&mut self, handle: Handle, act: impl FnOnce(&mut Association) -> T) -> Option<T> {
        self.association(handle).map(act)
    }

    pub(crate) fn is_server(&self) -> bool {
        self.config.server.is_some()
    }

    /// Returns `true` if there is work to do now.
    pub(crate) fn has_busy(&self) -> bool {
        !self.busy.is_empty() || !self.answers.is_empty() || !self.strangers.is_empty()
    }

    /// Returns `true` if the end of a connection must still be reported to a peer.
    pub(crate) fn has_farewells(&self) -> bool {
        self.slots.iter().filter_map(|slot| slot.association.as_ref()).any(|association| association.has_farewell())
    }

    pub(crate) fn get(&self, handle: Handle) -> Option<&Association> {
        let slot = self.slots.get(handle.place).filter(|slot| slot.generation == handle.generation)?;
        slot.association.as_deref()
    }

    fn association(&mut self, handle: Handle) -> Option<&mut Association> {
        let slot = self.slots.get_mut(handle.place).filter(|slot| slot.generation == handle.generation)?;
        slot.association.as_deref_mut()
    }
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
