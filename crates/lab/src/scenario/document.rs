//! The parsed text of a scenario: values with their origins.

mod json;
mod toml;

pub(super) use toml::parse_value as parse_toml_value;

use indexmap::IndexMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;

/// The origin of a key or a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The text, at this range of octets. The range is `None` for JSON, because the JSON parser
    /// does not report positions.
    Text(Option<Range<usize>>),
    /// The `--set` with this index.
    Set(usize),
    /// The option `--seed`.
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
    /// Null. It appears only in arrays; a key with a null value is treated as absent.
    Null,
    Boolean(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    /// A date or a time of TOML, which scenarios do not use.
    Datetime(String),
    Array(Vec<Node>),
    Table(Table),
}

/// The members of a table, in the order of the text.
pub(super) type Table = IndexMap<String, Member>;

/// The value of a key, and the origin of the key.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) key: Origin,
    pub(super) node: Node,
    /// The form of the key in messages.
    pub(super) shown: Shown,
}

/// The form of a key in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// The key itself, because the text contains it.
    Itself,
    /// Nothing, because a [shorthand](super::shorthand) implies the key.
    Nothing,
    /// The key of the shorthand that the text contains instead.
    As(&'static str),
}

impl Member {
    /// Creates a member that the text contains at `key`.
    pub(super) const fn written(key: Origin, node: Node) -> Self {
        Self { key, node, shown: Shown::Itself }
    }
}

/// A syntax error of the text.
#[derive(Debug)]
pub(super) struct SyntaxError {
    pub(super) span: Option<Range<usize>>,
    pub(super) message: String,
}

/// Parses the whole document `name`. The name of a JSON document need not end in `.json`, because
/// no scenario in TOML begins with `{`.
pub(super) fn parse(text: &str, name: &str) -> Result<Node, SyntaxError> {
    let has_name_of_json = Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    if has_name_of_json || text.trim_start().starts_with('{') { json::parse(text) } else { toml::parse(text) }
}

impl Node {
    /// Returns a table without keys.
    pub(super) fn empty_table(origin: Origin) -> Self {
        Self { origin, value: Value::Table(Table::new()) }
    }

    /// Returns the value of `key` in this table, or at the index `key` in this array.
    pub(super) fn child(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Table(table) => table.get(key).map(|member| &member.node),
            Value::Array(items) => key.parse::<usize>().ok().and_then(|index| items.get(index)),
            _ => None,
        }
    }

    /// Sets the seed of the document.
    pub(super) fn set_seed(&mut self, seed: u64) {
        if let Value::Table(table) = &mut self.value {
            let node = Self { origin: Origin::Seed, value: Value::Integer(seed.into()) };
            table.insert("seed".to_owned(), Member::written(Origin::Seed, node));
        }
    }

    /// Sets the origin of the value and of all values in it.
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

    /// Returns the value as JSON. A number that JSON cannot represent becomes null.
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

/// The form of a value in messages.
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
                // `escape_debug` escapes apostrophes as well, which is not needed here.
                write!(f, "\"{}{rest}\"", shown.replace("\\'", "'"))
            }
        }
    }
}
