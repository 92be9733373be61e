//! Random scenarios as text, so that a failing one can be read, kept and run by hand.

use acklab_path::queue;
use acklab_transport::{ack, cc};
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use std::fmt;

/// The length of a run in hours: every transfer ends within it, even if each segment waits for a
/// timer of a minute. A link without packets takes no run time.
const HOURS: u64 = 12;

/// A scenario whose debug output is its text.
#[derive(Clone)]
pub(crate) struct Text(pub(crate) String);

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", self.0)
    }
}

/// Generates links in a row with any effects, and one to four flows from end to end, some in the
/// other direction.
pub(crate) fn anything() -> impl Strategy<Value = Text> {
    let link = (direction(), direction());
    (0u64..1000, vec(link, 1..=3), vec(flow(), 1..=4)).prop_map(|(seed, links, flows)| scenario(seed, &links, &flows))
}

/// Generates links in a row with any effects, and flows of all transports, which may lose their
/// connections.
pub(crate) fn any_transport() -> impl Strategy<Value = Text> {
    let link = (direction(), direction());
    (0u64..1000, vec(link, 1..=2), vec(flow_of_others(), 1..=3), flow()).prop_map(|(seed, links, mut flows, tcp)| {
        flows.push(tcp);
        scenario(seed, &links, &flows)
    })
}

/// Generates a cell behind a link, with up to a fifth of all frames lost, and flows of all
/// transports between its stations and a server.
pub(crate) fn cell() -> impl Strategy<Value = Text> {
    let flows = vec((prop_oneof![flow(), flow_of_others()], 1usize..=2), 1..=4);
    let standard = select(vec!["802.11b", "802.11g", "802.11n", "802.11ac", "802.11be"]);
    (0u64..1000, standard, 2u64..300, 0.0..0.2, flows).prop_map(|(seed, standard, limit, errors, flows)| {
        let mut text = format!(
            "duration = \"{}s\"\nseed = {seed}\n\n[[link]]\nname = \"wire\"\nfrom = \"server\"\nto = \"ap\"\n\
             forward = {{ rate = \"500Mbps\", delay = \"1ms\" }}\nreverse = {{ rate = \"500Mbps\", delay = \"1ms\" }}\n\n\
             [[wifi]]\nname = \"cell\"\nstandard = \"{standard}\"\n[wifi.reception.channel]\nmodel = \"fixed\"\n\
             frame_error_rate = {errors:.3}\n[wifi.ap]\nname = \"ap\"\n\
             queue = {{ discipline = \"fifo\", limit = \"{limit}packets\" }}\n\
             [[wifi.station]]\nname = \"sta\"\ncount = 2\n\
             queue = {{ discipline = \"fifo\", limit = \"{limit}packets\" }}\n",
            HOURS * 3600
        );
        for (flow, station) in flows {
            let station = format!("sta_{station}");
            let (from, to) = if flow.is_reverse { (station.as_str(), "server") } else { ("server", station.as_str()) };
            text += &format!("\n[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\n{}", flow.text);
        }
        Text(text)
    })
}

/// Generates random effects on the forward path, and the loss of up to half of the ACKs on the
/// return path.
pub(crate) fn lost_acks() -> impl Strategy<Value = Text> {
    let lossy = (direction(), 0.1..0.5).prop_map(|(reverse, share): (String, f64)| {
        let kept: String =
            reverse.lines().filter(|line| !line.starts_with("loss")).map(|line| format!("{line}\n")).collect();
        format!("{kept}loss = {{ model = \"independent\", probability = {share:.3} }}\n")
    });
    let flows = vec(flow().prop_map(|flow| Flow { is_reverse: false, ..flow }), 1..=2);
    (0u64..1000, (direction(), lossy), flows).prop_map(|(seed, link, flows)| scenario(seed, &[link], &flows))
}

