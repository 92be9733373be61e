//! Two stations that upload and do not sense each other. The access point senses both.

use crate::common::saturated::{Source, cell_of, run};
use acklab_wifi::airtime::Use;
use serde_json::{Value, json};

const PACKET: u64 = 1_500;

/// The results of a cell with two stations.
struct Seen {
    packets_per_second: f64,
    /// Share of data frames, or of RTS, without a response.
    unanswered: f64,
    /// The same share for data frames alone.
    data_unanswered: f64,
    /// Share of the time in which transmissions overlapped.
    collision: f64,
}

fn two(is_hidden: bool, has_rts: bool) -> Seen {
    let hidden = if is_hidden { json!([[1, 2]]) } else { json!([]) };
    let config = cell_of(
        2,
        json!({
            "standard": "802.11a",
            "rate": {"control": "fixed", "rate": "6Mbps"},
            "rts_threshold": if has_rts { json!("0B") } else { Value::Null },
            "reception": {"hidden": hidden},
        }),
    );
    let mut outcome = run(&config, &[Source::upload(1, PACKET), Source::upload(2, PACKET)], 60.0, 41);
    let end = outcome.end;
    let collision = outcome.cell.airtime(end).total(Use::Collision).as_nanos() as f64 / end.as_nanos() as f64;
    let counters = outcome.cell.counters();
    let sum = |of: fn(&acklab_wifi::counters::Counters) -> u64| counters.iter().map(of).sum::<u64>() as f64;
    let (data, rts) = (sum(|counters| counters.ppdus), sum(|counters| counters.rts));
    let data_unanswered = sum(|counters| counters.unanswered) / data;
    let unanswered = if has_rts { sum(|counters| counters.rts_unanswered) / rts } else { data_unanswered };
    Seen { packets_per_second: outcome.packets_per_second(PACKET), unanswered, data_unanswered, collision }
}

#[test]
fn hidden_stations_collide_and_rts_with_cts_keeps_them_apart() {
    let [seen, hidden, reserved, hidden_reserved] = [(false, false), (true, false), (false, true), (true, true)]
        .map(|(is_hidden, has_rts)| two(is_hidden, has_rts));
    for seen in [&seen, &hidden, &reserved, &hidden_reserved] {
        println!(
            "{:.1} packets/s, {:.4} unanswered, {:.4} of data, {:.4} of the time in collisions",
            seen.packets_per_second, seen.unanswered, seen.data_unanswered, seen.collision
        );
    }
    // A frame of 2 ms is vulnerable for its whole duration. If both stations sense each other, only
    // a slot of 9 µs is vulnerable.
    assert!(hidden.unanswered > 3.0 * seen.unanswered);
    assert!(hidden.packets_per_second < 0.7 * seen.packets_per_second);
    // An RTS takes a fortieth of this duration. The data after the RTS are protected, because both
    // stations receive the access point's CTS.
    assert!(hidden_reserved.packets_per_second > 1.3 * hidden.packets_per_second);
    assert!(hidden_reserved.packets_per_second > 0.8 * reserved.packets_per_second);
    assert!(hidden_reserved.collision < 0.2 * hidden.collision);
    // A station that begins its RTS in the SIFS before that CTS does not receive the CTS, and may
    // repeat the RTS while data are on the air.
    assert!(reserved.data_unanswered == 0.0 && hidden_reserved.data_unanswered < 0.02);
}
