//! The constants of controllers: what the schema says of them, and what they do.

use super::{NAME, read};
use acklab_lab::scenario::{load, schema};
use acklab_lab::{RunOptions, run};
use acklab_transport::cc;
use serde_json::{Value, json};

/// A bottleneck with a short queue, losses and marks, for every controller to find something to do.
const PATH: &str = r#"
duration = "12s"
seed = 5
[[link]]
name = "btl"
from = "a"
to = "b"
forward = { rate = "12Mbps", delay = "40ms", queue = { discipline = "fifo", limit = "60packets", mark_above = "40packets" } }
reverse = { delay = "40ms" }
[[flow]]
from = "a"
to = "b"
transport = { protocol = "tcp", preset = "rfc", ecn = "dctcp" }
"#;

/// The tables of all controllers, as the schema has them.
fn kinds() -> Vec<Value> {
    let schema = schema();
    let kinds = schema["properties"]["flow"]["items"]["properties"]["congestion"]["oneOf"].as_array().cloned();
    kinds.unwrap_or_default().into_iter().filter(|kind| !kind["properties"]["algorithm"]["const"].is_null()).collect()
}

fn name(kind: &Value) -> String {
    kind["properties"]["algorithm"]["const"].as_str().unwrap_or_default().to_owned()
}

/// The constants of a controller and what the schema says of each.
fn constants(kind: &Value) -> Vec<(String, Value)> {
    let properties = kind["properties"].as_object().cloned().unwrap_or_default();
    properties.into_iter().filter(|(_, schema)| schema["const"].is_null()).collect()
}

#[test]
fn every_controller_has_a_table_of_its_constants() {
    let built_in: Vec<Value> = kinds().into_iter().filter(|kind| name(kind) != "custom").collect();
    assert!(built_in.len() >= 9, "{}", built_in.len());
    for kind in &built_in {
        let controller = name(kind);
        assert!(cc::Config::named(&controller).is_some_and(|config| config.name() == controller), "{controller}");
        let constants = constants(kind);
        assert!(!constants.is_empty(), "{controller}");
        for (key, schema) in &constants {
            assert!(schema["description"].as_str().is_some_and(|text| text.len() > 20), "{controller}.{key}");
            assert!(!schema["default"].is_null(), "{controller}.{key} has no published value");
        }
        // The scenario in full says each of them, as it is published.
        let full = read(PATH, &[&format!("flow.0.congestion={controller}")]).unwrap().canonical_json();
        let mut table = serde_json::Map::from_iter([("algorithm".to_owned(), json!(controller))]);
        table.extend(constants.into_iter().map(|(key, schema)| (key, schema["default"].clone())));
        assert_eq!(full["flow"][0]["transport"]["congestion"], Value::Object(table), "{controller}");
    }
}

/// Another value than the published one, within the bounds of the schema.
fn another(schema: &Value) -> Value {
    let published = &schema["default"];
    let bound = |keyword: &str, otherwise: f64| schema[keyword].as_f64().unwrap_or(otherwise);
    let within = |number: f64| number.clamp(bound("minimum", 0.0), bound("maximum", 1e9));
    match (published, schema["type"].as_str()) {
        (Value::Bool(value), _) => json!(!value),
        (Value::String(_), _) => json!("123ms"),
        (_, Some("integer")) => json!(within(published.as_f64().unwrap_or(0.0) + 1.0) as u64),
        _ => {
            let published = published.as_f64().unwrap_or(0.0);
            let greater = within(published * 1.25 + 0.01);
            json!(if (greater - published).abs() > 1e-9 { greater } else { within(published * 0.75) })
        }
    }
}

#[test]
fn every_constant_can_be_set_and_survives() {
    for kind in kinds() {
        for (key, schema) in constants(&kind).into_iter().filter(|_| name(&kind) != "custom") {
            let (controller, value) = (name(&kind), another(&schema));
            assert_ne!(value, schema["default"], "{controller}.{key}");
            let sets = [format!("flow.0.congestion={controller}"), format!("flow.0.congestion.{key}={value}")];
            let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
            let scenario = read(PATH, &sets).unwrap_or_else(|refusal| panic!("{controller}.{key}\n{refusal}"));
            let canonical = scenario.canonical_json();
            assert_ne!(canonical["flow"][0]["transport"]["congestion"][&key], schema["default"], "{controller}.{key}");
            let again = load(&canonical.to_string(), NAME, &[], None).unwrap();
            assert_eq!(again.canonical_json(), canonical, "{controller}.{key}");
            let out_of_bounds = format!("flow.0.congestion.{key}=\"nothing\"");
            assert!(read(PATH, &[sets[0], &out_of_bounds]).is_err(), "{controller}.{key}");
        }
    }
}

/// A controller does something else for at least a third of its constants; others matter on other paths only.
#[test]
fn constants_move_what_a_controller_does() {
    let tables = |sets: &[&str]| {
        let results = run(&read(PATH, sets).unwrap(), &RunOptions::default(), || true).unwrap();
        results.tables.into_iter().map(|table| table.into_arrow().unwrap()).collect::<Vec<_>>()
    };
    for kind in kinds() {
        let (controller, constants) = (name(&kind), constants(&kind));
        if controller == "custom" {
            continue;
        }
        let chosen = format!("flow.0.congestion={controller}");
        let published = tables(&[&chosen]);
        let moves = |(key, schema): &(String, Value)| {
            let set = format!("flow.0.congestion.{key}={}", another(schema));
            tables(&[&chosen, &set]) != published
        };
        let (moving, idle): (Vec<_>, Vec<_>) = constants.iter().partition(|constant| moves(constant));
        let idle: Vec<&str> = idle.iter().map(|(key, _)| key.as_str()).collect();
        assert!(moving.len() * 3 >= constants.len(), "{controller}: nothing follows from {idle:?}");
    }
}
