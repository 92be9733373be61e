//! The limit of a flow, as `limited_by` names it. If the named cause is relieved, the goodput
//! rises, and more than with any other relief.

use crate::common::tables::Tables;
use proptest::prelude::*;
use proptest::sample::select;
use std::fmt::Write as _;

/// Cases of the property. `ACKLAB_CASES=2000 cargo test -p acklab-lab --test integration limits`
/// runs more.
const CASES: u32 = 16;

/// Relieving the named cause by half raises the goodput by at least this factor. Halving the losses
/// of Reno gives √2 (Mathis et al., CCR 1997), and doubling a window or a rate gives 2, unless
/// another cause is near.
const RAISES: f64 = 1.1;

/// Relieving another cause raises the goodput by no more than this factor times that of the named
/// cause. Chosen, because two causes may be equally strong.
const TOLERANCE: f64 = 1.1;

/// A path and a flow, described by the possible causes.
#[derive(Clone, Debug)]
struct Case {
    transport: &'static str,
    rate_kbps: f64,
    delay_ms: u64,
    /// The interval at which a gate releases ACKs, in milliseconds.
    gate_ms: u64,
    loss: f64,
    send_buffer: u64,
    receive_window: u64,
    /// The rate at which the application writes, in kbit/s.
    written_kbps: f64,
}

