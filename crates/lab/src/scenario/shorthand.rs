//! The expansion of shorthands, before the document is checked.
//!
//! There are three shorthands:
//!
//! * A **name** may replace a table without other keys: `congestion = "copa"` for
//!   `congestion = { algorithm = "copa" }`, and `{ custom = "mine" }` for
//!   `{ algorithm = "custom", name = "mine" }`. The schema marks the tables that have such names.
//! * In a **flat** flow, the settings of the transport are keys of the flow, and `transport` is the
//!   name of the protocol. It defaults to TCP.
//! * `flow` may be omitted if there is an `application`. `flow` and `duration` may be omitted if
//!   there is an `interface`.
//!
//! Keys and values keep their origins, and [`Shown`] records how they were written, so that
//! messages refer to the original text.

use super::document::{Member, Node, Origin, Shown, Table, Value};
use super::refuse::Problem;
use super::schema;
use super::types::{SHORTHAND, Type, kind_of, pair_of};
use acklab_transport::fault::LONGEST_TIME;
use serde_json::{Map, Value as Json};

/// The key of a flow's transport.
const TRANSPORT: &str = "transport";
/// The tag of a transport.
const PROTOCOL: &str = "protocol";
/// The default protocol of a flow.
const DEFAULT_PROTOCOL: &str = "tcp";

/// Expands all shorthands of `document`. Leaves expanded parts and invalid parts unchanged.
pub(super) fn write_out(document: &mut Node) {
    no_flows(document, "application");
    no_flows(document, "interface");
    no_end(document);
    if let Value::Table(table) = &mut document.value
        && let Some(Member { node: Node { value: Value::Array(flows), .. }, .. }) = table.get_mut("flow")
    {
        flows.iter_mut().for_each(gather);
    }
    names(document, schema::scenario());
}

/// Adds an empty list of flows to a scenario that has applications or interfaces. `beside` is the
/// key of these.
fn no_flows(document: &mut Node, beside: &str) {
    imply(document, beside, "flow", || Value::Array(Vec::new()));
}

/// Sets the duration of a path between interfaces to the maximum, because it runs until it is
/// stopped.
fn no_end(document: &mut Node) {
    imply(document, "interface", "duration", || Value::Text(format!("{}s", LONGEST_TIME.as_nanos() / 1_000_000_000)));
}

/// Adds a value for `key` if the document contains the key `beside` but not `key`.
fn imply(document: &mut Node, beside: &str, key: &str, value: impl FnOnce() -> Value) {
    if let Value::Table(table) = &mut document.value
        && let Some(member) = table.get(beside)
        && !table.contains_key(key)
    {
        let origin = member.key.clone();
        let node = Node { origin: origin.clone(), value: value() };
        table.insert(key.to_owned(), Member { key: origin, node, shown: Shown::Nothing });
    }
}

/// Returns the expansion of a path given to `--set`. A setting of a flow's transport is expanded to
/// a key of the table `transport`.
pub(super) fn full_path<'a>(path: &[&'a str]) -> Vec<&'a str> {
    let mut full = path.to_vec();
    if let ["flow", _, key, ..] = path
        && is_flat_key(key)
    {
        full.insert(2, TRANSPORT);
    }
    full
}

/// Returns the key of the table `transport` that a name sets: the protocol. Applies if `transport`
/// itself is set to a name.
pub(super) fn protocol_of(path: &[&str], transport: &Member, value: Option<&Value>) -> Option<&'static str> {
    let is_transport = matches!(path, ["flow", _, TRANSPORT]) && matches!(transport.node.value, Value::Table(_));
    let is_name = match value {
        Some(value) => matches!(value, Value::Text(_)),
        None => transport.shown == Shown::Nothing,
    };
    (is_transport && is_name).then_some(PROTOCOL)
}

/// Rejects settings of a transport that are in the wrong table.
pub(super) fn check(document: &Node) -> Result<(), Problem> {
    let Some(Node { value: Value::Array(flows), .. }) = document.child("flow") else { return Ok(()) };
    for (index, flow) in flows.iter().enumerate() {
        let path = |keys: &[&str]| -> Vec<String> {
            ["flow", &index.to_string()].iter().chain(keys).map(|key| (*key).to_owned()).collect()
        };
        let Value::Table(table) = &flow.value else { continue };
        let Some(transport) = table.get(TRANSPORT) else { continue };
        let Value::Table(settings) = &transport.node.value else { continue };
        if let Some(key) = table.keys().find(|key| is_flat_key(key)) {
            let message = format!("this flow has a table `{TRANSPORT}`; expected `{key}` there, as {TRANSPORT}.{key}");
            return Err(Problem::key(&path(&[key]), message));
        }
        if let Some((key, message)) = of_another_protocol(settings, transport.shown == Shown::Nothing) {
            return Err(Problem::key(&path(&[TRANSPORT, key]), message));
        }
    }
    Ok(())
}

