//! The schema that editors use for completion.

use super::{FULL, NAME, read};
use acklab_lab::scenario::{load, schema};
use serde_json::Value;

/// Visits every schema within a schema, with its path.
fn walk(schema: &Value, path: &str, visit: &mut impl FnMut(&str, &Value)) {
    visit(path, schema);
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        walk(property, &format!("{path}.{key}"), visit);
    }
    for kind in schema["oneOf"].as_array().into_iter().flatten() {
        walk(kind, path, visit);
    }
    if let Some(items) = schema.get("items") {
        walk(items, path, visit);
    }
}

#[test]
fn its_examples_are_scenarios() {
    let examples = schema()["examples"].as_array().cloned().unwrap_or_default();
    assert!(!examples.is_empty());
    for example in examples {
        load(&example.to_string(), NAME, &[], None).unwrap_or_else(|refusal| panic!("{refusal}"));
    }
}

#[test]
fn every_table_is_closed_and_every_key_described() {
    walk(&schema(), "", &mut |path, schema| {
        // Only the transport itself knows the settings of a custom transport.
        let is_open = schema["properties"]["protocol"]["const"] == "custom";
        if schema["type"] == "object" && !is_open {
            assert_eq!(schema["additionalProperties"], false, "{path}");
        }
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            assert!(property["description"].is_string(), "{path}.{key} has no description");
        }
        if let Some(values) = schema["enum"].as_array() {
            let docs = schema["x-taplo"]["docs"]["enumValues"].as_array().map(Vec::len);
            assert_eq!(docs, Some(values.len()), "{path}");
        }
    });
}

/// `check` interprets only these keywords, and would ignore others.
#[test]
fn it_is_written_in_keywords_that_are_heeded() {
    const HEEDED: [&str; 12] = [
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "oneOf",
        "enum",
        "const",
        "minimum",
        "maximum",
        "maxLength",
        "maxItems",
    ];
    const SAID_TO_PERSONS: [&str; 6] = ["description", "title", "examples", "default", "$schema", "x-taplo"];
    // Of these, `check` interprets `format` and the unit; `validate` checks the rest.
    const OTHERS: [&str; 4] = ["format", "x-acklab-quantity", "pattern", "minItems"];
    walk(&schema(), "", &mut |path, schema| {
        for keyword in schema.as_object().into_iter().flatten().map(|(keyword, _)| keyword.as_str()) {
            let lists: [&[&str]; 3] = [&HEEDED, &SAID_TO_PERSONS, &OTHERS];
            assert!(lists.iter().any(|list| list.contains(&keyword)), "{path}: {keyword}");
        }
        assert!(
            ["object", "array", "string", "boolean", "integer", "number"].iter().any(|name| schema["type"] == *name)
                || schema["oneOf"].is_array(),
            "{path}: {}",
            schema["type"]
        );
    });
}

/// The written-out scenario has only keys that the schema describes, and all keys that it requires.
#[test]
fn it_describes_the_scenario_in_full() {
    fn fits(value: &Value, schema: &Value, path: &str) {
        if let Some(kinds) = schema["oneOf"].as_array() {
            let kind = kinds.iter().filter(|kind| kind["type"] == "object").find(|kind| {
                kind["properties"]
                    .as_object()
                    .into_iter()
                    .flatten()
                    .all(|(key, it)| it["const"].is_null() || it["const"] == value[key])
            });
            return fits(value, kind.unwrap_or_else(|| panic!("{path} is of no kind")), path);
        }
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    let schema =
                        schema["properties"].get(key).unwrap_or_else(|| panic!("{path}.{key} is not described"));
                    fits(value, schema, &format!("{path}.{key}"));
                }
                for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                    assert!(members.contains_key(key), "{path}.{key} is required");
                }
            }
            Value::Array(items) => items.iter().for_each(|item| fits(item, &schema["items"], path)),
            Value::String(_) => assert_eq!(schema["type"], "string", "{path}"),
            Value::Bool(_) => assert_eq!(schema["type"], "boolean", "{path}"),
            Value::Number(_) => assert!(schema["type"] == "integer" || schema["type"] == "number", "{path}"),
            Value::Null => panic!("{path} is null"),
        }
    }
    fits(&read(FULL, &[]).unwrap().canonical_json(), &schema(), "");
}
