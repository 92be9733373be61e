//! A packet and its frames, in the terms of all drafts.

use super::scalar::Scalar;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The largest size that is counted, so that sums do not overflow. No datagram has more than 65,527
/// octets.
const MAX_SIZE: u64 = u32::MAX as u64;

/// The data of an event that sends, receives or loses a packet.
#[derive(Clone, Debug, Default)]
pub(super) struct Packet {
    /// `None` for packets without a number: Retry, Version Negotiation, and unreadable packets.
    pub(super) number: Option<u64>,
    /// `true` for a packet of the handshake, whose numbers belong to another space (RFC 9000,
    /// §12.3), and for a packet without a number.
    pub(super) is_early: bool,
    /// Octets of the packet, if the log contains them.
    pub(super) size: Option<u64>,
    /// Octets of streams and of datagrams of the application.
    pub(super) payload: u64,
    /// Ranges of numbers that the packet acknowledges, with their path. Both ends are included.
    pub(super) acknowledges: Option<Vec<(u64, u64, u64)>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Data<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    header: PacketHeader<'a>,
    #[serde(borrow)]
    packet_type: Scalar<'a>,
    #[serde(borrow)]
    packet_number: Scalar<'a>,
    #[serde(borrow)]
    packet_size: Scalar<'a>,
    #[serde(borrow)]
    raw: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "or_default")]
    frames: Vec<Frame<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PacketHeader<'a> {
    #[serde(borrow)]
    packet_type: Scalar<'a>,
    /// The field before draft-00.
    #[serde(borrow)]
    r#type: Scalar<'a>,
    #[serde(borrow)]
    packet_number: Scalar<'a>,
    #[serde(borrow)]
    packet_size: Scalar<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Raw<'a> {
    #[serde(borrow)]
    length: Scalar<'a>,
    #[serde(borrow)]
    payload_length: Scalar<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Frame<'a> {
    #[serde(borrow)]
    frame_type: Scalar<'a>,
    /// The field before draft-00.
    #[serde(borrow)]
    r#type: Scalar<'a>,
    #[serde(borrow)]
    length: Scalar<'a>,
    /// The field in OpenSSL, whose `length` is that of the whole frame.
    #[serde(borrow)]
    payload_length: Scalar<'a>,
    #[serde(borrow)]
    raw: Option<&'a RawValue>,
    #[serde(deserialize_with = "or_default")]
    acked_ranges: Vec<Range>,
    #[serde(borrow)]
    path_id: Scalar<'a>,
}

/// A range of an ACK frame, including both ends: two numbers or one
/// (draft-ietf-quic-qlog-quic-events, "AckFrame"), in a list or alone.
struct Range {
    first: u64,
    last: u64,
}

impl<'de> Deserialize<'de> for Range {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = <&RawValue>::deserialize(deserializer)?.get();
        let ends = match value.strip_prefix('[') {
            Some(_) => serde_json::from_str::<Vec<Scalar<'_>>>(value),
            None => serde_json::from_str(value).map(|number| vec![number]),
        };
        let ends = ends.map_err(D::Error::custom)?;
        let end = |scalar: Option<&Scalar<'_>>| scalar.and_then(Scalar::count);
        let (Some(one), Some(other)) = (end(ends.first()), end(ends.last())) else {
            return Err(D::Error::custom("found no numbers, expected a range"));
        };
        Ok(Self { first: one.min(other), last: one.max(other) })
    }
}

/// Deserialises a value, with `null` as the default.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl Raw<'_> {
    /// Reads `raw`. A value that is not an object, such as the octets themselves, has no lengths.
    fn read(value: Option<&RawValue>) -> Raw<'_> {
        value.and_then(|value| serde_json::from_str(value.get()).ok()).unwrap_or_default()
    }
}

impl Frame<'_> {
    fn name(&self) -> Cow<'_, str> {
        self.frame_type.text().or_else(|| self.r#type.text()).unwrap_or_default()
    }

    /// Returns the number of octets of a stream, or of a datagram of an application.
    fn payload(&self) -> u64 {
        if !["stream", "datagram"].iter().any(|name| self.name().eq_ignore_ascii_case(name)) {
            return 0;
        }
        let raw = Raw::read(self.raw);
        let lengths = [&self.payload_length, &raw.payload_length, &self.length, &raw.length];
        lengths.into_iter().find_map(Scalar::count).unwrap_or(0)
    }
}

