//! Controllers against formulas that do not depend on this simulator.

#[path = "common/tables.rs"]
mod tables;

use acklab_lab::RunOptions;
use acklab_lab::scenario::load;
use tables::Tables;

const PATH: &str = r#"
duration = "600s"
seed = 1
[[link]]
name = "path"
from = "src"
to = "dst"
forward = { rate = "1Gbps", delay = "50ms" }
reverse = { rate = "1Gbps", delay = "50ms" }
[[flow]]
from = "src"
to = "dst"
preset = "rfc"
congestion = "newreno"
receive_buffer = "64MiB"
send_buffer = "64MiB"
[measure]
from = "20s"
"#;

fn q(p: f64, w: f64) -> f64 {
    let s = 1.0 - p;
    ((1.0 - s.powi(3)) * (1.0 + s.powi(3) * (1.0 - s.powf(w - 3.0))) / (1.0 - s.powf(w))).min(1.0)
}

#[test]
fn explore() {
    for (name, sets) in [
        ("sack rfc", vec!["flow.0.ack={policy=\"per-packet\"}"]),
        ("sack b=2", vec!["flow.0.growth=per-ack", "flow.0.ack={policy=\"delayed\",segments=2,timer=\"10ms\"}"]),
        (
            "newreno nosack",
            vec![
                "flow.0.sack=false",
                "flow.0.undo=false",
                "flow.0.recovery=classic",
                "flow.0.detection=dup-thresh",
                "flow.0.limited_transmit=false",
                "flow.0.ack={policy=\"per-packet\"}",
            ],
        ),
        (
            "reno nosack b=1",
            vec![
                "flow.0.sack=false",
                "flow.0.undo=false",
                "flow.0.recovery=reno",
                "flow.0.detection=dup-thresh",
                "flow.0.limited_transmit=false",
                "flow.0.ack={policy=\"per-packet\"}",
            ],
        ),
        (
            "reno nosack b=2",
            vec![
                "flow.0.sack=false",
                "flow.0.undo=false",
                "flow.0.recovery=reno",
                "flow.0.detection=dup-thresh",
                "flow.0.limited_transmit=false",
                "flow.0.growth=per-ack",
                "flow.0.ack={policy=\"delayed\",segments=2,timer=\"200ms\"}",
            ],
        ),
    ] {
        let b = if name.contains("b=2") { 2.0f64 } else { 1.0 };
        for p in [0.001f64, 0.003, 0.01, 0.03] {
            let mut rates = vec![];
            let mut rtt = 0.0;
            let mut rtos = 0;
            let mut srto = 0;
            for seed in 1..=2u64 {
                let mut sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
                sets.push(format!("link.0.forward.loss={{ model = \"independent\", probability = {p} }}"));
                let t = Tables::of(&load(PATH, "x", &sets, Some(seed)).unwrap(), &RunOptions::default());
                rtt = t.numbers("flows", "mean_rtt_l4")[0] / 1e3;
                rates.push(t.numbers("flows", "mean_throughput_l7")[0] * 1e6 / 8.0 / 1448.0);
                rtos += t.counts("flows", "total_rtos_l4")[0];
                srto += t.counts("flows", "total_retransmissions_l4")[0];
            }
            let mean: f64 = rates.iter().sum::<f64>() / rates.len() as f64;
            let c = mean * rtt * p.sqrt();
            let w = (2.0 + b) / (3.0 * b) + (8.0 * (1.0 - p) / (3.0 * b * p) + ((2.0 + b) / (3.0 * b)).powi(2)).sqrt();
            let g = 1.0 + p + 2.0 * p * p + 4.0 * p.powi(3);
            let t0 = 1.0;
            let qq = q(p, w);
            let padhye = ((1.0 - p) / p + w / 2.0 + qq) / (rtt * (b / 2.0 * w + 1.0) + qq * g * t0 / (1.0 - p));
            let td = ((1.0 - p) / p + w / 2.0) / (rtt * (b / 2.0 * w + 1.0));
            println!(
                "{name:16} p={p} rtt {rtt:.4} rate {mean:.1} C={c:.3} mathis {:.3} padhye {:.3} td {:.3} rtos {rtos} rtx {srto}",
                c / (1.5 / b).sqrt(),
                mean / padhye,
                mean / td
            );
        }
    }
}
