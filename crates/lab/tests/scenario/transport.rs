//! A flow's transport, as a table and as flat keys.

use super::{FULL, NAME, edited, read, settings};
use acklab_lab::scenario::{Custom, Scenario, Transport, load, load_for};
use acklab_lab::{Error, RunOptions, Strategies, run};
use acklab_transport::cc;
use serde_json::json;

/// Returns a flow between two nodes, to which a test gives its transport.
fn text(flow: &str) -> String {
    format!(
        "duration = \"1s\"\nseed = 1\n[[link]]\nname = \"l\"\nfrom = \"a\"\nto = \"b\"\nforward = {{ delay = \"1ms\", rate = \"1Mbps\" }}\nreverse = {{ delay = \"1ms\" }}\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
    )
}

fn accepted(flow: &str, sets: &[&str]) -> Scenario {
    read(&text(flow), sets).unwrap_or_else(|refusal| panic!("{flow} {sets:?}\n{refusal}"))
}

/// Returns the position without the file name, the path and the message.
fn refused(flow: &str, sets: &[&str]) -> String {
    let refusal = read(&text(flow), sets).map(|_| ()).expect_err(flow);
    let place = refusal.place().strip_prefix(NAME).unwrap_or(refusal.place());
    format!("{place} {}: {}", refusal.path(), refusal.message())
}

#[test]
fn a_table_and_flat_keys_say_the_same() {
    for (table, flat) in [
        ("transport = { protocol = \"tcp\", preset = \"linux\" }", "preset = \"linux\""),
        (
            "transport = { protocol = \"tcp\", preset = \"rfc\", mss = \"500B\", congestion = { algorithm = \"reno\" } }",
            "transport = \"tcp\"\npreset = \"rfc\"\nmss = \"500B\"\ncongestion = \"reno\"",
        ),
        (
            "transport = { protocol = \"tcp\", preset = \"ns3\", congestion = \"cubic\", ack = { policy = \"linux\" } }",
            "preset = \"ns3\"\ncongestion = { algorithm = \"cubic\" }\n[flow.ack]\npolicy = \"linux\"",
        ),
        (
            "transport = { protocol = \"udp\" }\ntraffic = { model = \"constant\", rate = \"1Mbps\", write = \"500B\" }",
            "transport = \"udp\"\ntraffic = { model = \"constant\", rate = \"1Mbps\", write = \"500B\" }",
        ),
    ] {
        let (one, other) = (accepted(table, &[]), accepted(flat, &[]));
        assert_eq!(one, other);
        let canonical = one.canonical_json();
        let again = load(&canonical.to_string(), NAME, &[], None).unwrap();
        assert_eq!((again.canonical_json(), again.flow[0].tcp()), (canonical, one.flow[0].tcp()));
    }
}

#[test]
fn the_canonical_form_is_the_table() {
    let flow = &read(FULL, &[]).unwrap().canonical_json()["flow"][0];
    assert_eq!(flow.get("mss"), None);
    let transport = flow["transport"].as_object().unwrap();
    let first: Vec<&str> = transport.keys().take(3).map(String::as_str).collect();
    assert_eq!(first, ["protocol", "preset", "congestion"]);
    assert_eq!(transport["congestion"], json!({ "algorithm": "newreno", "beta": 0.5, "min_ssthresh": 2 }));
}

#[test]
fn sets_reach_settings_of_either_form_on_either_path() {
    for flow in [
        "preset = \"rfc\"",
        "transport = \"tcp\"\npreset = \"rfc\"",
        "transport = { protocol = \"tcp\", preset = \"rfc\" }",
    ] {
        for path in ["flow.0", "flow.0.transport", "flow.flow_1", "flow.flow_1.transport"] {
            let sets = [
                format!("{path}.mss=500B"),
                format!("{path}.ack.policy=linux"),
                format!("{path}.congestion=copa"),
                format!("{path}.congestion.delta=0.25"),
            ];
            let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
            let scenario = accepted(flow, &sets);
            let wanted = accepted(
                "preset = \"rfc\"\nmss = \"500B\"\nack = { policy = \"linux\" }\ncongestion = { algorithm = \"copa\", delta = 0.25 }",
                &[],
            );
            assert_eq!(scenario, wanted, "{flow} {path}");
        }
    }
}

