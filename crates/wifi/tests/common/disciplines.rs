//! Every queue discipline with every setting of it, read from its schema: a new one is tested
//! without a word here.

#![allow(unreachable_pub, reason = "others pass it on")]

use acklab_path::queue::QueueConfig;
use serde_json::{Map, Value};

/// Queues that are full before an exchange is over.
const LIMITS: [&str; 2] = ["6packets", "4000B"];
/// Of a delay or an interval that an exchange can meet.
const DURATION: &str = "2ms";

/// All that a scenario may ask for, but for the values of limits and durations.
///
/// # Panics
/// If the schema has something that is not known here.
pub fn all() -> Vec<QueueConfig> {
    let schema = schemars::schema_for!(QueueConfig).to_value();
    let disciplines = schema["oneOf"].as_array().unwrap_or_else(|| panic!("no disciplines: {schema}"));
    let settings = disciplines.iter().flat_map(|discipline| settings(discipline, &schema["$defs"]));
    settings
        .map(|value| serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}")))
        .collect()
}

/// A discipline with what it requires, with each value of each other setting, and with each pair of
/// values of two settings.
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
            // The MAC decides when packets leave, so that a queue with a rate of its own is
            // refused.
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
        // That the property is left out.
        Some("null") => Vec::new(),
        _ => schema["enum"].as_array().unwrap_or_else(|| panic!("what values has {schema}?")).clone(),
    }
}
