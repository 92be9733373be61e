//! The near side of a proxy.

use super::relay::Unfinished;
use super::socks::{self, Reply};
use super::target::Target;
use super::token::Token;
use super::{BUSY, LATE, NO_TOKEN, PREFACE, STOPS, WELCOME, relay, settings};
use crate::config::Config;
use crate::connection::{Connection, ReceiveStream, SendStream};
use crate::error::Lost;
use crate::tools::log::{Kind, Lines, Log};
use crate::tools::trust::{ServerTrust, Trust, bind_client, name_of, silence};
use crate::tools::{PATIENCE, Stop, ToolError, resolve};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinSet;

/// The maximum number of TCP connections.
const MAX_CONNECTIONS: usize = super::MAX_STREAMS as usize;

/// A local port. Connections to it are forwarded to a target. The syntax is that of `ssh -L`:
/// `[ADDRESS:]PORT:HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forward {
    /// The address on which to listen. By default, only this host can connect.
    pub local: SocketAddr,
    /// The target of the connections.
    pub target: Target,
}

impl FromStr for Forward {
    type Err = ToolError;

    fn from_str(text: &str) -> Result<Self, ToolError> {
        let parsed = || {
            let (rest, _) = text.rsplit_once(':')?;
            // The host of the target may be an IPv6 address in brackets.
            let at = if rest.ends_with(']') { rest.rfind('[')?.checked_sub(1)? } else { rest.rfind(':')? };
            let (local, target) = (text.get(..at)?, text.get(at + 1..)?);
            let local = match local.parse::<u16>() {
                Ok(port) => SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
                Err(_) => local.parse().ok()?,
            };
            (text.as_bytes().get(at) == Some(&b':')).then_some((local, target))
        };
        let (local, target) = parsed()
            .ok_or_else(|| ToolError::usage("--forward", format_args!("{text:?}"), "[ADDRESS:]PORT:HOST:PORT"))?;
        Ok(Self { local, target: target.parse()? })
    }
}

/// The options of the near side.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name or the address of the far side.
    pub host: String,
    /// The UDP port of the far side.
    pub port: u16,
    /// The servers to trust.
    pub trust: Trust,
    /// The secret of the far side.
    pub token: Token,
    /// The address at which SOCKS5 is served.
    pub socks: Option<SocketAddr>,
    /// Ports to forward.
    pub forwards: Vec<Forward>,
    /// The file to which the secrets of TLS are appended, for Wireshark.
    pub keys: Option<PathBuf>,
}

/// The connection to the far side. It is reopened after a loss.
struct Link {
    options: Options,
    server_trust: ServerTrust,
    place: String,
    current: Mutex<Option<Connection>>,
    lines: Lines,
}

/// Forwards TCP connections to the far side until `stop` requests the end. Calls `ready` with the
/// local addresses once programs can connect. Calls `tell` with a log line for each failure.
///
/// # Errors
/// If a port is in use, or if the far side is not trusted or cannot be reached at the start.
pub async fn connect(
    options: Options,
    stop: Stop,
    ready: impl FnOnce(Vec<SocketAddr>),
    tell: impl FnMut(String),
) -> Result<(), ToolError> {
    tokio::select! {
        done = carry(options, &stop, ready, tell) => done,
        () = stop.over() => Ok(()),
    }
}

async fn carry(
    options: Options,
    stop: &Stop,
    ready: impl FnOnce(Vec<SocketAddr>),
    mut tell: impl FnMut(String),
) -> Result<(), ToolError> {
    if options.socks.is_none() && options.forwards.is_empty() {
        return Err(ToolError::usage("proxy connect", "nothing to listen for", "--socks or --forward"));
    }
    let mut listeners = Vec::new();
    let wanted = options.forwards.iter().map(|forward| (forward.local, Some(forward.target.clone())));
    for (local, target) in options.socks.iter().map(|socks| (*socks, None)).chain(wanted) {
        let listener = TcpListener::bind(local).await.map_err(|error| ToolError::failed(local, error))?;
        listeners.push((listener, target));
    }
    let bound: io::Result<Vec<_>> = listeners.iter().map(|(listener, _)| listener.local_addr()).collect();
    let bound = bound.map_err(|error| ToolError::failed("TCP socket", error))?;
    let server_trust = ServerTrust::new(&options.trust, options.keys.as_deref())?;
    let place = format!("{}:{}", options.host, options.port);
    let (lines, mut log) = Log::new();
    let link = Arc::new(Link { options, server_trust, place, current: Mutex::new(None), lines });
    // A permanent failure is reported immediately.
    tokio::select! {
        established = link.established() => drop(established?),
        () = stop.begun() => return Ok(()),
    }
    ready(bound);
    let mut tasks = JoinSet::new();
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    for (listener, target) in listeners {
        tasks.spawn(accept(listener, target, Arc::clone(&link), Arc::clone(&places), stop.clone()));
    }
    loop {
        tokio::select! {
            line = log.next() => tell(line),
            ended = tasks.join_next() => if ended.is_none() { break },
        }
    }
    log.rest().into_iter().for_each(tell);
    Ok(())
}

