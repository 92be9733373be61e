//! Validation of a document against the types: unknown keys, missing keys, and values of a wrong
//! type.
//!
//! Serde would find the same faults, but without their position. In internally tagged enumerations,
//! Serde does not keep positions.

use super::document::{Node, Origin, Shown, Table, Value};
use super::refuse::{Problem, suggestion};
use super::schema;
use super::types::{SHORTHAND, Type, kind_of};
use acklab_base::units::{self, Limit, Segments, UnitError};
use acklab_base::{Bytes, Duration, Rate};
use serde_json::Value as Json;

/// Checks the whole of `document`.
///
/// Removes keys of the text that a tagged table no longer has because a `--set` has chosen another
/// variant.
pub(super) fn check(document: &mut Node) -> Result<(), Problem> {
    Check { path: Vec::new() }.value(document, schema::scenario())
}

struct Check {
    path: Vec<String>,
}

impl Check {
    fn value(&mut self, node: &mut Node, expected: Type) -> Result<(), Problem> {
        if let Some(quantity) = expected.text(units::QUANTITY) {
            return self.quantity(&node.value, quantity);
        }
        if let Some(kinds) = expected.kinds() {
            return self.tagged(node, &kinds, expected.get(SHORTHAND));
        }
        if let Some(choices) = expected.get("enum").and_then(Json::as_array) {
            return self.choice(&node.value, choices);
        }
        match expected.text("type") {
            Some("object") => self.table(node, expected),
            Some("array") => self.array(node, expected),
            Some("string") => self.text(&node.value, expected),
            Some("boolean") => self.expect(matches!(node.value, Value::Boolean(_)), || "true or false".to_owned()),
            Some("integer") => self.integer(&node.value, expected),
            Some("number") => self.number(&node.value, expected),
            // Serde checks the constraints of other keywords.
            _ => Ok(()),
        }
    }

    fn expect(&self, is_so: bool, expected: impl FnOnce() -> String) -> Result<(), Problem> {
        if is_so { Ok(()) } else { Err(Problem::expected(&self.path, expected())) }
    }

    /// Checks a quantity with a unit.
    fn quantity(&self, value: &Value, quantity: &str) -> Result<(), Problem> {
        let (written, is_nearly) = match value {
            Value::Text(text) => (text.clone(), true),
            Value::Integer(number) => (number.to_string(), true),
            Value::Float(number) => (number.to_string(), true),
            _ => (String::new(), false),
        };
        let Some(error) = refusal_of(&written, quantity) else { return Ok(()) };
        let why = if is_nearly { format!("; {}", error.why()) } else { String::new() };
        Err(Problem::expected(&self.path, format!("{}{why}", error.expected())))
    }

    fn choice(&self, value: &Value, choices: &[Json]) -> Result<(), Problem> {
        let known: Vec<&str> = choices.iter().filter_map(Json::as_str).collect();
        match value {
            Value::Text(text) if known.contains(&text.as_str()) => Ok(()),
            Value::Text(text) => {
                let expected = format!("{}{}", one_of(&known), suggestion(text, known.iter().copied()));
                Err(Problem::expected(&self.path, expected))
            }
            _ => Err(Problem::expected(&self.path, one_of(&known))),
        }
    }

    fn text(&self, value: &Value, expected: Type) -> Result<(), Problem> {
        let most = expected.get("maxLength").and_then(Json::as_u64);
        let is_so = matches!(value, Value::Text(text) if most.is_none_or(|most| text.len() as u64 <= most));
        self.expect(is_so, || match (value, most) {
            (Value::Text(_), Some(most)) => format!("at most {most} characters"),
            _ => "text in quotes".to_owned(),
        })
    }

    fn integer(&self, value: &Value, expected: Type) -> Result<(), Problem> {
        let bound = |keyword: &str| expected.get(keyword).and_then(Json::as_u64).map(i128::from);
        let (least, most) = (bound("minimum").unwrap_or(0), bound("maximum").unwrap_or(most_of(expected)));
        let is_so = matches!(value, Value::Integer(number) if (least..=most).contains(number));
        self.expect(is_so, || match value {
            Value::Integer(number) if *number > most => format!("a whole number of at most {most}"),
            _ => format!("a whole number of at least {least}"),
        })
    }

    fn number(&self, value: &Value, expected: Type) -> Result<(), Problem> {
        let bound = |keyword: &str| expected.get(keyword).and_then(Json::as_f64);
        let number = match value {
            Value::Integer(number) => *number as f64,
            Value::Float(number) => *number,
            _ => f64::NAN,
        };
        let (least, most) = (bound("minimum"), bound("maximum"));
        let is_so = number.is_finite() && least.is_none_or(|it| number >= it) && most.is_none_or(|it| number <= it);
        self.expect(is_so, || match (least, most) {
            (Some(least), Some(most)) => format!("a number from {least} to {most}"),
            (Some(least), None) => format!("a number of at least {least}"),
            (None, Some(most)) => format!("a number of at most {most}"),
            (None, None) => "a number".to_owned(),
        })
    }

