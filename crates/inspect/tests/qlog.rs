//! Logs of endpoints, in the forms that stacks write.

pub(crate) mod forms;

use crate::properties::qlog::any_text_is_read_to_its_end;
use crate::seeds;
use acklab_inspect::qlog::{Error, Log, read};
use acklab_inspect::report::{Position, Report};
use forms::{Action, Event, FORMS, Form, GROUP, Packet};
use proptest::prelude::*;
use serde_json::{Value, json};

fn log(text: &str) -> Log {
    read(|| Ok(text.as_bytes()), None).unwrap()
}

fn data(number: u64) -> Action {
    Action::Sent(Packet { number, payload: 1000, acknowledges: Vec::new() })
}

fn ack(number: u64, first: u64, last: u64) -> Action {
    Action::Received(Packet { number, payload: 0, acknowledges: vec![(first, last)] })
}

/// Returns packets of 1,000 bytes, one per millisecond, acknowledged in pairs after 20 ms.
fn transfer(packets: u64) -> Vec<Event> {
    let mut events: Vec<Event> = (0..packets).map(|number| (number * 1000, data(number))).collect();
    events.extend(
        (1..packets)
            .step_by(2)
            .map(|number| (number * 1000 + 20_000, ack(number / 2, number.saturating_sub(20), number))),
    );
    events.sort_by_key(|(at, _)| *at);
    events
}

/// Returns the parts that are compared between forms: all except titles.
fn connections(report: &Report) -> Value {
    let mut connections = serde_json::to_value(&report.connections).unwrap();
    for connection in connections.as_array_mut().unwrap() {
        // Each form uses other names for its endpoint and its protocol.
        for field in ["title", "description", "protocol"] {
            connection["source"][field] = Value::Null;
        }
    }
    connections
}