/// Returns, for each cause, the case in which it is relieved.
fn reliefs(case: &Case) -> [(&'static str, Case); 6] {
    let case = || case.clone();
    [
        ("rate", Case { rate_kbps: 2.0 * case().rate_kbps, ..case() }),
        ("send buffer", Case { send_buffer: 2 * case().send_buffer, ..case() }),
        ("receive window", Case { receive_window: 2 * case().receive_window, ..case() }),
        ("return path", Case { gate_ms: 0, ..case() }),
        ("losses", Case { loss: case().loss / 2.0, ..case() }),
        ("application", Case { written_kbps: 2.0 * case().written_kbps, ..case() }),
    ]
}

impl Case {
    fn run(&self) -> Tables {
        let Self { rate_kbps, delay_ms, gate_ms, loss, send_buffer, receive_window, written_kbps, .. } = self;
        // The queue exceeds the bandwidth-delay product, so that it drops no packet of a flow that
        // a window limits.
        let queue = "queue = { discipline = \"fifo\", limit = \"4000packets\" }";
        let mut text = format!(
            "duration = \"20s\"\nseed = 1\n[[link]]\nname = \"l\"\nfrom = \"a\"\nto = \"b\"\n[link.forward]\n\
             rate = \"{rate_kbps:.0}kbps\"\ndelay = \"{delay_ms}ms\"\n{queue}\n\
             loss = {{ model = \"independent\", probability = {loss} }}\n\
             [link.reverse]\ndelay = \"{delay_ms}ms\"\n"
        );
        if *gate_ms > 0 {
            writeln!(text, "gate = {{ interval = \"{gate_ms}ms\", quota = 100000 }}").unwrap();
        }
        let windows = match self.transport {
            "quic" => format!(
                "protocol = \"quic\", preset = \"rfc\", send_buffer = \"{send_buffer}B\", \
                 flow_control = {{ model = \"fixed\", stream = \"{receive_window}B\", connection = \"1GiB\" }}"
            ),
            "tack" => {
                format!("protocol = \"tack\", send_buffer = \"{send_buffer}B\", receive_buffer = \"{receive_window}B\"")
            }
            preset => format!(
                "protocol = \"tcp\", preset = \"{preset}\", send_buffer = \"{send_buffer}B\", \
                 send_buffer_limit = \"payload\", receive_buffer = \"{receive_window}B\", receive_window = \"whole-buffer\""
            ),
        };
        write!(
            text,
            "[[flow]]\nfrom = \"a\"\nto = \"b\"\ntransport = {{ {windows}, congestion = \"newreno\" }}\n\
             traffic = {{ model = \"constant\", rate = \"{written_kbps:.0}kbps\", write = \"1200B\" }}\n\
             [measure]\nfrom = \"4s\"\n"
        )
        .unwrap();
        Tables::run(&text, &[] as &[&str], None)
    }

    fn goodput(&self) -> f64 {
        self.run().numbers("flows", "mean_throughput_l7")[0]
    }
}

/// Generates cases in which one cause is much stronger than the others.
fn cases() -> impl Strategy<Value = (&'static str, Case)> {
    let cause = select(vec!["rate", "send buffer", "receive window", "return path", "losses", "application"]);
    let transport = select(vec!["rfc", "linux", "quic", "tack"]);
    (cause, transport, 5u64..40, 0.5f64..4.0).prop_map(|(cause, transport, delay_ms, by)| {
        // 20 Mbps or more, and buffers of several bandwidth-delay products.
        let product = (20e6 / 8.0 * 2.0 * delay_ms as f64 / 1e3) as u64;
        let mut case = Case {
            transport,
            rate_kbps: 20_000.0,
            delay_ms,
            gate_ms: 0,
            loss: 0.0,
            send_buffer: 6 * product + 200_000,
            receive_window: 6 * product + 200_000,
            written_kbps: 200_000.0,
        };
        let small = |by: f64| ((product as f64 / 8.0 * by) as u64).max(6000);
        match cause {
            "rate" => case.rate_kbps = 1000.0 * by,
            "send buffer" => case.send_buffer = small(by),
            "receive window" => case.receive_window = small(by),
            // The buffer is always full because of the gate, whose wait is most of the round trip.
            "return path" => (case.gate_ms, case.send_buffer) = (20 * delay_ms, small(4.0 + by)),
            "losses" => case.loss = 0.02 * by,
            _ => case.written_kbps = 1000.0 * by,
        }
        (cause, case)
    })
}

proptest! {
    #![proptest_config({
        let cases = std::env::var("ACKLAB_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
        ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 40, ..ProptestConfig::default() }
    })]

    #[test]
    fn the_named_cause_is_the_one_whose_relief_helps_most((_, case) in cases()) {
        let tables = case.run();
        let named = tables.texts("flows", "limited_by")[0].clone();
        let before = tables.numbers("flows", "mean_throughput_l7")[0];
        let gains = reliefs(&case).map(|(cause, relieved)| (cause, relieved.goodput() / before));
        let gain = gains.iter().find(|(cause, _)| *cause == named).map_or(0.0, |(_, gain)| *gain);
        prop_assert!(gain > RAISES, "{named}: {before} Mbps, {gains:?}");
        for (cause, other) in gains {
            prop_assert!(other <= gain * TOLERANCE, "{named}, but {cause} helps more: {before} Mbps, {gains:?}");
        }
    }
}

const PATH: &str = r#"
duration = "5s"
seed = 1
[[link]]
name = "l"
from = "src"
to = "dst"
forward = { rate = "1Gbps", delay = "10ms", queue = { discipline = "fifo", limit = "1000packets" } }
reverse = { rate = "1Gbps", delay = "10ms", queue = { discipline = "fifo", limit = "1000packets" } }
"#;

fn limit(text: &str, transport: &str, traffic: &str) -> (String, Tables) {
    let text = format!("{text}[[flow]]\nfrom = \"src\"\nto = \"dst\"\ntransport = {{ {transport} }}\n{traffic}\n");
    let tables = Tables::run(&text, &[] as &[&str], None);
    (tables.texts("flows", "limited_by")[0].clone(), tables)
}

