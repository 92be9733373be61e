//! The JSON Schema of the language, for editors and for `check`.

use super::Scenario;
use super::document::{self, Table};
use super::shorthand::pair_of;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// The schema keyword that names the [shorthand](super::shorthand) of a tagged table: `"name"` or `"flat"`.
pub(super) const SHORTHAND: &str = "x-acklab-shorthand";
/// The schema keyword for the aliases of a variant's name.
const ALIASES: &str = "x-acklab-aliases";

/// The schema of scenarios without shorthands, against which documents are checked.
pub(super) static SCHEMA: LazyLock<Value> = LazyLock::new(generate);

/// The JSON Schema (draft 7, which editors know best) of a scenario.
///
/// Types are inlined where they are used, so that each key shows its own description. `x-taplo` describes the values of an
/// enumeration for the TOML language server taplo; `x-acklab-quantity` names the type of a quantity with a unit.
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

/// Allows the settings of a transport among the keys of its flow.
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

/// Allows names instead of tables, from the innermost table outwards.
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

/// Returns `true` if the name of this variant may be written instead of its table: if it requires no other key, or, in a flat flow, if
/// its other keys may be given beside the name.
pub(super) fn stands_alone(kind: &Value, tag: &str, shorthand: &Value) -> bool {
    let mut required = kind.get("required").and_then(Value::as_array).into_iter().flatten();
    if shorthand == "flat" { !is_open(kind) } else { required.all(|key| key == tag) }
}

/// Returns `true` if tables of this variant may have keys that the schema does not know.
pub(super) fn is_open(kind: &Value) -> bool {
    kind.get("additionalProperties") != Some(&Value::Bool(false))
}

pub(super) fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

/// The key whose value is fixed in this variant: the tag.
pub(super) fn tag_of(kind: &Value) -> Option<&str> {
    properties(kind)?.iter().find(|(_, schema)| schema.get("const").is_some()).map(|(key, _)| key.as_str())
}

/// The values of `tag` that select this variant.
pub(super) fn names_of<'a>(kind: &'a Value, tag: &str) -> impl Iterator<Item = &'a str> {
    let name = properties(kind).and_then(|known| known.get(tag)?.get("const")?.as_str());
    let aliases = kind.get(ALIASES).and_then(Value::as_array).into_iter().flatten();
    name.into_iter().chain(aliases.filter_map(Value::as_str))
}

/// The variant that the tag of `table` selects.
pub(super) fn kind_of<'a>(table: &Table, kinds: &'a [Value]) -> Option<&'a Value> {
    let tag = kinds.first().and_then(tag_of)?;
    match &table.get(tag)?.node.value {
        document::Value::Text(name) => kinds.iter().find(|kind| names_of(kind, tag).any(|known| known == name)),
        _ => None,
    }
}

/// A minimal scenario: one link and one flow.
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

/// Simplifies a schema, from the innermost part outwards.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Object(object) => {
            object.values_mut().for_each(tidy);
            remove_null(object);
            list_choices(object);
            join_lines(object);
            describe_tag(object);
        }
        _ => {}
    }
}

/// Removes `null` from the allowed types, because TOML has no null and `required` says which keys are optional.
fn remove_null(object: &mut Map<String, Value>) {
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

/// Replaces one schema for each name by one list of names.
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

/// Joins the lines of a description, which are broken only for readers of the source.
fn join_lines(object: &mut Map<String, Value>) {
    if let Some(Value::String(text)) = object.get_mut("description") {
        let paragraphs: Vec<String> = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
        *text = paragraphs.join("\n\n");
    }
}

/// Copies the description of a variant to its tag, where editors show it.
fn describe_tag(object: &mut Map<String, Value>) {
    let Some(description) = object.get("description").cloned() else { return };
    let Some(Value::Object(properties)) = object.get_mut("properties") else { return };
    for property in properties.values_mut().filter(|property| property.get("const").is_some()) {
        property["description"] = description.clone();
    }
}
