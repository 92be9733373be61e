//! Logs of endpoints in qlog: JSON text sequences (RFC 7464), for qvis and other tools for QUIC.
//!
//! Each end of a flow has a separate file, which is written during the run. A log uses an endpoint
//! only through its [contract](Endpoint). Packets describe themselves ([`Pdu::log_entries`]). State
//! and events are the same that probes receive. Other transports are mapped to the terms of QUIC:
//! see [`frames`] and [`segments`].

mod file;
mod frames;
mod recovery;
mod schema;
mod segments;

pub use schema::{Schema, TraceInfo, VantagePoint};

use acklab_base::event::{AckTime, Closing};
use acklab_base::{Endpoint, Event, Instant};
use acklab_wire::Pdu;
use acklab_wire::log::{Entry, Frames};
use acklab_wire::quic::PacketType;
use file::{LogFile, ms};
use recovery::Recovery;
use schema::Kind;
use segments::Segments;
use serde_json::{Map, Value, json};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The folder and the version of the logs of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder. It must exist.
    pub folder: PathBuf,
    /// The qlog version.
    pub schema: Schema,
}

impl Options {
    /// Returns the path of the file of one end of flow `flow`. The suffix is the suffix of JSON
    /// text sequences in draft-ietf-quic-qlog-main-schema-13.
    #[must_use]
    pub fn path(&self, flow: &str, end: VantagePoint) -> PathBuf {
        self.folder.join(format!("{flow}_{}.sqlog", end.name()))
    }
}

/// The reasons why a log cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be created.
    #[error("cannot create the qlog {}: {source}", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Writing to the file failed.
    #[error("cannot write the qlog {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// The direction of a packet, as an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Sent,
    Received,
}

/// The log of one end.
#[derive(Debug)]
pub struct Log {
    file: LogFile,
    /// The addresses of this end and its peer.
    addresses: [SocketAddr; 2],
    /// The names of the reasons for acknowledgments, by their index.
    reasons: Vec<String>,
    is_started: bool,
    is_closed: bool,
    /// The number of directions that carry data.
    directions: usize,
    /// The largest packet number, by direction and packet number space.
    largest: [[Option<u64>; 3]; 2],
    tack: frames::Tack,
    segments: Segments,
    recovery: Recovery,
}

impl Log {
    /// Creates the log of one end of flow `flow`. `addresses` are the addresses of this end and of
    /// its peer. The file is created with the first packet, so a transport without visible packets
    /// has no file.
    #[must_use]
    pub fn new(options: &Options, flow: &str, info: &TraceInfo<'_>, addresses: [SocketAddr; 2]) -> Self {
        Self {
            file: LogFile::new(options.path(flow, info.vantage_point), options.schema, info),
            addresses,
            reasons: Vec::new(),
            is_started: false,
            is_closed: false,
            directions: info.directions,
            largest: [[None; 3]; 2],
            tack: frames::Tack::default(),
            segments: Segments::default(),
            recovery: Recovery::default(),
        }
    }

    /// Enables the endpoint's reports of the events that the log needs.
    pub fn prepare(&mut self, endpoint: &mut impl Endpoint) {
        endpoint.record_decisions();
        endpoint.record_losses();
        endpoint.report_ack_reasons(&mut |reason, _| self.reasons.push(reason.to_owned()));
    }

    /// Records that the endpoint sends `pdu`.
    pub fn sent(&mut self, now: Instant, pdu: &impl Pdu, endpoint: &impl Endpoint) {
        self.packets(now, pdu, endpoint, Way::Sent);
        self.update(now, endpoint);
    }

    /// Records that `pdu` arrives at the endpoint, which has not accepted it yet.
    pub fn received(&mut self, now: Instant, pdu: &impl Pdu, endpoint: &impl Endpoint) {
        self.packets(now, pdu, endpoint, Way::Received);
    }

    /// Records that the state of the endpoint may have changed.
    pub fn update(&mut self, now: Instant, endpoint: &impl Endpoint) {
        if self.is_started {
            self.recovery.update(now, &endpoint.vitals(), endpoint.pacing_rate(), &mut self.file);
        }
    }

    /// Records that the endpoint has reported an event.
    pub fn event(&mut self, now: Instant, event: Event) {
        if !self.is_started {
            return;
        }
        match event {
            Event::AckDecided { when, reason, unacknowledged } => self.decision(now, when, reason, unacknowledged),
            Event::Closed { reason, code } => self.close(now, reason, Some(code)),
            Event::SegmentLost { offset } => {
                if let Some(number) = self.segments.last_with(offset) {
                    Recovery::lost(now, number, &mut self.file);
                }
            }
            event => self.recovery.event(now, event, &mut self.file),
        }
    }

    /// Returns the first failure.
    ///
    /// # Errors
    /// If the file cannot be created or written.
    pub fn check(&mut self) -> Result<(), Error> {
        self.file.check()
    }

