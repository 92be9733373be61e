//! Every queue discipline with every setting, read from its schema, so that new disciplines are
//! tested without a change here.

#![allow(unreachable_pub, reason = "others pass it on")]

use acklab_path::queue::QueueConfig;
use serde_json::{Map, Value};

/// Limits that are exceeded within an exchange.
const LIMITS: [&str; 2] = ["6packets", "4000B"];
/// A value of a delay or an interval that matters within an exchange.
const DURATION: &str = "2ms";

/// Returns all configurations of a scenario, except for other values of limits and durations.
///
/// # Panics
/// If the schema has an element that is unknown here.
pub fn all() -> Vec<QueueConfig> {
    let schema = schemars::schema_for!(QueueConfig).to_value();
    let disciplines = schema["oneOf"].as_array().unwrap_or_else(|| panic!("no disciplines: {schema}"));
    let settings = disciplines.iter().flat_map(|discipline| settings(discipline, &schema["$defs"]));
    settings
        .map(|value| serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}")))
        .collect()
}

/// Returns a discipline with its required settings, with each value of each other setting, and with
/// each pair of values of two settings.
fn settings(discipline: &Value, defs: &Value) -> Vec<Value> {
    let required = discipline["required"].as_array().cloned().unwrap_or_default();
    let (mut bases, mut optional) = (vec![Map::new()], Vec::new());
    for (name, schema) in discipline["properties"].as_object().into_iter().flatten() {
        let values = values(schema, defs);
        if required.contains(&name.as_str().into()) {
            bases = with_each(&bases, name, &values);
        } else {
            optional.push((name, values));
        }
    }
    let mut all = bases.clone();
    for (at, (name, values)) in optional.iter().enumerate() {
        let singles = with_each(&bases, name, values);
        let pairs = optional[..at].iter().flat_map(|(other, values)| with_each(&singles, other, values));
        all.extend(pairs.collect::<Vec<_>>());
        all.extend(singles);
    }
    all.into_iter().map(Value::Object).collect()
}

fn with_each(settings: &[Map<String, Value>], name: &str, values: &[Value]) -> Vec<Map<String, Value>> {
    let with = |settings: &Map<String, Value>, value: &Value| {
        let mut settings = settings.clone();
        settings.insert(name.to_owned(), value.clone());
        settings
    };
    settings.iter().flat_map(|settings| values.iter().map(move |value| with(settings, value))).collect()
}

fn values(schema: &Value, defs: &Value) -> Vec<Value> {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/")) {
        return match name {
            "Limit" => LIMITS.map(Value::from).to_vec(),
            "Duration" => vec![DURATION.into()],
            "Bytes" => vec!["300B".into()],
            // The MAC decides when packets leave, so a queue with a rate is refused.
            "Rate" => Vec::new(),
            _ => values(&defs[name], defs),
        };
    }
    if let Some(value) = schema.get("const") {
        return vec![value.clone()];
    }
    if let Some(any) = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array()) {
        return any.iter().flat_map(|schema| values(schema, defs)).collect();
    }
    match schema["type"].as_str() {
        Some("boolean") => vec![false.into(), true.into()],
        Some("integer") => vec![schema["minimum"].clone()],
        // The property is omitted.
        Some("null") => Vec::new(),
        _ => schema["enum"].as_array().unwrap_or_else(|| panic!("unknown schema: {schema}")).clone(),
    }
}