    fn array(&mut self, node: &mut Node, expected: Type) -> Result<(), Problem> {
        let Value::Array(items) = &mut node.value else {
            let hint = match self.path.last() {
                Some(key) if is_of_tables(expected) => format!(" of tables, each written [[{key}]]"),
                _ => String::new(),
            };
            return Err(Problem::expected(&self.path, format!("a list{hint}")));
        };
        // Checks only lists of a fixed length. `validate` checks other limits.
        if let Some(length) = expected.get("maxItems").and_then(Json::as_u64)
            && items.len() as u64 != length
        {
            return Err(Problem::expected(&self.path, format!("a list of {length} entries")));
        }
        let Some(expected) = expected.items() else { return Ok(()) };
        for (index, item) in items.iter_mut().enumerate() {
            self.path.push(index.to_string());
            self.value(item, expected)?;
            self.path.pop();
        }
        Ok(())
    }

    fn table(&mut self, node: &mut Node, expected: Type) -> Result<(), Problem> {
        let Value::Table(table) = &mut node.value else {
            return Err(Problem::expected(&self.path, format!("a table with {}", keys(expected))));
        };
        self.keys(table, expected)?;
        if let Some(missing) = self.missing(table, expected) {
            return Err(Problem::key(&self.path, missing));
        }
        self.members(table, expected)
    }

    /// Checks a tagged table: one in which the value of one key, the tag, determines the other
    /// permitted keys.
    fn tagged(&mut self, node: &mut Node, kinds: &[Type], shorthand: Option<&Json>) -> Result<(), Problem> {
        let Some(tag) = kinds.first().and_then(|kind| kind.tag()) else { return Ok(()) };
        let names: Vec<&str> = kinds.iter().flat_map(|kind| kind.names(tag)).collect();
        let by_name = shorthand.map(|shorthand| Names::new(kinds, tag, shorthand));
        let table = match &mut node.value {
            Value::Table(table) => table,
            other => {
                if let Some(by_name) = &by_name {
                    return Err(Problem::expected(&self.path, by_name.expected()));
                }
                let found = if let Value::Text(text) = other { text.as_str() } else { "" };
                let meant = kinds.iter().find(|kind| kind.names(tag).any(|name| name == found));
                let example = meant.or(kinds.first()).map(|kind| shown(*kind)).unwrap_or_default();
                let choices = match meant {
                    Some(_) => String::new(),
                    None => format!(", where {tag} is {}{}", one_of(&names), suggestion(found, names.iter().copied())),
                };
                return Err(Problem::expected(&self.path, format!("a table such as {{ {example} }}{choices}")));
            }
        };
        let Some(chosen) = table.get(tag) else {
            return Err(Problem::key(&self.path, format!("the key `{tag}` is missing; expected {}", one_of(&names))));
        };
        let kind = kind_of(table, kinds);
        if let (Some(by_name), true, Value::Text(name)) = (&by_name, chosen.shown != Shown::Itself, &chosen.node.value)
            && !by_name.alone.contains(&name.as_str())
            && kind.is_none_or(|kind| self.missing(table, kind).is_some())
        {
            let expected = format!("{}{}", by_name.expected(), suggestion(name, by_name.alone.iter().copied()));
            self.path.push(tag.to_owned());
            return Err(Problem::expected(&self.path, expected));
        }
        let Some(kind) = kind else {
            self.path.push(tag.to_owned());
            let choices: Vec<Json> = names.iter().map(|name| (*name).into()).collect();
            return self.choice(&chosen.node.value, &choices);
        };
        let is_chosen_outside = matches!(chosen.node.origin, Origin::Set(_));
        if is_chosen_outside {
            table.retain(|key, member| {
                !matches!(member.key, Origin::Text(_)) || kind.knows(key) || !kinds.iter().any(|kind| kind.knows(key))
            });
        }
        self.keys(table, kind)?;
        if let Some(missing) = self.missing(table, kind) {
            if is_chosen_outside {
                self.path.push(tag.to_owned());
            }
            return Err(Problem::key(&self.path, missing));
        }
        self.members(table, kind)
    }

    fn keys(&mut self, table: &Table, expected: Type) -> Result<(), Problem> {
        let Some(known) = expected.properties().filter(|_| !expected.is_open()) else { return Ok(()) };
        let Some(key) = table.keys().find(|key| !known.contains_key(*key)) else { return Ok(()) };
        // The message also lists the keys of a table that a shorthand implies.
        let within = known.iter().filter_map(|(key, schema)| {
            let member = table.get(key).filter(|member| member.shown == Shown::Nothing)?;
            let Value::Table(table) = &member.node.value else { return None };
            kind_of(table, &expected.part(schema).kinds()?)?.properties()
        });
        let within = within.flatten().filter(|(_, schema)| schema.get("const").is_none());
        self.path.push(key.clone());
        Err(Problem::unknown_key(&self.path, known.iter().chain(within).map(|(key, _)| key.as_str())))
    }

