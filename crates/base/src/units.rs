//! Quantities as text with a unit: `15ms`, `16Mbps`, `1448B`, `20packets`.
//!
//! The number is a decimal with an optional fraction. It is converted exactly, and rejected if the
//! target type cannot represent it exactly.

use crate::{Bytes, Duration, Rate};
use std::fmt;
use std::str::FromStr;

const DURATION: &[(&str, u64)] =
    &[("ns", 1), ("us", 1_000), ("µs", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000), ("min", 60_000_000_000)];
const RATE: &[(&str, u64)] = &[("bps", 1), ("kbps", 1_000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000)];
const BYTES: &[(&str, u64)] = &[
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
const COUNT: &[(&str, u64)] = &[("packets", 1), ("packet", 1)];
const SEGMENTS: &[(&str, u64)] = &[("segments", 1), ("segment", 1)];

/// Text that could not be parsed as a quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    found: String,
    expected: String,
    why: String,
}

impl UnitError {
    /// Returns the expected text.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// Returns the reason why the text does not match.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "found \"{}\", expected {}; {}", self.found, self.expected, self.why)
    }
}

impl std::error::Error for UnitError {}

/// Parses `text` as a number followed by one of `units`. Returns the number times the factor of the
/// unit.
fn parse(text: &str, what: &str, example: &str, units: &[(&str, u64)]) -> Result<u64, UnitError> {
    let refuse = |why: &str| {
        let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
        UnitError {
            found: text.to_owned(),
            expected: format!("{what} such as \"{example}\" (units: {})", names.join(", ")),
            why: why.to_owned(),
        }
    };
    let trimmed = text.trim();
    let split =
        trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-' || c == '+')).unwrap_or(trimmed.len());
    let (number, unit) = (&trimmed[..split], trimmed[split..].trim_start());
    if number.is_empty() {
        return Err(refuse("the number is missing"));
    }
    if number.starts_with('-') {
        return Err(refuse("it must not be negative"));
    }
    if unit.is_empty() {
        return Err(refuse("the unit is missing"));
    }
    let Some((_, factor)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(refuse(&format!("the unit \"{unit}\" is unknown")));
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_decimal = !whole.is_empty()
        && whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit())
        && (number.contains('.') != fraction.is_empty());
    if !is_decimal || fraction.len() > 18 || whole.len() > 20 {
        return Err(refuse("the number is not a plain decimal"));
    }
    let scale = 10u128.pow(fraction.len() as u32);
    let digits: u128 = format!("{whole}{fraction}").parse().map_err(|_| refuse("the number is too large"))?;
    let scaled = digits.checked_mul(u128::from(*factor)).ok_or_else(|| refuse("it is too large"))?;
    if !scaled.is_multiple_of(scale) {
        return Err(refuse("it is finer than the smallest unit"));
    }
    u64::try_from(scaled / scale).map_err(|_| refuse("it is too large"))
}

/// The schema keyword that names the type of a quantity.
pub const QUANTITY: &str = "x-acklab-quantity";

/// Implements serialisation and the JSON Schema of a type with `FromStr` and `Display`, which
/// scenarios write as a string with a unit.
macro_rules! scenario_text {
    ($type:ty, $name:literal, $description:literal, $pattern:expr, $examples:expr) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($description)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "description": $description,
                    "pattern": $pattern,
                    "examples": $examples,
                    QUANTITY: $name,
                })
            }
        }
    };
}

impl FromStr for Duration {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse(text, "a duration", "15ms", DURATION).map(Self::from_nanos)
    }
}

impl FromStr for Rate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let bits = parse(text, "a rate", "16Mbps", RATE)?;
        Self::from_bits_per_second(bits).ok_or_else(|| UnitError {
            found: text.to_owned(),
            expected: "a rate above zero".to_owned(),
            why: "a link with a rate of zero would never send".to_owned(),
        })
    }
}

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse(text, "a size", "1448B", BYTES).map(Self)
    }
}

