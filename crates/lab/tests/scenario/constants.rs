//! The constants of controllers and slow starts: their schema, and their effect.

use super::NAME;
use acklab_lab::scenario::{Refusal, Scenario, load, schema};
use acklab_lab::{RunOptions, run};
use acklab_transport::cc;
use serde_json::{Value, json};

/// A bottleneck with a short queue, losses and marks, so that every controller must respond.
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

/// A table of constants that belongs to a name: a controller or a slow start.
struct Kind {
    /// The key of the flow whose value is the name.
    key: &'static str,
    name: String,
    /// Its schema.
    schema: Value,
}

impl Kind {
    /// Returns all built-in controllers and slow starts, in the order of the schema.
    fn all() -> Vec<Self> {
        let schema = schema();
        let of = |key: &'static str, tag: &str| {
            let kinds = schema["properties"]["flow"]["items"]["properties"][key]["oneOf"].as_array().cloned();
            let named = |schema: Value| {
                let name = schema["properties"][tag]["const"].as_str()?.to_owned();
                Some(Self { key, name, schema })
            };
            kinds.unwrap_or_default().into_iter().filter_map(named).filter(|kind| kind.name != "custom").collect()
        };
        let kinds: [Vec<Self>; 2] = [of("congestion", "algorithm"), of("slow_start", "rule")];
        kinds.into_iter().flatten().collect()
    }

    /// Returns the constants with their schemas.
    fn constants(&self) -> Vec<(String, Value)> {
        let properties = self.schema["properties"].as_object().cloned().unwrap_or_default();
        properties.into_iter().filter(|(_, schema)| schema["const"].is_null()).collect()
    }

    /// Returns the overrides that choose this controller or slow start, with the ECN that it needs.
    /// If `constant` is given, they also set this constant.
    fn sets(&self, constant: Option<(&str, &Value)>) -> Vec<String> {
        let ecn = if self.name == "prague" { "accurate" } else { "dctcp" };
        let chosen = format!("flow.0.{}={}", self.key, self.name);
        let set = constant.map(|(constant, value)| format!("flow.0.{}.{constant}={value}", self.key));
        [format!("flow.0.transport.ecn={ecn}"), chosen].into_iter().chain(set).collect()
    }
}

fn chosen(sets: &[String]) -> Result<Scenario, Refusal> {
    load(PATH, NAME, sets, None)
}

#[test]
fn every_controller_has_a_table_of_its_constants() {
    let kinds = Kind::all();
    let controllers = kinds.iter().filter(|kind| kind.key == "congestion").count();
    assert!(controllers >= 9 && kinds.len() >= controllers + 4, "{controllers} of {}", kinds.len());
    for kind in &kinds {
        let (key, name, constants) = (kind.key, kind.name.as_str(), kind.constants());
        let is_known = match key {
            "congestion" => cc::ControllerConfig::named(name).is_some_and(|config| config.name() == name),
            _ => cc::SlowStart::named(name).is_some_and(|rule| rule.name() == name),
        };
        assert!(is_known, "{name}");
        assert!(!constants.is_empty() || name == "classic", "{name}");
        for (constant, schema) in &constants {
            assert!(schema["description"].as_str().is_some_and(|text| text.len() > 20), "{name}.{constant}");
            assert!(!schema["default"].is_null(), "{name}.{constant} has no published value");
        }
        // The written-out scenario contains each constant, with the published value.
        let full = chosen(&kind.sets(None)).unwrap().canonical_json();
        let mut table = full["flow"][0]["transport"][key].as_object().unwrap().clone();
        table.retain(|_, value| value != name);
        let published = constants.into_iter().map(|(constant, schema)| (constant, schema["default"].clone()));
        assert_eq!(table, published.collect::<serde_json::Map<_, _>>(), "{name}");
    }
}

