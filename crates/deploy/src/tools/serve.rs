//! Serves measurements of TACK over UDP, of the kernel's TCP on the same port number, and of QUIC
//! on the next port.

use super::log::{Kind, Lines, Log};
use super::memory::give_back;
use super::perf::channel::Channel;
use super::perf::client::QUIC_ALPN;
use super::perf::contender::Quic;
use super::perf::server::{ClientTransport, MeasurementSlot, serve_channel, settings_of_control};
use super::stop::Stopper;
use super::{PATIENCE, Stop, ToolError, socket};
use crate::config::{Config, Limits, Server};
use crate::connection::Connection;
use crate::endpoint::Endpoint;
use acklab_live::udp::UdpPort;
use acklab_secure::identity::{Fingerprint, Identity, server_config};
use acklab_secure::reset::ResetKey;
use rustix::net::SocketType;
use rustls::NoKeyLog;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// The maximum number of connections of each transport: the maximum number of parallel streams, and
/// some more.
const MAX_CONNECTIONS: usize = 512;
/// The number of ports that are tried if any port is permitted.
const TRIES: usize = 50;
/// The time in which clients receive notice that the server stops.
const FAREWELL: Duration = Duration::from_secs(1);

/// The options of a server.
#[derive(Debug)]
pub struct Options {
    /// The addresses on which to listen. The default is all IPv4 addresses, and all IPv6 addresses
    /// if the system supports IPv6.
    pub addresses: Vec<IpAddr>,
    /// The port of TACK and TCP. QUIC uses the next port. 0 selects a free port.
    pub port: u16,
    /// The certificate.
    pub identity: Identity,
    /// The key of stateless resets.
    pub reset_key: ResetKey,
}

/// The facts about a server that clients need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Serving {
    /// The port of TACK and TCP. QUIC uses the next port.
    pub port: u16,
    /// The fingerprint of the certificate.
    pub fingerprint: Fingerprint,
}

/// The sockets of one address.
struct Sockets {
    tack: Endpoint,
    quic: quinn::Endpoint,
    /// The TLS configuration of QUIC, with the transport settings of the next connections.
    quic_config: quinn::ServerConfig,
    quic_settings: Arc<Mutex<Quic>>,
    tcp: TcpListener,
}

/// Serves until `stop` requests the end, and then notifies the clients. A running measurement has
/// the drain time to finish. Calls `ready` once clients can connect. Calls `tell` with a log line
/// for each measurement.
///
/// # Errors
/// If a port is in use, or if the key does not belong to the certificate.
pub async fn serve(
    options: Options,
    stop: Stop,
    ready: impl FnOnce(Serving),
    mut tell: impl FnMut(String),
) -> Result<(), ToolError> {
    let fingerprint = options.identity.fingerprint();
    let (all_sockets, port) = open(options)?;
    ready(Serving { port, fingerprint });
    let slot = Arc::new(MeasurementSlot::default());
    // During the drain time, channels of the running measurement still arrive. The tasks that
    // accept channels therefore stop later.
    let (stopper, ends) = Stopper::new(Duration::ZERO);
    let mut tasks = JoinSet::new();
    let (to, mut log) = Log::new();
    let mut endpoints = Vec::new();
    for sockets in all_sockets {
        endpoints.push((sockets.tack.clone(), sockets.quic.clone()));
        let told = to.clone();
        tasks.spawn(accept_tack(sockets.tack, Arc::clone(&slot), ends.clone(), told.clone()));
        tasks.spawn(accept_quic(
            sockets.quic,
            sockets.quic_config,
            sockets.quic_settings,
            Arc::clone(&slot),
            ends.clone(),
            told.clone(),
        ));
        tasks.spawn(accept_tcp(sockets.tcp, Arc::clone(&slot), ends.clone(), told));
    }
    let drained = async {
        stop.begun().await;
        if slot.close() && !stop.drain().is_zero() {
            to.tell(Kind::Tool, format!("the server stops: a measurement has {:?} to end", stop.drain()));
        }
        tokio::select! {
            () = slot.empty() => {}
            () = stop.over() => {}
        }
    };
    // Returning memory to the system would disturb a measurement.
    let tended = give_back(|| !slot.is_busy());
    tokio::pin!(drained, tended);
    loop {
        tokio::select! {
            line = log.next() => tell(line),
            () = &mut drained => break,
            () = &mut tended => {}
        }
    }
    stopper.end();
    // The tasks of clients also observe the stop, and notify the clients.
    let farewell = async { while tasks.join_next().await.is_some() {} };
    _ = tokio::time::timeout(FAREWELL, farewell).await;
    for (_, quic) in &endpoints {
        quic.close(0u32.into(), b"the server stops");
        _ = tokio::time::timeout(FAREWELL, quic.wait_idle()).await;
    }
    log.rest().into_iter().for_each(tell);
    Ok(())
}

