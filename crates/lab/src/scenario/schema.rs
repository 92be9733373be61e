//! The schema of the language: what editors complete from, and what `check` goes by.

use super::Scenario;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// Made once: it is the same for every scenario.
pub(super) static SCHEMA: LazyLock<Value> = LazyLock::new(generate);

/// The JSON Schema (draft 7, which editors know best) of a scenario.
///
/// Types stand where they are used, without references, so that each key shows its own description. `x-taplo` describes the
/// values of an enumeration for the TOML language server of that name; `x-acklab-quantity` names the type of a value with a unit.
#[must_use]
pub fn schema() -> Value {
    SCHEMA.clone()
}

fn generate() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Scenario>().to_value();
    tidy(&mut schema);
    schema["examples"] = json!([example()]);
    schema
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
        "flow": [{ "from": "src_0", "to": "dst_0", "preset": "linux" }],
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

/// One list of names instead of one schema for each name. Where a table may stand instead, the list is the first of two kinds.
fn list_choices(object: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = object.get("oneOf") else { return };
    let (mut values, mut docs, mut tables) = (Vec::new(), Vec::new(), Vec::new());
    for choice in choices {
        let Some(name) = choice.get("const") else {
            tables.push(choice.clone());
            continue;
        };
        let aliases = choice.get("x-acklab-aliases").and_then(Value::as_array);
        for value in std::iter::once(name).chain(aliases.into_iter().flatten()) {
            values.push(value.clone());
            docs.push(choice.get("description").cloned().unwrap_or_default());
        }
    }
    if values.is_empty() {
        return;
    }
    object.shift_remove("oneOf");
    let list = json!({ "type": "string", "enum": values, "x-taplo": { "docs": { "enumValues": docs } } });
    match (tables.is_empty(), list) {
        (true, Value::Object(list)) => object.extend(list),
        (_, list) => {
            tables.iter_mut().for_each(describe_only_key);
            tables.insert(0, list);
            object.insert("oneOf".to_owned(), tables.into());
        }
    }
}

/// The one key of a table that stands for a name with something to it means what the table means.
fn describe_only_key(table: &mut Value) {
    let description = table["description"].clone();
    for property in table["properties"].as_object_mut().into_iter().flat_map(Map::values_mut) {
        property["description"] = description.clone();
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
