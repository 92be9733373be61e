//! The cryptographic handshake, in the form of TLS 1.3 (RFC 9001, §4).
//!
//! Messages of TLS have a size but no content. A message is complete once all its bytes have
//! arrived in order. In TLS, messages carry the transport parameters. Here, the parameters come
//! from the settings, and apply once the message has arrived.
//!
//! ```text
//! client                                         server
//! Initial: ClientHello                    ->
//!                                         <-     Initial: ServerHello
//!                                                Handshake: EncryptedExtensions … Finished
//! Handshake: Finished; 1-RTT: data        ->     the handshake is complete and confirmed
//!                                         <-     1-RTT: HANDSHAKE_DONE
//! ```
//!
//! A client sends data one round trip after opening. A Handshake packet validates the client's
//! address (RFC 9000, §8.1). Until then, a server sends at most three times the bytes received. The
//! server sends no data before the handshake is complete.

use super::connection::{Connection, Phase};
use super::feedback::ACK_DELAY_EXPONENT;
use super::receive_times::Timestamps;
use super::settings::ConnectionConfig;
use super::space;
use crate::fault::Fault;
use crate::streams::Side;
use acklab_base::{Bytes, Duration, Event, Instant};
use acklab_wire::quic::Datagram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum bytes that a server sends per byte received (RFC 9000, §8.1).
const AMPLIFICATION: u64 = 3;

/// Sizes of the messages of TLS 1.3 in bytes, each with its header of four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// `ClientHello`. Default: the size in RFC 9001, appendix A.2.
    pub client_hello: Bytes,
    /// `ServerHello`. Default: the size in RFC 9001, appendix A.3.
    pub server_hello: Bytes,
    /// `EncryptedExtensions`, Certificate, `CertificateVerify` and Finished. Default: the sizes in
    /// RFC 8448, §3: 40, 445, 136 and 36 bytes. Certificates on the Web are larger. For 35 % of
    /// them, a server would exceed its limit before address validation (Nawrocki et al., CoNEXT
    /// 2022).
    #[schemars(example = "3000B")]
    pub server_flight: Bytes,
    /// Finished of the client. Default: the size with a cipher suite with SHA-256 (RFC 8446,
    /// §4.4.4).
    pub client_finished: Bytes,
}

impl Default for Tls {
    fn default() -> Self {
        Self {
            client_hello: Bytes(241),
            server_hello: Bytes(90),
            server_flight: Bytes(40 + 445 + 136 + 36),
            client_finished: Bytes(4 + 32),
        }
    }
}

impl Tls {
    /// Returns the messages of a connection. The end on `side` uses the sizes in `self`, and its
    /// peer the sizes in `peer`.
    pub(super) const fn against(self, side: Side, peer: Self) -> Self {
        let (client, server) = match side {
            Side::Client => (self, peer),
            Side::Server => (peer, self),
        };
        Self { server_hello: server.server_hello, server_flight: server.server_flight, ..client }
    }

    /// Checks that no message is empty or too large.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let messages = [
            ("client_hello", self.client_hello),
            ("server_hello", self.server_hello),
            ("server_flight", self.server_flight),
            ("client_finished", self.client_finished),
        ];
        for (key, octets) in messages {
            if !(1..=space::MAX_HANDSHAKE).contains(&octets.get()) {
                return Err(Fault::expected(key, format!("1B to {}B", space::MAX_HANDSHAKE)));
            }
        }
        Ok(())
    }
}

/// The transport parameters of an end (RFC 9000, §18.2) that affect the model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    pub(super) max_ack_delay: Duration,
    pub(super) min_ack_delay: Option<Duration>,
    pub(super) receive_timestamps: Option<Timestamps>,
    pub(super) stream_window: u64,
    pub(super) connection_window: u64,
    pub(super) streams: u64,
    pub(super) datagram: u64,
    pub(super) idle_timeout: Option<Duration>,
}

impl Parameters {
    pub(super) const fn of(config: &ConnectionConfig) -> Self {
        let (stream_window, connection_window) = config.flow_control.initial();
        Self {
            max_ack_delay: config.max_ack_delay,
            min_ack_delay: config.min_ack_delay,
            receive_timestamps: config.receive_timestamps,
            stream_window,
            connection_window,
            streams: config.streams as u64,
            datagram: config.datagram,
            idle_timeout: config.idle_timeout,
        }
    }

    /// Calls `to` with each parameter that an end would announce, and its name in RFC 9000.
    pub(super) fn report(&self, to: &mut dyn FnMut(&'static str, u64)) {
        let ms = |time: Duration| time.as_nanos() / 1_000_000;
        if let Some(timeout) = self.idle_timeout {
            to("max_idle_timeout", ms(timeout));
        }
        to("max_udp_payload_size", self.datagram);
        to("ack_delay_exponent", ACK_DELAY_EXPONENT.into());
        to("max_ack_delay", ms(self.max_ack_delay));
        if let Some(delay) = self.min_ack_delay {
            // The unit is microseconds (draft-ietf-quic-ack-frequency, §3).
            to("min_ack_delay", delay.as_nanos() / 1000);
        }
        if let Some(timestamps) = self.receive_timestamps {
            // draft-ietf-quic-receive-ts, §6.
            to("max_receive_timestamps_per_ack", timestamps.most.into());
            to("receive_timestamps_exponent", timestamps.exponent.into());
        }
        to("initial_max_data", self.connection_window);
        to("initial_max_stream_data_bidi_local", self.stream_window);
        to("initial_max_stream_data_bidi_remote", self.stream_window);
        to("initial_max_streams_bidi", self.streams);
        // Unidirectional streams are refused.
        to("initial_max_stream_data_uni", 0);
        to("initial_max_streams_uni", 0);
    }
}

/// Progress of the handshake.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Handshake {
    has_answered: bool,
    /// `true` if this end has sent its Finished and verified the Finished of its peer (RFC 9001,
    /// §4.1.1).
    is_complete: bool,
    /// `true` if the handshake is confirmed, that is, complete at both ends (§4.1.2).
    is_confirmed: bool,
    /// `true` if the peer has acknowledged a Handshake packet. The peer has then validated this
    /// end's address.
    is_acknowledged: bool,
    /// Server: `true` if the client's address is validated.
    is_validated: bool,
    /// Server: bytes received and sent before the client's address is validated.
    received: u64,
    sent: u64,
}

