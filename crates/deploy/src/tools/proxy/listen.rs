//! The far side of a proxy.

use super::allow::Allow;
use super::dial::{check_lookup, dial};
use super::gate::Gate;
use super::socks::Reply;
use super::target::Target;
use super::token::Token;
use super::{BUFFER, LATE, MAX_STREAMS, NO_TOKEN, PREFACE, STOPS, WELCOME, relay, settings_for_strangers};
use crate::config::{Config, Limits, Server};
use crate::connection::{Connection, ReceiveStream, SendStream};
use crate::endpoint::Endpoint;
use crate::tools::log::{Kind, Lines, Log};
use crate::tools::memory::give_back;
use crate::tools::serve::Serving;
use crate::tools::{PATIENCE, Stop, ToolError, socket};
use acklab_live::udp::UdpPort;
use acklab_secure::identity::{Identity, server_config};
use acklab_secure::reset::ResetKey;
use rustix::net::SocketType;
use rustls::NoKeyLog;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;

/// The options of the far side.
#[derive(Debug)]
pub struct Options {
    /// The addresses on which to listen. The default is all IPv4 addresses, and all IPv6 addresses
    /// if the system supports IPv6.
    pub addresses: Vec<IpAddr>,
    /// The UDP port. 0 selects a free port.
    pub port: u16,
    /// The certificate.
    pub identity: Identity,
    /// The key of stateless resets.
    pub reset_key: ResetKey,
    /// The token that permits the use of the proxy.
    pub token: Token,
    /// The rules for allowed targets. Without a rule, targets of the
    /// [public Internet](Allow::PUBLIC) are allowed.
    pub allow: Vec<Allow>,
}

struct Far {
    token: Token,
    allow: Vec<Allow>,
    gate: Gate,
}

