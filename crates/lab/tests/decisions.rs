//! Decisions of ACK policies as a series.

use crate::common::tables::Tables;

/// 100 segments over a path that neither loses nor reorders.
const SCENARIO: &str = r#"
duration = "10s"
seed = 1
link = [{ name = "wire", from = "a", to = "b", forward = { rate = "10Mbps", delay = "5ms" }, reverse = { delay = "5ms" } }]
flow = [{ from = "a", to = "b", transport = { protocol = "tcp", preset = "rfc", ack = { policy = "delayed", segments = 2 } }, traffic = { model = "fixed", size = "144800B" } }]
measure = { series = ["decisions"] }
"#;

/// RFC 5681, §4.2: the ACK of the first of two segments may be delayed, the ACK of the second may
/// not.
#[test]
fn a_delayed_ack_waits_for_the_second_segment() {
    let tables = Tables::run(SCENARIO, &[] as &[&str], None);
    let [acknowledge, reason] = ["acknowledge", "reason"].map(|column| tables.texts("decisions", column));
    let unacknowledged = tables.counts("decisions", "unacknowledged");
    assert_eq!(tables.rows("decisions"), 100);
    for segment in 0..99 {
        let (when, why) = if segment % 2 == 0 { ("later", "timer") } else { ("now", "segment-count") };
        let found = (acknowledge[segment].as_str(), reason[segment].as_str(), unacknowledged[segment]);
        assert_eq!(found, (when, why, 1 + segment as u64 % 2), "segment {segment}");
    }
    let last = (acknowledge[99].as_str(), reason[99].as_str(), unacknowledged[99]);
    assert_eq!(last, ("now", "fin", 2), "the last segment carries the FIN, which is not delayed");
    let delays = &tables.numbers("decisions", "delay")[..99];
    assert!(delays.iter().step_by(2).all(|delay| (delay - 200.0).abs() < 1e-9), "200 ms: {delays:?}");
    assert!(delays.iter().skip(1).step_by(2).all(|delay| delay.is_nan()), "at once has no delay");
}

#[test]
fn decisions_are_recorded_only_on_request() {
    let tables = Tables::run(SCENARIO, &["measure.series=[\"events\"]"], None);
    assert!(tables.texts("events", "event").iter().all(|event| !["now", "later", "hold"].contains(&event.as_str())));
}