/// Generates one flow over a path that keeps order, and drops packets only in the queues of the
/// data.
pub(crate) fn in_order() -> impl Strategy<Value = Text> {
    let forward = (rate(100_000), delay(), 4u64..40).prop_map(|(rate, delay, limit)| {
        format!("{rate}\ndelay = \"{delay}us\"\nqueue = {{ discipline = \"fifo\", limit = \"{limit}packets\" }}\n")
    });
    let reverse = (weighted(0.5, rate(100_000)), delay(), weighted(0.4, gate()))
        .prop_map(|(rate, delay, gate)| lines(&[rate, Some(format!("delay = \"{delay}us\"")), gate]));
    // The FIN without data can be retransmitted, and no series of packets shows this.
    let roomy = stack().prop_filter("the FIN needs room beside the last data", |stack| stack.mss > 2);
    (0u64..1000, vec((forward, reverse), 1..=2), roomy, 1u64..400).prop_map(|(seed, links, stack, segments)| {
        // The last segment is not full, so the FIN goes with it.
        let size = segments * stack.mss + stack.mss.div_ceil(2) - 1;
        let traffic = format!("traffic = {{ model = \"fixed\", size = \"{}B\" }}\n", size.max(1));
        let flow = Flow { is_reverse: false, text: format!("{}{traffic}", stack.text) };
        let Text(text) = scenario(seed, &links, &[flow]);
        Text(format!("# in order\n{text}"))
    })
}

fn scenario(seed: u64, links: &[(String, String)], flows: &[Flow]) -> Text {
    let mut text = format!("duration = \"{}s\"\nseed = {seed}\n", HOURS * 3600);
    for (index, (forward, reverse)) in links.iter().enumerate() {
        // The first link has a delay, so that no run is endless.
        let least = if index == 0 && !forward.contains("delay") { "delay = \"1ms\"\n" } else { "" };
        let next = index + 1;
        text += &format!("\n[[link]]\nname = \"l{index}\"\nfrom = \"n{index}\"\nto = \"n{next}\"\n");
        text += &format!("[link.forward]\n{forward}{least}[link.reverse]\n{reverse}");
    }
    let last = format!("n{}", links.len());
    for flow in flows {
        let (from, to) = if flow.is_reverse { (last.as_str(), "n0") } else { ("n0", last.as_str()) };
        text += &format!("\n[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\n{}", flow.text);
    }
    Text(text)
}

fn lines(parts: &[Option<String>]) -> String {
    parts.iter().flatten().map(|part| format!("{part}\n")).collect()
}

fn rate(most_kbps: u64) -> impl Strategy<Value = String> {
    (256u64..=most_kbps).prop_map(|kbps| format!("rate = \"{kbps}kbps\""))
}

fn steps() -> impl Strategy<Value = String> {
    vec((1u64..2000, 256u64..50_000), 1..3).prop_map(|steps| {
        let mut at = 0;
        let steps = steps.into_iter().map(|(gap, kbps)| {
            let step = format!("{{ at = \"{at}ms\", rate = \"{kbps}kbps\" }}");
            at += gap;
            step
        });
        format!("steps = [{}]", steps.collect::<Vec<_>>().join(", "))
    })
}

/// Generates a delay of at least one microsecond.
fn delay() -> impl Strategy<Value = u64> {
    1000u64..50_000
}

fn gate() -> impl Strategy<Value = String> {
    (1u64..20, 1u32..20)
        .prop_map(|(interval, quota)| format!("gate = {{ interval = \"{interval}ms\", quota = {quota} }}"))
}

/// Generates capacity on demand on a carrier of at least 256 kbit/s, with enough left for requests.
fn demand() -> impl Strategy<Value = String> {
    let kinds = select(vec![
        "rate_based = \"200kbps\"",
        "volume_based = \"5kB\"",
        "rate_based = \"1Mbps\", volume_based = \"20kB\"",
    ]);
    (5u64..60, 0u64..300, 10u64..150, kinds, weighted(0.3, 1u64..64), weighted(0.3, 1u64..64)).prop_map(
        |(superframe, assignment, slot, kinds, constant, background)| {
            let rate = |key: &str, kbps: Option<u64>| kbps.map(|kbps| format!(", {key} = \"{kbps}kbps\"")).unwrap_or_default();
            let (constant, background) = (rate("constant", constant), rate("background", background));
            format!(
                "demand = {{ superframe = \"{superframe}ms\", assignment = \"{assignment}ms\", slot = \"{slot}B\", {kinds}{constant}{background} }}"
            )
        },
    )
}

