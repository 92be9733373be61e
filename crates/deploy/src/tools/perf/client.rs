//! Rounds of measurements.

use super::channel::{Channel, set_congestion};
use super::contender::{Contender, Transport};
use super::protocol::{self, Message, Plan, Preface, Report, Side};
use super::row::Row;
use super::traffic::{Load, Meter, Sink};
use crate::config::{Config, Recording};
use crate::endpoint::Endpoint;
use crate::tools::trust::{ServerTrust, Trust, bind_client, name_of, silence};
use crate::tools::{PATIENCE, Stop, ToolError, any_like, resolve};
use rustix::net::SocketType;
use serde::Serialize;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpSocket;
use tokio::sync::mpsc;

/// The application protocol of QUIC in the handshake (RFC 7301).
pub(crate) const QUIC_ALPN: &[u8] = b"acklab-perf/1";
/// The timeout of a silent server, in addition to the interval of its reports. In the reverse
/// direction, the duration of a measurement is also added.
const SILENCE: Duration = Duration::from_secs(45);

/// The options of a measurement.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name or the address of the server.
    pub host: String,
    /// The port of TACK and TCP. QUIC uses the next port.
    pub port: u16,
    /// The servers to trust. If `None`, only the kernel's TCP can be measured.
    pub trust: Option<Trust>,
    /// The contenders, measured in turns.
    pub contenders: Vec<Contender>,
    /// The number of turns per contender.
    pub rounds: u32,
    /// `true` if the server sends the data.
    pub reverse: bool,
    /// The number of parallel streams. Each has a separate connection.
    pub streams: u32,
    /// The duration of the measurement in seconds.
    pub seconds: Option<f64>,
    /// The total number of bytes to send, instead of a duration.
    pub octets: Option<u64>,
    /// The rate at which the application writes to each stream, in bits per second.
    pub bitrate: Option<u64>,
    /// The time between reports, in seconds.
    pub interval: f64,
    /// The file to which the secrets of TLS are appended, for Wireshark.
    pub keys: Option<PathBuf>,
    /// A folder for the qlog files of this end. Each TACK connection has one file.
    pub qlog: Option<PathBuf>,
}

/// A report during measurements.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// A measurement begins.
    Begins {
        /// The round, counted from 0.
        round: u32,
        /// The contender.
        contender: String,
    },
    /// An interval has passed.
    Interval {
        /// The contender.
        contender: String,
        /// The start of the interval, in seconds since the first byte.
        from: f64,
        /// The end of the interval, in seconds since the first byte.
        to: f64,
        /// The number of bytes that arrived in the interval.
        octets: u64,
        /// The goodput of these bytes in the interval, in Mbps.
        goodput: f64,
    },
    /// A measurement is done.
    Done(Row),
}

/// The sockets that connect to the server.
enum Dialer {
    Tack { endpoint: Endpoint, remote: SocketAddr },
    Quic { endpoint: quinn::Endpoint, remote: SocketAddr },
    Tcp { remote: SocketAddr, congestion: Option<String> },
}

struct Client<'o> {
    options: &'o Options,
    server_trust: Option<ServerTrust>,
}

/// Measures each contender in each round. Each round starts with a different contender, so that no
/// contender always follows the same one.
///
/// # Errors
/// If the options are invalid, the server is not trusted or refuses, a connection is lost, or
/// `stop` requests the end.
pub async fn measure(options: &Options, stop: Stop, tell: impl FnMut(Progress)) -> Result<Vec<Row>, ToolError> {
    tokio::select! {
        rows = measure_all(options, tell) => rows,
        () = stop.begun() => Err(ToolError::Stopped),
    }
}