/// Returns a setting that the flow's protocol lacks but another protocol has, with the message
/// about it. Ignores settings of the text if a `--set` has changed the protocol.
fn of_another_protocol(settings: &Table, is_flat: bool) -> Option<(&str, String)> {
    let protocol = settings.get(PROTOCOL)?;
    let kinds = transports();
    let kind = kind_of(settings, &kinds).filter(|kind| !kind.is_open())?;
    let is_left =
        |member: &Member| matches!(protocol.node.origin, Origin::Set(_)) && matches!(member.key, Origin::Text(_));
    settings.iter().filter(|(key, member)| !kind.knows(key) && !is_left(member)).find_map(|(key, _)| {
        let owner = *kinds.iter().find(|other| other.knows(key))?;
        let name = |kind: Type| kind.names(PROTOCOL).next().unwrap_or_default().to_uppercase();
        let expected = if is_flat { flow_keys() } else { kind.properties() };
        let expected: Vec<&str> = expected.into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        let message = format!(
            "only {} has this setting, and the transport of this flow is {}; expected one of the keys {}",
            name(owner),
            name(kind),
            expected.join(", ")
        );
        Some((key.as_str(), message))
    })
}

/// Moves the settings of a flat flow's transport into a table.
fn gather(flow: &mut Node) {
    let origin = flow.origin.clone();
    let Value::Table(table) = &mut flow.value else { return };
    let implied = || Member {
        key: origin.clone(),
        node: Node { origin: origin.clone(), value: Value::Text(DEFAULT_PROTOCOL.to_owned()) },
        shown: Shown::Nothing,
    };
    let flat = |protocol: Member| Member {
        key: origin.clone(),
        node: Node { origin: origin.clone(), value: Value::Table(Table::from([(PROTOCOL.to_owned(), protocol)])) },
        shown: Shown::Nothing,
    };
    match table.get_mut(TRANSPORT) {
        None => drop(table.insert(TRANSPORT.to_owned(), flat(implied()))),
        Some(transport) => match &mut transport.node.value {
            Value::Text(_) => {
                let named = Member { shown: Shown::As(TRANSPORT), ..transport.clone() };
                *transport = flat(named);
            }
            Value::Table(settings) if transport.shown == Shown::Nothing => {
                settings.entry(PROTOCOL.to_owned()).or_insert_with(implied);
            }
            // The transport is an explicit table, or an invalid value.
            _ => return,
        },
    }
    let keys: Vec<String> = table.keys().filter(|key| is_flat_key(key)).cloned().collect();
    for key in keys {
        let Some(member) = table.shift_remove(&key) else { continue };
        if let Some(Member { node: Node { value: Value::Table(settings), .. }, .. }) = table.get_mut(TRANSPORT) {
            settings.insert(key, member);
        }
    }
}

/// Expands the names that replace tables in `node` and in all values in it.
fn names(node: &mut Node, expected: Type<'static>) {
    let Some(kinds) = expected.kinds() else {
        match &mut node.value {
            Value::Table(table) => members(table, expected),
            Value::Array(items) => {
                if let Some(expected) = expected.items() {
                    items.iter_mut().for_each(|item| names(item, expected));
                }
            }
            _ => {}
        }
        return;
    };
    if expected.text(SHORTHAND) == Some("name") {
        name(node, &kinds);
    }
    if let Value::Table(table) = &mut node.value
        && let Some(kind) = kind_of(table, &kinds)
    {
        members(table, kind);
    }
}

fn members(table: &mut Table, expected: Type<'static>) {
    for (key, member) in table.iter_mut() {
        if let Some(expected) = expected.property(key) {
            names(&mut member.node, expected);
        }
    }
}

/// Expands a name that replaces a table of one of these variants.
fn name(node: &mut Node, kinds: &[Type<'static>]) {
    let Some(tag) = kinds.first().and_then(|kind| kind.tag()) else { return };
    match &mut node.value {
        Value::Text(name) => {
            let value = Value::Text(std::mem::take(name));
            let origin = node.origin.clone();
            let named = Member { key: origin.clone(), node: Node { origin, value }, shown: Shown::Nothing };
            node.value = Value::Table(Table::from([(tag.to_owned(), named)]));
        }
        Value::Table(table) if !table.contains_key(tag) => {
            let Some((kind, key)) = kinds.iter().find_map(|kind| pair_of(*kind, tag)) else { return };
            let Some(member) = table.shift_remove(kind) else { return };
            let origin = member.key.clone();
            let named = Node { origin: origin.clone(), value: Value::Text(kind.to_owned()) };
            table.insert(tag.to_owned(), Member { key: origin, node: named, shown: Shown::Nothing });
            table.insert(key.to_owned(), Member { shown: Shown::As(kind), ..member });
        }
        _ => {}
    }
}

/// Returns `true` if `key` is a setting of a transport that may be given in a flat flow.
fn is_flat_key(key: &str) -> bool {
    let of_flow = flow_keys().is_some_and(|known| known.contains_key(key));
    !of_flow && key != PROTOCOL && transports().iter().any(|kind| !kind.is_open() && kind.knows(key))
}

fn flow() -> Option<Type<'static>> {
    schema::scenario().property("flow")?.items()
}

fn flow_keys() -> Option<&'static Map<String, Json>> {
    flow()?.properties()
}

fn transports() -> Vec<Type<'static>> {
    flow().and_then(|flow| flow.property(TRANSPORT)?.kinds()).unwrap_or_default()
}