fn queue() -> impl Strategy<Value = String> {
    let limit = prop_oneof![
        1 => Just(String::new()),
        4 => (1u64..60).prop_map(|packets| format!(", limit = \"{packets}packets\"")),
        // A quota below one packet would close a gated link for ever.
        2 => (9040u64..80_000).prop_map(|octets| format!(", limit = \"{octets}B\"")),
    ];
    let keeps = select(vec!["news", "duplicates", "nothing"]);
    // Each discipline with its defaults; below, with other settings.
    let built_in: Vec<String> =
        queue::QueueConfig::built_in().map(|discipline| format!("\"{}\"", discipline.name())).collect();
    let kind = prop_oneof![
        4 => Just("\"fifo\"".to_owned()),
        1 => select(built_in),
        2 => (0u64..30).prop_map(|above| format!("\"fifo\", mark_above = \"{above}packets\"")),
        2 => (keeps, select(vec!["in-place", "tail"]))
            .prop_map(|(keeps, place)| format!("\"ack-filter\", keeps = \"{keeps}\", place = \"{place}\"")),
        2 => any::<bool>().prop_map(|aggressive| format!("\"cake-ack-filter\", aggressive = {aggressive}")),
        2 => (1u64..20, 20u64..200, any::<bool>()).prop_map(|(target, interval, ecn)| {
            format!("\"codel\", target = \"{target}ms\", interval = \"{interval}ms\", ecn = {ecn}")
        }),
        2 => (1u32..20, 256u64..4000, any::<bool>()).prop_map(|(flows, quantum, ecn)| {
            format!("\"fq-codel\", flows = {flows}, quantum = \"{quantum}B\", ecn = {ecn}")
        }),
        2 => (1u64..100, select(vec!["triple", "dual-source", "dual-destination", "flows"]), select(vec!["off", "on", "aggressive"]))
            .prop_map(|(rate, isolation, filter)| {
                format!("\"cake\", rate = \"{rate}Mbps\", isolation = \"{isolation}\", ack_filter = \"{filter}\"")
            }),
        1 => (1u64..50, any::<bool>()).prop_map(|(target, ecn)| format!("\"pie\", target = \"{target}ms\", ecn = {ecn}")),
        1 => (1u64..50).prop_map(|target| format!("\"dualpi2\", target = \"{target}ms\"")),
    ];
    (limit, kind).prop_map(|(limit, kind)| format!("queue = {{ discipline = {kind}{limit} }}"))
}

/// Returns the queue of a link with assigned capacity. CAKE may not shape there. Nor do transfers
/// always end with it: an assignment alone takes longer than CAKE's target. So CAKE drops the first
/// of any two packets, and each time this may be the last segment.
fn of_assigned(queue: String) -> String {
    if queue.contains("\"cake\"") { "queue = { discipline = \"fifo\" }".to_owned() } else { queue }
}

fn loss() -> impl Strategy<Value = String> {
    prop_oneof![
        (0.0..0.08).prop_map(|p: f64| format!("loss = {{ model = \"independent\", probability = {p:.4} }}")),
        (0.0..0.02, 0.3..1.0).prop_map(|(bad, good): (f64, f64)| {
            format!("loss = {{ model = \"gilbert-elliott\", good_to_bad = {bad:.4}, bad_to_good = {good:.4} }}")
        }),
        vec(1u64..60, 1..6).prop_map(|packets| format!("loss = {{ model = \"list\", packets = {packets:?} }}")),
    ]
}

