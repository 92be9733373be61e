//! Error messages about an invalid scenario.

use super::document::{Node, Origin, Shown, Value};
use super::snippet::{Spot, note};
use std::fmt;
use std::ops::Range;

/// The reason why a scenario is rejected. Its message states the position, the value found there,
/// and the expected value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    place: String,
    path: String,
    message: String,
    /// The lines below the message: an excerpt of the text, and notes. Empty, or begins with a
    /// newline.
    below: String,
}

impl Refusal {
    /// Returns the position of the fault: `file:line:column`, or `file` if the position is unknown,
    /// or the `--set` that caused the fault.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Returns the path of the fault, as in `--set`. Returns an empty string if the fault concerns
    /// the whole document.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the description of the fault.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Creates a refusal of the text, at `span` if the position is known.
    pub(super) fn of_text(name: &str, text: &str, span: Option<Range<usize>>, message: String) -> Self {
        let (place, below) = match span.map(|span| Spot::new(text, span)) {
            Some(spot) => (spot.place(name), spot.snippet()),
            None => (name.to_owned(), String::new()),
        };
        Self { place, path: String::new(), message, below }
    }

    /// Creates a refusal of a `--set`.
    pub(super) fn of_set(set: &str, message: String) -> Self {
        Self { place: format!("--set {set}"), path: String::new(), message, below: String::new() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", printable(&self.place))?;
        let set = self.place.strip_prefix("--set ").and_then(|set| set.split_once('='));
        if !self.path.is_empty() && set.is_none_or(|(path, _)| path.trim() != self.path) {
            write!(f, "{}: ", printable(&self.path))?;
        }
        write!(f, "{}{}", printable(&self.message), self.below)
    }
}

impl std::error::Error for Refusal {}

/// Replaces control characters. They could move the cursor of a terminal or change its colours, and
/// a scenario may come from an untrusted source.
fn printable(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { '\u{fffd}' } else { character }).collect()
}

/// A fault at the value or key that a path selects. Its position in the text is not determined yet.
#[derive(Debug)]
pub(super) struct Problem {
    path: Vec<String>,
    what: What,
}

#[derive(Debug)]
enum What {
    /// The value is unexpected. The field states what was expected.
    Unexpected(String),
    /// The value is invalid. The field is the message.
    Value(String),
    /// The key is invalid. The field is the message.
    Key(String),
    /// The key is unknown. The field lists the known keys.
    UnknownKey(Vec<String>),
}

impl Problem {
    fn new(path: &[String], what: What) -> Self {
        Self { path: path.to_vec(), what }
    }

    fn of(path: &str, what: What) -> Self {
        Self { path: path.split('.').map(str::to_owned).collect(), what }
    }

    /// Refuses the value at `path`. The message shows the value that was found.
    pub(super) fn expected(path: &[String], expected: impl Into<String>) -> Self {
        Self::new(path, What::Unexpected(expected.into()))
    }

    /// Like [`expected`](Self::expected), for a dotted path.
    pub(super) fn at(path: impl AsRef<str>, expected: impl Into<String>) -> Self {
        Self::of(path.as_ref(), What::Unexpected(expected.into()))
    }

    /// Refuses the value at a dotted path for the reason in `message`.
    pub(super) fn invalid(path: impl AsRef<str>, message: impl Into<String>) -> Self {
        Self::of(path.as_ref(), What::Value(message.into()))
    }

    /// Refuses the last key of `path` for the reason in `message`.
    pub(super) fn key(path: &[String], message: impl Into<String>) -> Self {
        Self::new(path, What::Key(message.into()))
    }

    /// Refuses the last key of `path`, which is not among `known`.
    pub(super) fn unknown_key<'a>(path: &[String], known: impl Iterator<Item = &'a str>) -> Self {
        Self::new(path, What::UnknownKey(known.map(str::to_owned).collect()))
    }

    /// Returns the refusal with the position of the problem in `document`. The document was parsed
    /// from `text` and changed by `sets`.
    pub(super) fn refusal(self, document: &Node, name: &str, text: &str, sets: &[String]) -> Refusal {
        let is_about_key = matches!(self.what, What::Key(_) | What::UnknownKey(_));
        let (mut node, mut origin, mut depth) = (document, &document.origin, 0);
        let mut shown = Vec::new();
        for key in &self.path {
            let Some(child) = node.child(key) else { break };
            let member = match &node.value {
                Value::Table(table) => table.get(key),
                _ => None,
            };
            origin = member.filter(|_| is_about_key).map_or(&child.origin, |member| &member.key);
            match member.map_or(Shown::Itself, |member| member.shown) {
                Shown::Itself => shown.push(key.as_str()),
                Shown::Nothing => {}
                Shown::As(other) => shown.push(other),
            }
            (node, depth) = (child, depth + 1);
        }
        shown.extend(self.path[depth..].iter().map(String::as_str));
        let message = match &self.what {
            What::Unexpected(expected) if depth == self.path.len() => {
                format!("found {}, expected {expected}", node.value)
            }
            What::Unexpected(expected) => format!("expected {expected}"),
            What::Value(message) | What::Key(message) => message.clone(),
            What::UnknownKey(known) => {
                let key = self.path.last().map_or("", String::as_str);
                format!("unknown key{}", suggestion(key, known.iter().map(String::as_str)))
            }
        };
        let mut refusal = match origin {
            // For a fault of the whole document, no position is shown.
            Origin::Text(span) => Refusal::of_text(name, text, span.clone().filter(|_| depth > 0), message),
            Origin::Set(index) => Refusal::of_set(sets.get(*index).map_or("", String::as_str), message),
            Origin::Seed => Refusal { place: "--seed".to_owned(), path: String::new(), message, below: String::new() },
        };
        if let What::UnknownKey(known) = self.what {
            refusal.below.push_str(&note(&refusal.below, &format!("known keys: {}", known.join(", "))));
        }
        Refusal { path: shown.join("."), ..refusal }
    }
}

/// Returns `"; did you mean …?"` if one of `known` is similar to `found`, or an empty string.
pub(super) fn suggestion<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let most = (found.chars().count() / 3).clamp(1, 3);
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(found, name), name))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map_or_else(String::new, |(_, name)| format!("; did you mean `{name}`?"))
}
