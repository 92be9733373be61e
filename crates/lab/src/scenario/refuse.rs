//! What is said to a person whose scenario is refused.

use super::document::{Node, Origin, Value};
use std::fmt;
use std::ops::Range;

/// Why a scenario is refused: one message that names the place, what was found there, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    place: String,
    path: String,
    message: String,
    snippet: Option<String>,
}

impl Refusal {
    /// Where it stands: `file:line:column`, `file` if there is no such place, or the `--set` that it came by.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The keys that lead to it, as `--set` spells them; empty where it is about the document as a whole.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Something about the document as a whole, at this place of the text if it is known.
    pub(super) fn of_text(name: &str, text: &str, span: Option<Range<usize>>, message: String) -> Self {
        let spot = span.map(|span| Spot::new(text, span));
        Self {
            place: spot.as_ref().map_or_else(|| name.to_owned(), |spot| spot.place(name)),
            path: String::new(),
            message,
            snippet: spot.map(|spot| spot.snippet()),
        }
    }

    /// Something about a `--set`.
    pub(super) fn of_set(set: &str, message: String) -> Self {
        Self { place: format!("--set {set}"), path: String::new(), message, snippet: None }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        let said_by_place = self.place.strip_prefix("--set ").and_then(|set| set.split_once('='));
        if !self.path.is_empty() && said_by_place.is_none_or(|(path, _)| path.trim() != self.path) {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        match &self.snippet {
            Some(snippet) => write!(f, "\n{snippet}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Refusal {}

/// Something wrong at the end of a path, before its place is known.
#[derive(Debug)]
pub(super) struct Problem {
    path: Vec<String>,
    what: What,
}

#[derive(Debug)]
enum What {
    /// The value is not what was expected, which is this.
    Expected(String),
    /// The value is wrong in its place.
    Value(String),
    /// The key is wrong.
    Key(String),
}

impl Problem {
    /// At `path`, `expected` was expected. What stands there is shown with it.
    pub(super) fn expected(path: &[String], expected: impl Into<String>) -> Self {
        Self { path: path.to_vec(), what: What::Expected(expected.into()) }
    }

    /// As [`expected`](Self::expected), for a path that is written with dots.
    pub(super) fn at(path: impl AsRef<str>, expected: impl Into<String>) -> Self {
        Self { path: path.as_ref().split('.').map(str::to_owned).collect(), what: What::Expected(expected.into()) }
    }

    /// The value at a path that is written with dots is wrong where it stands.
    pub(super) fn says(path: impl AsRef<str>, message: impl Into<String>) -> Self {
        Self { path: path.as_ref().split('.').map(str::to_owned).collect(), what: What::Value(message.into()) }
    }

    /// The last key of `path` is wrong.
    pub(super) fn key(path: &[String], message: impl Into<String>) -> Self {
        Self { path: path.to_vec(), what: What::Key(message.into()) }
    }

    /// Finds its place in `document`.
    pub(super) fn refusal(self, document: &Node, name: &str, text: &str, sets: &[String]) -> Refusal {
        let mut node = document;
        let mut origin = &document.origin;
        let mut depth = 0;
        for key in &self.path {
            let Some(child) = node.child(key) else { break };
            origin = match (&node.value, &self.what) {
                (Value::Table(table), What::Key(_)) => &table[key].key,
                _ => &child.origin,
            };
            node = child;
            depth += 1;
        }
        let is_there = depth == self.path.len();
        let message = match self.what {
            What::Expected(expected) if is_there => format!("found {}, expected {expected}", node.value),
            What::Expected(expected) => format!("expected {expected}"),
            What::Value(message) | What::Key(message) => message,
        };
        let path = self.path.join(".");
        match origin {
            Origin::Text(span) => {
                // The document as a whole has no place that would help.
                let span = span.clone().filter(|_| depth > 0);
                Refusal { path, ..Refusal::of_text(name, text, span, message) }
            }
            Origin::Set(index) => {
                Refusal { path, ..Refusal::of_set(sets.get(*index).map_or("", String::as_str), message) }
            }
            Origin::Seed => Refusal { place: "--seed".to_owned(), path, message, snippet: None },
        }
    }
}

/// A place in a text.
struct Spot<'a> {
    line: &'a str,
    line_number: usize,
    /// Characters of the line before the place, and of the place itself.
    before: usize,
    length: usize,
}

impl<'a> Spot<'a> {
    fn new(text: &'a str, span: Range<usize>) -> Self {
        let start = floor(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let end = floor(text, span.end).clamp(start, line_end);
        Self {
            line: text[line_start..line_end].trim_end_matches('\r'),
            line_number: text[..start].matches('\n').count() + 1,
            before: text[line_start..start].chars().count(),
            length: text[start..end].trim_end().chars().count().max(1),
        }
    }

    fn place(&self, name: &str) -> String {
        format!("{name}:{}:{}", self.line_number, self.before + 1)
    }

    /// The line with the place underlined. Of a long line only what lies about the place is shown.
    fn snippet(&self) -> String {
        const WIDTH: usize = 100;
        let skipped = if self.before + self.length < WIDTH { 0 } else { self.before.saturating_sub(WIDTH / 4) };
        let visible = |character: char| if character.is_control() { ' ' } else { character };
        let shown: String = self.line.chars().skip(skipped).take(WIDTH).map(visible).collect();
        let more = if self.line.chars().count() > skipped + WIDTH { "…" } else { "" };
        let less = if skipped > 0 { "…" } else { "" };
        let indent = " ".repeat(self.before - skipped + less.chars().count());
        let underline = "^".repeat(self.length.min(WIDTH - (self.before - skipped).min(WIDTH - 1)));
        let margin = " ".repeat(self.line_number.to_string().len());
        format!("{margin} |\n{} | {less}{shown}{more}\n{margin} | {indent}{underline}", self.line_number)
    }
}

/// The start of the character that holds this octet.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The one of `known` that a person may have meant by `found`.
pub(super) fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (found.chars().count() / 3).clamp(1, 3);
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(found, name), name))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// `"; did you mean …?"`, if there is something to suggest.
pub(super) fn suggestion<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(found, known).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}
