//! The cryptography of one connection.
//!
//! It has no timer: the bytes of the handshake are sent with the packets of the transport's
//! handshake, and with their repetitions. When a client has received the server's complete part, it
//! sends its last message with its first packets, until the server answers one of them.

mod open;
mod seal;

use crate::crypto_stream::CryptoStream;
use crate::hello::Hello;
use crate::identity::IdentityError;
use crate::parameters;
use crate::phases::Phases;
use crate::protection::{Side, initial_keys};
use crate::refused::RefusedCounts;
use crate::reset::TOKEN;
use acklab_base::Ecn;
use acklab_wire::tack::ConnectionId;
use acklab_wire::tack::protected::Level;
use acklab_wire::tack::version::{AMPLIFICATION, MIN_OPEN};
use rustls::pki_types::ServerName;
use rustls::quic::{ClientConnection, Connection, KeyChange, Keys, ServerConnection, Version};
use rustls::{ClientConfig, ServerConfig};
use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The default maximum number of packets sealed with the same keys: half of the limit of AES-GCM
/// (RFC 9001, §6.6).
const UPDATE_AFTER: u64 = 1 << 22;
/// One in this many data packets contains the last message of the client. All packets without data,
/// such as probes, contain the message.
const LAST_MESSAGE_INTERVAL: u32 = 8;
/// The base of the codes for errors of TLS in a Close. It is above the codes of applications. The
/// TLS alert is added to it (RFC 9001, §4.8).
const CRYPTO_ERROR: u32 = 1 << 31 | 0x100;

/// Bytes of a stream in an opened datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The id of the stream.
    pub stream: u32,
    /// The offset of the bytes in the stream.
    pub offset: u64,
    /// The range of the bytes in the datagram.
    pub at: Range<usize>,
}

/// An event for the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The server requires a token from the client. The transport must repeat its Open.
    Repeat,
    /// The peer is authenticated.
    Complete,
    /// The handshake has failed. There is no connection.
    Failed {
        /// The code of a Close.
        code: u32,
        /// The reason as text.
        reason: String,
    },
}

/// The part of the handshake that has been sent.
#[derive(Clone, Copy, Debug, Default)]
struct Flight {
    initial: usize,
    handshake: usize,
}

/// One end of a connection.
pub struct Session {
    side: Side,
    /// The connection id to which the peer addresses packets.
    local: ConnectionId,
    /// The connection id to which packets of the handshake are addressed. The client receives it in
    /// the Accept.
    remote: ConnectionId,
    /// The parameters with which a client starts TLS once its transport has created the Open.
    start: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    tls: Option<Connection>,
    initial: Option<Keys>,
    handshake: Option<Keys>,
    phases: Option<Phases>,
    update_after: u64,
    /// The bytes of the handshake at the levels Initial and Handshake, and packet numbers.
    crypto: [CryptoStream; 2],
    numbers: [u64; 2],
    /// The level of TLS's next output.
    writes: Level,
    flight: Flight,
    token: Option<Box<[u8]>>,
    /// The bytes that may be sent before the client's address is validated.
    credit: u64,
    is_validated: bool,
    /// `true` if the peer is authenticated.
    is_complete: bool,
    /// `true` if the server is known to have received the client's last message.
    is_confirmed: bool,
    /// The number of packets that the client sent before `is_confirmed`.
    unconfirmed: u32,
    has_failed: bool,
    reset_token: Option<[u8; TOKEN]>,
    /// Datagrams that arrived before the keys that open them.
    early: VecDeque<(Vec<u8>, Ecn)>,
    steps: VecDeque<Step>,
    refused: RefusedCounts,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("side", &self.side)
            .field("is_complete", &self.is_complete)
            .finish_non_exhaustive()
    }
}

impl Session {
    fn new(side: Side, local: ConnectionId, remote: ConnectionId) -> Self {
        Self {
            side,
            local,
            remote,
            start: None,
            tls: None,
            initial: None,
            handshake: None,
            phases: None,
            update_after: UPDATE_AFTER,
            crypto: Default::default(),
            numbers: [0; 2],
            writes: Level::Initial,
            flight: Flight::default(),
            token: None,
            credit: 0,
            is_validated: side == Side::Client,
            is_complete: false,
            is_confirmed: side == Side::Server,
            unconfirmed: 0,
            has_failed: false,
            reset_token: None,
            early: VecDeque::new(),
            steps: VecDeque::new(),
            refused: RefusedCounts::default(),
        }
    }

    /// Creates the end that opens a connection to the server `name`. `id` is the connection id of
    /// its transport.
    #[must_use]
    pub fn client(config: Arc<ClientConfig>, name: ServerName<'static>, id: ConnectionId) -> Self {
        let mut session = Self::new(Side::Client, id, ConnectionId(0));
        session.start = Some((config, name));
        session.initial = initial_keys(&id.0.to_be_bytes(), Side::Client);
        session
    }

