//! One end of a connection.

use crate::control::{Control, Factory};
use crate::entropy::{self, Entropy};
use crate::sender::{RoundTrip, Sender};
use crate::settings::{Settings, varint};
use crate::tap::Tap;
use crate::time::{Epoch, duration};
use crate::tls;
use acklab_base::event::Closing;
use acklab_base::random::{Seed, Stream};
use acklab_base::{Event, Instant, StreamEvents};
use acklab_transport::ack::Ranges;
use acklab_transport::cc::Controller;
use acklab_transport::congestion::Congestion;
use acklab_transport::reading::Reading;
use acklab_transport::send_buffer::SendBuffer;
use quinn_proto::{
    ClientConfig, ConnectionHandle, ConnectionId, ConnectionIdGenerator, Dir, EndpointConfig, NoneTokenStore,
    ServerConfig, StreamEvent, StreamId, TransportConfig,
};
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::{Arc, Mutex, PoisonError};

/// Addresses for documentation (RFC 5737, §3). quinn-proto distinguishes peers by address, and each
/// of its endpoints here has one peer.
const CLIENT: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 49_152));
const SERVER: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 2), 443));
/// The bytes of a connection ID, as in quinn's own generators.
const CONNECTION_ID: usize = 8;

/// The receive state of the peer's stream.
#[derive(Debug, Default)]
pub(crate) struct Incoming {
    pub(crate) stream: Option<StreamId>,
    /// The ranges of bytes that have arrived.
    pub(crate) octets: Ranges,
    /// The end of the stream, once it is known.
    pub(crate) end: Option<u64>,
    /// The number of bytes that the application has read.
    pub(crate) read: u64,
    /// `true` once the end of the stream was read.
    pub(crate) is_at_end: bool,
}

/// The send state of this end's stream.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) stream: Option<StreamId>,
    pub(crate) buffer: SendBuffer,
    /// The number of bytes passed to quinn-proto.
    pub(crate) handed: u64,
    /// `true` once the end of the stream was passed to quinn-proto.
    pub(crate) is_finished: bool,
    /// `true` once all bytes and the end of the stream are acknowledged.
    pub(crate) is_acknowledged: bool,
}

/// The counters of one end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) packets: u64,
    pub(crate) udp_bytes: u64,
    pub(crate) overhead_bytes: u64,
    pub(crate) handshake_bytes: u64,
    pub(crate) acks_sent: u64,
    pub(crate) acks_received: u64,
    pub(crate) ack_frames_sent: u64,
    pub(crate) ack_frames_received: u64,
    pub(crate) arrived_packets: u64,
    pub(crate) marked_packets: u64,
}

/// One end of a connection of quinn-proto.
pub struct Connection {
    pub(crate) settings: Settings,
    pub(crate) epoch: Epoch,
    pub(crate) endpoint: quinn_proto::Endpoint,
    /// The configuration of a client that has not connected yet.
    client: Option<ClientConfig>,
    pub(crate) connection: Option<(ConnectionHandle, quinn_proto::Connection)>,
    pub(crate) entropy: Entropy,
    pub(crate) tap: Tap,
    pub(crate) log: Arc<tls::Log>,
    /// Datagrams that quinn-proto's endpoint sends outside of the connection.
    pub(crate) outside: VecDeque<Vec<u8>>,
    pub(crate) sender: Sender,
    pub(crate) outgoing: Outgoing,
    pub(crate) incoming: Incoming,
    pub(crate) reading: Reading,
    /// `true` if both ends write.
    pub(crate) is_two_way: bool,
    pub(crate) is_open: bool,
    is_closed: bool,
    pub(crate) deadline: Option<Instant>,
    /// `true` if the last poll returned nothing, and nothing has happened since.
    pub(crate) is_idle: bool,
    /// `true` if the last datagram carried data.
    pub(crate) last_carried_data: bool,
    /// The arrival time of the newest packet with data.
    pub(crate) newest_arrival: Instant,
    pub(crate) events: VecDeque<Event>,
    pub(crate) stream_events: StreamEvents,
    pub(crate) counters: Counters,
}

impl Connection {
    /// Returns the end that opens the connection of the flow called `name`. If the peer also
    /// writes, the connection is [two-way](Self::two_way).
    ///
    /// # Errors
    /// If TLS refuses its configuration.
    pub fn client(settings: &Settings, controller: Controller, seed: Seed, name: &str) -> Result<Self, tls::Error> {
        let mut parts = Parts::new(settings, controller, seed.stream(&format!("flow/{name}/quic/client")));
        let crypto = parts.tap.client(Arc::new(tls::client(&parts.log)?));
        let first_id = parts.id();
        let mut client = ClientConfig::new(crypto);
        client
            .transport_config(Arc::clone(&parts.transport))
            .token_store(Arc::new(NoneTokenStore))
            .initial_dst_cid_provider(Arc::new(move || first_id));
        Ok(Self::new(settings, parts, None, Some(client)))
    }

