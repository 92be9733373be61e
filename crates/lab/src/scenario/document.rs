//! A scenario as it was written: values that know where they come from.

use indexmap::IndexMap;
use indexmap::map::Entry;
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// Where a key or a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The text, at these octets if that is known: JSON has no places.
    Text(Option<Range<usize>>),
    /// The `--set` of this index.
    Set(usize),
    /// `--seed`.
    Seed,
}

/// A value and its origin.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) origin: Origin,
    pub(super) value: Value,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    /// Of an array only: a key whose value is null counts as absent.
    Null,
    Boolean(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    /// A date or a time of TOML, which no scenario has.
    Datetime(String),
    Array(Vec<Node>),
    Table(Table),
}

/// Keys in the order in which they were written.
pub(super) type Table = IndexMap<String, Member>;

/// The value of a key, and where the key stands.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) key: Origin,
    pub(super) node: Node,
}

/// Why a text is no document.
#[derive(Debug)]
pub(super) struct SyntaxError {
    pub(super) span: Option<Range<usize>>,
    pub(super) message: String,
}

/// Reads a whole document.
pub(super) fn parse(text: &str) -> Result<Node, SyntaxError> {
    if text.trim_start().starts_with('{') { parse_json(text) } else { parse_toml(text) }
}

fn parse_toml(text: &str) -> Result<Node, SyntaxError> {
    match DeTable::parse(text) {
        Ok(table) => {
            let span = table.span();
            Ok(Node { origin: Origin::Text(Some(span)), value: from_table(table.into_inner())? })
        }
        Err(error) => Err(error.span().and_then(|span| bare_value(text, span.start)).unwrap_or_else(|| SyntaxError {
            span: error.span(),
            message: format!("this is not TOML: {}", error.message()),
        })),
    }
}

/// What is most often wrong: a value without quotes, which the parser of TOML takes for many things, or none at all.
fn bare_value(text: &str, fault: usize) -> Option<SyntaxError> {
    let line_start = text.get(..fault)?.rfind('\n').map_or(0, |newline| newline + 1);
    let start = line_start + text[line_start..fault].rfind('=')? + 1;
    let value = text[start..].split(['\n', ',', '}', ']', '#']).next().unwrap_or_default();
    let start = start + (value.len() - value.trim_start().len());
    let value = value.trim();
    let message = match value.chars().next() {
        None => "the value is missing".to_owned(),
        Some('"' | '\'' | '[' | '{') => return None,
        Some(_) if parse_toml_value(value).is_ok() || value.contains('"') => return None,
        Some(_) => format!("found {value} without quotes, expected \"{value}\""),
    };
    Some(SyntaxError { span: Some(start..start + value.len()), message })
}

fn parse_json(text: &str) -> Result<Node, SyntaxError> {
    serde_json::from_str(text).map_err(|error| {
        let line_start = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
        let at = (line_start + error.column().saturating_sub(1)).min(text.len());
        let whole = error.to_string();
        let message = whole.rsplit_once(" at line ").map_or(whole.as_str(), |(message, _)| message);
        SyntaxError { span: Some(at..at), message: format!("this is not JSON: {message}") }
    })
}

/// Reads a single TOML value, as it may follow `--set key=`.
pub(super) fn parse_toml_value(text: &str) -> Result<Value, String> {
    let value = DeValue::parse(text).map_err(|error| error.message().to_owned())?;
    from_value(value.into_inner()).map_err(|error| error.message)
}

fn from_value(value: DeValue<'_>) -> Result<Value, SyntaxError> {
    let too_large = |text: &str| SyntaxError { span: None, message: format!("the number {text} is too large") };
    Ok(match value {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Boolean(value) => Value::Boolean(value),
        DeValue::Datetime(value) => Value::Datetime(value.to_string()),
        DeValue::Integer(value) => {
            Value::Integer(i128::from_str_radix(value.as_str(), value.radix()).map_err(|_| too_large(value.as_str()))?)
        }
        DeValue::Float(value) => Value::Float(value.as_str().parse().map_err(|_| too_large(value.as_str()))?),
        DeValue::Array(array) => from_array(array)?,
        DeValue::Table(table) => from_table(table)?,
    })
}