fn open(options: Options) -> Result<(Vec<Sockets>, u16), ToolError> {
    let Options { mut addresses, mut port, identity, reset_key } = options;
    let tls = server_config(identity, Arc::new(NoKeyLog)).map_err(|error| ToolError::failed("TLS", error))?;
    let is_optional_v6 = addresses.is_empty();
    if is_optional_v6 {
        addresses = vec![Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
    }
    if port == u16::MAX {
        return Err(ToolError::usage("port", port, "at most 65534: QUIC has the next one"));
    }
    let is_any = port == 0;
    for attempt in 1.. {
        if is_any {
            let free = socket(SocketAddr::new(addresses[0], 0), SocketType::DGRAM).map(UdpSocket::from);
            let free =
                free.and_then(|socket| socket.local_addr()).map_err(|error| ToolError::failed("UDP socket", error))?;
            port = free.port().min(u16::MAX - 1);
        }
        let opened = addresses.iter().try_fold(Vec::new(), |mut all_sockets, &address| {
            match open_at(address, port, &tls, &reset_key) {
                Ok(sockets) => all_sockets.push(sockets),
                Err(error) if is_optional_v6 && address.is_ipv6() && lacks_v6(&error) => {}
                Err(error) => return Err((address, error)),
            }
            Ok(all_sockets)
        });
        match opened {
            Ok(all_sockets) => return Ok((all_sockets, port)),
            Err((_, error)) if is_any && attempt < TRIES && error.kind() == io::ErrorKind::AddrInUse => {}
            Err((address, error)) => {
                return Err(ToolError::failed(format_args!("{address}, ports {port} and {}", port + 1), error));
            }
        }
    }
    Err(ToolError::failed("ports", "none is free"))
}

/// Returns `true` if the error shows that the system does not support IPv6.
pub(super) fn lacks_v6(error: &io::Error) -> bool {
    let errno = error.raw_os_error();
    errno == Some(rustix::io::Errno::AFNOSUPPORT.raw_os_error()) || error.kind() == io::ErrorKind::AddrNotAvailable
}

fn open_at(address: IpAddr, port: u16, tls: &Arc<rustls::ServerConfig>, reset_key: &ResetKey) -> io::Result<Sockets> {
    let server =
        Server { tls: Arc::clone(tls), reset_key: reset_key.clone(), limits: Limits::default(), always_retry: false };
    let udp = UdpPort::new(socket(SocketAddr::new(address, port), SocketType::DGRAM)?.into())?;
    let tack = Endpoint::new(udp, Config { transport: settings_of_control(), server: Some(server), ..Config::new() })
        .map_err(io::Error::other)?;
    let mut tls = (**tls).clone();
    tls.alpn_protocols = vec![QUIC_ALPN.to_vec()];
    let crypto = quinn::crypto::rustls::QuicServerConfig::try_from(tls).map_err(io::Error::other)?;
    let config = quinn::ServerConfig::with_crypto(Arc::new(crypto));
    let udp = socket(SocketAddr::new(address, port + 1), SocketType::DGRAM)?.into();
    let quic = quinn::Endpoint::new(
        quinn::EndpointConfig::default(),
        Some(config.clone()),
        udp,
        Arc::new(quinn::TokioRuntime),
    )?;
    let tcp = socket(SocketAddr::new(address, port), SocketType::STREAM)?;
    rustix::net::listen(&tcp, 128)?;
    let tcp = TcpListener::from_std(tcp.into())?;
    Ok(Sockets { tack, quic, quic_config: config, quic_settings: Arc::new(Mutex::new(Quic::of_control())), tcp })
}

/// A source of clients. If the future is dropped, no client is lost.
trait Listener {
    type Client;

    /// Waits for the next client. Returns `None` if there will be no more clients.
    fn next(&self) -> impl Future<Output = Option<Self::Client>> + Send;
}

impl Listener for Endpoint {
    type Client = Connection;

    async fn next(&self) -> Option<Connection> {
        self.accept().await
    }
}

impl Listener for quinn::Endpoint {
    type Client = quinn::Incoming;

    async fn next(&self) -> Option<quinn::Incoming> {
        self.accept().await
    }
}

impl Listener for TcpListener {
    type Client = (TcpStream, SocketAddr);

    async fn next(&self) -> Option<(TcpStream, SocketAddr)> {
        loop {
            match self.accept().await {
                Ok(accepted) => return Some(accepted),
                // The client may have closed the connection, or no descriptor may be free. A later
                // attempt may succeed.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    }
}

/// Serves each client in its own task, up to the limit, until the server stops.
async fn accept<L: Listener, F: Future<Output = Option<(Kind, String)>> + Send + 'static>(
    listener: L,
    serve: impl Fn(L::Client) -> F,
    stop: Stop,
    lines: Lines,
) {
    let mut clients = JoinSet::new();
    loop {
        tokio::select! {
            arrived = listener.next(), if clients.len() < MAX_CONNECTIONS => match arrived {
                Some(client) => _ = clients.spawn(serve(client)),
                None => break,
            },
            Some(line) = clients.join_next() => if let Ok(Some((kind, line))) = line {
                lines.tell(kind, line);
            },
            () = stop.over() => break,
        }
    }
    while clients.join_next().await.is_some() {}
}

async fn accept_tack(endpoint: Endpoint, slot: Arc<MeasurementSlot>, stop: Stop, lines: Lines) {
    let via = ClientTransport::Tack(endpoint.clone());
    let serve = |connection: Connection| {
        let (via, slot, stop) = (via.clone(), Arc::clone(&slot), stop.clone());
        async move {
            let peer = connection.remote_address()?;
            let stream = tokio::time::timeout(PATIENCE, connection.accept_stream()).await.ok()?.ok()?;
            serve_channel(Channel::tack(connection, stream), peer, &via, &slot, stop).await
        }
    };
    accept(endpoint, serve, stop.clone(), lines).await;
}

async fn accept_quic(
    endpoint: quinn::Endpoint,
    config: quinn::ServerConfig,
    settings: Arc<Mutex<Quic>>,
    slot: Arc<MeasurementSlot>,
    stop: Stop,
    lines: Lines,
) {
    let via = ClientTransport::Quic(Arc::clone(&settings));
    let serve = |incoming: quinn::Incoming| {
        let (via, slot, stop, mut config) = (via.clone(), Arc::clone(&slot), stop.clone(), config.clone());
        config.transport_config(settings.lock().unwrap_or_else(PoisonError::into_inner).transport());
        async move {
            let peer = incoming.remote_address();
            let connection = incoming.accept_with(Arc::new(config)).ok()?.await.ok()?;
            let stream = tokio::time::timeout(PATIENCE, connection.accept_bi()).await.ok()?.ok()?;
            serve_channel(Channel::quic(connection, stream), peer, &via, &slot, stop).await
        }
    };
    accept(endpoint, serve, stop.clone(), lines).await;
}

async fn accept_tcp(listener: TcpListener, slot: Arc<MeasurementSlot>, stop: Stop, lines: Lines) {
    let serve = |(stream, peer): (TcpStream, SocketAddr)| {
        let (slot, stop) = (Arc::clone(&slot), stop.clone());
        async move { serve_channel(Channel::tcp(stream).ok()?, peer, &ClientTransport::Tcp, &slot, stop).await }
    };
    accept(listener, serve, stop.clone(), lines).await;
}