    /// Returns the end that waits for the connection of the flow called `name`.
    ///
    /// # Errors
    /// If TLS refuses its configuration.
    pub fn server(settings: &Settings, controller: Controller, seed: Seed, name: &str) -> Result<Self, tls::Error> {
        let mut parts = Parts::new(settings, controller, seed.stream(&format!("flow/{name}/quic/server")));
        let crypto = parts.tap.server(Arc::new(tls::server(&parts.log)?));
        let token_key = ring::hkdf::Salt::new(ring::hkdf::HKDF_SHA256, &[]).extract(&parts.entropy.array::<64>());
        let mut server = ServerConfig::new(crypto, Arc::new(token_key));
        server.transport_config(Arc::clone(&parts.transport)).time_source(Arc::new(tls::Calendar));
        Ok(Self::new(settings, parts, Some(Arc::new(server)), None))
    }

    /// Returns the same end of a connection over which both ends write.
    #[must_use]
    pub const fn two_way(mut self) -> Self {
        self.is_two_way = true;
        self
    }

    /// Returns the same end with an application of this reading mode.
    #[must_use]
    pub const fn with_reading(mut self, reading: Reading) -> Self {
        self.reading = reading;
        self
    }

    fn new(
        settings: &Settings,
        mut parts: Parts,
        server: Option<Arc<ServerConfig>>,
        client: Option<ClientConfig>,
    ) -> Self {
        let config = parts.endpoint_config(settings);
        let epoch = Epoch::new();
        Self {
            settings: *settings,
            epoch,
            endpoint: quinn_proto::Endpoint::new(Arc::new(config), server, settings.mtu_discovery, None),
            client,
            connection: None,
            entropy: parts.entropy,
            tap: parts.tap,
            log: parts.log,
            outside: VecDeque::new(),
            sender: Sender::new(epoch, parts.congestion, settings.undo, parts.control),
            outgoing: Outgoing {
                stream: None,
                buffer: SendBuffer::new(settings.send_buffer.get()),
                handed: 0,
                is_finished: false,
                is_acknowledged: false,
            },
            incoming: Incoming::default(),
            reading: Reading::AtOnce,
            is_two_way: false,
            is_open: false,
            is_closed: false,
            deadline: None,
            is_idle: true,
            last_carried_data: false,
            newest_arrival: Instant::ZERO,
            events: VecDeque::new(),
            stream_events: StreamEvents::default(),
            counters: Counters::default(),
        }
    }

    /// Returns the address of the peer.
    pub(crate) fn peer(&self) -> SocketAddr {
        if self.endpoint_is_client() { SERVER } else { CLIENT }
    }

    fn endpoint_is_client(&self) -> bool {
        self.client.is_some() || self.connection.as_ref().is_some_and(|(_, connection)| connection.side().is_client())
    }

    /// Starts the handshake. A server waits for it.
    pub(crate) fn connect(&mut self, now: Instant) {
        let Some(client) = self.client.take() else { return };
        let at = self.epoch.to_std(now);
        let endpoint = &mut self.endpoint;
        let connected = self.entropy.lend(|| endpoint.connect(at, client, SERVER, tls::SERVER_NAME));
        match connected {
            Ok(connection) => self.connection = Some(connection),
            Err(_) => debug_assert!(false, "the name and the address are valid"),
        }
        self.is_idle = false;
    }

    /// Passes messages between quinn-proto's connection and its endpoint after a call. Reports the
    /// effects to the congestion controller and to the application.
    pub(crate) fn follow_up(&mut self, now: Instant) {
        self.is_idle = false;
        loop {
            let Some((handle, connection)) = &mut self.connection else { return };
            let round_trip = RoundTrip { smoothed: duration(connection.rtt()), least: duration(connection.min_rtt()) };
            self.sender.settle(now, round_trip, &mut self.events);
            if let Some(event) = connection.poll_endpoint_events() {
                let endpoint = &mut self.endpoint;
                if let Some(event) = self.entropy.lend(|| endpoint.handle_event(*handle, event)) {
                    connection.handle_event(event);
                }
            } else if let Some(event) = connection.poll() {
                self.on_event(now, event);
            } else {
                return;
            }
        }
    }