fn from_spanned(value: Spanned<DeValue<'_>>) -> Result<Node, SyntaxError> {
    let span = value.span();
    match from_value(value.into_inner()) {
        Ok(value) => Ok(Node { origin: Origin::Text(Some(span)), value }),
        Err(error) => Err(SyntaxError { span: error.span.or(Some(span)), ..error }),
    }
}

fn from_array(array: DeArray<'_>) -> Result<Value, SyntaxError> {
    Ok(Value::Array(array.into_iter().map(from_spanned).collect::<Result<_, _>>()?))
}

fn from_table(table: DeTable<'_>) -> Result<Value, SyntaxError> {
    let mut members: Vec<_> = table.into_iter().collect();
    members.sort_by_key(|(key, _)| key.span().start);
    let members = members.into_iter().map(|(key, value)| {
        let origin = Origin::Text(Some(key.span()));
        Ok((key.into_inner().into_owned(), Member { key: origin, node: from_spanned(value)? }))
    });
    Ok(Value::Table(members.collect::<Result<_, _>>()?))
}

impl Node {
    /// A table without keys.
    pub(super) fn empty_table(origin: Origin) -> Self {
        Self { origin, value: Value::Table(Table::new()) }
    }

    /// The value of a key of this table, or of an index of this array.
    pub(super) fn child(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Table(table) => table.get(key).map(|member| &member.node),
            Value::Array(items) => key.parse::<usize>().ok().and_then(|index| items.get(index)),
            _ => None,
        }
    }

    /// Gives the document this seed.
    pub(super) fn set_seed(&mut self, seed: u64) {
        if let Value::Table(table) = &mut self.value {
            let node = Self { origin: Origin::Seed, value: Value::Integer(seed.into()) };
            table.insert("seed".to_owned(), Member { key: Origin::Seed, node });
        }
    }

    /// Says of the value and all within that they come from there.
    pub(super) fn with_origin(mut self, origin: &Origin) -> Self {
        self.reorigin(origin);
        self
    }

    fn reorigin(&mut self, origin: &Origin) {
        self.origin = origin.clone();
        match &mut self.value {
            Value::Array(items) => items.iter_mut().for_each(|item| item.reorigin(origin)),
            Value::Table(table) => table.values_mut().for_each(|member| {
                member.key = origin.clone();
                member.node.reorigin(origin);
            }),
            _ => {}
        }
    }

    /// The value as JSON; a number that JSON cannot write is null.
    pub(super) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Boolean(value) => (*value).into(),
            Value::Integer(value) => match (u64::try_from(*value), i64::try_from(*value)) {
                (Ok(value), _) => value.into(),
                (_, Ok(value)) => value.into(),
                _ => serde_json::Value::Null,
            },
            Value::Float(value) => (*value).into(),
            Value::Text(text) | Value::Datetime(text) => text.as_str().into(),
            Value::Array(items) => items.iter().map(Self::to_json).collect(),
            Value::Table(table) => table
                .iter()
                .map(|(key, member)| (key.clone(), member.node.to_json()))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        }
    }
}

/// How a message shows a value that was found.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 60;
        match self {
            Self::Null => f.write_str("null"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Datetime(text) => write!(f, "the date or time {text}"),
            Self::Array(items) => write!(f, "a list of {}", items.len()),
            Self::Table(_) => f.write_str("a table"),
            Self::Text(text) => {
                let shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
                let rest = if text.chars().nth(LONGEST).is_some() { "…" } else { "" };
                // What escape_debug does to an apostrophe is for Rust's eyes only.
                write!(f, "\"{}{rest}\"", shown.replace("\\'", "'"))
            }
        }
    }
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
                            return Err(de::Error::custom(format_args!("the key `{}` stands twice", entry.key())));
                        }
                        Entry::Vacant(entry) => {
                            entry.insert(Member { key: Origin::Text(None), node });
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