impl Packet {
    /// Reads the data of an event.
    ///
    /// # Errors
    /// If a required field is missing or has an unknown form.
    pub(super) fn read(data: &str) -> serde_json::Result<Self> {
        let Data { header, packet_type, packet_number, packet_size, raw, frames } = serde_json::from_str(data)?;
        let kinds = [&header.packet_type, &packet_type, &header.r#type];
        let kind = kinds.into_iter().find_map(Scalar::text).unwrap_or_default().to_ascii_lowercase();
        let has_number = !["retry", "version", "stateless"].iter().any(|name| kind.starts_with(name));
        let is_early = !has_number || ["initial", "handshake"].contains(&kind.as_str());
        let number = [&header.packet_number, &packet_number].into_iter().find_map(Scalar::count).filter(|_| has_number);
        if number.is_none() && !is_early {
            return Err(serde_json::Error::custom("found no packet number, expected one"));
        }
        let mut acknowledges = None;
        for frame in frames.iter().filter(|frame| is_ack(&frame.name())) {
            let path = frame.path_id.count().unwrap_or(0);
            for range in &frame.acked_ranges {
                acknowledges.get_or_insert_with(Vec::new).push((path, range.first, range.last));
            }
        }
        let raw = Raw::read(raw);
        let sizes = [&raw.length, &header.packet_size, &packet_size];
        let size = sizes.into_iter().find_map(Scalar::count);
        Ok(Self {
            number,
            is_early,
            size: size.map(|size| size.min(MAX_SIZE)),
            payload: frames.iter().map(Frame::payload).fold(0, u64::saturating_add).min(MAX_SIZE),
            acknowledges,
        })
    }
}

/// Returns `true` for ACK frames, including those of several paths (`path_ack`,
/// draft-ietf-quic-multipath) and of extensions (`ack_ecn`, `ack_extended`).
fn is_ack(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    (name.starts_with("ack") || name.starts_with("path_ack") || name.starts_with("mp_ack")) && name != "ack_frequency"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(data: &str) -> Packet {
        Packet::read(data).unwrap()
    }

    /// The same packet as each draft writes it.
    #[test]
    fn drafts_differ_and_packets_do_not() {
        let drafts = [
            r#"{"packet_type": "1RTT", "header": {"packet_number": "7", "packet_size": 1252}, "frames": [{"frame_type": "STREAM", "length": "1200"}, {"frame_type": "ack", "acked_ranges": [["3", "5"]]}]}"#,
            r#"{"header": {"packet_type": "1RTT", "packet_number": 7}, "raw": {"length": 1252}, "frames": [{"frame_type": "stream", "length": 1200}, {"frame_type": "ack", "acked_ranges": [[3, 5]]}]}"#,
            r#"{"header": {"packet_type": "1RTT", "packet_number": 7}, "raw": {"length": 1252, "payload_length": 1230}, "frames": [{"frame_type": "stream", "raw": {"length": 1210, "payload_length": 1200}}, {"frame_type": "ack", "acked_ranges": [[3, 5]]}]}"#,
            r#"{"packet_type": "1RTT", "packet_number": 7, "packet_size": "1252", "frames": [{"frame_type": "stream", "payload_length": 1200, "length": 1210}, {"frame_type": "ack", "acked_ranges": [[5, 3]]}]}"#,
        ];
        for draft in drafts {
            let packet = read(draft);
            assert_eq!((packet.number, packet.size, packet.payload), (Some(7), Some(1252), 1200), "{draft}");
            assert_eq!(packet.acknowledges, Some(vec![(0, 3, 5)]), "{draft}");
            assert!(!packet.is_early, "{draft}");
        }
    }

    #[test]
    fn a_single_number_is_a_range() {
        let packet = read(r#"{"packet_number": 1, "frames": [{"frame_type": "ack", "acked_ranges": [[4], 6, "8"]}]}"#);
        assert_eq!(packet.acknowledges, Some(vec![(0, 4, 4), (0, 6, 6), (0, 8, 8)]));
    }

    #[test]
    fn frames_may_be_null_and_raw_a_list() {
        let packet =
            read(r#"{"header": {"packet_type": "1RTT", "packet_number": 1}, "raw": [{"length": 5}], "frames": null}"#);
        assert_eq!((packet.number, packet.size, packet.payload), (Some(1), None, 0));
    }

    #[test]
    fn packets_of_the_handshake_need_no_number() {
        for kind in ["initial", "Handshake", "retry", "version_negotiation", "stateless_reset"] {
            assert!(
                read(&format!(r#"{{"header": {{"packet_type": "{kind}", "packet_number": ""}}}}"#)).is_early,
                "{kind}"
            );
        }
        assert!(!read(r#"{"packet_type": "0RTT", "packet_number": 1}"#).is_early);
    }

    #[test]
    fn unknown_shapes_are_refused() {
        for data in [
            "[]",
            "7",
            "{}",
            r#"{"header": "x", "packet_number": 1}"#,
            r#"{"packet_number": 1, "frames": "stream"}"#,
            r#"{"packet_number": 1, "frames": ["stream"]}"#,
            r#"{"packet_number": 1, "frames": [{"frame_type": "ack", "acked_ranges": [[]]}]}"#,
            r#"{"packet_number": 1, "frames": [{"frame_type": "ack", "acked_ranges": [{"first": 1}]}]}"#,
        ] {
            assert!(Packet::read(data).is_err(), "{data}");
        }
    }
}
