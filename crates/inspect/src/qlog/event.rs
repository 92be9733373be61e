//! An event, as an object or as a list.

use super::header::Header;
use super::scalar::Scalar;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The maximum length of a name.
const MAX_NAME: usize = 64;

/// An event whose data are not read yet.
#[derive(Clone, Debug)]
pub(super) struct Event<'a> {
    /// The time in the unit of the trace.
    pub(super) time: Option<f64>,
    /// The name with its category, as in the log.
    pub(super) full_name: String,
    /// The connection that it belongs to, if it names one.
    pub(super) group: Option<Cow<'a, str>>,
    /// The path, if the connection has several. Each path numbers its own packets.
    pub(super) path: u64,
    pub(super) data: Option<&'a RawValue>,
}

/// An event since draft-02, or of a stack that wrote objects before.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Object<'a> {
    #[serde(borrow)]
    time: Scalar<'a>,
    #[serde(borrow)]
    relative_time: Scalar<'a>,
    #[serde(borrow)]
    delta_time: Scalar<'a>,
    #[serde(borrow)]
    name: Scalar<'a>,
    #[serde(borrow)]
    category: Scalar<'a>,
    #[serde(borrow)]
    event: Scalar<'a>,
    #[serde(borrow)]
    event_type: Scalar<'a>,
    #[serde(borrow)]
    r#type: Scalar<'a>,
    #[serde(borrow)]
    group_id: Scalar<'a>,
    #[serde(borrow)]
    path_id: Scalar<'a>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

impl<'a> Event<'a> {
    /// Reads the text of an event. Returns `None` if it has no name, as in the header of a log, or
    /// neither a time nor data.
    ///
    /// # Errors
    /// If it is not JSON, or neither an object nor a list.
    pub(super) fn read(text: &'a str, header: &Header) -> serde_json::Result<Option<Self>> {
        let object =
            if text.trim_start().starts_with('[') { of_list(text, header)? } else { serde_json::from_str(text)? };
        Ok(Self::of(&object))
    }

    fn of(object: &Object<'a>) -> Option<Self> {
        let names = [&object.name, &object.event, &object.event_type, &object.r#type];
        let name = names.into_iter().find_map(Scalar::text)?;
        let times = [&object.time, &object.relative_time, &object.delta_time];
        let time = times.into_iter().find_map(Scalar::real);
        if time.is_none() && object.data.is_none() {
            return None;
        }
        let full_name = match object.category.text() {
            Some(category) => format!("{category}:{name}"),
            None => name.into_owned(),
        };
        Some(Self {
            time,
            full_name: full_name.chars().filter(|letter| !letter.is_control()).take(MAX_NAME).collect(),
            group: object.group_id.text(),
            path: object.path_id.count().unwrap_or(0),
            data: object.data,
        })
    }

    /// Returns the name without its category or namespace, in lower case.
    pub(super) fn name(&self) -> String {
        self.full_name.rsplit(':').next().unwrap_or_default().to_ascii_lowercase()
    }
}

/// Returns an event that is a list, in the order of `event_fields`. If they are missing, or are
/// fewer than the items, the time is the first number, the data are the first object, and category
/// and name are the first texts. All stacks that write lists use this order.
fn of_list<'a>(text: &'a str, header: &Header) -> serde_json::Result<Object<'a>> {
    let items: Vec<&'a RawValue> = serde_json::from_str(text)?;
    let mut object = Object::default();
    let scalar = |item: &'a RawValue| serde_json::from_str::<Scalar<'a>>(item.get()).unwrap_or_default();
    if header.event_fields.len() >= items.len() {
        for (item, name) in items.iter().zip(&header.event_fields) {
            match name.as_str() {
                "time" | "relative_time" | "delta_time" => object.time = scalar(item),
                "category" => object.category = scalar(item),
                "name" | "event" | "event_type" | "type" => object.name = scalar(item),
                "group_id" => object.group_id = scalar(item),
                "path_id" => object.path_id = scalar(item),
                "data" => object.data = Some(item),
                _ => {}
            }
        }
        return Ok(object);
    }
    for item in items {
        match item.get().as_bytes().first() {
            Some(b'{') if object.data.is_none() => object.data = Some(item),
            _ if object.time == Scalar::None => object.time = scalar(item),
            Some(b'"') if object.category == Scalar::None => object.category = scalar(item),
            Some(b'"') if object.name == Scalar::None => object.name = scalar(item),
            _ => {}
        }
    }
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(fields: &str) -> Header {
        let mut header = Header::default();
        header.set("event_fields", &RawValue::from_string(fields.to_owned()).unwrap());
        header
    }

    fn fields_of(text: &str, header: &Header) -> (Option<f64>, String, String, String) {
        let event = Event::read(text, header).unwrap().unwrap();
        let data = event.data.map(|data| data.get().to_owned()).unwrap_or_default();
        (event.time, event.full_name.clone(), event.name(), data)
    }

    #[test]
    fn lists_and_objects_are_the_same() {
        let expected =
            (Some(7.5), "transport:packet_sent".to_owned(), "packet_sent".to_owned(), "{\"a\": 1}".to_owned());
        let none = Header::default();
        assert_eq!(fields_of(r#"{"time": 7.5, "name": "transport:packet_sent", "data": {"a": 1}}"#, &none), expected);
        assert_eq!(
            fields_of(r#"{"data": {"a": 1}, "time": "7.5", "category": "transport", "event": "packet_sent"}"#, &none),
            expected
        );
        let fields = header(r#"["relative_time", "category", "event_type", "trigger", "data"]"#);
        assert_eq!(fields_of(r#"["7.5", "transport", "packet_sent", "line", {"a": 1}]"#, &fields), expected);
        assert_eq!(fields_of(r#"[7.5, "transport", "packet_sent", {"a": 1}]"#, &none), expected);
    }

    #[test]
    fn names_of_draft_00_are_in_capitals() {
        let fields = header(r#"["time", "CATEGORY", "EVENT_TYPE", "DATA"]"#);
        let (_, full, name, _) = fields_of(r#"[1, "TRANSPORT", "PACKET_SENT", {}]"#, &fields);
        assert_eq!((full.as_str(), name.as_str()), ("TRANSPORT:PACKET_SENT", "packet_sent"));
    }

    #[test]
    fn a_header_and_an_empty_list_are_no_events() {
        let none = Header::default();
        assert!(Event::read(r#"{"qlog_version": "0.3", "trace": {}}"#, &none).unwrap().is_none());
        assert!(Event::read("[]", &none).unwrap().is_none());
        assert!(Event::read(r#"{"name": "package", "version": "1.0"}"#, &none).unwrap().is_none());
        assert!(Event::read(r#"{"time": 1, "name":"#, &none).is_err());
        assert!(Event::read("7", &none).is_err());
    }
}
