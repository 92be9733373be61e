//! The forms in which stacks write the same events. Each is modelled on one stack.

use serde_json::{Value, json};

/// The action that an event logs.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Sent(Packet),
    Received(Packet),
    /// The packet with this number is declared lost.
    Lost(u64),
    /// An event that the reader does not use. One reader took it for an unknown form, because `raw`
    /// is a list.
    Datagram(u64),
}

/// A packet.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub(crate) number: u64,
    pub(crate) payload: u64,
    pub(crate) acknowledges: Vec<(u64, u64)>,
}

/// An event, at a time in microseconds.
pub(crate) type Event = (u64, Action);

/// Octets around the payload of a packet.
const OVERHEAD: u64 = 30;
/// The reference time of a trace, in microseconds.
const REFERENCE: u64 = 1_700_000_000_000_000;
/// The connection ID.
pub(crate) const GROUP: &str = "c36a59ce50";

/// A writer of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// picoquic: draft-00, contained, lists, microseconds.
    Picoquic,
    /// The converter of quic-trace: draft-00, contained, lists with triggers, capital letters,
    /// numbers as texts.
    QuicTrace,
    /// quiche in 2020: draft-02-wip, contained, lists, milliseconds, most numbers as texts.
    QuicheLists,
    /// Haskell's quic and h2o's quicly: draft-02, NDJSON, no sizes of packets.
    Haskell,
    /// aioquic: 0.3, contained, objects, absolute times, `events` before the fields that describe
    /// them.
    Aioquic,
    /// quic-go and ngtcp2: 0.3, JSON-SEQ, relative times.
    QuicGo,
    /// OpenSSL: 0.3, JSON-SEQ, the time after the data, time differences, lengths of frames
    /// including their headers.
    OpenSsl,
    /// mvfst: the current draft, contained, an object as reference time.
    Mvfst,
    /// quiche and quinn: the current draft, JSON-SEQ, namespaces.
    Quiche,
}

/// All forms.
pub(crate) const FORMS: [Form; 9] = [
    Form::Picoquic,
    Form::QuicTrace,
    Form::QuicheLists,
    Form::Haskell,
    Form::Aioquic,
    Form::QuicGo,
    Form::OpenSsl,
    Form::Mvfst,
    Form::Quiche,
];

impl Form {
    /// Returns the text of a client's log with these events.
    pub(crate) fn write(self, events: &[Event]) -> String {
        let mut last = None;
        let events: Vec<Value> = events
            .iter()
            .map(|(at, what)| {
                let since = at - last.replace(*at).unwrap_or(0);
                self.event(*at, since, what)
            })
            .collect();
        match self {
            Self::Picoquic | Self::QuicTrace | Self::QuicheLists | Self::Aioquic | Self::Mvfst => {
                let mut trace = json!({ "events": events });
                let fields = self.trace();
                trace.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
                let mut file = json!({ "traces": [trace] });
                file.as_object_mut().unwrap().extend(self.file().as_object().unwrap().clone());
                if self == Self::Mvfst { serde_json::to_string_pretty(&file).unwrap() } else { file.to_string() }
            }
            Self::Haskell | Self::QuicGo | Self::OpenSsl | Self::Quiche => {
                let mut file = self.file();
                file.as_object_mut().unwrap().insert("trace".to_owned(), self.trace());
                let separator = if self == Self::Haskell { "" } else { "\u{1e}" };
                [file].iter().chain(&events).map(|record| format!("{separator}{record}\n")).collect()
            }
        }
    }

    fn file(self) -> Value {
        match self {
            Self::Picoquic => json!({ "qlog_version": "draft-00", "title": "picoquic" }),
            Self::QuicTrace => json!({ "qlog_version": "draft-00", "summary": { "trace_count": 1 } }),
            Self::QuicheLists => json!({ "qlog_version": "draft-02-wip", "title": "quiche-server qlog" }),
            Self::Haskell => {
                json!({ "qlog_format": "NDJSON", "qlog_version": "draft-02", "title": "Haskell quic qlog" })
            }
            Self::Aioquic => json!({ "qlog_format": "JSON", "qlog_version": "0.3" }),
            Self::QuicGo | Self::OpenSsl => json!({ "qlog_format": "JSON-SEQ", "qlog_version": "0.3" }),
            Self::Mvfst => json!({
                "file_schema": "urn:ietf:params:qlog:file:contained",
                "serialization_format": "application/qlog+json",
            }),
            Self::Quiche => json!({
                "file_schema": "urn:ietf:params:qlog:file:sequential",
                "serialization_format": "JSON-SEQ",
                "title": "quiche-server qlog",
            }),
        }
    }