async fn measure_all(options: &Options, mut tell: impl FnMut(Progress)) -> Result<Vec<Row>, ToolError> {
    if options.contenders.is_empty() || options.rounds == 0 {
        return Err(ToolError::usage("perf", "nothing to measure", "a contender and a round at least"));
    }
    for (place, contender) in options.contenders.iter().enumerate() {
        plan(options, contender).check()?;
        if options.contenders[..place].iter().any(|other| other.name == contender.name) {
            return Err(ToolError::usage("--with", format_args!("{:?} twice", contender.name), "each contender once"));
        }
    }
    if let Some(folder) = &options.qlog {
        std::fs::create_dir_all(folder).map_err(|error| ToolError::failed(folder.display(), error))?;
    }
    let server_trust =
        options.trust.as_ref().map(|trust| ServerTrust::new(trust, options.keys.as_deref())).transpose()?;
    let client = Client { options, server_trust };
    let mut rows = Vec::new();
    let count = options.contenders.len();
    for round in 0..options.rounds {
        for turn in 0..count {
            let contender = &options.contenders[(turn + round as usize) % count];
            tell(Progress::Begins { round, contender: contender.name.clone() });
            let row = client.measure_once(round, contender, &mut tell).await?;
            tell(Progress::Done(row.clone()));
            rows.push(row);
        }
    }
    // The rows of a round are in the order of the contenders.
    let place = |row: &Row| options.contenders.iter().position(|contender| contender.name == row.contender);
    rows.sort_by_key(|row| (row.round, place(row)));
    Ok(rows)
}

fn plan(options: &Options, contender: &Contender) -> Plan {
    Plan {
        contender: contender.clone(),
        reverse: options.reverse,
        streams: options.streams,
        seconds: options.seconds,
        octets: options.octets,
        bitrate: options.bitrate,
        interval: options.interval,
    }
}

