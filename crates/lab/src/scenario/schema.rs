//! The schema of the language: what editors complete from, and what `check` goes by.

use super::Scenario;
use super::document::{self, Table};
use super::shorthand::pair_of;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// The keyword of a kind of tables for which a [shorthand](super::shorthand) may stand, and which one.
pub(super) const SHORTHAND: &str = "x-acklab-shorthand";
/// The keyword of other names of one kind.
const ALIASES: &str = "x-acklab-aliases";

/// Of scenarios without shorthands, which is what they are checked against. Made once: it is the same for every scenario.
pub(super) static SCHEMA: LazyLock<Value> = LazyLock::new(generate);

/// The JSON Schema (draft 7, which editors know best) of a scenario.
///
/// Types stand where they are used, without references, so that each key shows its own description. `x-taplo` describes the
/// values of an enumeration for the TOML language server of that name; `x-acklab-quantity` names the type of a value with a unit.
#[must_use]
pub fn schema() -> Value {
    let mut schema = SCHEMA.clone();
    flat_flows(&mut schema);
    shorthands(&mut schema);
    schema["examples"] = json!([example()]);
    schema
}

fn generate() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Scenario>().to_value();
    tidy(&mut schema);
    schema
}

/// Lets a flow have the settings of its transport beside its own keys.
fn flat_flows(schema: &mut Value) {
    let Some(flow) = schema.pointer_mut("/properties/flow/items") else { return };
    let kinds = flow.pointer("/properties/transport/oneOf").and_then(Value::as_array).cloned().unwrap_or_default();
    if let Some(Value::Array(required)) = flow.get_mut("required") {
        required.retain(|key| key != "transport");
    }
    let Some(known) = flow.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for kind in kinds.iter().filter(|kind| !is_open(kind)) {
        let settings = properties(kind).into_iter().flatten().filter(|(_, schema)| schema.get("const").is_none());
        for (key, schema) in settings {
            known.entry(key).or_insert_with(|| schema.clone());
        }
    }
}

/// Lets names stand for tables, from the inside out.
fn shorthands(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(shorthands),
        Value::Object(object) => {
            object.values_mut().for_each(shorthands);
            object.shift_remove(ALIASES);
            let Some(shorthand) = object.shift_remove(SHORTHAND) else { return };
            if let Some(Value::Array(kinds)) = object.get_mut("oneOf") {
                accept_names(kinds, &shorthand);
            }
        }
        _ => {}
    }
}

fn accept_names(kinds: &mut Vec<Value>, shorthand: &Value) {
    let Some(tag) = kinds.first().and_then(tag_of).map(str::to_owned) else { return };
    let (mut names, mut docs, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
    for kind in &*kinds {
        let description = kind.get("description").cloned().unwrap_or_default();
        if stands_alone(kind, &tag, shorthand) {
            let of_kind: Vec<Value> = names_of(kind, &tag).map(Value::from).collect();
            docs.extend(of_kind.iter().map(|_| description.clone()));
            names.extend(of_kind);
        } else if shorthand == "name"
            && let Some((name, key)) = pair_of(kind, &tag)
        {
            let mut value = kind["properties"][key].clone();
            value["description"] = description.clone();
            pairs.push(json!({
                "type": "object",
                "description": description,
                "properties": { name: value },
                "additionalProperties": false,
                "required": [name],
            }));
        }
    }
    let list = json!({ "type": "string", "enum": names, "x-taplo": { "docs": { "enumValues": docs } } });
    kinds.insert(0, list);
    kinds.extend(pairs);
}

/// May the name of this kind stand for a table of it? In a flat flow, the rest stands beside the name.
pub(super) fn stands_alone(kind: &Value, tag: &str, shorthand: &Value) -> bool {
    let mut required = kind.get("required").and_then(Value::as_array).into_iter().flatten();
    if shorthand == "flat" { !is_open(kind) } else { required.all(|key| key == tag) }
}

/// May tables of this kind have keys that the schema does not know?
pub(super) fn is_open(kind: &Value) -> bool {
    kind.get("additionalProperties") != Some(&Value::Bool(false))
}

pub(super) fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

/// The key whose value is fixed in this kind of table.
pub(super) fn tag_of(kind: &Value) -> Option<&str> {
    properties(kind)?.iter().find(|(_, schema)| schema.get("const").is_some()).map(|(key, _)| key.as_str())
}

/// The names by which `tag` calls this kind of table.
pub(super) fn names_of<'a>(kind: &'a Value, tag: &str) -> impl Iterator<Item = &'a str> {
    let name = properties(kind).and_then(|known| known.get(tag)?.get("const")?.as_str());
    let aliases = kind.get(ALIASES).and_then(Value::as_array).into_iter().flatten();
    name.into_iter().chain(aliases.filter_map(Value::as_str))
}

/// Of these kinds, the one that `table` says it is of.
pub(super) fn kind_of<'a>(table: &Table, kinds: &'a [Value]) -> Option<&'a Value> {
    let tag = kinds.first().and_then(tag_of)?;
    match &table.get(tag)?.node.value {
        document::Value::Text(name) => kinds.iter().find(|kind| names_of(kind, tag).any(|known| known == name)),
        _ => None,
    }
}

/// One link and one flow, with what must be said of them.
fn example() -> Value {
    json!({
        "duration": "15s",
        "seed": 42,
        "link": [{
            "name": "btl",
            "from": "src_0",
            "to": "dst_0",
            "forward": { "rate": "16Mbps", "delay": "7.5ms", "queue": { "discipline": "fifo", "limit": "20packets" } },
            "reverse": { "rate": "1Gbps", "delay": "7.5ms", "gate": { "interval": "5ms", "quota": 10 } },
        }],
        "flow": [{ "from": "src_0", "to": "dst_0", "transport": { "protocol": "tcp", "preset": "linux" } }],
    })
}

/// Tidies a schema from the inside out.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Object(object) => {
            object.values_mut().for_each(tidy);
            forget_null(object);
            list_choices(object);
            join_lines(object);
            describe_tag(object);
        }
        _ => {}
    }
}

/// TOML has no null: what may be absent is said by `required` alone.
fn forget_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            object["type"] = only.clone();
        }
    }
    if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
        choices.retain(|choice| *choice != json!({ "type": "null" }));
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            object.shift_remove("anyOf");
            for (keyword, value) in only {
                object.entry(keyword).or_insert(value);
            }
        }
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.shift_remove("default");
    }
}

/// One list of names instead of one schema for each name.
fn list_choices(object: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = object.get("oneOf") else { return };
    let names: Option<Vec<Value>> = choices.iter().map(|choice| choice.get("const").cloned()).collect();
    let Some(names) = names else { return };
    let docs: Vec<Value> =
        choices.iter().map(|choice| choice.get("description").cloned().unwrap_or_default()).collect();
    object.shift_remove("oneOf");
    if let Value::Object(list) =
        json!({ "type": "string", "enum": names, "x-taplo": { "docs": { "enumValues": docs } } })
    {
        object.extend(list);
    }
}

/// A description's lines are broken for those who read the source.
fn join_lines(object: &mut Map<String, Value>) {
    if let Some(Value::String(text)) = object.get_mut("description") {
        let paragraphs: Vec<String> = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
        *text = paragraphs.join("\n\n");
    }
}

/// The key that says which kind of table this is shows what that kind does.
fn describe_tag(object: &mut Map<String, Value>) {
    let Some(description) = object.get("description").cloned() else { return };
    let Some(Value::Object(properties)) = object.get_mut("properties") else { return };
    for property in properties.values_mut().filter(|property| property.get("const").is_some()) {
        property["description"] = description.clone();
    }
}