/// Returns a value other than the published one, within the bounds of the schema.
fn another(schema: &Value) -> Value {
    let published = &schema["default"];
    let bound = |keyword: &str, otherwise: f64| schema[keyword].as_f64().unwrap_or(otherwise);
    let within = |number: f64| number.clamp(bound("minimum", 0.0), bound("maximum", 1e9));
    match (published, schema["type"].as_str()) {
        (Value::Bool(value), _) => json!(!value),
        (Value::String(_), _) => match schema["enum"].as_array() {
            Some(choices) => choices.iter().find(|choice| *choice != published).cloned().unwrap_or_default(),
            None => json!("123ms"),
        },
        (_, Some("integer")) => json!(within(published.as_f64().unwrap_or(0.0) + 1.0) as u64),
        _ => {
            let published = published.as_f64().unwrap_or(0.0);
            let greater = within(published * 1.25 + 0.01);
            json!(if (greater - published).abs() > 1e-9 { greater } else { within(published * 0.75 - 0.01) })
        }
    }
}

#[test]
fn every_constant_can_be_set_and_survives() {
    for kind in Kind::all() {
        for (constant, schema) in kind.constants() {
            let (name, value) = (&kind.name, another(&schema));
            assert_ne!(value, schema["default"], "{name}.{constant}");
            let scenario = chosen(&kind.sets(Some((&constant, &value)))).unwrap_or_else(|refusal| panic!("{refusal}"));
            let canonical = scenario.canonical_json();
            assert_ne!(canonical["flow"][0]["transport"][kind.key][&constant], schema["default"], "{name}.{constant}");
            let again = load(&canonical.to_string(), NAME, &[], None).unwrap();
            assert_eq!(again.canonical_json(), canonical, "{name}.{constant}");
            assert!(chosen(&kind.sets(Some((&constant, &json!("nothing"))))).is_err(), "{name}.{constant}");
        }
    }
}

/// At least one constant of each table, and half of all, change the results. The others matter only
/// on other paths.
#[test]
fn constants_move_what_a_controller_does() {
    let tables = |sets: &[String]| {
        let results = run(&chosen(sets).unwrap(), &RunOptions::default(), || true).unwrap();
        results.tables.into_iter().map(|table| table.into_arrow().unwrap()).collect::<Vec<_>>()
    };
    let (mut moving_of_all, mut all) = (0, 0);
    for kind in Kind::all() {
        // A rule that uses only the delay of a round's first samples needs a queue that lasts
        // longer than a round.
        let deep = (kind.name == "quiche-hystart")
            .then(|| r#"link.btl.forward.queue={discipline="fifo", limit="500packets"}"#.to_owned());
        let tables = |constant: Option<(&str, &Value)>| {
            tables(&deep.iter().cloned().chain(kind.sets(constant)).collect::<Vec<_>>())
        };
        let (constants, published) = (kind.constants(), tables(None));
        let moves = |(constant, schema): &(String, Value)| tables(Some((constant, &another(schema)))) != published;
        let moving = constants.iter().filter(|constant| moves(constant)).count();
        assert!(moving > 0 || constants.is_empty(), "{}: nothing follows from any constant", kind.name);
        (moving_of_all, all) = (moving_of_all + moving, all + constants.len());
    }
    assert!(moving_of_all * 2 >= all, "something follows from only {moving_of_all} of {all} constants");
}

/// RFC 9406, §4.3: the least value of `CSS_GROWTH_DIVISOR` is 2.
#[test]
fn conservative_slow_start_divides_growth_by_two_at_least() {
    let divided_by = |divisor| {
        let set = format!("flow.0.slow_start.css_growth_divisor={divisor}");
        chosen(&["flow.0.slow_start=hystart-plus-plus".to_owned(), set])
    };
    assert!(divided_by(2).is_ok());
    let refusal = divided_by(1).unwrap_err().to_string();
    assert!(refusal.contains("css_growth_divisor") && refusal.contains('2'), "{refusal}");
}