/// The window of a stream, of the connection, or of TCP's receiver permits 100 kB per round trip of
/// 20 ms: 40 Mbps of 1 Gbps. For QUIC, this limit was once named the send buffer, and the receive
/// window had no share.
#[test]
fn a_window_of_the_peer_is_named_whatever_it_counts() {
    for transport in [
        "protocol = \"quic\", preset = \"rfc\", flow_control = { model = \"fixed\", stream = \"100kB\", connection = \"16MiB\" }",
        "protocol = \"quic\", preset = \"rfc\", flow_control = { model = \"fixed\", stream = \"16MiB\", connection = \"100kB\" }",
        "protocol = \"tcp\", preset = \"rfc\", receive_buffer = \"100kB\"",
        "protocol = \"tack\", receive_buffer = \"100kB\"",
    ] {
        let (named, tables) = limit(PATH, transport, "");
        let share = tables.numbers("flows", "share_receive_window_limited_l4")[0];
        assert!(named == "receive window" && share > 0.5, "{transport}: {named}, {share}");
    }
}

/// 13 kB fit the initial window and are written at once. Only the application limits the sent data,
/// though the last ACKs are awaited.
#[test]
fn a_closed_flow_does_not_wait_for_room() {
    for transport in [
        "protocol = \"tcp\", preset = \"linux\"",
        "protocol = \"tcp\", preset = \"rfc\"",
        "protocol = \"quic\", preset = \"rfc\"",
        "protocol = \"tack\"",
    ] {
        let (named, tables) = limit(PATH, transport, "traffic = { model = \"fixed\", size = \"13kB\" }");
        let share = tables.numbers("flows", "share_send_buffer_limited_l4")[0];
        assert!(named == "application" && share == 0.0, "{transport}: {named}, {share}");
    }
}

/// ACKs from the proxy wait for a gate of 100 ms. The sender's round trip ends at the proxy. It was
/// once compared with the 530 ms to the terminal and back, which hid the wait and gave a negative
/// queueing delay.
#[test]
fn a_sender_before_a_proxy_is_compared_with_its_own_path() {
    let network = r#"
duration = "20s"
seed = 1
[[link]]
name = "lan"
from = "server"
to = "gateway"
forward = { rate = "100Mbps", delay = "5ms", queue = { discipline = "fifo", limit = "200packets" } }
reverse = { rate = "100Mbps", delay = "5ms", gate = { interval = "100ms", quota = 1000 }, queue = { discipline = "fifo", limit = "2000packets" } }
"#;
    let proxy = r#"
[[link]]
name = "geo"
from = "gateway"
to = "terminal"
forward = { rate = "100Mbps", delay = "260ms", queue = { discipline = "fifo", limit = "2000packets" } }
reverse = { rate = "100Mbps", delay = "260ms", queue = { discipline = "fifo", limit = "2000packets" } }
[[pep]]
node = "gateway"
handshake = "spoofed"
side = [{ link = "geo", transport = { preset = "linux", congestion = "cubic", send_buffer = "16MiB", receive_buffer = "16MiB" } }]
"#;
    let flow =
        |to: &str| format!("[[flow]]\nfrom = \"server\"\nto = \"{to}\"\npreset = \"rfc\"\ncongestion = \"newreno\"\n");
    let split = Tables::run(&format!("{network}{proxy}{}", flow("terminal")), &[] as &[&str], None);
    let whole = Tables::run(&format!("{network}{}", flow("gateway")), &[] as &[&str], None);
    for tables in [&split, &whole] {
        assert_eq!(tables.texts("flows", "limited_by"), ["return path"]);
        assert_eq!(tables.numbers("flows", "empty_path_rtt_l4"), [10.0]);
        assert!(tables.numbers("flows", "mean_est_qdelay_l4")[0] > 0.0);
    }
    // If the link behind the proxy carries a tenth, the proxy's buffer fills, and it closes its
    // window.
    let slow = Tables::run(
        &format!("{network}{proxy}{}", flow("terminal")),
        &["link.1.forward.rate=1Mbps", "link.0.reverse.gate.interval=1ms"],
        None,
    );
    assert_eq!(slow.texts("flows", "limited_by"), ["rate"]);
}