#[test]
fn a_set_chooses_another_protocol() {
    let traffic = "flow.0.traffic={model=\"constant\", rate=\"1Mbps\", write=\"500B\"}";
    for flow in
        ["preset = \"rfc\"\nmss = \"500B\"", "transport = { protocol = \"tcp\", preset = \"rfc\", mss = \"500B\" }"]
    {
        for set in ["flow.0.transport=udp", "flow.0.transport.protocol=udp", "flow.0.transport={protocol=\"udp\"}"] {
            assert_eq!(accepted(flow, &[set, traffic]).flow[0].transport.name(), "UDP", "{flow} {set}");
        }
        // A value that was set is not silently dropped.
        assert!(
            refused(flow, &["flow.0.mss=1B", "flow.0.transport=udp", traffic]).contains("only TCP has this setting")
        );
    }
    let back = accepted("transport = \"udp\"", &["flow.0.transport=", "flow.0.preset=linux"]);
    assert_eq!(back, accepted("preset = \"linux\"", &[]));
}

/// Line 9 is `[[flow]]`; the additions of a test begin at line 12.
#[test]
fn messages_speak_of_what_was_written() {
    let tcp = |settings: &str| format!("transport = {{ protocol = \"tcp\", preset = \"rfc\", {settings} }}");
    for (flow, message) in [
        ("preset = \"rfc\"\nmss = \"0B\"", ":13:7 flow.0.mss: found \"0B\", expected a size from 1B to 65483B"),
        (&tcp("mss = \"0B\""), ":12:55 flow.0.transport.mss: found \"0B\", expected a size from 1B to 65483B"),
        (&tcp("mms = \"1B\""), ":12:49 flow.0.transport.mms: unknown key; did you mean `mss`?"),
        ("preset = \"rfc\"\nmms = \"1B\"", ":13:1 flow.0.mms: unknown key; did you mean `mss`?"),
        (
            "transport = \"tcp\"",
            ":9:1 flow.0: the key `preset` is missing, which transport = \"tcp\" needs; expected preset = \"linux\", for example",
        ),
        (
            "transport = { protocol = \"tcp\" }",
            ":12:1 flow.0.transport: the key `preset` is missing, which protocol = \"tcp\" needs; expected preset = \"linux\", for example",
        ),
        (
            "transport = { preset = \"rfc\" }",
            ":12:1 flow.0.transport: the key `protocol` is missing; expected one of \"tcp\", \"udp\", \"tack\", \"quic\", \"quinn\", \"custom\"",
        ),
        (
            "transport = \"tpc\"",
            ":12:13 flow.0.transport: found \"tpc\", expected one of \"tcp\", \"udp\", \"tack\", \"quic\", \"quinn\", or a table such as { protocol = \"custom\", name = \"stop-and-wait\" }; did you mean `tcp`?",
        ),
        (
            "transport = { protocol = \"tpc\" }",
            ":12:26 flow.0.transport.protocol: found \"tpc\", expected one of \"tcp\", \"udp\", \"tack\", \"quic\", \"quinn\", \"custom\"; did you mean `tcp`?",
        ),
        (
            "transport = 5",
            ":12:13 flow.0.transport: found 5, expected one of \"tcp\", \"udp\", \"tack\", \"quic\", \"quinn\", or a table such as { protocol = \"custom\", name = \"stop-and-wait\" }",
        ),
        (
            &format!("{}\nmss = \"1B\"", tcp("sack = true")),
            ":13:1 flow.0.mss: this flow has a table `transport`; expected `mss` there, as transport.mss",
        ),
        (&tcp("count = 3"), ":12:49 flow.0.transport.count: unknown key"),
        (
            "transport = \"udp\"\nmss = \"1B\"",
            ":13:1 flow.0.mss: only TCP has this setting, and the transport of this flow is UDP; expected one of the keys name, from, to, transport, stack, category, traffic, back, page, reading, start, stop, count, spacing, arrivals",
        ),
        (
            "transport = { protocol = \"udp\", mss = \"1B\" }",
            ":12:33 flow.0.transport.mss: only TCP has this setting, and the transport of this flow is UDP; expected one of the keys protocol",
        ),
        (
            "preset = \"rfc\"\ncongestion = { algorithm = \"copa\", delta = 0 }",
            ":13:44 flow.0.congestion.delta: found 0, expected a number from 0.001 to 10",
        ),
        (
            &tcp("congestion = { algorithm = \"copa\", delt = 1 }"),
            ":12:84 flow.0.transport.congestion.delt: unknown key; did you mean `delta`?",
        ),
        (
            "preset = \"rfc\"\ncongestion = { algorithm = \"bbr\", min_rtt_window = \"0s\" }",
            ":13:52 flow.0.congestion.min_rtt_window: found \"0s\", expected a duration above zero",
        ),
    ] {
        assert_eq!(refused(flow, &[]), message, "{flow}");
    }
    assert_eq!(
        refused("preset = \"rfc\"", &["flow.0.transport.mss=0B"]),
        "--set flow.0.transport.mss=0B flow.0.mss: found \"0B\", expected a size from 1B to 65483B"
    );
}

