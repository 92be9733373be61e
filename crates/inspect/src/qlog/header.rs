//! The header of a trace, which precedes its events.

use super::scalar::Scalar;
use super::times::{Format, Times};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The maximum length of a title or an ID.
const MAX_TEXT: usize = 64;

/// The trace of a log from which a connection was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The number of its trace in the file, from 1.
    pub trace: usize,
    /// Where the trace was taken: `client`, `server`, `network` or `unknown`.
    pub vantage_point: String,
    /// The title of the trace or of the file, or the name of the vantage point.
    pub title: Option<String>,
    /// The connection ID by which the log names the connection.
    pub connection_id: Option<String>,
    /// Further properties of the endpoint in the log.
    pub description: Option<String>,
    /// The transport protocol that the log names.
    pub protocol: Option<String>,
}

/// The header of a trace, which precedes its events.
#[derive(Clone, Debug, Default)]
pub(super) struct Header {
    pub(super) version: Option<String>,
    title: Option<String>,
    description: Option<String>,
    /// The first value of `protocol_type`.
    protocol: Option<String>,
    /// A connection ID that replaces the description, as in logs of picoquic.
    described_id: Option<String>,
    vantage_point: Option<String>,
    name: Option<String>,
    /// In a log of a network, the end whose packets are logged as sent.
    flow: Option<String>,
    format: Option<Format>,
    unit: Option<String>,
    reference: Option<f64>,
    pub(super) group: Option<String>,
    /// The names of the items of an event that is a list (drafts -00 and -01).
    pub(super) event_fields: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct VantagePoint<'a> {
    #[serde(borrow)]
    name: Scalar<'a>,
    #[serde(borrow)]
    r#type: Scalar<'a>,
    #[serde(borrow)]
    flow: Scalar<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CommonFields<'a> {
    #[serde(borrow)]
    time_format: Scalar<'a>,
    #[serde(borrow)]
    time_units: Scalar<'a>,
    #[serde(borrow)]
    reference_time: Scalar<'a>,
    #[serde(borrow)]
    group_id: Scalar<'a>,
    #[serde(borrow, rename = "ODCID")]
    original: Scalar<'a>,
    #[serde(borrow)]
    odcid: Scalar<'a>,
    #[serde(borrow)]
    dcid: Scalar<'a>,
    #[serde(borrow)]
    protocol_type: Option<&'a RawValue>,
}

impl Header {
    /// Reads a field of the file or of a trace. Skips a field of unknown name or form.
    pub(super) fn set(&mut self, name: &str, value: &RawValue) {
        let value = value.get();
        let text = || serde_json::from_str::<Scalar>(value).ok().and_then(|scalar| Some(scalar.text()?.into_owned()));
        match name {
            "qlog_version" => self.version = text().or_else(|| self.version.take()),
            // The current drafts have a schema instead of a version, and some stacks write both.
            "file_schema" => self.version = self.version.take().or_else(text),
            "title" => self.title = text().or_else(|| self.title.take()),
            "description" => {
                let is_id = |text: &String| text.len() >= 2 && text.bytes().all(|octet| octet.is_ascii_hexdigit());
                self.described_id = text().filter(is_id).or_else(|| self.described_id.take());
                self.description = text().filter(|text| !is_id(text)).or_else(|| self.description.take());
            }
            "vantage_point" | "vantagepoint" => self.vantage_point(value, text()),
            "common_fields" => self.common_fields(value),
            "configuration" => {
                if let Ok(fields) = serde_json::from_str::<CommonFields>(value) {
                    self.unit = owned(&fields.time_units).or_else(|| self.unit.take());
                }
            }
            // The name before draft-00 was `fields`.
            "event_fields" | "fields" => {
                let names: Vec<Scalar> = serde_json::from_str(value).unwrap_or_default();
                let name = |scalar: &Scalar| scalar.text().unwrap_or_default().to_ascii_lowercase();
                self.event_fields = names.iter().map(name).collect();
            }
            _ => {}
        }
    }