fn jitter() -> impl Strategy<Value = String> {
    prop_oneof![
        (1u64..20).prop_map(|ms| format!("jitter = {{ model = \"uniform\", spread = \"{ms}ms\" }}")),
        (1u64..5).prop_map(|ms| format!("jitter = {{ model = \"exponential\", mean = \"{ms}ms\" }}")),
        (1u64..5).prop_map(|ms| format!("jitter = {{ model = \"normal\", mean = \"{ms}ms\", deviation = \"2ms\" }}")),
    ]
}

fn reorder() -> impl Strategy<Value = String> {
    (0.0..0.2, 1u64..30)
        .prop_map(|(share, ms): (f64, u64)| format!("reorder = {{ probability = {share:.3}, by = \"{ms}ms\" }}"))
}

fn duplicate() -> impl Strategy<Value = String> {
    (0.0..0.3).prop_map(|share: f64| format!("duplicate = {{ probability = {share:.3} }}"))
}

fn direction() -> impl Strategy<Value = String> {
    let serves = prop_oneof![5 => rate(100_000), 1 => steps()];
    let rest =
        (weighted(0.2, loss()), weighted(0.15, jitter()), weighted(0.15, reorder()), weighted(0.15, duplicate()));
    let device = weighted(0.2, (1u32..4).prop_map(|places| format!("device_queue = {places}")));
    let overhead = weighted(0.3, (1u32..40).prop_map(|octets| format!("overhead = \"{octets}B\"")));
    let delay = weighted(0.8, delay().prop_map(|delay| format!("delay = \"{delay}us\"")));
    let gated = (weighted(0.85, serves), device, weighted(0.2, gate()));
    let service = prop_oneof![
        5 => gated.prop_map(|(serves, device, gate)| lines(&[serves, device, gate])),
        1 => (rate(100_000), demand()).prop_map(|(rate, demand)| lines(&[Some(rate), Some(demand)])),
    ];
    (service, delay, overhead, queue(), rest).prop_map(
        |(service, delay, overhead, queue, (loss, jitter, reorder, duplicate))| {
            let queue = if service.contains("demand = ") { of_assigned(queue) } else { queue };
            service + &lines(&[delay, overhead, Some(queue), loss, jitter, reorder, duplicate])
        },
    )
}

#[derive(Clone, Debug)]
struct Flow {
    is_reverse: bool,
    text: String,
}

#[derive(Clone, Debug)]
struct Stack {
    mss: u64,
    text: String,
}