impl Handshake {
    /// Returns `true` if this end has sent its Finished and verified the Finished of its peer.
    pub(super) const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns `true` if the handshake is confirmed.
    #[inline]
    pub(super) const fn is_confirmed(&self) -> bool {
        self.is_confirmed
    }

    /// Records that the peer has acknowledged a Handshake packet.
    pub(super) const fn on_acknowledged(&mut self) {
        self.is_acknowledged = true;
    }

    /// Records, at a server, that the client's address is validated.
    pub(super) const fn on_validated(&mut self) {
        self.is_validated = true;
    }
}

impl Connection {
    /// Opens the connection for the application.
    pub(super) fn open_connection(&mut self, now: Instant) {
        if self.phase == Phase::Idle {
            self.phase = Phase::Handshaking;
            let hello = self.config.tls.client_hello.get();
            self.spaces[space::Id::Initial].crypto.write(hello);
            self.idle.begin(now);
            self.output.note_change();
        }
    }

    /// Returns the number of bytes that may be sent before the client's address is validated.
    #[inline]
    pub(super) fn unvalidated_room(&self) -> u64 {
        if !self.is_unvalidated() {
            return u64::MAX;
        }
        (AMPLIFICATION * self.handshake.received).saturating_sub(self.handshake.sent)
    }

    /// Returns `true` if this end is a server that has not yet validated the client's address (RFC
    /// 9000, §8.1).
    #[inline]
    const fn is_unvalidated(&self) -> bool {
        matches!(self.side, Side::Server) && !self.handshake.is_validated
    }

    /// Counts a datagram that has arrived.
    #[inline]
    pub(super) fn count_arrived(&mut self, datagram: &Datagram) {
        if self.is_unvalidated() {
            self.handshake.received += datagram.udp_payload();
        }
    }

    /// Records that a datagram of `octets` bytes is sent.
    #[inline]
    pub(super) const fn count_departed(&mut self, octets: u64) {
        if self.is_unvalidated() {
            self.handshake.sent += octets;
        }
    }

    /// Returns `true` if the peer has validated this end's address. Until then, a client must
    /// continue to probe, because the server may be at its limit (RFC 9002, §6.2.2.1).
    pub(super) const fn peer_has_validated(&self) -> bool {
        matches!(self.side, Side::Server) || self.handshake.is_acknowledged || self.handshake.is_confirmed
    }

    /// Continues the handshake after handshake bytes have arrived.
    pub(super) fn advance_handshake(&mut self, now: Instant) {
        let tls = self.config.tls;
        let has = |connection: &Self, id: space::Id, octets: Bytes| {
            connection.spaces[id].crypto_arrived.next() >= octets.get()
        };
        match self.side {
            Side::Client => {
                if has(self, space::Id::Initial, tls.server_hello) {
                    self.spaces.install(space::Id::Handshake);
                }
                if !self.handshake.is_complete && has(self, space::Id::Handshake, tls.server_flight) {
                    self.spaces[space::Id::Handshake].crypto.write(tls.client_finished.get());
                    self.complete(now);
                }
            }
            Side::Server => {
                if !self.handshake.has_answered && has(self, space::Id::Initial, tls.client_hello) {
                    self.handshake.has_answered = true;
                    self.spaces[space::Id::Initial].crypto.write(tls.server_hello.get());
                    self.spaces[space::Id::Handshake].crypto.write(tls.server_flight.get());
                    self.spaces.install(space::Id::Handshake);
                }
                if !self.handshake.is_complete && has(self, space::Id::Handshake, tls.client_finished) {
                    self.complete(now);
                    self.data.owe_handshake_done();
                    self.confirm(now);
                }
            }
        }
    }

    fn complete(&mut self, now: Instant) {
        self.handshake.is_complete = true;
        self.phase = Phase::Established;
        let peer = self.peer;
        self.data.on_parameters(&peer);
        self.requester.on_parameters(peer.max_ack_delay, peer.min_ack_delay);
        self.spaces[space::Id::Application].arrived.times.want(peer.receive_timestamps);
        self.mtu.on_parameters(peer.datagram);
        self.spaces.install(space::Id::Application);
        self.sender.on_established(now);
        if let (Some(round_trip), Some(sample)) = (self.acks.acknowledger.round_trip(), self.sender.rtt().min()) {
            round_trip.on_handshake(now, sample);
        }
        self.events.push(Event::Established);
        self.update_asker(now);
    }

    /// Confirms the handshake, and discards the keys of its packets (RFC 9001, §4.9.2).
    pub(super) fn confirm(&mut self, now: Instant) {
        if !self.handshake.is_confirmed {
            self.handshake.is_confirmed = true;
            self.discard(now, space::Id::Handshake);
        }
    }

    /// Discards the keys and the timers of a space (RFC 9002, §6.2.2 and §6.4).
    pub(super) fn discard(&mut self, now: Instant, id: space::Id) {
        if self.spaces.discard(id) {
            self.sender.discard(now, id);
        }
    }
}
