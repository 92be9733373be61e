//! Flows over UDP: required settings, and settings that only TCP has.

use super::{FULL, read};
use serde_json::json;

/// The second flow of the scenario, over UDP.
const SETS: [&str; 3] = [
    "flow.1.preset=",
    "flow.1.transport=udp",
    "flow.1.traffic={model=\"constant\", rate=\"200Mbps\", write=\"1472B\"}",
];

fn refusal(more: &[&str]) -> String {
    let sets = [&SETS[..], more].concat();
    let refusal = read(FULL, &sets).expect_err("it is no flow over UDP");
    format!("{} | {}: {}", refusal.place(), refusal.path(), refusal.message())
}

#[test]
fn it_needs_no_preset_and_has_no_settings() {
    let scenario = read(FULL, &SETS).unwrap();
    assert_eq!(scenario.flow[1].tcp(), None);
    let full = scenario.canonical_json();
    assert_eq!(
        full["flow"][1],
        json!({
            "name": "flow_4",
            "from": "src_0",
            "to": "r2",
            "transport": { "protocol": "udp" },
            "traffic": { "model": "constant", "rate": "200Mbps", "write": "1472B" },
            "start": "100ms",
            "count": 1,
            "spacing": "0s",
        })
    );
    assert_eq!(read(&full.to_string(), &[]).unwrap(), scenario_in_full(&full));
}

fn scenario_in_full(full: &serde_json::Value) -> acklab_lab::scenario::Scenario {
    serde_json::from_value(full.clone()).unwrap()
}

#[test]
fn settings_of_tcp_are_refused_where_they_stand() {
    let keys = "name, from, to, transport, stack, category, traffic, back, page, reading, start, stop, count, spacing, arrivals";
    for (set, key) in [("preset=linux", "preset"), ("mss=1472B", "mss"), ("ack={policy=\"linux\"}", "ack")] {
        let set = format!("flow.1.{set}");
        assert_eq!(
            refusal(&[&set]),
            format!(
                "--set {set} | flow.1.{key}: only TCP has this setting, and the transport of this flow is UDP; expected one of the keys {keys}"
            )
        );
    }
    let text = FULL.replace("preset = \"linux\"\n", "preset = \"linux\"\ntransport = \"udp\"\n");
    let refusal = read(&text, &[]).unwrap_err().to_string();
    assert!(refusal.contains("flow.1.preset: only TCP has this setting"), "{refusal}");
    assert!(refusal.contains("| ^^^^^^"), "the key is underlined: {refusal}");
}

#[test]
fn an_application_needs_a_rate() {
    let expected = "an application with a rate of its own, for UDP gives it none, such as \
                    { model = \"constant\", rate = \"200Mbps\", write = \"1472B\" }";
    for model in ["{model=\"greedy\"}", "{model=\"fixed\", size=\"1MB\"}"] {
        let refusal = refusal(&[&format!("flow.1.traffic={model}")]);
        assert!(refusal.contains("flow.1.traffic: found"), "{refusal}");
        assert!(refusal.ends_with(&format!("expected {expected}")), "{refusal}");
    }
    let default = refusal(&["flow.1.traffic="]);
    assert!(default.ends_with(&format!("flow.1.traffic: expected {expected}")), "{default}");
}

#[test]
fn a_write_fits_a_datagram() {
    for (write, found) in [("15B", "15B"), ("65508B", "65508B")] {
        let set = format!("flow.1.traffic.write={write}");
        assert_eq!(
            refusal(&[&set]),
            format!(
                "--set {set} | flow.1.traffic.write: found \"{found}\", expected a write that fits a datagram: 16B to 65507B"
            )
        );
    }
    for write in ["16B", "65507B"] {
        read(FULL, &[&SETS[..], &[&format!("flow.1.traffic.write={write}")]].concat()).unwrap();
    }
}