/// Connects clients to their targets until `stop` requests the end. Calls `ready` once clients can
/// connect. Calls `tell` with a log line for each refusal.
///
/// # Errors
/// If the port is in use, or if the key does not belong to the certificate.
pub async fn listen(
    options: Options,
    stop: Stop,
    ready: impl FnOnce(Serving),
    mut tell: impl FnMut(String),
) -> Result<(), ToolError> {
    let Options { mut addresses, mut port, identity, reset_key, token, mut allow } = options;
    let fingerprint = identity.fingerprint();
    let tls = server_config(identity, Arc::new(NoKeyLog)).map_err(|error| ToolError::failed("TLS", error))?;
    if allow.is_empty() {
        allow.push(Allow::PUBLIC);
    }
    check_lookup(&allow).map_err(|error| ToolError::failed("routes of this host", error))?;
    let is_optional_v6 = addresses.is_empty();
    if is_optional_v6 {
        addresses = vec![Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
    }
    let mut endpoints = Vec::new();
    for address in addresses {
        let server = Server {
            tls: Arc::clone(&tls),
            reset_key: reset_key.clone(),
            limits: Limits::default(),
            always_retry: false,
        };
        let config = Config { transport: settings_for_strangers(), server: Some(server), ..Config::new() };
        let bound = socket(SocketAddr::new(address, port), SocketType::DGRAM)
            .and_then(|socket| UdpPort::new(socket.into()))
            .and_then(|udp| Endpoint::new(udp, config).map_err(io::Error::other));
        match bound {
            Ok(endpoint) => {
                port = endpoint.local_address().port();
                endpoints.push(endpoint);
            }
            Err(error) if is_optional_v6 && address.is_ipv6() && crate::tools::serve::lacks_v6(&error) => {}
            Err(error) => return Err(ToolError::failed(format_args!("{address}, UDP port {port}"), error)),
        }
    }
    ready(Serving { port, fingerprint });
    let far = Arc::new(Far { token, allow, gate: Gate::default() });
    let (to, mut log) = Log::new();
    let mut tasks = JoinSet::new();
    let tended = give_back(|| true);
    tokio::pin!(tended);
    for endpoint in endpoints {
        tasks.spawn(accept(endpoint, Arc::clone(&far), to.clone(), stop.clone()));
    }
    loop {
        tokio::select! {
            line = log.next() => tell(line),
            () = stop.over() => break,
            ended = tasks.join_next() => if ended.is_none() { break },
            () = &mut tended => {}
        }
    }
    // When the tasks end, their connections also end and notify the clients.
    tasks.shutdown().await;
    log.rest().into_iter().for_each(tell);
    Ok(())
}

/// Serves the clients of an endpoint. When the far side stops, closes connections of new clients
/// and returns once the connected clients have ended.
async fn accept(endpoint: Endpoint, far: Arc<Far>, lines: Lines, stop: Stop) {
    let mut clients = JoinSet::new();
    loop {
        let has_begun = stop.has_begun();
        tokio::select! {
            client = endpoint.accept() => match client {
                Some(client) if has_begun => client.close(STOPS),
                Some(client) => _ = clients.spawn(serve(client, Arc::clone(&far), lines.clone(), stop.clone())),
                None => return,
            },
            Some(_) = clients.join_next() => {}
            () = stop.begun(), if !has_begun => {}
        }
        if stop.has_begun() && clients.is_empty() {
            return;
        }
    }
}

/// Waits until a client has shown the token, and then raises the client's limits. Otherwise closes
/// the connection and returns the text of a log line.
async fn admit(connection: &Connection, far: &Far) -> Result<(), String> {
    let Some(peer) = connection.remote_address() else { return Err("lost".to_owned()) };
    let Some(_place) = far.gate.enter(connection, peer) else {
        return Err("refused: too many clients of this host have not shown the token".to_owned());
    };
    let show = async {
        let (mut send, mut receive) = connection.accept_stream().await?;
        let (mut preface, mut token) = ([0; PREFACE.len()], [0; 32]);
        receive.read_exact(&mut preface).await?;
        receive.read_exact(&mut token).await?;
        if preface != PREFACE || !far.token.is(&token) {
            return Ok(false);
        }
        connection.raise_limits(MAX_STREAMS, BUFFER);
        send.write_all(&[WELCOME]).await?;
        send.end();
        Ok::<_, io::Error>(true)
    };
    match tokio::time::timeout(PATIENCE, show).await {
        Ok(Ok(true)) => Ok(()),
        Ok(Ok(false)) => {
            connection.close(NO_TOKEN);
            Err("refused: found another token or another protocol, expected the token of this proxy".to_owned())
        }
        Ok(Err(error)) => Err(format!("token: {error}")),
        Err(_) => {
            connection.close(LATE);
            Err(format!("token: found none for {} s", PATIENCE.as_secs()))
        }
    }
}

/// Serves the streams of a client. When the far side stops, returns once the open streams have
/// ended.
async fn serve(connection: Connection, far: Arc<Far>, lines: Lines, stop: Stop) {
    let mut streams = JoinSet::new();
    let peer = connection.remote_address().map_or_else(String::new, |peer| peer.to_string());
    let tell = |kind: Kind, line: String| lines.tell(kind, format!("{peer}: {line}"));
    let admitted = tokio::select! {
        admitted = admit(&connection, &far) => admitted,
        () = stop.begun() => return connection.close(STOPS),
    };
    if let Err(line) = admitted {
        return tell(Kind::Refused, line);
    }
    loop {
        let has_begun = stop.has_begun();
        tokio::select! {
            stream = connection.accept_stream() => match stream {
                Ok((send, receive)) => {
                    let (far, stop) = (Arc::clone(&far), stop.clone());
                    streams.spawn(async move { join(send, receive, &far, &stop).await });
                }
                Err(_) => return,
            },
            Some(done) = streams.join_next() => if let Ok(Err((kind, line))) = done {
                tell(kind, line);
            },
            () = stop.begun(), if !has_begun => if !streams.is_empty() && !stop.drain().is_zero() {
                let line = format!("the proxy stops: {} streams have {:?} to end", streams.len(), stop.drain());
                tell(Kind::Tool, line);
            },
        }
        if stop.has_begun() && streams.is_empty() {
            return;
        }
    }
}

/// Connects a stream with its target. On failure, returns the text of a log line.
async fn join(mut send: SendStream, mut receive: ReceiveStream, far: &Far, stop: &Stop) -> Result<(), (Kind, String)> {
    let target = match tokio::time::timeout(PATIENCE, Target::read(&mut receive)).await {
        Ok(Ok(target)) => target,
        Ok(Err(error)) => return Err((Kind::Refused, format!("request: {error}"))),
        Err(_) => return Err((Kind::Refused, format!("request: found nothing for {} s", PATIENCE.as_secs()))),
    };
    let opened = match &target {
        Some(_) if stop.has_begun() => Err((Reply::FAILURE, "refused: the proxy stops".to_owned())),
        Some(target) => dial(target, &far.allow).await,
        None => Err((Reply::ADDRESS_NOT_SUPPORTED, "the target is malformed".to_owned())),
    };
    let named = target.map_or_else(String::new, |target| target.to_string());
    match opened {
        Ok(tcp) => {
            let replied = send.write_all(&[Reply::SUCCEEDED.0]).await;
            replied.map_err(|error| (Kind::Target, format!("{named}: {error}")))?;
            // Both sides have already reported the error to their peers.
            _ = relay::relay(tcp, send, receive).await;
            Ok(())
        }
        Err((reply, why)) => {
            // The client may have closed the connection.
            _ = send.write_all(&[reply.0]).await;
            send.end();
            Err((Kind::Target, format!("{named}: {why}")))
        }
    }
}