    fn vantage_point(&mut self, value: &str, name: Option<String>) {
        let fields = serde_json::from_str::<VantagePoint>(value).unwrap_or_default();
        let lower = |text: String| text.to_ascii_lowercase();
        self.vantage_point = name.or_else(|| owned(&fields.r#type)).map(lower);
        self.flow = owned(&fields.flow).map(lower);
        self.name = owned(&fields.name);
    }

    fn common_fields(&mut self, value: &str) {
        let Ok(fields) = serde_json::from_str::<CommonFields>(value) else { return };
        self.format = fields.time_format.text().and_then(|name| Format::of_name(&name)).or(self.format);
        self.unit = owned(&fields.time_units).or_else(|| self.unit.take());
        self.reference = fields.reference_time.real().or(self.reference);
        let ids = [&fields.group_id, &fields.original, &fields.odcid, &fields.dcid];
        self.group = ids.into_iter().find_map(owned).or_else(|| self.group.take());
        // The value is a list in the current drafts, and text in earlier ones.
        let named = fields.protocol_type.and_then(|value| {
            let list =
                serde_json::from_str::<Vec<Scalar>>(value.get()).ok().and_then(|list| list.first().and_then(owned));
            list.or_else(|| owned(&serde_json::from_str::<Scalar>(value.get()).ok()?))
        });
        self.protocol = named.or_else(|| self.protocol.take());
    }

    /// Returns the header of a trace in a file with the header `file`, whose fields apply if the
    /// trace lacks them.
    pub(super) fn within(self, file: &Self) -> Self {
        let file = file.clone();
        Self {
            version: self.version.or(file.version),
            title: self.title.or(file.title),
            description: self.description.or(file.description),
            protocol: self.protocol.or(file.protocol),
            described_id: self.described_id.or(file.described_id),
            vantage_point: self.vantage_point.or(file.vantage_point),
            name: self.name.or(file.name),
            flow: self.flow.or(file.flow),
            format: self.format.or(file.format),
            unit: self.unit.or(file.unit),
            reference: self.reference.or(file.reference),
            group: self.group.or(file.group),
            event_fields: if self.event_fields.is_empty() { file.event_fields } else { self.event_fields },
        }
    }

    /// Returns the time line of the trace.
    pub(super) fn times(&self) -> Times {
        let of_field = || self.event_fields.iter().find_map(|name| Format::of_name(name));
        Times::new(self.format.or_else(of_field).unwrap_or_default(), self.unit.as_deref(), self.reference)
    }

    /// Returns the origin of the connection with the ID `group` in the trace `number`.
    pub(super) fn source(&self, number: usize, group: Option<&str>) -> Source {
        Source {
            trace: number,
            vantage_point: printable(self.vantage_point.as_deref().unwrap_or("unknown")),
            title: self.title.as_deref().or(self.name.as_deref()).map(printable),
            connection_id: group.or(self.described_id.as_deref()).map(printable),
            description: self.description.as_deref().map(printable),
            protocol: self.protocol.as_deref().map(printable),
        }
    }

    /// Returns `true` if an end of the connection wrote the log, `false` if an observer between the
    /// ends did.
    pub(super) fn is_of_end(&self) -> bool {
        self.vantage_point.as_deref() != Some("network")
    }

    /// Returns the names of the ends. The first is the one whose packets are logged as sent.
    pub(super) fn ends(&self) -> [String; 2] {
        let end = if self.is_of_end() { &self.vantage_point } else { &self.flow };
        match end.as_deref() {
            Some("client") => ["client", "server"],
            Some("server") => ["server", "client"],
            _ => ["endpoint", "peer"],
        }
        .map(str::to_owned)
    }
}

/// Returns the text without control characters, truncated to the length of a heading.
fn printable(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(MAX_TEXT).collect()
}

fn owned(scalar: &Scalar) -> Option<String> {
    Some(scalar.text()?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(fields: &[(&str, &str)]) -> Header {
        let mut header = Header::default();
        for (name, value) in fields {
            header.set(name, &RawValue::from_string((*value).to_owned()).unwrap());
        }
        header
    }

    /// The header of picoquic: draft-00, with microseconds.
    #[test]
    fn a_header_of_draft_00_has_units_and_fields() {
        let header = header(&[
            ("qlog_version", "\"draft-00\""),
            ("vantage_point", r#"{"name": "backend-67", "type": "server"}"#),
            ("event_fields", r#"["relative_time", "CATEGORY", "event", "data"]"#),
            ("configuration", r#"{"time_units": "us"}"#),
            ("common_fields", r#"{"protocol_type": "QUIC_HTTP3", "reference_time": "11001"}"#),
        ]);
        assert_eq!(header.ends(), ["server", "client"]);
        assert_eq!(header.event_fields[1], "category");
        assert_eq!(header.times().at(3.0), 11_004_000);
    }

    #[test]
    fn an_observer_names_the_end_that_sends() {
        let header = header(&[("vantage_point", r#"{"type": "NETWORK", "flow": "client"}"#)]);
        assert!(!header.is_of_end());
        assert_eq!(header.ends(), ["client", "server"]);
    }

    #[test]
    fn fields_of_unknown_shape_change_nothing() {
        let header = header(&[
            ("vantage_point", "7"),
            ("common_fields", "[]"),
            ("configuration", "null"),
            ("event_fields", "{}"),
            ("title", "{}"),
        ]);
        assert_eq!(header.ends(), ["endpoint", "peer"]);
        assert_eq!(header.times().at(2.0), 2_000_000);
    }

    #[test]
    fn the_reference_of_the_current_draft_is_an_object() {
        let header = header(&[(
            "common_fields",
            r#"{"time_format": "relative_to_epoch", "reference_time": {"clock_type": "monotonic", "epoch": "unknown"}, "group_id": "ab"}"#,
        )]);
        assert_eq!(header.times().at(2.0), 2_000_000);
        assert_eq!(header.source(2, header.group.as_deref()).connection_id.as_deref(), Some("ab"));
    }
}
