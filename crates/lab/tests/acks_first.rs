//! ACKs-first scheduling on a return link that an upload fills.

use crate::common::tables::Tables;

/// A cable line: the upload keeps 100 packets queued in the slow direction, which take 1.2 s.
const LINE: &str = r#"
duration = "20s"
seed = 1

[measure]
from = "5s"

[[link]]
name = "line"
from = "isp"
to = "home"
forward = { rate = "20Mbps", delay = "10ms", queue = { discipline = "fifo", limit = "100packets" } }
reverse = { rate = "1Mbps", delay = "10ms", queue = { discipline = "fifo", limit = "100packets" } }

[[flow]]
name = "down"
from = "isp"
to = "home"
preset = "linux"
congestion = "cubic"

[[flow]]
name = "up"
from = "home"
to = "isp"
preset = "linux"
congestion = "cubic"
"#;

fn goodputs(discipline: &str) -> Vec<f64> {
    let set = format!("link.line.reverse.queue.discipline={discipline}");
    Tables::run(LINE, &[set], None).numbers("flows", "mean_throughput_l7")
}

/// In the FIFO, an ACK waits 1.2 s behind the upload. 870 ACKs per second take 0.36 Mbps of the 1
/// Mbps. With ACKs first, an ACK waits for one data packet, 12 ms.
#[test]
fn a_download_no_longer_waits_behind_the_upload() {
    let (fifo, first) = (goodputs("fifo"), goodputs("acks-first"));
    println!("FIFO {fifo:?}, ACKs first {first:?}");
    assert!(first[0] > 0.93 * 20.0 * 1448.0 / 1500.0, "the download fills its direction: {first:?}");
    assert!(fifo[0] < 0.8 * first[0], "{fifo:?} and {first:?}");
    // The upload gets the capacity that the ACKs leave.
    assert!((0.5..0.66).contains(&first[1]), "{first:?}");
}