impl Client<'_> {
    /// Returns the name of the server and contender in messages.
    fn place(&self, contender: &Contender) -> String {
        let port = match contender.transport {
            Transport::Quic(_) => self.options.port.saturating_add(1),
            Transport::Tack(_) | Transport::Tcp { .. } => self.options.port,
        };
        format!("{}:{port} ({})", self.options.host, contender.name)
    }

    fn server_trust(&self) -> Result<&ServerTrust, ToolError> {
        let expected = "a fingerprint, a known host or certificates of authorities";
        self.server_trust.as_ref().ok_or_else(|| ToolError::usage("trust", "nothing", expected))
    }

    fn dialer(&self, contender: &Contender, remote: SocketAddr) -> Result<Dialer, ToolError> {
        Ok(match &contender.transport {
            Transport::Tack(settings) => {
                let client = Some(Arc::clone(&self.server_trust()?.tls));
                let recording =
                    self.options.qlog.clone().map(|qlog| Recording { qlog: Some(qlog), ..Recording::default() });
                let config = Config { transport: **settings, client, recording, ..Config::new() };
                let endpoint = bind_client(remote, config)?;
                Dialer::Tack { endpoint, remote }
            }
            Transport::Quic(quic) => {
                let mut tls = (*self.server_trust()?.tls).clone();
                tls.alpn_protocols = vec![QUIC_ALPN.to_vec()];
                let failed = |why: &dyn std::fmt::Display| ToolError::failed("QUIC", why);
                let crypto = quinn::crypto::rustls::QuicClientConfig::try_from(tls).map_err(|error| failed(&error))?;
                let mut config = quinn::ClientConfig::new(Arc::new(crypto));
                config.transport_config(quic.transport());
                let mut endpoint = quinn::Endpoint::client(any_like(remote)).map_err(|error| failed(&error))?;
                endpoint.set_default_client_config(config);
                let port = remote.port().checked_add(1);
                let port = port
                    .ok_or_else(|| ToolError::usage("port", remote.port(), "at most 65534: QUIC has the next one"))?;
                Dialer::Quic { endpoint, remote: SocketAddr::new(remote.ip(), port) }
            }
            Transport::Tcp { congestion } => Dialer::Tcp { remote, congestion: congestion.clone() },
        })
    }

    async fn dial(&self, dialer: &Dialer, contender: &Contender, preface: Preface) -> Result<Channel, ToolError> {
        let place = self.place(contender);
        let failed = |error: &dyn std::fmt::Display| match &self.server_trust {
            Some(server_trust) if !matches!(dialer, Dialer::Tcp { .. }) => server_trust.explain(&place, &error),
            _ => ToolError::failed(&place, error),
        };
        let name = name_of(&self.options.host);
        let connect = async {
            match dialer {
                Dialer::Tack { endpoint, remote } => {
                    let connection = endpoint.connect(*remote, name).await.map_err(|error| failed(&error))?;
                    let stream = connection.open_stream().await.map_err(|error| failed(&error))?;
                    Ok(Channel::tack(connection, stream))
                }
                Dialer::Quic { endpoint, remote } => {
                    let connecting = endpoint.connect(*remote, name).map_err(|error| failed(&error))?;
                    let connection = connecting.await.map_err(|error| failed(&error))?;
                    let stream = connection.open_bi().await.map_err(|error| failed(&error))?;
                    Ok(Channel::quic(connection, stream))
                }
                Dialer::Tcp { remote, congestion } => {
                    let socket =
                        crate::tools::socket(any_like(*remote), SocketType::STREAM).map_err(|error| failed(&error))?;
                    // In the reverse direction, the server sends, so the server's kernel must have
                    // the controller.
                    if let (Some(congestion), false) = (congestion, self.options.reverse) {
                        set_congestion(&socket, congestion)?;
                    }
                    let socket = TcpSocket::from_std_stream(socket.into());
                    let stream = socket.connect(*remote).await.map_err(|error| failed(&error))?;
                    Channel::tcp(stream).map_err(|error| failed(&error))
                }
            }
        };
        let connected = tokio::time::timeout(PATIENCE, connect).await;
        let mut channel: Channel = connected.unwrap_or_else(|_| Err(failed(&silence())))?;
        let sent = tokio::io::AsyncWriteExt::write_all(&mut channel.send, &preface.octets()).await;
        sent.map_err(|error| failed(&error))?;
        Ok(channel)
    }

    /// Opens a control channel to the first address of the server that responds.
    async fn reach(&self, contender: &Contender, test: u64) -> Result<(Dialer, Channel), ToolError> {
        let mut failure = None;
        for remote in resolve(&self.options.host, self.options.port).await? {
            let dialer = self.dialer(contender, remote)?;
            match self.dial(&dialer, contender, Preface { is_data: false, test }).await {
                Ok(channel) => return Ok((dialer, channel)),
                Err(error @ (ToolError::Trust(_) | ToolError::Usage(_))) => return Err(error),
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.unwrap_or_else(|| ToolError::failed(&self.options.host, "it has no address")))
    }

    async fn measure_once(
        &self,
        round: u32,
        contender: &Contender,
        tell: &mut impl FnMut(Progress),
    ) -> Result<Row, ToolError> {
        let plan = plan(self.options, contender);
        let place = self.place(contender);
        let test = crate::association::random().map_err(|error| ToolError::failed("measurement", error))?;
        let (dialer, control) = self.reach(contender, test).await?;
        let Channel { send: mut control, receive: answers, carrier: control_carrier } = control;
        let mut inbox = protocol::inbox(answers);
        let lost = |error: std::io::Error| ToolError::failed(&place, error);
        protocol::send(&mut control, &Message::Request(plan.clone())).await.map_err(lost)?;
        expect(&mut inbox, &place, &Message::Accepted).await?;
        let (mut sending, mut receiving, mut carriers) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..plan.streams {
            let channel = self.dial(&dialer, contender, Preface { is_data: true, test }).await?;
            sending.push(channel.send);
            receiving.push(channel.receive);
            carriers.push(channel.carrier);
        }
        expect(&mut inbox, &place, &Message::Started).await?;
        let meter = Meter::start(carriers);
        let mut before = Report::default();
        let mut interval = |report: Report| {
            let (seconds, octets) = (report.seconds - before.seconds, report.octets.saturating_sub(before.octets));
            let contender = contender.name.clone();
            if seconds > 0.0 {
                let goodput = octets as f64 * 8e-6 / seconds;
                tell(Progress::Interval { contender, from: before.seconds, to: report.seconds, octets, goodput });
            }
            before = report;
        };
        let (received, sender, receiver) = if plan.reverse {
            let (to, mut reports) = mpsc::unbounded_channel();
            let mut sink = Sink::start(receiving);
            let received = {
                let receive = sink.run(&plan, &to);
                tokio::pin!(receive);
                let mut ignore = |_| {};
                loop {
                    tokio::select! {
                        received = &mut receive => match received {
                            Ok(received) => break received,
                            Err(error) => return Err(server_error(&mut inbox).await.unwrap_or(error)),
                        },
                        Some(report) = reports.recv() => interval(report),
                        // Before the client has sent `Stop`, only a refusal can arrive.
                        side = result(&mut inbox, &place, &mut ignore) => {
                            side?;
                            return Err(ToolError::usage(&place, "a result", "data"));
                        }
                    }
                }
            };
            let receiver = meter.read(None, Some(received));
            protocol::send(&mut control, &Message::Stop).await.map_err(lost)?;
            let sender = tokio::time::timeout(SILENCE, result(&mut inbox, &place, &mut |_| {})).await;
            let sender = sender.map_err(|_| ToolError::failed(&place, "no result"))??;
            (received, sender, receiver)
        } else {
            let mut load = Load::start(sending, &plan)?;
            let receiver = tokio::select! {
                receiver = result(&mut inbox, &place, &mut interval) => receiver?,
                error = load.run(&meter) => return Err(server_error(&mut inbox).await.unwrap_or(error)),
            };
            let received =
                receiver.received.ok_or_else(|| ToolError::usage(&place, "a result without octets", "both"))?;
            (received, meter.read(Some(&load), None), receiver)
        };
        interval(received);
        let logged = meter.finish_logs().and_then(|()| control_carrier.finish_log());
        drop(meter);
        control_carrier.abort();
        logged?;
        if let Dialer::Quic { endpoint, .. } = &dialer {
            // The connections send CONNECTION_CLOSE.
            _ = tokio::time::timeout(PATIENCE, endpoint.wait_idle()).await;
        }
        Ok(Row::new(round, &plan, received, sender, &receiver))
    }
}

