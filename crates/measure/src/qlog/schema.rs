//! The versions of qlog that can be written. One table lists their differences.

use serde_json::{Value, json};
use std::str::FromStr;

/// The schema of events and frames that only acklab defines. Their namespace is `acklab`.
const OWN_EVENTS: &str = "urn:acklab:qlog:events:acklab";

/// A version of qlog.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schema {
    /// Version 0.3: draft-ietf-quic-qlog-main-schema-02 with draft-ietf-quic-qlog-quic-events-01.
    /// qvis can load it.
    #[default]
    V03,
    /// draft-ietf-quic-qlog-main-schema-13 with draft-ietf-quic-qlog-quic-events-12.
    Draft13,
}

/// An event whose name depends on the version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    ConnectionStarted,
    ConnectionClosed,
    ParametersSet,
    PacketSent,
    PacketReceived,
    PacketLost,
    RecoveryParametersSet,
    MetricsUpdated,
    CongestionStateUpdated,
    TimerUpdated,
    MtuUpdated,
    AckDecided,
}

impl Schema {
    /// All versions.
    pub const ALL: [Self; 2] = [Self::V03, Self::Draft13];

    /// Returns the name with which a user selects the version.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V03 => "0.3",
            Self::Draft13 => "draft-13",
        }
    }

    pub(super) const fn event(self, kind: Kind) -> &'static str {
        let [old, new] = match kind {
            Kind::ConnectionStarted => ["connectivity:connection_started", "quic:connection_started"],
            Kind::ConnectionClosed => ["connectivity:connection_closed", "quic:connection_closed"],
            Kind::ParametersSet => ["transport:parameters_set", "quic:parameters_set"],
            Kind::PacketSent => ["transport:packet_sent", "quic:packet_sent"],
            Kind::PacketReceived => ["transport:packet_received", "quic:packet_received"],
            Kind::PacketLost => ["recovery:packet_lost", "quic:packet_lost"],
            Kind::RecoveryParametersSet => ["recovery:parameters_set", "quic:recovery_parameters_set"],
            Kind::MetricsUpdated => ["recovery:metrics_updated", "quic:recovery_metrics_updated"],
            Kind::CongestionStateUpdated => ["recovery:congestion_state_updated", "quic:congestion_state_updated"],
            Kind::TimerUpdated => ["recovery:loss_timer_updated", "quic:timer_updated"],
            Kind::MtuUpdated => ["connectivity:mtu_updated", "quic:mtu_updated"],
            Kind::AckDecided => ["acklab:ack_decided", "acklab:ack_decided"],
        };
        match self {
            Self::V03 => old,
            Self::Draft13 => new,
        }
    }

    /// Returns the first record of a file. Times are relative to the start of the run, which is
    /// 1970-01-01T00:00:00Z, as in captures.
    pub(super) fn header(self, info: &TraceInfo<'_>) -> Value {
        let vantage_point = json!({ "name": info.node, "type": info.vantage_point.name() });
        match self {
            Self::V03 => json!({
                "qlog_version": "0.3",
                "qlog_format": "JSON-SEQ",
                "title": info.title,
                "description": info.description,
                "trace": {
                    "title": info.title,
                    "description": info.description,
                    "vantage_point": vantage_point,
                    "common_fields": {
                        "time_format": "relative",
                        "reference_time": 0,
                        "protocol_type": [info.protocol],
                    },
                },
            }),
            Self::Draft13 => json!({
                "file_schema": "urn:ietf:params:qlog:file:sequential",
                "serialization_format": "application/qlog+json-seq",
                "title": info.title,
                "description": info.description,
                "trace": {
                    "title": info.title,
                    "description": info.description,
                    "vantage_point": vantage_point,
                    "event_schemas": ["urn:ietf:params:qlog:events:quic-12", OWN_EVENTS],
                    "common_fields": {
                        "time_format": "relative_to_epoch",
                        "reference_time": { "clock_type": "system", "epoch": "1970-01-01T00:00:00.000Z" },
                        "protocol_types": info.protocol_types(),
                    },
                },
            }),
        }
    }

    /// Adds the length of the payload of a frame.
    pub(super) fn with_length(self, mut frame: Value, octets: u64) -> Value {
        match self {
            Self::V03 => frame["length"] = octets.into(),
            Self::Draft13 => frame["raw"] = json!({ "payload_length": octets }),
        }
        frame
    }
}

impl FromStr for Schema {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|schema| schema.name() == name);
        known.ok_or_else(|| {
            let names = Self::ALL.map(|schema| format!("\"{}\"", schema.name())).join(" or ");
            format!("found the qlog version \"{name}\", expected {names}")
        })
    }
}

/// The end of a connection whose log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VantagePoint {
    /// The end that opens the connection.
    Client,
    /// The other end.
    Server,
}

impl VantagePoint {
    /// Returns the name in qlog and in the name of the file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// The content of a file's header.
#[derive(Clone, Copy, Debug)]
pub struct TraceInfo<'a> {
    /// The title of the trace.
    pub title: &'a str,
    /// Transport, preset, controller and policy.
    pub description: &'a str,
    /// The name of the transport.
    pub protocol: &'a str,
    /// The node at which this end is.
    pub node: &'a str,
    /// The end that writes the log.
    pub vantage_point: VantagePoint,
    /// The number of directions that carry data: one or two.
    pub directions: usize,
}

impl TraceInfo<'_> {
    /// Returns the names of the protocols. Events of QUIC require that QUIC is one of them.
    fn protocol_types(&self) -> Vec<&str> {
        if self.protocol == "quic" { vec!["QUIC"] } else { vec!["QUIC", self.protocol] }
    }
}
