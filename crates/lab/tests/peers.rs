//! Flows whose two ends are different stacks.

use crate::common::dumbbell::Dumbbell;
use acklab_lab::scenario::load;

const DUMBBELL: Dumbbell = Dumbbell { protocol: "quic", payload: 1439.0 };

/// A server with Chrome's rules, a client with Firefox's rules, and data in both directions.
const CHROME_TO_FIREFOX: &str =
    r#"flow.0.transport={protocol="quic", preset="chrome", peer={preset="neqo", congestion="newreno"}}"#;
const FIREFOX_TO_CHROME: &str = r#"flow.0.transport={protocol="quic", preset="neqo", peer={preset="chrome"}}"#;

#[test]
fn each_direction_has_the_sender_of_one_stack_and_the_receiver_of_the_other() {
    let tables = DUMBBELL.run(&[CHROME_TO_FIREFOX, r#"flow.0.back={model="greedy"}"#]);
    let column = |name| tables.texts("flows", name);
    assert_eq!(column("preset"), ["chrome", "neqo"]);
    assert_eq!(column("peer_preset"), ["neqo", "chrome"]);
    assert_eq!(column("cca"), ["cubic", "newreno"]);
    assert_eq!(column("ack_policy"), ["quic", "chrome"], "that of the end that receives");
}

/// Firefox requests fewer ACKs for its own data, and Chrome does not.
#[test]
fn the_end_that_sends_asks() {
    let counts = |set: &str| {
        let tables = DUMBBELL.run(&[set, "measure.from=0s"]);
        [
            "total_ack_frequency_sent_l4",
            "total_ack_frequency_received_l4",
            "total_acks_sent_l4",
            "total_data_packets_l4",
        ]
        .map(|column| tables.counts("flows", column)[0])
    };
    let [sent, received, acks, of_firefox] = counts(FIREFOX_TO_CHROME);
    assert!(sent > 0 && (1..=sent).contains(&received), "{sent} sent, {received} received");
    // Chrome acknowledges every tenth packet unless the peer requests otherwise. Four ACKs per
    // round trip of 170 packets or more, plus some for gaps, are fewer.
    assert!(of_firefox > 20 * acks, "{acks} for {of_firefox}");
    let [sent, received, acks, of_chrome] = counts(CHROME_TO_FIREFOX);
    assert_eq!((sent, received), (0, 0));
    let ratio = of_chrome as f64 / acks as f64;
    assert!((1.9..2.1).contains(&ratio), "Firefox acknowledges every second packet of its own accord: {ratio}");
}

#[test]
fn nothing_is_asked_of_a_peer_that_does_not_have_the_extension() {
    let without = r#"flow.0.transport={protocol="quic", preset="neqo", peer={preset="chrome", min_ack_delay="0s"}}"#;
    let tables = DUMBBELL.run(&[without]);
    assert_eq!(tables.counts("flows", "total_ack_frequency_sent_l4"), [0]);
}

/// The window of the receiving end limits the arriving data: 100 kB per round trip of 40 ms are 20
/// Mbps.
#[test]
fn the_window_is_that_of_the_end_that_receives() {
    let rate = |small: &str| {
        let set = format!(r#"flow.0.transport={{protocol="quic", {small}}}"#);
        let tables = DUMBBELL.run(&[&set]);
        tables.numbers("flows", "mean_throughput_l7")[0]
    };
    let window = r#"flow_control={model="fixed", stream="100kB", connection="100kB"}"#;
    let narrow = rate(&format!("peer={{{window}}}"));
    assert!((8.0..20.0).contains(&narrow), "{narrow}");
    let wide = rate(&format!(r#"{window}, peer={{preset="rfc"}}"#));
    assert!(wide > 45.0, "{wide}");
}

/// The TLS messages are those of the end that sends them. A larger flight needs a further round
/// trip until the peer's address is validated (RFC 9000, §8.1).
#[test]
fn the_server_chooses_its_certificates() {
    let time = |settings: &str| {
        let set = format!(r#"flow.0.transport={{protocol="quic", {settings}}}"#);
        DUMBBELL.run(&[&set, "measure.from=0s"]).numbers("flows", "handshake_time_l4")[0]
    };
    let large = r#"tls={server_flight="6000B"}"#;
    assert!(
        (40.0..50.0).contains(&time(&format!(r#"{large}, peer={{preset="rfc"}}"#))),
        "the client's own is not used"
    );
    assert!((80.0..100.0).contains(&time(&format!("peer={{{large}}}"))));
}

#[test]
fn a_peer_is_written_out_and_checked_as_any_end() {
    let sets = [CHROME_TO_FIREFOX.to_owned()];
    let full = load(&DUMBBELL.text(), "the dumbbell", &sets, None).unwrap().canonical_json();
    let peer = &full["flow"][0]["transport"]["peer"];
    assert_eq!((peer["preset"].as_str(), peer["ask"]["rule"].as_str()), (Some("neqo"), Some("neqo")));
    assert_eq!(peer["congestion"]["algorithm"].as_str(), Some("newreno"));
    let again = load(&full.to_string(), "in full", &[], None).unwrap();
    assert_eq!(again.canonical_json(), full);
    let refused = |set: &str| DUMBBELL.refusal(set);
    assert!(refused(r#"flow.0.transport={protocol="quic", peer={packet="100B"}}"#).contains("peer.packet"));
    assert!(refused(r#"flow.0.transport={protocol="quic", peer={peer={preset="neqo"}}}"#).contains("peer.peer"));
    assert!(refused(r#"flow.0.transport={protocol="quic", peer={preset="linux"}}"#).contains("peer.preset"));
}