/// The current drafts have a list, earlier ones a text.
#[test]
fn the_protocol_of_a_log_is_read() {
    let text = Form::Picoquic.write(&transfer(3));
    for protocol in [r#"["TACK"]"#, r#""TACK""#] {
        let report = log(&text.replace(r#""QUIC_HTTP3""#, protocol)).report;
        assert_eq!(report.connections[0].source.as_ref().unwrap().protocol.as_deref(), Some("TACK"));
    }
}

#[test]
fn a_transfer_has_a_rate_a_round_trip_and_a_ratio() {
    let report = log(&Form::QuicGo.write(&transfer(2000))).report;
    let direction = &report.connections[0].directions[0];
    assert_eq!(direction.position, Position::Sender);
    // 1,000 bytes per millisecond, with 30 bytes of QUIC and 28 of UDP and IP added.
    assert!((direction.rate.value().unwrap().value - 8.464).abs() < 0.05, "{:?}", direction.rate);
    assert!((direction.round_trip.base.value().unwrap() - 20.0).abs() < 0.01);
    assert!((direction.acks.as_ref().unwrap().ratio.unwrap() - 2.0).abs() < 0.05);
    assert!((direction.goodput - 8.0).abs() < 0.1);
    assert_eq!((direction.data_segments, direction.losses.retransmitted), (2000, 0));
}

#[test]
fn a_log_without_addresses_names_ends_and_connection() {
    let connection = log(&Form::QuicGo.write(&transfer(10))).report.connections.remove(0);
    assert_eq!(connection.ends, ["client", "server"]);
    let source = connection.source.unwrap();
    assert_eq!((source.trace, source.connection_id.as_deref()), (1, Some(GROUP)));
}

#[test]
fn losses_are_those_that_the_end_declared_and_no_ack_refuted() {
    let mut events: Vec<Event> = (0..100).map(|number| (number * 1000, data(number))).collect();
    events.extend([7, 7, 8, 9].map(|number| (101_000, Action::Lost(number))));
    events.push((102_000, ack(0, 8, 8)));
    let report = log(&Form::Mvfst.write(&events)).report;
    let losses = report.connections[0].directions[0].losses;
    assert_eq!((losses.retransmitted, losses.spurious), (3, 1));
}

/// Packet 0 of the handshake is lost. It is not packet 0 of the application, which has a separate
/// number space (RFC 9000, §12.3).
#[test]
fn a_lost_packet_of_the_handshake_is_no_lost_data() {
    let lost = json!({"time": 5, "name": "recovery:packet_lost", "data": {"header": {"packet_type": "initial", "packet_number": 0}}});
    let text = format!("{}\u{1e}{lost}\n", Form::QuicGo.write(&transfer(4)));
    assert_eq!(log(&text).report.connections[0].directions[0].losses.retransmitted, 0);
}

#[test]
fn an_event_of_unknown_shape_is_counted_and_named() {
    let odd = [
        json!({"time": 1, "name": "transport:packet_sent", "data": {"header": "none"}}),
        json!({"time": 1, "name": "transport:packet_sent", "data": {"header": {"packet_type": "1RTT"}}}),
        json!({"time": 1, "name": "transport:packet_sent", "data": null}),
        json!({"time": null, "name": "transport:packet_received", "data": {"header": {"packet_number": 1}}}),
        json!({"time": 1, "data": {}}),
        json!([]),
    ];
    let mut text = Form::Quiche.write(&transfer(10));
    odd.iter().for_each(|event| text += &format!("\u{1e}{event}\n"));
    text += "\u{1e}{\"time\": 1, \"name\": \u{1e}{\"time\": 2, \"name\": \"quic:other\"}\n";
    let report = log(&text).report;
    assert_eq!(report.connections[0].directions[0].data_segments, 10);
    assert_eq!(
        report.log.unwrap().note.unwrap(),
        "7 events were not understood: transport:packet_sent ×3, (no name) ×2, (no JSON) ×1, transport:packet_received ×1"
    );
}

#[test]
fn each_event_is_read_by_itself_in_a_contained_log_as_well() {
    let mut events: Vec<Value> = vec![json!({"time": 0, "name": "transport:packet_sent", "data": {"header": []}})];
    events.extend((0..5).map(|number| {
        json!({"time": number, "name": "transport:packet_sent", "data": {
            "header": {"packet_type": "1RTT", "packet_number": number}, "raw": null, "frames": [{"frame_type": "datagram", "length": 9}]}})
    }));
    let report = log(&json!({"qlog_version": "0.3", "traces": [{"events": events}]}).to_string()).report;
    assert_eq!(report.connections[0].directions[0].data_segments, 5);
    assert_eq!(report.connections[0].ends, ["endpoint", "peer"]);
    assert_eq!(report.log.unwrap().not_understood["transport:packet_sent"], 1);
}

#[test]
fn frames_that_are_null_are_none() {
    let mut text = Form::QuicGo.write(&transfer(4));
    text += &format!(
        "\u{1e}{}\n",
        json!({"time": 1, "name": "transport:packet_sent", "data": {"header": {"packet_type": "1RTT", "packet_number": 4}, "frames": null}})
    );
    let report = log(&text).report;
    assert_eq!((report.connections[0].packets, report.log.unwrap().note), (7, None));
}

/// Returns both ends of one connection, as aioquic's tests write them, and a trace that could not
/// be converted.
fn several() -> String {
    let mut file: Value = serde_json::from_str(&Form::Aioquic.write(&transfer(30))).unwrap();
    let traces = file["traces"].as_array_mut().unwrap();
    let mut other = traces[0].clone();
    other["vantage_point"]["type"] = json!("server");
    other["events"].as_array_mut().unwrap().truncate(12);
    traces.push(json!({"error_description": "no such file", "uri": "x"}));
    traces.push(other);
    file.to_string()
}

#[test]
fn all_traces_are_read_or_one_of_them() {
    let all = log(&several()).report;
    assert_eq!((all.log.unwrap().traces, all.counts.connections), (3, 2));
    let ends: Vec<[String; 2]> = all.connections.iter().map(|connection| connection.ends.clone()).collect();
    assert_eq!(ends, [["client", "server"], ["server", "client"]]);
    let text = several();
    let third = read(|| Ok(text.as_bytes()), Some(3)).unwrap().report;
    assert_eq!(third.connections.len(), 1);
    assert_eq!((third.connections[0].source.as_ref().unwrap().trace, third.connections[0].packets), (3, 12));
    for absent in [0, 4] {
        assert!(matches!(read(|| Ok(text.as_bytes()), Some(absent)), Err(Error::NoTrace(3))), "{absent}");
    }
}

/// The trace of a server has the events of all of its connections, distinguished by `group_id`
/// (draft-ietf-quic-qlog-main-schema, "Grouping").
#[test]
fn groups_of_a_trace_are_connections() {
    let event = |group: &str, number: u64| {
        json!({"time": number, "name": "quic:packet_sent", "group_id": group, "data": {
            "header": {"packet_type": "1RTT", "packet_number": number}, "frames": [{"frame_type": "stream", "length": 100}]}})
    };
    let events = [event("a", 0), event("b", 0), event("a", 1)];
    let report = log(&json!({"traces": [{"events": events}]}).to_string()).report;
    let counts: Vec<u64> = report.connections.iter().map(|connection| connection.packets).collect();
    assert_eq!(counts, [2, 1]);
    assert_eq!(report.connections[1].source.as_ref().unwrap().connection_id.as_deref(), Some("b"));
}

/// picoquic numbers the packets of each path from zero (draft-ietf-quic-multipath).
#[test]
fn paths_number_their_packets() {
    let stream = json!([{"frame_type": "stream", "length": 100}]);
    let sent = |path: u64| json!([0, path, "transport", "packet_sent", {"packet_type": "1RTT", "header": {"packet_number": 0}, "frames": stream}]);
    let lost = json!([5, 1, "recovery", "packet_lost", {"packet_type": "1RTT", "packet_number": 0}]);
    let ack = json!([9, 0, "transport", "packet_received", {"packet_type": "1RTT", "header": {"packet_number": 0}, "frames": [
        {"frame_type": "path_ack", "path_id": 2, "acked_ranges": [[0, 0]]}]}]);
    let events = [sent(0), sent(1), sent(2), lost, ack];
    let fields = ["relative_time", "path_id", "category", "event", "data"];
    let report = log(&json!({"traces": [{"event_fields": fields, "events": events}]}).to_string()).report;
    let direction = &report.connections[0].directions[0];
    assert_eq!((direction.data_segments, direction.losses.retransmitted, direction.round_trip.samples), (3, 1, 1));
}

#[test]
fn an_observer_on_the_path_is_at_no_end() {
    let text =
        Form::Aioquic.write(&transfer(30)).replace("\"type\":\"client\"", "\"type\":\"network\",\"flow\":\"client\"");
    let connection = log(&text).report.connections.remove(0);
    assert_eq!(connection.ends, ["client", "server"]);
    assert_eq!(connection.directions[0].position, Position::Unknown);
}

#[test]
fn addresses_of_a_log_are_the_ends() {
    let start = json!({"time": 0, "name": "transport:connection_started", "data": {
        "local": {"ip_v4": "192.0.2.1", "port_v4": 443}, "remote": {"ip_v4": "192.0.2.9", "port_v4": 5000}}});
    let text = format!("{}\u{1e}{start}\n", Form::QuicGo.write(&transfer(4)));
    assert_eq!(log(&text).report.connections[0].ends, ["192.0.2.1:443", "192.0.2.9:5000"]);
}

#[test]
fn logs_may_be_joined_and_begin_with_a_mark_or_white_space() {
    let one = Form::Picoquic.write(&transfer(6));
    assert_eq!(log(&format!("{one}\n{one}")).report.log.unwrap().traces, 2);
    let sequence = Form::Quiche.write(&transfer(6));
    assert_eq!(log(&format!("{sequence}{sequence}")).report.counts.connections, 2);
    assert_eq!(log(&format!("\u{feff} \n{one}")).report.counts.connections, 1);
}

/// If the header is missing, the events remain.
#[test]
fn events_without_a_header_are_a_trace() {
    let text = Form::Haskell.write(&transfer(6));
    let (_, events) = text.split_once('\n').unwrap();
    assert_eq!(log(events).report.connections[0].directions[0].data_segments, 6);
}

/// The log of a killed process has all events except the last.
#[test]
fn a_log_that_is_cut_off_is_read_up_to_there() {
    for form in FORMS {
        let text = form.write(&transfer(40));
        let whole = log(&text);
        assert_eq!(whole.cut, None, "{form:?}");
        let packets = whole.report.log.unwrap().packets;
        let (cut, _) = text.split_at(text.rfind("acked_ranges").unwrap());
        let read = log(cut);
        assert!(read.cut.unwrap().contains("ends in the midst"), "{form:?}");
        assert_eq!(read.report.log.unwrap().packets, [packets[0], packets[1] - 1, 0], "{form:?}");
    }
}

#[test]
fn a_log_without_packets_has_no_connection() {
    for text in [
        "",
        "{}",
        "[]",
        "\u{1e}",
        "{\"traces\": []}",
        "{\"traces\": null}",
        "{\"qlog_version\": \"0.3\", \"trace\": {}}",
    ] {
        assert!(log(text).report.connections.is_empty(), "{text}");
    }
}

/// Generates a transfer in both directions, in order of time. Times are multiples of 125 µs, which
/// a double can represent as milliseconds since 1970.
fn events() -> impl Strategy<Value = Vec<Event>> {
    let ranges = prop::collection::vec((0..60_u64, 0..5_u64), 0..3);
    let packet = (0..60_u64, prop_oneof![Just(0), 1..1400_u64], ranges).prop_map(|(number, payload, ranges)| Packet {
        number,
        payload,
        acknowledges: ranges.into_iter().map(|(first, more)| (first, first + more)).collect(),
    });
    let what = prop_oneof![
        4 => packet.clone().prop_map(Action::Sent),
        4 => packet.prop_map(Action::Received),
        1 => (0..60_u64).prop_map(Action::Lost),
        1 => (0..1500_u64).prop_map(Action::Datagram),
    ];
    prop::collection::vec((0..400_u64, what), 1..80).prop_map(|mut events| {
        let mut at = 1_000_000;
        for (time, _) in &mut events {
            at += *time * 125;
            *time = at;
        }
        events
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// The same events give the same connection in the form of each stack.
    #[test]
    fn each_form_reads_the_same(events in events()) {
        let expected = log(&Form::QuicGo.write(&events));
        for form in FORMS {
            let read = log(&form.write(&events));
            prop_assert_eq!(read.cut, None);
            let summary = read.report.log.as_ref().unwrap();
            prop_assert_eq!(&summary.packets, &expected.report.log.as_ref().unwrap().packets, "{:?}", form);
            prop_assert_eq!(&summary.note, &None, "{:?}", form);
            if form != Form::Haskell {
                prop_assert_eq!(connections(&read.report), connections(&expected.report), "{:?}", form);
            }
        }
    }

    #[test]
    fn any_text_is_read(octets in prop::collection::vec(any::<u8>(), 0..400)) {
        any_text_is_read_to_its_end(&octets);
    }
}

#[test]
fn committed_inputs_are_read() {
    seeds::replay("qlog", any_text_is_read_to_its_end);
}
