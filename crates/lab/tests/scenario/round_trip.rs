//! A scenario that is written out in full parses to the same scenario.

use super::{FULL, NAME, read, settings};
use acklab_base::{Bytes, Duration};
use acklab_lab::scenario::load;
use acklab_transport::tcp::config::RttClock;
use proptest::prelude::*;
use serde_json::json;

#[test]
fn the_canonical_form_is_a_scenario_that_says_the_same() {
    for (text, sets) in [(FULL, vec![]), (FULL, vec!["flow.0.timestamps=false", "measure=", "capture=", "title="])] {
        let scenario = read(text, &sets).unwrap();
        let canonical = scenario.canonical_json();
        let again = load(&canonical.to_string(), NAME, &[], None).unwrap();
        assert_eq!(again.canonical_json().to_string(), canonical.to_string());
        assert_eq!(again.link, scenario.link);
        assert_eq!(again.flows().len(), scenario.flows().len());
        for (one, other) in again.flows().iter().zip(scenario.flows()) {
            assert_eq!(one.tcp(), other.tcp());
            assert_eq!(
                (&one.name, one.start, one.stop, one.traffic),
                (&other.name, other.start, other.stop, other.traffic)
            );
        }
    }
}

#[test]
fn the_canonical_form_says_everything() {
    let canonical = read(FULL, &["measure="]).unwrap().canonical_json();
    let keys: Vec<&String> = canonical.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["title", "duration", "seed", "link", "flow", "measure", "capture"]);
    // The default bin depends on the flow, so it is not written out.
    assert_eq!(canonical["measure"], json!({ "from": "0s", "until": "15s", "series": [] }));
    let flow = &canonical["flow"][1];
    assert_eq!(flow["name"], "flow_4");
    assert_eq!(flow["transport"]["mss"], "1448B");
    assert_eq!(flow["transport"]["ack"], json!({ "policy": "linux" }));
    assert_eq!(flow["transport"]["min_rto"], "200ms");
    assert_eq!(canonical["flow"][0]["transport"]["min_rto"], "250ms");
    assert_eq!(
        canonical["flow"][0]["transport"]["ack"],
        json!({ "policy": "delayed", "segments": 3, "timer": "100ms", "quick": 0 })
    );
}

#[test]
fn copies_are_unrolled() {
    let flows = read(FULL, &[]).unwrap().flows();
    let names: Vec<&str> = flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["bulk_1", "bulk_2", "bulk_3", "flow_4"]);
    let starts: Vec<Duration> = flows.iter().map(|flow| flow.start).collect();
    assert_eq!(starts, [0, 1000, 2000, 100].map(Duration::from_millis));
    assert!(flows.iter().all(|flow| flow.count == 1 && flow.spacing.is_zero()));
}

#[test]
fn nodes_and_points_are_named() {
    let scenario = read(FULL, &[]).unwrap();
    assert_eq!(scenario.node_names(), ["dst_0", "r1", "r2", "src_0"]);
    assert!(scenario.capture_points().iter().any(|point| point == "lan_reverse"));
}

#[test]
fn a_flow_overrides_its_preset() {
    let flows = read(FULL, &["flow.1.timestamps=false"]).unwrap().flows();
    let (bulk, other) = (flows[0].tcp().unwrap(), flows[3].tcp().unwrap());
    assert_eq!(
        (bulk.mss, bulk.rto.min, bulk.rto.max),
        (Bytes(1400), Duration::from_millis(250), Duration::from_secs(60))
    );
    assert_eq!((other.timestamps, other.rtt_clock), (None, RttClock::SendTimes));
    let flows = read(FULL, &["flow.1.timestamp_tick=10ms"]).unwrap().flows();
    assert_eq!(flows[3].tcp().unwrap().timestamps, Some(Duration::from_millis(10)));
}

#[test]
fn json_and_toml_are_the_same_language() {
    let value: toml::Value = toml::from_str(FULL).unwrap();
    let json = serde_json::to_string_pretty(&value).unwrap();
    assert_eq!(load(&json, NAME, &[], None), read(FULL, &[]));
}

/// Python's `None` stands for a missing key.
#[test]
fn null_is_absence() {
    let mut value = read(FULL, &[]).unwrap().canonical_json();
    value["title"] = json!(null);
    value["flow"][0]["transport"]["mss"] = json!(null);
    let scenario = load(&value.to_string(), NAME, &[], None).unwrap();
    assert_eq!((scenario.title.as_str(), settings(&scenario, 0).mss), ("", None));
}

#[test]
fn a_byte_order_mark_and_other_line_ends_do_no_harm() {
    let text = format!("\u{feff}{}", FULL.replace('\n', "\r\n"));
    assert_eq!(read(&text, &[]), read(FULL, &[]));
}

/// Words of the language and others, of which random scenarios are composed.
fn word() -> impl Strategy<Value = String> {
    let words: Vec<&str> =
        FULL.split([' ', '\n', '{', '}', '[', ']', '=', ',', '"', '.']).filter(|word| !word.is_empty()).collect();
    prop_oneof![
        prop::sample::select(words).prop_map(str::to_owned),
        "[0-9]{1,20}",
        "[0-9]{1,12}(\\.[0-9]{1,3})?(ns|ms|s|min|B|GiB|bps|Gbps|packets|segments)",
        "\\PC{0,4}",
    ]
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC*", json in any::<bool>()) {
        let text = if json { format!("{{{text}") } else { text };
        if let Err(refusal) = read(&text, &[]) {
            prop_assert!(!refusal.to_string().is_empty());
        }
    }

    #[test]
    fn no_edit_panics(at in 0..FULL.len(), length in 0_usize..40, with in prop::collection::vec(word(), 0..3)) {
        let text = format!("{}{}{}", &FULL[..at], with.join(" "), &FULL[(at + length).min(FULL.len())..]);
        match read(&text, &[]) {
            Ok(scenario) => {
                let canonical = scenario.canonical_json();
                let again = load(&canonical.to_string(), NAME, &[], None).map(|again| again.canonical_json());
                prop_assert_eq!(again, Ok(canonical));
            }
            Err(refusal) => prop_assert!(refusal.to_string().starts_with(NAME)),
        }
    }

    #[test]
    fn no_set_panics(path in prop::collection::vec(word(), 1..6), value in word()) {
        let set = format!("{}={value}", path.join("."));
        if let Err(refusal) = read(FULL, &[&set]) {
            prop_assert!(!refusal.to_string().is_empty());
        }
    }

    /// Any value of any key is handled without a panic, and an accepted value is written out
    /// unchanged.
    #[test]
    fn every_place_takes_a_value(place in 0..places().len(), value in word()) {
        let set = format!("{}={value}", places()[place]);
        if let Ok(scenario) = read(FULL, &[&set]) {
            let canonical = scenario.canonical_json();
            prop_assert_eq!(load(&canonical.to_string(), NAME, &[], None).map(|again| again.canonical_json()), Ok(canonical));
        }
    }
}

/// Returns the paths of all values of the scenario in full.
fn places() -> Vec<String> {
    fn collect(value: &serde_json::Value, path: &str, places: &mut Vec<String>) {
        let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        match value {
            serde_json::Value::Object(members) => {
                members.iter().for_each(|(key, value)| collect(value, &below(key), places))
            }
            serde_json::Value::Array(items) => {
                items.iter().enumerate().for_each(|(index, value)| collect(value, &below(&index.to_string()), places));
            }
            _ => places.push(path.to_owned()),
        }
    }
    let mut places = Vec::new();
    collect(&read(FULL, &[]).unwrap().canonical_json(), "", &mut places);
    places
}
