//! A value that is a number or a text, depending on the stack.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A number, a text, or neither. Drafts -00 and -01 write 64-bit numbers as texts, because
/// JavaScript has no 64-bit integers.
///
/// Any JSON deserialises: a value that is neither a number nor a text becomes `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Scalar<'a> {
    #[default]
    None,
    Integer(u64),
    Real(f64),
    Text(Cow<'a, str>),
}

impl<'a> Scalar<'a> {
    /// Returns the value as a whole number that is not negative.
    pub(super) fn count(&self) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Integer(value) => Some(*value),
            Self::Real(value) => {
                (*value >= 0.0 && value.fract() == 0.0 && *value < 2_f64.powi(64)).then_some(*value as u64)
            }
            Self::Text(text) => text.trim().parse().ok(),
        }
    }

    /// Returns the value as a finite number.
    pub(super) fn real(&self) -> Option<f64> {
        match self {
            Self::None => None,
            Self::Integer(value) => Some(*value as f64),
            Self::Real(value) => Some(*value),
            Self::Text(text) => text.trim().parse().ok(),
        }
        .filter(|value: &f64| value.is_finite())
    }

    /// Returns the value as a text that is not empty.
    pub(super) fn text(&self) -> Option<Cow<'a, str>> {
        match self {
            Self::None => None,
            Self::Integer(value) => Some(Cow::Owned(value.to_string())),
            Self::Real(value) => Some(Cow::Owned(value.to_string())),
            Self::Text(text) => (!text.is_empty()).then(|| text.clone()),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Scalar::None)
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Scalar::Integer(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Real(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Scalar::Real(value))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Scalar::None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(text: &str) -> Scalar<'_> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn numbers_and_their_texts_are_the_same() {
        for text in ["12", "12.0", "\"12\"", "\" 12\""] {
            assert_eq!((scalar(text).count(), scalar(text).real()), (Some(12), Some(12.0)), "{text}");
        }
        assert_eq!(scalar("18446744073709551615").count(), Some(u64::MAX));
        assert_eq!(scalar("\"0.25\"").real(), Some(0.25));
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in ["null", "true", "[1]", "{\"a\": 1}", "\"\"", "\"x\"", "-1", "1.5"] {
            assert_eq!(scalar(text).count(), None, "{text}");
        }
        assert_eq!(scalar("\"nan\"").real(), None);
    }

    #[test]
    fn texts_are_texts_and_numbers() {
        assert_eq!(scalar("\"1RTT\"").text().as_deref(), Some("1RTT"));
        assert_eq!(scalar("7").text().as_deref(), Some("7"));
        assert_eq!(scalar("\"\"").text(), None);
    }
}
