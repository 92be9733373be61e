//! Vegas: at any rate of the line, between α and β segments of a flow wait in the queue (Brakmo and
//! Peterson, JSAC 13(8), 1995, §III-B).
//!
//! Of several flows, this holds only for those that have measured the path without a queue. A flow
//! that begins late or beside others has not (Mo et al., INFOCOM 1999).

use super::bench::{SHARED, run};

const ALPHA: f64 = 2.0;
const BETA: f64 = 4.0;

#[test]
fn two_to_four_segments_wait() {
    for rate in [5, 20, 80] {
        let sets = [
            "flow.0.congestion=vegas".to_owned(),
            "flow.0.ack={ policy = \"per-packet\" }".to_owned(),
            "flow.1.start=59s".to_owned(),
            "measure.until=59s".to_owned(),
            format!("link.2.forward.rate={rate}Mbps"),
        ];
        let tables = run(SHARED, 1, &sets);
        let bottleneck =
            tables.texts("links", "link").iter().position(|link| link == "btl_forward").unwrap_or_default();
        let queue = tables.numbers("links", "mean_qdisc_length_l2")[bottleneck];
        println!("Vegas, {rate} Mbps: {queue:.2} segments wait");
        // Linux divides whole numbers: a value just below five becomes four
        // (`tcp_vegas_cong_avoid`).
        assert!((ALPHA..BETA + 1.0).contains(&queue), "{queue} at {rate} Mbps");
    }
}
