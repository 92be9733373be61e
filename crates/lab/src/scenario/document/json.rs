//! Parses a document from JSON, the form of scenarios that programs write.

use super::{Member, Node, Origin, SyntaxError, Table, Value};
use indexmap::map::Entry;
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// Parses a whole document. Syntax errors have positions; values have none.
pub(super) fn parse(text: &str) -> Result<Node, SyntaxError> {
    serde_json::from_str(text).map_err(|error| {
        let line_start = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
        let at = (line_start + error.column().saturating_sub(1)).min(text.len());
        let whole = error.to_string();
        let message = whole.rsplit_once(" at line ").map_or(whole.as_str(), |(message, _)| message);
        SyntaxError { span: Some(at..at), message: format!("this is not JSON: {message}") }
    })
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Json;

        impl<'de> Visitor<'de> for Json {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
                Ok(Value::Boolean(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
                Ok(Value::Integer(value.into()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
                Ok(Value::Integer(value.into()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
                Ok(Value::Float(value))
            }

            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
                let mut array = Vec::new();
                while let Some(item) = items.next_element()? {
                    array.push(item);
                }
                Ok(Value::Array(array))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
                let mut table = Table::new();
                while let Some((key, node)) = members.next_entry::<String, Node>()? {
                    match table.entry(key) {
                        Entry::Occupied(entry) => {
                            return Err(de::Error::custom(format_args!("the key `{}` is given twice", entry.key())));
                        }
                        Entry::Vacant(entry) => {
                            entry.insert(Member::written(Origin::Text(None), node));
                        }
                    }
                }
                table.retain(|_, member| !matches!(member.node.value, Value::Null));
                Ok(Value::Table(table))
            }
        }

        Ok(Self { origin: Origin::Text(None), value: deserializer.deserialize_any(Json)? })
    }
}
