//! Properties of the numbers of any report.

use acklab_inspect::Report;
use serde_json::{Map, Value};

/// Names of values that are shares of a whole, in any part of the report.
const SHARES: [&str; 5] = ["share", "agreement", "missing", "receive_window", "application"];

/// Asserts that all numbers of a report are finite and not negative, that shares lie within zero
/// and one, and that intervals contain their values.
///
/// # Panics
/// If it does not hold.
pub(crate) fn assert_sound(report: &Report) {
    // JSON cannot represent such numbers and writes them as unknown. `Debug` writes all of them.
    let written = format!("{report:?}");
    let mut words = written.split(|letter: char| !letter.is_alphanumeric());
    assert!(!words.any(|word| matches!(word, "NaN" | "inf")), "{written}");
    let report = serde_json::to_value(report).unwrap();
    for connection in report["connections"].as_array().unwrap() {
        for direction in connection["ways"].as_array().unwrap() {
            check("way", direction);
        }
    }
}

fn check(place: &str, value: &Value) {
    match value {
        Value::Number(number) => assert!(number.as_f64().unwrap() >= 0.0, "{place}: {number}"),
        Value::Array(items) => items.iter().for_each(|item| check(place, item)),
        Value::Object(object) => {
            object.iter().for_each(|(key, value)| check(&format!("{place}.{key}"), value));
            check_intervals(place, object);
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn check_intervals(place: &str, object: &Map<String, Value>) {
    for (key, interval) in object {
        let Some(quantity) = key.strip_suffix("_interval") else { continue };
        let Some([low, high]) = interval.as_array().map(|ends| [0, 1].map(|end| ends[end].as_f64().unwrap())) else {
            continue;
        };
        let value = object[quantity].as_f64();
        assert!(
            value.is_some_and(|value| low <= value && value <= high),
            "{place}.{quantity}: {value:?} of {interval}"
        );
    }
    if let [Some(value), Some(low), Some(high)] =
        ["value", "low", "high"].map(|key| object.get(key).and_then(Value::as_f64))
    {
        assert!(low <= value && value <= high, "{place}: {value} of [{low}, {high}]");
    }
    for share in SHARES {
        let value = object.get(share).and_then(Value::as_f64);
        assert!(value.is_none_or(|value| value <= 1.0 + 1e-9), "{place}.{share}: {value:?}");
        let interval = object.get(&format!("{share}_interval")).and_then(|ends| ends.get(1)).and_then(Value::as_f64);
        assert!(interval.is_none_or(|high| high <= 1.0), "{place}.{share}: {interval:?}");
    }
}
