//! `--set path=value`: one value of a scenario from outside.
//!
//! The path leads through tables by key and through lists by index from 0, or by the `name` of an entry:
//! `flow.0.congestion`, `link.btl.reverse.gate.quota`. Tables that are missing on the way are made. The value is one of TOML if it
//! can be read as one (`7`, `true`, `["queue"]`, `{ policy = "linux" }`), and text otherwise, so `16Mbps` needs no quotes. An empty
//! value takes the key away.
//!
//! A setting of a flow's transport is found in the table `transport` also if the path leaves that out: `flow.0.mss` is
//! `flow.0.transport.mss`. The shorthands of the text are written out before (see `shorthand`), so `flow.0.congestion.beta` leads into
//! what the text says as `congestion = "cubic"`.
//!
//! When a set chooses another kind of something (`flow.0.ack.policy=per-packet`), what the text says of the old kind and the new one
//! does not know goes with it; that is done by `check`, which knows the kinds.

use super::document::{Member, Node, Origin, Shown, Table, Value, parse_toml_value};
use super::refuse::{Refusal, suggestion};
use super::shorthand;

/// No path of the language is nearly as long; what is longer is no path.
const LONGEST_PATH: usize = 16;

/// Carries out all `sets`, in order.
pub(super) fn apply(document: &mut Node, sets: &[String]) -> Result<(), Refusal> {
    sets.iter().enumerate().try_for_each(|(index, set)| {
        // The text and each set may say in short what the next one leads into.
        shorthand::write_out(document);
        apply_one(document, set, &Origin::Set(index)).map_err(|message| Refusal::of_set(set, message))
    })
}

fn apply_one(document: &mut Node, set: &str, origin: &Origin) -> Result<(), String> {
    let Some((path, value)) = set.split_once('=') else {
        return Err("expected a path and a value, such as flow.0.congestion=newreno".to_owned());
    };
    let path: Vec<&str> = path.split('.').map(str::trim).collect();
    if path.iter().any(|key| key.is_empty()) {
        return Err("expected a path such as flow.0.congestion before the `=`; a key of this one is empty".to_owned());
    }
    if path.len() > LONGEST_PATH {
        return Err(format!("expected a path such as flow.0.congestion; this one has {} keys", path.len()));
    }
    let value = parse_value(value.trim())?;
    let full = shorthand::full_path(&path);
    let mut node = document;
    for (depth, key) in full.iter().enumerate() {
        // As it was given: what a shorthand left out stands behind the flow's index.
        let given = if depth > 2 { depth + path.len() - full.len() } else { depth };
        let so_far = path[..given].join(".");
        let is_last = depth + 1 == full.len();
        node = match &mut node.value {
            Value::Table(table) if is_last => {
                let within = table.get(*key).and_then(|member| shorthand::protocol_of(&full, member, value.as_ref()));
                let member = within.and_then(|within| Some((within, table.get_mut(*key)?)));
                return match member {
                    Some((within, Member { node: Node { value: Value::Table(table), .. }, .. })) => {
                        set_member(table, within, value, origin)
                    }
                    _ => set_member(table, key, value, origin),
                };
            }
            Value::Table(table) => {
                let made = || Member::written(origin.clone(), Node::empty_table(origin.clone()));
                &mut table.entry((*key).to_owned()).or_insert_with(made).node
            }
            Value::Array(items) => {
                let index = index_in(items, &so_far, key)?;
                if is_last {
                    match value {
                        Some(value) => items[index] = Node { origin: origin.clone(), value }.with_origin(origin),
                        None => drop(items.remove(index)),
                    }
                    return Ok(());
                }
                &mut items[index]
            }
            other => return Err(format!("`{so_far}` is {other}, which has no `{key}` within it")),
        };
    }
    Ok(())
}

/// Gives `key` this value, or takes it away.
fn set_member(table: &mut Table, key: &str, value: Option<Value>, origin: &Origin) -> Result<(), String> {
    match value {
        Some(value) => {
            let node = Node { origin: origin.clone(), value }.with_origin(origin);
            // What a shorthand implied is called as it was.
            let shown = table.get(key).map_or(Shown::Itself, |member| member.shown);
            table.insert(key.to_owned(), Member { key: origin.clone(), node, shown });
            Ok(())
        }
        None if table.shift_remove(key).is_some() => Ok(()),
        None => Err(format!("an empty value takes a key away, but there is no `{key}` here")),
    }
}

/// A value as it stands after the `=`; none if nothing does.
fn parse_value(text: &str) -> Result<Option<Value>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    match parse_toml_value(text) {
        Ok(Value::Datetime(_)) => Ok(Some(Value::Text(text.to_owned()))),
        Ok(value) => Ok(Some(value)),
        Err(why) if text.starts_with(['{', '[', '"', '\'']) => Err(format!("the value is not TOML: {why}")),
        Err(_) => Ok(Some(Value::Text(text.to_owned()))),
    }
}

/// The index of the entry of a list that `key` means.
fn index_in(items: &[Node], path: &str, key: &str) -> Result<usize, String> {
    let last = items.len().saturating_sub(1);
    if let Ok(index) = key.parse::<usize>() {
        return match items.len() {
            0 => Err(format!("`{path}` is an empty list")),
            _ if index > last => Err(format!("`{path}` has no entry {index}; expected an index from 0 to {last}")),
            _ => Ok(index),
        };
    }
    let names: Vec<Option<String>> = names_of(items, path == "flow");
    if let Some(index) = names.iter().position(|name| name.as_deref() == Some(key)) {
        return Ok(index);
    }
    let known: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
    let by_name = if known.is_empty() { String::new() } else { format!(", or one of the names {}", known.join(", ")) };
    let expected = match items.len() {
        0 => "it is an empty list".to_owned(),
        1 => format!("expected the index 0{by_name}"),
        _ => format!("expected an index from 0 to {last}{by_name}"),
    };
    Err(format!("`{path}` has no entry `{key}`; {expected}{}", suggestion(key, known.iter().copied())))
}

/// The names of a list's entries: those that are written, and for a flow without one its default.
fn names_of(items: &[Node], are_flows: bool) -> Vec<Option<String>> {
    let mut flows_before = 0_u64;
    let names = items.iter().map(|item| {
        let number = flows_before + 1;
        let count = match item.child("count").map(|count| &count.value) {
            Some(Value::Integer(count)) => u64::try_from(*count).unwrap_or(0),
            _ => 1,
        };
        flows_before = flows_before.saturating_add(count);
        match item.child("name").map(|name| &name.value) {
            Some(Value::Text(name)) => Some(name.clone()),
            _ => are_flows.then(|| format!("flow_{number}")),
        }
    });
    names.collect()
}