/// Returns the server's reason for ending a connection, if the reason has arrived.
async fn server_error(inbox: &mut mpsc::Receiver<Result<Message, String>>) -> Option<ToolError> {
    match tokio::time::timeout(Duration::from_secs(1), inbox.recv()).await {
        Ok(Some(Ok(Message::Refused { reason }))) => Some(ToolError::failed("server", reason)),
        _ => None,
    }
}

async fn next(
    inbox: &mut mpsc::Receiver<Result<Message, String>>,
    place: &str,
    patience: Duration,
) -> Result<Message, ToolError> {
    match tokio::time::timeout(patience, inbox.recv()).await {
        Ok(Some(Ok(Message::Refused { reason }))) => {
            Err(ToolError::failed(place, format_args!("the server refuses: {reason}")))
        }
        Ok(Some(Ok(message))) => Ok(message),
        Ok(Some(Err(error))) => Err(ToolError::failed(place, error)),
        Ok(None) => Err(ToolError::failed(place, "the control channel is lost")),
        Err(_) => {
            Err(ToolError::failed(place, format_args!("the server has sent nothing for {} s", patience.as_secs())))
        }
    }
}

async fn expect(
    inbox: &mut mpsc::Receiver<Result<Message, String>>,
    place: &str,
    expected: &Message,
) -> Result<(), ToolError> {
    let found = next(inbox, place, 2 * PATIENCE).await?;
    if found == *expected {
        return Ok(());
    }
    Err(ToolError::usage(place, format_args!("{found:?}"), format_args!("{expected:?}")))
}

/// Waits for the server's result. Forwards the server's reports meanwhile.
async fn result(
    inbox: &mut mpsc::Receiver<Result<Message, String>>,
    place: &str,
    report: &mut impl FnMut(Report),
) -> Result<Side, ToolError> {
    loop {
        match next(inbox, place, protocol::LONGEST + SILENCE).await? {
            Message::Report(found) => report(found),
            Message::Result(side) => return Ok(side),
            found => return Err(ToolError::usage(place, format_args!("{found:?}"), "a report or the result")),
        }
    }
}