    fn trace(self) -> Value {
        let client = json!({ "type": if self == Self::QuicTrace { "CLIENT" } else { "client" } });
        let fields = ["relative_time", "category", "event", "data"];
        match self {
            Self::Picoquic => json!({
                "vantage_point": client,
                "description": GROUP,
                "event_fields": fields,
                "configuration": { "time_units": "us" },
                "common_fields": { "protocol_type": "QUIC_HTTP3", "reference_time": REFERENCE.to_string() },
            }),
            Self::QuicTrace => json!({
                "event_fields": ["relative_time", "CATEGORY", "EVENT_TYPE", "TRIGGER", "DATA"],
                "configuration": { "time_offset": 0, "time_units": "us" },
                "common_fields": { "reference_time": REFERENCE, "group_id": GROUP },
                "vantage_point": client,
            }),
            Self::QuicheLists => json!({
                "vantage_point": client,
                "configuration": { "time_units": "ms", "time_offset": "0" },
                "common_fields": { "reference_time": ms(REFERENCE).to_string(), "group_id": GROUP },
                "event_fields": fields,
            }),
            Self::Aioquic => json!({ "common_fields": { "ODCID": GROUP }, "vantage_point": client }),
            Self::OpenSsl => json!({
                "common_fields": { "time_format": "delta", "protocol_type": ["QUIC"], "group_id": GROUP },
                "vantage_point": client,
            }),
            Self::Haskell | Self::QuicGo => json!({
                "vantage_point": client,
                "common_fields": { "group_id": GROUP, "time_format": "relative", "reference_time": ms(REFERENCE) },
            }),
            Self::Mvfst | Self::Quiche => json!({
                "common_fields": {
                    "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
                    "time_format": "relative_to_epoch",
                    "group_id": GROUP,
                },
                "vantage_point": client,
                "event_schemas": ["urn:ietf:params:qlog:events:quic-12"],
            }),
        }
    }

    fn event(self, at: u64, since: u64, what: &Action) -> Value {
        let (name, data) = match what {
            Action::Sent(packet) => ("transport:packet_sent", self.packet(packet)),
            Action::Received(packet) => ("transport:packet_received", self.packet(packet)),
            Action::Lost(number) => ("recovery:packet_lost", self.lost(*number)),
            Action::Datagram(length) => (
                "transport:datagrams_sent",
                json!({ "count": 1, "raw": [{ "length": length + 8, "payload_length": length }] }),
            ),
        };
        let (category, event) = name.split_once(':').unwrap();
        match self {
            Self::Picoquic => json!([at, category, event, data]),
            Self::QuicTrace => json!([at.to_string(), category.to_uppercase(), event.to_uppercase(), "DEFAULT", data]),
            Self::QuicheLists => json!([ms(at).to_string(), category, event, data]),
            Self::Aioquic => json!({ "data": data, "name": name, "time": ms(REFERENCE + at) }),
            Self::Haskell | Self::QuicGo => json!({ "time": ms(at), "name": name, "data": data }),
            Self::OpenSsl => json!({ "name": name, "data": data, "time": ms(since) }),
            Self::Mvfst | Self::Quiche => json!({ "time": ms(at), "name": format!("quic:{event}"), "data": data }),
        }
    }

    fn packet(self, packet: &Packet) -> Value {
        let mut frames = vec![json!({ "frame_type": "max_data", "maximum": 9 })];
        if packet.payload > 0 {
            frames.push(self.stream(packet.payload));
        }
        if !packet.acknowledges.is_empty() {
            frames.push(self.ack(&packet.acknowledges));
        }
        let (number, size) = (packet.number, packet.payload + OVERHEAD);
        match self {
            Self::Picoquic => json!({
                "packet_type": "1RTT",
                "header": { "packet_size": size, "packet_number": number, "dcid": "01" },
                "frames": frames,
            }),
            Self::QuicTrace | Self::QuicheLists => json!({
                "packet_type": "1RTT",
                "header": { "packet_number": number.to_string(), "packet_size": size },
                "frames": frames,
            }),
            // The log has no sizes, so the packet counts as large as its payload.
            Self::Haskell => json!({
                "header": { "packet_type": "1RTT", "packet_number": number.to_string(), "dcid": "01" },
                "frames": frames,
            }),
            _ => json!({
                "header": { "packet_type": "1RTT", "packet_number": number },
                "raw": { "length": size, "payload_length": size - 10 },
                "frames": frames,
            }),
        }
    }

    fn stream(self, length: u64) -> Value {
        match self {
            Self::QuicTrace => {
                json!({ "frame_type": "STREAM", "id": "3", "fin": false, "length": length, "offset": 0 })
            }
            Self::QuicheLists => {
                json!({ "frame_type": "stream", "stream_id": "4", "offset": "0", "length": length.to_string() })
            }
            Self::OpenSsl => json!({ "frame_type": "stream", "payload_length": length, "length": length + 7 }),
            Self::Mvfst => json!({ "frame_type": "stream", "stream_id": "0", "raw": { "length": length } }),
            Self::Quiche => {
                json!({ "frame_type": "stream", "stream_id": 0, "raw": { "length": length + 7, "payload_length": length } })
            }
            _ => json!({ "frame_type": "stream", "stream_id": 0, "length": length, "fin": false }),
        }
    }

    fn ack(self, ranges: &[(u64, u64)]) -> Value {
        let text = |number: u64| json!(number.to_string());
        let ranges: Vec<Value> = ranges
            .iter()
            .map(|&(first, last)| match self {
                Self::QuicTrace => json!([text(first), text(last)]),
                Self::QuicGo | Self::OpenSsl if first == last => json!([first]),
                _ => json!([first, last]),
            })
            .collect();
        json!({ "frame_type": if self == Self::QuicTrace { "ACK" } else { "ack" }, "ack_delay": 0, "acked_ranges": ranges })
    }

    fn lost(self, number: u64) -> Value {
        match self {
            Self::Picoquic | Self::QuicTrace => json!({ "packet_type": "1RTT", "packet_number": number }),
            _ => json!({ "header": { "packet_type": "1RTT", "packet_number": number }, "trigger": "time_threshold" }),
        }
    }
}

fn ms(at: u64) -> f64 {
    at as f64 / 1000.0
}