/// Serves the programs that connect to a local port. When the near side stops, closes the port and
/// returns once the connected programs have ended.
async fn accept(listener: TcpListener, target: Option<Target>, link: Arc<Link>, places: Arc<Semaphore>, stop: Stop) {
    let mut programs = JoinSet::new();
    let place = || Arc::clone(&places).acquire_owned();
    loop {
        let arrived = tokio::select! {
            arrived = async { (place().await, listener.accept().await) } => arrived,
            Some(_) = programs.join_next() => continue,
            () = stop.begun() => break,
        };
        // The semaphore is never closed.
        let (Ok(place), Ok((program, _))) = arrived else {
            // If no descriptor is free now, one may become free later.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let (link, target) = (Arc::clone(&link), target.clone());
        programs.spawn(async move {
            if let Err((kind, line)) = serve(program, target, &link).await {
                link.lines.tell(kind, line);
            }
            drop(place);
        });
    }
    if !programs.is_empty() && !stop.drain().is_zero() {
        let line = format!("the proxy stops: {} connections have {:?} to end", programs.len(), stop.drain());
        link.lines.tell(Kind::Tool, line);
    }
    drop(listener);
    while programs.join_next().await.is_some() {}
}

/// Serves a program, by SOCKS5 if the target is unknown.
async fn serve(program: TcpStream, target: Option<Target>, link: &Link) -> Result<(), (Kind, String)> {
    let mut program = Unfinished::new(program).map_err(|error| (Kind::Refused, error.to_string()))?;
    let is_socks = target.is_none();
    let target = match target {
        Some(target) => target,
        None => match tokio::time::timeout(PATIENCE, socks::read_request(program.tcp())).await {
            Ok(Ok(Some(target))) => target,
            Ok(Ok(None)) => {
                program.finish();
                return Ok(());
            }
            Ok(Err(error)) => return Err((Kind::Refused, format!("SOCKS5: {error}"))),
            Err(_) => {
                return Err((Kind::Refused, format!("SOCKS5: found no request for {} s", PATIENCE.as_secs())));
            }
        },
    };
    let (reply, streams, why) = match link.open(&target).await {
        Ok((Reply::SUCCEEDED, streams)) => (Reply::SUCCEEDED, Some(streams), String::new()),
        Ok((reply, _)) => (reply, None, reply.meaning().to_owned()),
        Err(why) => (Reply::FAILURE, None, why),
    };
    if is_socks {
        socks::reply(program.tcp(), reply).await.map_err(|error| (Kind::Refused, format!("{target}: {error}")))?;
    }
    match streams {
        Some((send, receive)) => {
            // Both sides have already reported the error to their peers.
            _ = relay::relay(program, send, receive).await;
            Ok(())
        }
        None => {
            // The reply is the last SOCKS5 message to the program.
            if is_socks {
                program.finish();
            }
            Err((Kind::Target, format!("{target}: {why}")))
        }
    }
}

impl Link {
    /// Opens a stream to the target, and returns it after the far side's reply.
    async fn open(&self, target: &Target) -> Result<(Reply, (SendStream, ReceiveStream)), String> {
        let mut request = Vec::new();
        target.append(&mut request);
        let mut is_again = false;
        loop {
            let connection = self.established().await.map_err(|error| error.to_string())?;
            let asked = async {
                let (mut send, mut receive) = connection.open_stream().await?;
                send.write_all(&request).await?;
                let reply = receive.read_u8().await?;
                Ok::<_, io::Error>((Reply(reply), (send, receive)))
            };
            // The far side replies within twice `PATIENCE`: one for the name and one for the
            // target.
            match tokio::time::timeout(4 * PATIENCE, asked).await {
                Ok(Ok(done)) => return Ok(done),
                Ok(Err(error)) => {
                    // The connection may have been lost long before. One attempt is therefore made
                    // with a new connection.
                    let is_lost = self.forget(&connection).await;
                    if is_again || !is_lost {
                        return Err(error.to_string());
                    }
                    is_again = true;
                }
                Err(_) => return Err("the far side does not reply".to_owned()),
            }
        }
    }

    /// Sends the token, and waits for the reply. On failure, returns the reason.
    async fn show_token(&self, connection: &Connection) -> Result<(), String> {
        let show = async {
            let (mut send, mut receive) = connection.open_stream().await?;
            send.write_all(&[PREFACE.as_slice(), self.options.token.octets()].concat()).await?;
            send.end();
            Ok::<_, io::Error>(receive.read_u8().await? == WELCOME)
        };
        match tokio::time::timeout(PATIENCE, show).await {
            Ok(Ok(true)) => Ok(()),
            Ok(Ok(false)) => Err("the far side speaks another protocol".to_owned()),
            Ok(Err(error)) => {
                let lost = tokio::time::timeout(Duration::ZERO, connection.closed()).await;
                Err(lost.map_or_else(|_| error.to_string(), |lost| explained(&lost)))
            }
            Err(_) => Err("the far side does not reply to the token".to_owned()),
        }
    }

    /// Drops the connection if it has ended. Returns `true` if it was dropped.
    async fn forget(&self, connection: &Connection) -> bool {
        let Ok(lost) = tokio::time::timeout(Duration::ZERO, connection.closed()).await else { return false };
        let mut current = self.current.lock().await;
        if current.as_ref().is_some_and(|current| current.is(connection)) {
            *current = None;
            let why = explained(&lost);
            self.lines.tell(Kind::Tool, format!("{}: the connection is lost: {why}", self.place));
        }
        true
    }

    /// Returns the connection to the far side. Opens a new connection if there is none.
    async fn established(&self) -> Result<Connection, ToolError> {
        // Concurrent callers wait for the same connection.
        let mut current = self.current.lock().await;
        if let Some(connection) = &*current {
            return Ok(connection.clone());
        }
        let Options { host, port, .. } = &self.options;
        let mut failure = ToolError::failed(&self.place, "it has no address");
        for remote in resolve(host, *port).await? {
            let client = Some(Arc::clone(&self.server_trust.tls));
            let endpoint = bind_client(remote, Config { transport: settings(), client, ..Config::new() })?;
            match tokio::time::timeout(PATIENCE, endpoint.connect(remote, name_of(host))).await {
                Ok(Ok(connection)) => match self.show_token(&connection).await {
                    Ok(()) => {
                        *current = Some(connection.clone());
                        return Ok(connection);
                    }
                    Err(why) => failure = ToolError::failed(&self.place, why),
                },
                Ok(Err(error)) => failure = self.server_trust.explain(&self.place, &error),
                Err(_) => failure = ToolError::failed(&self.place, silence()),
            }
            if matches!(failure, ToolError::Trust(_)) {
                break;
            }
        }
        Err(failure)
    }
}

/// Describes why the connection has ended.
fn explained(lost: &Lost) -> String {
    match lost {
        Lost::Peer { code: NO_TOKEN } => "the far side has closed it; is the token right?".to_owned(),
        Lost::Peer { code: STOPS } => "the far side stops".to_owned(),
        Lost::Peer { code: BUSY | LATE } => {
            "the far side is busy with clients that have not shown the token".to_owned()
        }
        lost => lost.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwards_are_those_of_ssh() {
        let forward = |text: &str| {
            let Forward { local, target } = text.parse()?;
            Ok::<_, ToolError>(format!("{local} {target}"))
        };
        assert_eq!(forward("8080:host:80").unwrap(), "127.0.0.1:8080 host:80");
        assert_eq!(forward("0.0.0.0:8080:10.0.0.1:80").unwrap(), "0.0.0.0:8080 10.0.0.1:80");
        assert_eq!(forward("[::1]:8080:[fd00::1]:80").unwrap(), "[::1]:8080 [fd00::1]:80");
        for text in ["", "8080", "8080:80", "8080:host", "x:host:80", "8080[::1]:80", "[::1]:80"] {
            assert!(forward(text).is_err(), "{text}");
        }
    }
}