    /// Returns the message about the first missing key of a table, if any.
    fn missing(&self, table: &Table, expected: Type) -> Option<String> {
        let key = expected.required().find(|key| !table.contains_key(*key))?;
        let known = expected.properties()?;
        let tag = expected.tag().and_then(|tag| match table.get(tag)?.shown {
            Shown::Itself => Some((tag, tag)),
            Shown::As(shown) => Some((tag, shown)),
            Shown::Nothing => None,
        });
        let kind =
            tag.map(|(tag, shown)| format!(", which {shown} = {} needs", known[tag]["const"])).unwrap_or_default();
        let wanted = expected.property(key).and_then(|of_key| match of_key.text("type") {
            Some("object") => Some(format!("a table `{key}`")),
            Some("array") if is_of_tables(of_key) => Some(format!("at least one table [[{key}]]")),
            _ => example(of_key).map(|value| format!("{key} = {value}, for example")),
        });
        let expected = wanted.map(|wanted| format!("; expected {wanted}")).unwrap_or_default();
        Some(format!("the key `{key}` is missing{kind}{expected}"))
    }

    fn members(&mut self, table: &mut Table, expected: Type) -> Result<(), Problem> {
        for (key, member) in table.iter_mut() {
            if let Some(expected) = expected.property(key) {
                self.path.push(key.clone());
                self.value(&mut member.node, expected)?;
                self.path.pop();
            }
        }
        Ok(())
    }
}

/// The names that may replace a table.
struct Names<'a> {
    /// The names of variants without required keys.
    alone: Vec<&'a str>,
    /// An example of a table with required keys.
    table: String,
}

impl<'a> Names<'a> {
    fn new(kinds: &[Type<'a>], tag: &str, shorthand: &Json) -> Self {
        let (alone, others): (Vec<Type>, Vec<Type>) = kinds.iter().partition(|kind| kind.stands_alone(tag, shorthand));
        let alone = alone.into_iter().flat_map(|kind| kind.names(tag)).collect();
        Self { alone, table: others.first().map(|kind| shown(*kind)).unwrap_or_default() }
    }

    fn expected(&self) -> String {
        let table =
            if self.table.is_empty() { String::new() } else { format!(", or a table such as {{ {} }}", self.table) };
        format!("{}{table}", one_of(&self.alone))
    }
}

fn is_of_tables(array: Type) -> bool {
    array.items().is_some_and(|items| items.text("type") == Some("object"))
}

/// Returns the error of parsing `text` as the type called `quantity`, or `None` if it is valid.
fn refusal_of(text: &str, quantity: &str) -> Option<UnitError> {
    match quantity {
        "Duration" => text.parse::<Duration>().err(),
        "Rate" => text.parse::<Rate>().err(),
        "Bytes" => text.parse::<Bytes>().err(),
        "Limit" => text.parse::<Limit>().err(),
        "Segments" => text.parse::<Segments>().err(),
        _ => None,
    }
}

/// Returns the maximum of the integer type that the schema names.
fn most_of(expected: Type) -> i128 {
    match expected.text("format") {
        Some("uint32") => u32::MAX.into(),
        _ => u64::MAX.into(),
    }
}

/// Returns an example value of this type, in TOML.
fn example(expected: Type) -> Option<String> {
    let choice = expected.get("enum").and_then(|choices| choices.get(0));
    let shown = expected.get("examples").and_then(|examples| examples.get(0)).or(choice)?;
    (!shown.is_object()).then(|| shown.to_string())
}

fn one_of(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    match names.as_slice() {
        [only] => only.clone(),
        [first, last] => format!("{first} or {last}"),
        _ => format!("one of {}", names.join(", ")),
    }
}

/// Returns the required members of a table of this kind with example values, in TOML.
fn shown(kind: Type) -> String {
    let members: Vec<String> = kind
        .required()
        .filter_map(|key| {
            let expected = kind.property(key)?;
            let value = expected.get("const").map(Json::to_string).or_else(|| example(expected));
            let value = value.or_else(|| example_of_share(expected))?;
            Some(format!("{key} = {value}"))
        })
        .collect();
    members.join(", ")
}

/// Returns an example of a share from 0 to 1. It is chosen as a common loss probability.
fn example_of_share(expected: Type) -> Option<String> {
    let bounds = ["minimum", "maximum"].map(|keyword| expected.get(keyword).and_then(Json::as_f64));
    (bounds == [Some(0.0), Some(1.0)]).then(|| "0.01".to_owned())
}

fn keys(table: Type) -> String {
    let names: Vec<&str> = table.properties().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    names.join(", ")
}