    /// Creates the end that accepts the connection of `hello`. `id` is its transport's connection
    /// id, and `reset` the token with which its host would reset the connection. `is_validated` is
    /// `true` if the client's address is validated.
    ///
    /// # Errors
    /// If the server's configuration does not support QUIC's interface.
    pub fn server(
        config: Arc<ServerConfig>,
        hello: &Hello,
        id: ConnectionId,
        reset: &[u8; TOKEN],
        is_validated: bool,
    ) -> Result<Self, IdentityError> {
        let mut session = Self::new(Side::Server, id, hello.source);
        let own = parameters::encode(parameters::RESET, reset);
        let tls = ServerConnection::new(config, Version::V1, own).map_err(IdentityError::of)?;
        session.tls = Some(Connection::Server(tls));
        session.initial = initial_keys(&hello.source.0.to_be_bytes(), Side::Server);
        session.is_validated = is_validated;
        session.on_hello();
        session.hear(Level::Initial, 0, &hello.crypto);
        session.check_open(&hello.open);
        Ok(session)
    }

    /// Receives a repeated first datagram of a client that has received nothing from this server.
    /// It contains the same handshake bytes as the first datagram.
    pub const fn on_hello(&mut self) {
        self.credit = self.credit.saturating_add(AMPLIFICATION * MIN_OPEN as u64);
    }

    /// Switches to the next keys after this many packets.
    pub const fn update_keys_after(&mut self, packets: u64) {
        self.update_after = packets;
    }

    /// Returns `true` if the peer is authenticated.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns `true` if this end accepted the connection.
    #[must_use]
    pub fn is_server(&self) -> bool {
        self.side == Side::Server
    }

    /// Returns `true` if the last opened packet is the peer's newest.
    #[must_use]
    pub fn opened_newest(&self) -> bool {
        self.phases.as_ref().is_some_and(|phases| phases.opened_newest)
    }

    /// Returns the number of key updates.
    #[must_use]
    pub fn key_updates(&self) -> u64 {
        self.phases.as_ref().map_or(0, |phases| phases.updates)
    }

    /// Returns the counts of refused packets.
    #[must_use]
    pub const fn refused(&self) -> &RefusedCounts {
        &self.refused
    }

    /// Returns the token with which the peer's host would reset the connection.
    #[must_use]
    pub const fn reset_token(&self) -> Option<&[u8; TOKEN]> {
        self.reset_token.as_ref()
    }

    /// Removes and returns the next event, in order.
    pub fn take_step(&mut self) -> Option<Step> {
        self.steps.pop_front()
    }

    fn fail(&mut self, code: u32, reason: String) {
        if !std::mem::replace(&mut self.has_failed, true) {
            self.steps.push_back(Step::Failed { code, reason });
        }
    }

    /// Accepts bytes of the handshake. Returns `false` if the bytes cannot be stored.
    fn hear(&mut self, level: Level, offset: u64, octets: &[u8]) -> bool {
        let index = usize::from(level == Level::Handshake);
        let Some(ready) = self.crypto[index].arrive(offset, octets) else { return false };
        let Some(tls) = &mut self.tls else { return false };
        if ready.is_empty() || self.has_failed {
            return true;
        }
        if let Err(error) = tls.read_hs(&ready) {
            let alert = tls.alert().map_or(0, |alert| u32::from(u8::from(alert)));
            self.fail(CRYPTO_ERROR + alert, error.to_string());
            return true;
        }
        self.advance();
        true
    }

    /// Sends the output of TLS, and installs its keys.
    fn advance(&mut self) {
        let Some(tls) = &mut self.tls else { return };
        loop {
            let mut octets = Vec::new();
            let change = tls.write_hs(&mut octets);
            let is_silent = octets.is_empty() && change.is_none();
            if self.writes != Level::Session {
                self.crypto[usize::from(self.writes == Level::Handshake)].outgoing.extend_from_slice(&octets);
            }
            match change {
                Some(KeyChange::Handshake { keys }) => {
                    self.handshake = Some(keys);
                    self.writes = Level::Handshake;
                }
                Some(KeyChange::OneRtt { keys, next }) => {
                    self.phases = Some(Phases::new(keys, next));
                    self.writes = Level::Session;
                }
                None => {}
            }
            if is_silent {
                break;
            }
        }
        if self.is_complete || tls.is_handshaking() || self.phases.is_none() {
            return;
        }
        self.is_complete = true;
        self.is_validated = true;
        if self.side == Side::Client {
            let token = tls.quic_transport_parameters().and_then(|octets| parameters::find(octets, parameters::RESET));
            self.reset_token = token.and_then(|token| token.try_into().ok());
        }
        self.steps.push_back(Step::Complete);
    }

    /// Checks that the Open that the transport uses is the Open that TLS protects.
    fn check_open(&mut self, open: &[u8]) {
        let Some(tls) = &self.tls else { return };
        let told = tls.quic_transport_parameters().and_then(|octets| parameters::find(octets, parameters::OPEN));
        if !self.has_failed && told != Some(open) {
            self.fail(CRYPTO_ERROR, "the Open is not that of the ClientHello".into());
        }
    }

    /// Begins TLS with the client's Open.
    fn begin(&mut self, open: &[u8]) {
        let Some((config, name)) = self.start.take() else { return };
        let own = parameters::encode(parameters::OPEN, open);
        match ClientConnection::new(config, Version::V1, name, own) {
            Ok(tls) => {
                self.tls = Some(Connection::Client(tls));
                self.advance();
            }
            Err(error) => self.fail(CRYPTO_ERROR, error.to_string()),
        }
    }
}