/// Generates a preset and some settings that differ from it.
fn stack() -> impl Strategy<Value = Stack> {
    let switch = || weighted(0.3, any::<bool>());
    // Each policy with its defaults; below, some of them with other settings.
    let built_in: Vec<String> =
        ack::PolicyConfig::built_in().map(|policy| format!("ack = {{ policy = \"{}\" }}", policy.name())).collect();
    let ack = prop_oneof![
        2 => select(built_in),
        1 => (1u32..5, 1u64..300, 0u32..3).prop_map(|(segments, ms, quick)| {
            format!("ack = {{ policy = \"delayed\", segments = {segments}, timer = \"{ms}ms\", quick = {quick} }}")
        }),
        1 => (1u32..20, 1u64..300, select(vec!["byte-counting", "daass"])).prop_map(|(segments, ms, policy)| {
            format!("ack = {{ policy = \"{policy}\", segments = {segments}, timer = \"{ms}ms\" }}")
        }),
        1 => (1u32..20, 0u32..200, 1u64..50).prop_map(|(packets, after, ms)| {
            format!("ack = {{ policy = \"chrome\", packets = {packets}, after = {after}, max_ack_delay = \"{ms}ms\" }}")
        }),
        1 => (0u32..20, 1u64..50, 0u32..5).prop_map(|(threshold, ms, reordering)| {
            format!(
                "ack = {{ policy = \"ack-frequency\", ack_eliciting_threshold = {threshold}, \
                 requested_max_ack_delay = \"{ms}ms\", reordering_threshold = {reordering} }}"
            )
        }),
        1 => (1u32..20, 2u32..9, any::<bool>()).prop_map(|(segments, beta, startup)| {
            format!(
                "ack = {{ policy = \"tack\", segments = {segments}, beta = {beta}, per_packet_startup = {startup} }}"
            )
        }),
        1 => (1u64..500).prop_map(|ms| format!("ack = {{ policy = \"ack-congestion-control\", timer = \"{ms}ms\" }}")),
        1 => (1u64..500, 1u8..=127, 1u32..8, any::<bool>()).prop_map(|(ms, segments, acks, immediate)| {
            format!(
                "ack = {{ policy = \"ack-rate-request\", segments = {segments}, acks_per_window = {acks}, \
                 immediate = {immediate}, timer = \"{ms}ms\" }}"
            )
        }),
    ];
    let growth = select(vec!["per-ack", "per-segment", "byte-counting"]);
    let restart = select(vec!["every-ack", "every-ack-and-head-retransmission", "first-partial-ack"]);
    // Controllers that count marks request ECN by themselves; `marks` contains them.
    let controllers: Vec<cc::ControllerConfig> =
        cc::ControllerConfig::built_in().filter(|controller| !controller.counts_marks()).collect();
    let congestion = (
        select(controllers),
        select(vec!["reference", "linux", "ns3"]),
        select(vec!["classic", "hystart-plus-plus", "linux-hystart", "ns3-hystart", "quiche-hystart"]),
    );
    let congestion = congestion.prop_map(|(controller, dialect, slow_start)| {
        let name = controller.name();
        format!("congestion = \"{name}\"\ncongestion_dialect = \"{dialect}\"\nslow_start = \"{slow_start}\"")
    });
    let choice = |key: &'static str, words: Vec<&'static str>| {
        weighted(0.2, select(words).prop_map(move |word| format!("{key} = \"{word}\"")))
    };
    let more = (
        choice("pacing", vec!["always", "never"]),
        choice("detection", vec!["rack", "dup-thresh"]),
        choice("after_idle", vec!["keep", "restart", "decay"]),
        choice("halves", vec!["flight-size", "pipe", "window"]),
        weighted(0.1, any::<bool>().prop_map(|on| format!("undo = {on}"))),
        weighted(0.1, any::<bool>().prop_map(|on| format!("tail_loss_probe = {on}"))),
        weighted(0.1, Just("dsack = false".to_owned())),
    );
    let more = more.prop_map(|(a, b, c, d, e, f, g)| lines(&[a, b, c, d, e, f, g]));
    let words = (
        weighted(0.6, congestion),
        weighted(0.4, growth.prop_map(|growth| format!("growth = \"{growth}\""))),
        weighted(
            0.3,
            select(vec!["prr", "classic", "reno", "tahoe"]).prop_map(|recovery| format!("recovery = \"{recovery}\"")),
        ),
        weighted(0.3, restart.prop_map(|restart| format!("rto_restart = \"{restart}\""))),
        weighted(0.6, ack),
    );
    let mss = prop_oneof![1 => select(vec![1u64, 7, 100]), 4 => select(vec![536, 1448, 8948])];
    let preset = select(vec!["linux", "ns3", "rfc"]);
    let marks = select(vec![
        "",
        "ecn = \"classic\"\n",
        "ecn = \"dctcp\"\n",
        "ecn = \"accurate\"\n",
        "congestion = \"dctcp\"\n",
        "congestion = \"dctcp\"\necn = \"accurate\"\n",
    ]);
    // Sometimes hardly more than a segment.
    let window = prop_oneof![9 => (1u64..250).prop_map(|segments| segments * 10), 1 => 10u64..30];
    (preset, mss, window, 1u32..20, switch(), switch(), switch(), switch(), (words, marks, more)).prop_map(
        |(
            preset,
            mss,
            window,
            initial,
            sack,
            timestamps,
            scaling,
            limited,
            ((congestion, growth, recovery, restart, ack), marks, more),
        )| {
            let said = |key: &str, switch: Option<bool>| switch.map(|on| format!("{key} = {on}"));
            let text = lines(&[
                Some(format!("preset = \"{preset}\"\nmss = \"{mss}B\"\ninitial_window = \"{initial}segments\"")),
                Some(format!("receive_buffer = \"{}B\"", window * mss / 10 + window % 7)),
                said("sack", sack),
                said("timestamps", timestamps),
                said("window_scaling", scaling),
                said("limited_transmit", limited),
                congestion.filter(|_| !marks.contains("congestion")),
                growth,
                recovery,
                restart,
                ack,
            ]);
            Stack { mss, text: format!("{text}{marks}{more}") }
        },
    )
}