scenario_text!(
    Duration,
    "Duration",
    "a duration with its unit, such as \"15ms\"",
    r"^\d+(\.\d+)?\s*(ns|us|µs|ms|s|min)$",
    ["15ms", "1.5s", "100us"]
);
scenario_text!(
    Rate,
    "Rate",
    "a rate above zero with its unit, such as \"16Mbps\"",
    r"^\d+(\.\d+)?\s*(bps|kbps|Mbps|Gbps)$",
    ["16Mbps", "866.7Mbps", "1Gbps"]
);
scenario_text!(
    Bytes,
    "Bytes",
    "a size with its unit, such as \"1448B\"",
    r"^\d+(\.\d+)?\s*(B|kB|MB|GB|KiB|MiB|GiB)$",
    ["1448B", "30kB", "4MiB"]
);

/// The capacity of a queue: `"20packets"` or `"30kB"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A number of packets of any size.
    Packets(u64),
    /// A number of octets of IP packets.
    Bytes(Bytes),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(packets) => write!(f, "{packets}packets"),
            Self::Bytes(bytes) => fmt::Display::fmt(bytes, f),
        }
    }
}

impl FromStr for Limit {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        if let Ok(packets) = parse(text, "", "", COUNT) {
            return Ok(Self::Packets(packets));
        }
        let units: Vec<(&str, u64)> = COUNT.iter().chain(BYTES).copied().collect();
        parse(text, "a limit", "20packets\" or \"30kB", &units)?;
        text.parse().map(Self::Bytes)
    }
}

scenario_text!(
    Limit,
    "Limit",
    "a limit in packets or octets, such as \"20packets\" or \"30kB\"",
    r"^\d+(\.\d+)?\s*(packets?|B|kB|MB|GB|KiB|MiB|GiB)$",
    ["20packets", "30kB"]
);

/// A whole number of full-sized segments: `"10segments"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Segments(pub u32);

impl fmt::Display for Segments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}segments", self.0)
    }
}

impl FromStr for Segments {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let count = parse(text, "a number of segments", "10segments", SEGMENTS)?;
        u32::try_from(count).map(Self).map_err(|_| UnitError {
            found: text.to_owned(),
            expected: format!("at most {} segments", u32::MAX),
            why: "it is too large".to_owned(),
        })
    }
}

scenario_text!(
    Segments,
    "Segments",
    "a number of full-sized segments, such as \"10segments\"",
    r"^\d+\s*segments?$",
    ["10segments"]
);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_are_exact() {
        assert_eq!("15ms".parse(), Ok(Duration::from_millis(15)));
        assert_eq!("0.1us".parse(), Ok(Duration::from_nanos(100)));
        assert_eq!("866.7 Mbps".parse::<Rate>().unwrap().bits_per_second(), 866_700_000);
        assert_eq!("4MiB".parse(), Ok(Bytes(4 << 20)));
        assert_eq!("20packets".parse(), Ok(Limit::Packets(20)));
        assert_eq!("30kB".parse(), Ok(Limit::Bytes(Bytes(30_000))));
        assert_eq!("10segments".parse(), Ok(Segments(10)));
    }

    #[test]
    fn a_refusal_names_what_was_expected() {
        let refusal = |text: &str| text.parse::<Duration>().unwrap_err().to_string();
        assert!(refusal("15").contains("the unit is missing"));
        assert!(refusal("15mps").contains("the unit \"mps\" is unknown"));
        assert!(refusal("-15ms").contains("must not be negative"));
        assert!(refusal("ms").contains("the number is missing"));
        assert!(refusal("0.1ns").contains("finer than the smallest unit"));
        assert!(refusal("1.2.3s").contains("not a plain decimal"));
        assert!("0Mbps".parse::<Rate>().unwrap_err().to_string().contains("above zero"));
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(nanos: u64, bits in 1..=u64::MAX, octets: u64) {
            let (duration, rate, bytes) = (Duration::from_nanos(nanos), Rate::from_bits_per_second(bits).unwrap(), Bytes(octets));
            prop_assert_eq!(duration.to_string().parse(), Ok(duration));
            prop_assert_eq!(rate.to_string().parse(), Ok(rate));
            prop_assert_eq!(bytes.to_string().parse(), Ok(bytes));
        }

        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = (text.parse::<Duration>(), text.parse::<Rate>(), text.parse::<Bytes>(), text.parse::<Limit>(), text.parse::<Segments>());
        }
    }
}
