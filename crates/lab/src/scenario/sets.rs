//! `--set path=value`: sets one value of a scenario.
//!
//! The path selects members of tables by key and entries of lists by index from 0 or by the `name`
//! of the entry: `flow.0.congestion`, `link.btl.reverse.gate.quota`. A `*` instead of a name, or
//! within a name, selects all matching entries (`flow.*.mss`). The stem of numbered names also
//! selects all of them (`flow.worker.mss` for `worker_1`, `worker_2`, …). Missing tables on the
//! path are created. The value is parsed as TOML if possible (`7`, `true`, `["queue"]`,
//! `{ policy = "linux" }`). Otherwise it is read as text, so `16Mbps` needs no quotes. An empty
//! value removes the key.
//!
//! A path to a setting of a flow's transport may omit the table `transport`: `flow.0.mss` is
//! `flow.0.transport.mss`. The shorthands of the text are expanded first (see `shorthand`), so that
//! `flow.0.congestion.beta` is valid if the text has `congestion = "cubic"`.
//!
//! An assignment may choose another variant of a tagged table (`flow.0.ack.policy=per-packet`).
//! Keys of the text that the new variant does not have are then removed. `check` does this, because
//! it has access to the variants.

use super::document::{Member, Node, Origin, Shown, Table, Value, parse_toml_value};
use super::refuse::{Refusal, suggestion};
use super::shorthand;

/// The wildcard in the name of a list's entry. It matches any characters.
const ANY: char = '*';
/// The maximum number of keys of a path. All valid paths are shorter.
const LONGEST_PATH: usize = 16;

/// Applies all `sets` in order. Messages number them from `first`.
pub(super) fn apply(document: &mut Node, sets: &[String], first: usize) -> Result<(), Refusal> {
    (first..).zip(sets).try_for_each(|(index, set)| {
        // A path may refer to keys that are abbreviated by a shorthand, in the text or in an
        // earlier assignment.
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
    // The order is from the last entry to the first, because removing an entry moves the entries
    // after it.
    for path in selected(document, &path)?.iter().rev() {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        apply_at(document, &path, value.clone(), origin)?;
    }
    Ok(())
}

/// Returns the paths that `path` selects. A key with a `*`, or the common stem of numbered names,
/// selects several list entries.
fn selected(document: &Node, path: &[&str]) -> Result<Vec<Vec<String>>, String> {
    let mut found: Vec<(Vec<String>, Option<&Node>)> = vec![(Vec::new(), Some(document))];
    for key in path {
        let mut longer = Vec::new();
        for (path, node) in found {
            let with = |key: &str| [path.clone(), vec![key.to_owned()]].concat();
            match node.map(|node| &node.value) {
                Some(Value::Array(items)) => {
                    let so_far = path.join(".");
                    let indices = indices_in(items, &so_far, key)?;
                    // In messages, a single entry keeps the name by which it was selected.
                    let is_one = indices.len() == 1 && !key.contains(ANY);
                    longer.extend(indices.iter().map(|index| {
                        let name = if is_one { (*key).to_owned() } else { index.to_string() };
                        (with(&name), items.get(*index))
                    }));
                }
                _ => longer.push((with(key), node.and_then(|node| node.child(key)))),
            }
        }
        found = longer;
    }
    Ok(found.into_iter().map(|(path, _)| path).collect())
}

/// Sets or removes the value at one path.
fn apply_at(document: &mut Node, path: &[&str], value: Option<Value>, origin: &Origin) -> Result<(), String> {
    let full = shorthand::full_path(path);
    let mut node = document;
    for (depth, key) in full.iter().enumerate() {
        // Messages show the path as the user wrote it. A shorthand omits keys only after the flow's
        // index.
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
                let indices = indices_in(items, &so_far, key)?;
                let Some(&index) = indices.first() else { return Ok(()) };
                if is_last {
                    match value {
                        Some(value) => items[index] = Node { origin: origin.clone(), value }.with_origin(origin),
                        None => drop(items.remove(index)),
                    }
                    return Ok(());
                }
                &mut items[index]
            }
            other => return Err(format!("`{so_far}` is {other} and has no `{key}`")),
        };
    }
    Ok(())
}

/// Sets the value of `key`, or removes the key.
fn set_member(table: &mut Table, key: &str, value: Option<Value>, origin: &Origin) -> Result<(), String> {
    match value {
        Some(value) => {
            let node = Node { origin: origin.clone(), value }.with_origin(origin);
            // If a shorthand implies a key, messages do not show the key.
            let shown = table.get(key).map_or(Shown::Itself, |member| member.shown);
            table.insert(key.to_owned(), Member { key: origin.clone(), node, shown });
            Ok(())
        }
        None if table.shift_remove(key).is_some() => Ok(()),
        None => Err(format!("an empty value removes a key, but there is no `{key}` here")),
    }
}

/// Parses the text after the `=`. Returns `None` if the text is empty.
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

/// Returns the indices of the list entries that `key` selects. `key` is an index, a name, a pattern
/// of names with `*`, or the stem of numbered names, such as `sta` for `sta_1` and `sta_2`.
fn indices_in(items: &[Node], path: &str, key: &str) -> Result<Vec<usize>, String> {
    let last = items.len().saturating_sub(1);
    if let Ok(index) = key.parse::<usize>() {
        return match items.len() {
            0 => Err(format!("`{path}` is an empty list")),
            _ if index > last => Err(format!("`{path}` has no entry {index}; expected an index from 0 to {last}")),
            _ => Ok(vec![index]),
        };
    }
    let names: Vec<Option<String>> = names_of(items, path == "flow");
    if let Some(index) = names.iter().position(|name| name.as_deref() == Some(key)) {
        return Ok(vec![index]);
    }
    let numbered = |name: &str| {
        let number = name.strip_prefix(key).and_then(|rest| rest.strip_prefix('_'));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|octet| octet.is_ascii_digit()))
    };
    let is_selected = |name: &Option<String>| match name {
        Some(name) => matches(key, name) || numbered(name),
        None => key == "*",
    };
    let selected: Vec<usize> =
        (0..).zip(&names).filter(|(_, name)| is_selected(name)).map(|(index, _)| index).collect();
    if !selected.is_empty() {
        return Ok(selected);
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

/// Returns `true` if `name` matches `pattern`. Each `*` in the pattern matches any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once(ANY) else { return pattern == name };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let parts: Vec<&str> = rest.split(ANY).collect();
    let Some((end, between)) = parts.split_last() else { return true };
    for part in between {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(end)
}

/// Returns the names of a list's entries. For a flow without a name, returns the default name.
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