fn flow() -> impl Strategy<Value = Flow> {
    let traffic = prop_oneof![
        4 => (1u64..300, 0u64..1000).prop_map(|(segments, rest)| (Some((segments, rest)), 0)),
        1 => (50u64..500).prop_map(|stop| (None, stop)),
    ];
    let endless = prop_oneof![
        Just("{ model = \"greedy\" }".to_owned()),
        (select(vec!["constant", "poisson"]), 20u64..5000, 1u64..4000).prop_map(|(model, kbps, write)| {
            format!("{{ model = \"{model}\", rate = \"{kbps}kbps\", write = \"{write}B\" }}")
        }),
    ];
    let rest = (weighted(0.5, 0u64..40), any::<bool>());
    (stack(), traffic, endless, rest).prop_map(|(stack, (fixed, stop), endless, (start, is_reverse))| {
        let traffic = match fixed {
            Some((segments, rest)) => {
                let size = segments * stack.mss + rest % stack.mss;
                format!("traffic = {{ model = \"fixed\", size = \"{size}B\" }}")
            }
            None => format!("traffic = {endless}\nstop = \"{stop}ms\""),
        };
        let start = start.map(|start| format!("start = \"{start}ms\""));
        Flow { is_reverse, text: format!("{}{}", stack.text, lines(&[Some(traffic), start])) }
    })
}

/// Generates a flow over another transport than TCP.
fn flow_of_others() -> impl Strategy<Value = Flow> {
    let controllers: Vec<cc::ControllerConfig> =
        cc::ControllerConfig::built_in().filter(|controller| !controller.counts_marks()).collect();
    let presets = select(vec!["rfc", "quinn", "neqo", "picoquic", "quicly", "chrome", "mvfst", "s2n-quic", "quic-go"]);
    let congestion = weighted(0.7, select(controllers));
    let transport =
        (prop_oneof![2 => presets.prop_map(Some), 2 => Just(None)], congestion).prop_map(|(preset, congestion)| {
            let protocol = preset.map_or("protocol = \"tack\"".to_owned(), |preset| {
                format!("protocol = \"quic\", preset = \"{preset}\"")
            });
            let congestion = congestion.map(|controller| format!(", congestion = \"{}\"", controller.name()));
            format!("transport = {{ {protocol}{} }}", congestion.unwrap_or_default())
        });
    let fixed = (1u64..300_000).prop_map(|octets| format!("traffic = {{ model = \"fixed\", size = \"{octets}B\" }}"));
    let written = (20u64..5000, 16u64..1400, 50u64..500).prop_map(|(kbps, write, stop)| {
        format!(
            "traffic = {{ model = \"constant\", rate = \"{kbps}kbps\", write = \"{write}B\" }}\nstop = \"{stop}ms\""
        )
    });
    let reliable = (transport, prop_oneof![2 => fixed.boxed(), 1 => written.clone().boxed()]);
    let text = prop_oneof![
        5 => reliable.prop_map(|(transport, traffic)| format!("{transport}\n{traffic}\n")),
        1 => written.prop_map(|traffic| format!("transport = \"udp\"\n{traffic}\n")),
    ];
    (text, any::<bool>()).prop_map(|(text, is_reverse)| Flow { is_reverse, text })
}
