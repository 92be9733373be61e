//! Events and counts of departures: the event of a probe has the time at which it leaves, and only
//! packets with data count as data packets.

use crate::common::tables::Tables;

/// Runs a flow that loses packets 5 to 8 of the data.
fn lossy(sets: &[&str]) -> Tables {
    let path = r#"
duration = "20s"
seed = 1
[[link]]
name = "l"
from = "src"
to = "dst"
forward = { rate = "10Mbps", delay = "20ms", loss = { model = "list", packets = [5, 6, 7, 8] } }
reverse = { rate = "10Mbps", delay = "20ms" }
[[flow]]
from = "src"
to = "dst"
preset = "linux"
traffic = { model = "constant", rate = "8kbps", write = "1000B" }
stop = "1500ms"
[measure]
series = ["packets", "events"]
"#;
    Tables::run(path, sets, None)
}

/// The FIN is sent without data, and is lost four times. Each retransmission has no data: two data
/// packets leave, and neither is sent twice.
#[test]
fn a_fin_is_no_data_packet_when_it_leaves_again() {
    let tables = lossy(&[]);
    assert!(tables.counts("flows", "total_rtos_l4")[0] > 0, "the FIN is lost");
    assert_eq!(tables.counts("flows", "total_data_packets_l4"), [2]);
    assert_eq!(tables.counts("flows", "total_retransmissions_l4"), [0]);
}

/// A probe is sent when its timer expires (RFC 8985, §7.3). Its event once had the time of the next
/// arrival or timer, here the retransmission timeout 240 ms later.
#[test]
fn a_probe_is_an_event_of_its_departure() {
    // Sometimes the tail of a write is lost.
    let tables = lossy(&[
        "flow.0.traffic={ model = \"constant\", rate = \"24kbps\", write = \"6000B\" }",
        "flow.0.stop=20s",
        "link.0.forward.loss={ model = \"independent\", probability = 0.2 }",
    ]);
    let events: Vec<(String, f64)> =
        tables.texts("events", "event").into_iter().zip(tables.numbers("events", "time")).collect();
    let probes: Vec<f64> = events.iter().filter(|(event, _)| event == "tail-loss-probe").map(|(_, at)| *at).collect();
    assert!(!probes.is_empty());
    let departures = tables.numbers("packets", "time");
    for probe in probes {
        assert!(departures.contains(&probe), "nothing leaves at {probe}");
        let at_once = events.iter().filter(|(_, at)| at.to_bits() == probe.to_bits()).count();
        assert_eq!(at_once, 1, "another timer expires at {probe}");
    }
}

/// Ten microseconds in both directions are less than a tick of the timestamps, by which preset
/// `rfc` measures. SRTT was almost 0, so every ACK that waited for a second segment caused a probe,
/// 13,500 times a second. Now at least two ticks pass.
#[test]
fn round_trips_below_a_tick_cause_no_probes() {
    for (preset, timestamps) in [("rfc", "true"), ("rfc", "false"), ("linux", "true")] {
        let loopback = format!(
            r#"
duration = "400ms"
seed = 1
[[link]]
name = "lo"
from = "a"
to = "b"
forward = {{ rate = "10Gbps", delay = "5us" }}
reverse = {{ rate = "10Gbps", delay = "5us" }}
[[flow]]
from = "a"
to = "b"
preset = "{preset}"
timestamps = {timestamps}
receive_buffer = "64kB"
ack = {{ policy = "delayed" }}
"#
        );
        let probes = Tables::run(&loopback, &[] as &[&str], None).counts("flows", "total_tail_loss_probes_l4")[0];
        assert!(probes < 10, "{preset}, timestamps {timestamps}: {probes} probes of a path without loss");
    }
}