    fn on_event(&mut self, now: Instant, event: quinn_proto::Event) {
        match event {
            quinn_proto::Event::Connected => self.on_connected(now),
            quinn_proto::Event::ConnectionLost { reason } => self.on_lost(&reason),
            quinn_proto::Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                if let Some((_, connection)) = &mut self.connection {
                    self.incoming.stream = connection.streams().accept(Dir::Uni);
                }
                self.on_readable(now);
            }
            quinn_proto::Event::Stream(StreamEvent::Readable { .. }) => self.on_readable(now),
            quinn_proto::Event::Stream(StreamEvent::Finished { .. }) => {
                self.outgoing.is_acknowledged = true;
                self.events.push_back(Event::Finished);
                self.close_if_done(now);
            }
            _ => {}
        }
    }

    fn on_connected(&mut self, now: Instant) {
        self.is_open = true;
        let (samples, latest) = self.sender.rtt_samples();
        self.sender.on_established(now, (samples > 0).then_some(latest));
        if let Some((_, connection)) = &mut self.connection
            && (self.is_two_way || connection.side().is_client())
        {
            self.outgoing.stream = connection.streams().open(Dir::Uni);
        }
        self.events.push_back(Event::Established);
    }

    /// Handles the end of the connection, which this end, the peer or a timeout has caused.
    fn on_lost(&mut self, reason: &quinn_proto::ConnectionError) {
        use quinn_proto::ConnectionError as Reason;
        self.is_open = false;
        self.is_closed = true;
        let (reason, code) = match reason {
            Reason::LocallyClosed => (Closing::Application, 0),
            Reason::ApplicationClosed(close) => (Closing::Application, close.error_code.into_inner()),
            Reason::TimedOut => (Closing::IdleTimeout, 0),
            Reason::Reset => (Closing::Reset, 0),
            Reason::TransportError(error) => (Closing::ProtocolViolation, error.code.into()),
            Reason::ConnectionClosed(close) => (Closing::ProtocolViolation, close.error_code.into()),
            Reason::VersionMismatch | Reason::CidsExhausted => (Closing::ProtocolViolation, 0),
        };
        self.events.push_back(Event::Closed { reason, code });
    }

    /// Closes the connection at the client once both streams have ended.
    pub(crate) fn close_if_done(&mut self, now: Instant) {
        let is_done = self.outgoing.is_acknowledged && (!self.is_two_way || self.incoming.is_at_end);
        let at = self.epoch.to_std(now);
        if let Some((_, connection)) = &mut self.connection
            && is_done
            && connection.side().is_client()
            && !self.is_closed
        {
            self.is_closed = true;
            self.is_open = false;
            connection.close(at, varint(0), bytes::Bytes::new());
            self.is_idle = false;
        }
    }
}

/// The parts that both kinds of ends have.
struct Parts {
    entropy: Entropy,
    tap: Tap,
    log: Arc<tls::Log>,
    transport: Arc<TransportConfig>,
    congestion: Option<Congestion>,
    control: Control,
}

impl Parts {
    fn new(settings: &Settings, controller: Controller, stream: Stream) -> Self {
        let window = settings.initial_window_octets();
        let own = settings.own_controller();
        let congestion = own.is_none().then(|| Congestion::new(controller, window, settings.datagram()));
        let control = Control::new(window);
        let transport = settings.transport(Arc::new(Factory::new(control.clone(), own)));
        Self {
            entropy: Entropy::new(stream),
            tap: Tap::default(),
            log: Arc::default(),
            transport: Arc::new(transport),
            congestion,
            control,
        }
    }

    fn id(&mut self) -> ConnectionId {
        ConnectionId::new(&self.entropy.array::<CONNECTION_ID>())
    }

    fn endpoint_config(&mut self, settings: &Settings) -> EndpointConfig {
        let reset_key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &self.entropy.array::<64>());
        let mut config = EndpointConfig::new(Arc::new(reset_key));
        let ids = Ids(Arc::new(Mutex::new(self.entropy.branch())));
        let largest = settings.datagram().max(1500);
        let accepted = config.max_udp_payload_size(largest as u16).is_ok();
        debug_assert!(accepted, "{largest} octets are a valid size");
        config.rng_seed(Some(self.entropy.array())).cid_generator(move || Box::new(ids.clone()));
        config
    }
}

/// Generates connection IDs from a random stream.
#[derive(Clone)]
struct Ids(Arc<Mutex<Stream>>);

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        let mut octets = [0; CONNECTION_ID];
        entropy::fill(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner), &mut octets);
        ConnectionId::new(&octets)
    }

    fn cid_len(&self) -> usize {
        CONNECTION_ID
    }

    fn cid_lifetime(&self) -> Option<std::time::Duration> {
        None
    }
}
