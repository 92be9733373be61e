//! The JSON Schema of the language, for editors and for the [types](super::types). Documents are
//! checked against these types.

use super::Scenario;
use super::types::{ALIASES, SHORTHAND, Type, pair_of};
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// The schema of scenarios without shorthands. Draft 2020-12 permits other keywords in addition to
/// a reference, such as the description of a key.
static SCHEMA: LazyLock<Value> = LazyLock::new(|| generate(SchemaSettings::draft2020_12()));

/// Returns the type of a scenario.
pub(super) fn scenario() -> Type<'static> {
    Type::new(&SCHEMA)
}

/// Returns the JSON Schema of a scenario, in draft 7, which most editors support.
///
/// Types are inlined where they are used, so that each key shows its own description. `x-taplo`
/// describes the values of an enumeration for the TOML language server taplo. `x-acklab-quantity`
/// contains the type of a quantity with a unit.
#[must_use]
pub fn schema() -> Value {
    let mut schema = generate(SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true));
    flat_flows(&mut schema);
    shorthands(&mut schema);
    schema["examples"] = json!([example()]);
    schema
}

/// Returns the schema without shorthands.
pub(super) fn generate(settings: SchemaSettings) -> Value {
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
    for kind in kinds.iter().map(Type::new).filter(|kind| !kind.is_open()) {
        let settings = kind.properties().into_iter().flatten().filter(|(_, schema)| schema.get("const").is_none());
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
    let Some(tag) = kinds.first().and_then(|kind| Type::new(kind).tag()).map(str::to_owned) else { return };
    let (mut names, mut docs, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
    for kind in kinds.iter().map(Type::new) {
        let description = kind.get("description").cloned().unwrap_or_default();
        if kind.stands_alone(&tag, shorthand) {
            let of_kind: Vec<Value> = kind.names(&tag).map(Value::from).collect();
            docs.extend(of_kind.iter().map(|_| description.clone()));
            names.extend(of_kind);
        } else if shorthand == "name"
            && let Some((name, key)) = pair_of(kind, &tag)
            && let Some(mut value) = kind.properties().and_then(|known| known.get(key)).cloned()
        {
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

/// Returns a minimal scenario: one link and one flow.
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

/// Removes `null` from the allowed types. TOML has no null, and `required` already lists the keys
/// that are not optional.
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

/// Joins the lines of a description. The line breaks exist only because the source code is wrapped.
fn join_lines(object: &mut Map<String, Value>) {
    if let Some(Value::String(text)) = object.get_mut("description") {
        let paragraphs: Vec<String> = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
        *text = paragraphs.join("\n\n");
    }
}

/// Copies the description of a variant to its tag, where editors display it.
fn describe_tag(object: &mut Map<String, Value>) {
    let Some(description) = object.get("description").cloned() else { return };
    let Some(Value::Object(properties)) = object.get_mut("properties") else { return };
    for property in properties.values_mut().filter(|property| property.get("const").is_some()) {
        property["description"] = description.clone();
    }
}