#[test]
fn a_missing_table_is_implied_but_not_a_preset() {
    let refusal = read(&edited("preset = \"linux\"\n", ""), &[]).unwrap_err();
    assert_eq!((refusal.path(), refusal.place().ends_with(":1")), ("flow.1", true), "{refusal}");
}

#[test]
fn a_transport_of_ones_own_takes_any_key() {
    let flow = "transport = { protocol = \"custom\", name = \"mine\", window = 3, deep = { x = [1] } }";
    let scenario = accepted(flow, &["flow.0.transport.window=4"]);
    let settings = json!({ "window": 4, "deep": { "x": [1] } }).as_object().unwrap().clone();
    let custom = Custom { name: "mine".try_into().unwrap(), settings };
    assert_eq!(scenario.flow[0].transport, Transport::Custom(custom));
    assert_eq!((scenario.flow[0].tcp(), scenario.flow[0].preset()), (None, None));
    let canonical = scenario.canonical_json();
    assert_eq!(
        canonical["flow"][0]["transport"],
        json!({ "protocol": "custom", "name": "mine", "window": 4, "deep": { "x": [1] } })
    );
    assert_eq!(load(&canonical.to_string(), NAME, &[], None).unwrap().canonical_json(), canonical);

    let unknown = load_for(&text(flow), NAME, &[], None, &Strategies::default()).unwrap_err();
    assert_eq!(unknown.path(), "flow.0.transport.name");
    assert!(unknown.message().starts_with("found \"mine\", expected the name of a strategy"), "{unknown}");
    assert!(matches!(
        run(&scenario, &RunOptions::default(), || true),
        Err(Error::NoStrategy { key: "transport.name", .. })
    ));
}

#[test]
fn names_stand_for_controllers() {
    let congestion = |flow: &str| settings(&accepted(&format!("preset = \"rfc\"\n{flow}"), &[]), 0).congestion;
    let mine = cc::ControllerConfig::Custom { name: "mine".try_into().unwrap() };
    assert_eq!(congestion("congestion = \"copa\""), cc::ControllerConfig::named("copa"));
    assert_eq!(congestion("congestion = { algorithm = \"reno\" }"), cc::ControllerConfig::named("newreno"));
    assert_eq!(congestion("congestion = { custom = \"mine\" }"), Some(mine));
    assert_eq!(congestion("congestion = { algorithm = \"custom\", name = \"mine\" }"), Some(mine));
    assert_eq!(congestion("[flow.congestion]\nalgorithm = \"copa\""), cc::ControllerConfig::named("copa"));
}