    /// Writes all buffered records.
    ///
    /// # Errors
    /// If the file cannot be created or written.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.file.finish()
    }

    /// Writes the known parameters when the connection begins.
    fn start(&mut self, now: Instant, endpoint: &impl Endpoint) {
        if self.is_started {
            return;
        }
        self.is_started = true;
        let [local, remote] = self.addresses;
        let started = match self.file.schema {
            Schema::V03 => json!({
                "ip_version": if local.is_ipv4() { "ipv4" } else { "ipv6" },
                "src_ip": local.ip(),
                "dst_ip": remote.ip(),
                "src_port": local.port(),
                "dst_port": remote.port(),
            }),
            Schema::Draft13 => {
                let end = |at: SocketAddr| match at {
                    SocketAddr::V4(at) => json!({ "ip_v4": at.ip(), "port_v4": at.port() }),
                    SocketAddr::V6(at) => json!({ "ip_v6": at.ip(), "port_v6": at.port() }),
                };
                json!({ "local": end(local), "remote": end(remote) })
            }
        };
        self.file.event(now, Kind::ConnectionStarted, &started);
        let mut parameters = Map::new();
        endpoint.report_parameters(&mut |name, value| _ = parameters.insert(name.to_owned(), value.into()));
        if !parameters.is_empty() {
            match self.file.schema {
                Schema::V03 => parameters.insert("owner".to_owned(), "local".into()),
                Schema::Draft13 => {
                    parameters.insert("unknown_parameters".to_owned(), json!([]));
                    parameters.insert("initiator".to_owned(), "local".into())
                }
            };
            self.file.event(now, Kind::ParametersSet, &parameters.into());
        }
        if let Some(window) = endpoint.vitals().window {
            // Both versions require the granularity of timers. In virtual time, timers expire
            // exactly.
            let parameters = json!({ "timer_granularity": 0, "initial_congestion_window": window });
            self.file.event(now, Kind::RecoveryParametersSet, &parameters);
        }
    }

    fn packets(&mut self, now: Instant, pdu: &impl Pdu, endpoint: &impl Endpoint, way: Way) {
        pdu.log_entries(&mut |entry| {
            self.start(now, endpoint);
            self.packet(now, entry, way);
        });
    }

    fn packet(&mut self, now: Instant, entry: Entry<'_>, way: Way) {
        let schema = self.file.schema;
        let (space, packet_type) = match entry.packet_type {
            PacketType::Initial => (0, "initial"),
            PacketType::Handshake => (1, "handshake"),
            PacketType::OneRtt => (2, "1RTT"),
        };
        let index = way as usize;
        // TACK has one number space.
        let space = if matches!(entry.frames, Frames::Tack(_)) { 2 } else { space };
        let numbered = entry.number.expand(self.largest[index][space]);
        let mut extra = None;
        let (number, frames) = match entry.frames {
            Frames::Quic(frames) => (numbered, frames.iter().map(|frame| frames::quic(schema, frame)).collect()),
            Frames::Tack(frames) => {
                let acknowledged = self.largest[1 - index][space].unwrap_or(0);
                (numbered, self.tack.frames(schema, frames, index, acknowledged))
            }
            Frames::Tcp(segment) => {
                let (number, frames, header) = self.segments.describe(schema, segment, index);
                extra = Some(("tcp", header));
                (Some(number), frames)
            }
        };
        let largest = &mut self.largest[index][space];
        *largest = (*largest).max(number);
        let mut data = json!({
            "header": { "packet_type": packet_type, "packet_number": number },
            "raw": { "length": entry.length },
            "frames": Value::Array(frames),
        });
        if let Some((name, value)) = extra {
            data[name] = value;
        }
        let kind = match way {
            Way::Sent => Kind::PacketSent,
            Way::Received => Kind::PacketReceived,
        };
        self.file.event(now, kind, &data);
        if self.segments.are_finished(self.directions) {
            self.close(now, Closing::Application, None);
        }
    }

    /// Records a decision of the ACK policy. A decision to delay the ACK has no reason.
    fn decision(&mut self, now: Instant, when: AckTime, reason: usize, unacknowledged: u64) {
        let mut data = json!({ "decision": when.name(), "unacknowledged_packets": unacknowledged });
        if let AckTime::In(delay) = when {
            data["delay"] = ms(delay.as_nanos()).into();
        }
        if when != AckTime::Hold
            && let Some(name) = self.reasons.get(reason)
        {
            data["reason"] = name.as_str().into();
        }
        self.file.event(now, Kind::AckDecided, &data);
    }

    fn close(&mut self, now: Instant, reason: Closing, code: Option<u64>) {
        if std::mem::replace(&mut self.is_closed, true) {
            return;
        }
        let schema = self.file.schema;
        let trigger = match (reason, schema, code) {
            (Closing::Application, Schema::V03, None | Some(0)) => "clean",
            (Closing::Application, ..) => "application",
            (Closing::ProtocolViolation, ..) => "error",
            (Closing::IdleTimeout, ..) => "idle_timeout",
            (Closing::Reset, ..) => "stateless_reset",
        };
        let mut data = json!({ "trigger": trigger });
        if let Some(code) = code {
            match (schema, reason) {
                (Schema::V03, Closing::ProtocolViolation) => data["connection_code"] = code.into(),
                (Schema::V03, Closing::Application) => data["application_code"] = code.into(),
                (Schema::Draft13, Closing::ProtocolViolation | Closing::Application) => {
                    let error = if reason == Closing::Application { "application_error" } else { "connection_error" };
                    (data[error], data["error_code"]) = ("unknown".into(), code.into());
                }
                (_, Closing::IdleTimeout | Closing::Reset) => {}
            }
        }
        self.file.event(now, Kind::ConnectionClosed, &data);
    }
}
