//! Emulations: flows of the kernel through namespaces and TUN devices.
//!
//! They need the permission to create namespaces and devices. Without it, they report that they
//! were skipped. Other processes may delay packets at any time, so the tests check the events and
//! not their exact times.

use crate::common::tables::Tables;
use crate::common::tshark::{frames, tshark_with_names};
use acklab_lab::emulate::{EmulateOptions, Emulation, Foreground, IdleProcessors, Sample, permission};
use acklab_lab::scenario::load;
use acklab_lab::{Error, RunOptions, emulate, run};
use acklab_live::AwakeProcessors;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockWriteGuard, mpsc};

const PATH: &str = r#"
duration = "2s"
seed = 1
flow = []

[[link]]
name = "btl"
from = "a"
to = "b"
forward = { rate = "16Mbps", delay = "7.5ms", queue = { discipline = "fifo", limit = "20packets" } }
reverse = { rate = "4Mbps", delay = "7.5ms" }
"#;

const TCP: &str = r#"
[[flow]]
name = "up"
from = "a"
to = "b"
stack = "kernel"
preset = "linux"
congestion = "cubic"
"#;

const UDP: &str = r#"
[[flow]]
name = "calls"
from = "a"
to = "b"
stack = "kernel"
transport = "udp"
traffic = { model = "constant", rate = "2Mbps", write = "1000B" }
"#;

/// Returns a scenario with these flows.
fn with(flows: &str) -> String {
    PATH.replace("flow = []\n", "") + flows
}

/// Returns the same scenario for a short time, for tests in which only the run itself matters.
fn briefly(flows: &str) -> String {
    with(flows).replace("2s", "300ms")
}

/// Emulations mostly wait, so several run at once. Tests that concern the whole process run alone.
static EMULATIONS: RwLock<()> = RwLock::new(());

fn without_emulations() -> RwLockWriteGuard<'static, ()> {
    EMULATIONS.write().unwrap_or_else(PoisonError::into_inner)
}

/// Emulates a scenario in a separate thread, because the emulation changes the thread's priority.
/// Returns `None`, with a message, if the system does not allow it.
fn emulated(text: &str, options: EmulateOptions) -> Option<Result<Emulation, Error>> {
    if !permission::is_granted() || !Path::new("/dev/net/tun").exists() {
        eprintln!("skipped: this test needs root and /dev/net/tun");
        return None;
    }
    let scenario = load(text, "the scenario", &[], None).unwrap_or_else(|refusal| panic!("{refusal}"));
    let _beside_others = EMULATIONS.read().unwrap_or_else(PoisonError::into_inner);
    let work = move || emulate(&scenario, &options, || true);
    Some(std::thread::spawn(work).join().unwrap())
}

fn tables(text: &str) -> Option<Tables> {
    Some(Tables::of_results(emulated(text, EmulateOptions::default())?.unwrap().results))
}

/// Runs the same scenario in a simulation.
fn simulated(text: &str) -> Tables {
    Tables::run(&text.replace("stack = \"kernel\"\n", ""), &[""; 0], None)
}

/// Returns the minimum of three emulations, because other processes may delay one.
fn least_of_three(text: &str, of: impl Fn(&Tables) -> f64) -> Option<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        least = least.min(of(&tables(text)?));
    }
    Some(least)
}

#[test]
fn datagrams_of_the_kernel_are_measured_as_in_a_simulation() {
    let text = with(UDP);
    let Some(emulated) = tables(&text) else { return };
    let simulated = simulated(&text);
    // 250 datagrams per second, for two seconds. The last may still be in flight.
    let sent = |tables: &Tables| tables.counts("flows", "total_data_packets_l4")[0];
    assert!(sent(&emulated).abs_diff(sent(&simulated)) <= 5, "{} and {}", sent(&emulated), sent(&simulated));
    assert_eq!(emulated.counts("flows", "total_lost_l4"), [0]);
    assert!(emulated.nulls("flows", "total_acks_sent_l4")[0], "nothing is acknowledged");
    let delay = |tables: &Tables| tables.numbers("flows", "mean_one_way_delay_l4")[0];
    assert!(delay(&emulated) >= delay(&simulated) - 1e-6, "nothing is early: {}", delay(&emulated));
    assert!(delay(&emulated) < delay(&simulated) + 1.0, "{} ms after {}", delay(&emulated), delay(&simulated));
}

/// The SYN leaves at the start of the flow, because all is prepared before. The handshake takes a
/// round trip, as in a simulation.
#[test]
fn a_connection_of_the_kernel_opens_in_a_round_trip() {
    let text = briefly(TCP);
    let handshake = |tables: &Tables| {
        assert_eq!(tables.texts("flows", "ending"), ["open"]);
        tables.numbers("flows", "handshake_time_l4")[0]
    };
    let ideal = handshake(&simulated(&text));
    let Some(fastest) = least_of_three(&text, handshake) else { return };
    assert!((ideal..ideal + 4.0).contains(&fastest), "{fastest} ms, and {ideal} in a simulation");
}

/// The path carries nothing for half a second. During it a timer of 200 ms expires, and one of a
/// second does not.
#[test]
fn a_kernel_waits_as_long_as_its_least_timeout() {
    let silence = r#"steps = [{ at = "0s", rate = "16Mbps" }, { at = "1s", rate = "1kbps" }, { at = "1500ms", rate = "16Mbps" }]"#;
    let text = with(TCP).replacen(r#"rate = "16Mbps""#, silence, 1);
    for (key, expected) in [("", 1), ("min_rto = \"1s\"\n", 0)] {
        let Some(emulated) = tables(&(text.clone() + key)) else { return };
        assert_eq!(emulated.counts("flows", "total_rtos_l4"), [expected], "{key}");
    }
}

/// Data that the kernel holds for a slow application have arrived, but are not delivered.
#[test]
fn what_is_not_read_is_not_delivered() {
    let text = with(&(TCP.to_owned() + "reading = { model = \"constant\", rate = \"8Mbps\", read = \"16000B\" }\n"));
    let columns = ["mean_blocked_l4", "mean_one_way_delay_l7", "mean_throughput_l7"];
    let measure = |tables: &Tables| columns.map(|column| tables.numbers("flows", column)[0]);
    let Some(emulated) = tables(&text) else { return };
    let (emulated, simulated) = (measure(&emulated), measure(&simulated(&text)));
    assert!(simulated[0] > 20.0, "{simulated:?} in a simulation");
    for ((column, emulated), simulated) in columns.iter().zip(emulated).zip(simulated) {
        assert!((emulated / simulated - 1.0).abs() < 0.15, "{column}: {emulated}, and {simulated} in a simulation");
    }
}

/// The kernel counts the timeouts of SYN and SYN-ACK together with all others.
#[test]
fn timeouts_of_a_handshake_are_none_of_the_data() {
    let file = with(&(TCP.to_owned() + "traffic = { model = \"fixed\", size = \"50kB\" }\n"));
    let text = file.replacen("delay =", "loss = { model = \"list\", packets = [1] }, delay =", 1);
    let Some(emulated) = tables(&text) else { return };
    let completion = emulated.numbers("flows", "flow_completion_time_l4")[0];
    assert!((1.0..2.0).contains(&completion), "the SYN is retransmitted after a second: {completion} s");
    assert_eq!(emulated.counts("flows", "total_rtos_l4"), [0]);
}

/// The receiver of a file closes when it has the whole file. So the last ACK, for less than a
/// segment, is not delayed.
#[test]
fn a_file_takes_the_kernel_as_long_as_a_simulation() {
    let text = briefly(&(TCP.to_owned() + "traffic = { model = \"fixed\", size = \"50kB\" }\n"));
    let took = |tables: &Tables| tables.numbers("flows", "flow_completion_time_l4")[0] * 1e3;
    let ideal = took(&simulated(&text));
    let Some(fastest) = least_of_three(&text, took) else { return };
    assert!((fastest - ideal).abs() < 4.0, "{fastest} ms, and {ideal} in a simulation");
}

/// A datagram larger than an Ethernet frame travels in one piece, as in a simulation. It does not
/// make the segments of TCP larger.
#[test]
fn large_datagrams_leave_the_segments_of_tcp_as_they_are() {
    let text = with(&(TCP.to_owned() + &UDP.replace("1000B", "4000B")));
    let Some(emulated) = tables(&text) else { return };
    let (octets, packets) =
        (emulated.numbers("flows", "mean_sending_rate_l4"), emulated.counts("flows", "total_data_packets_l4"));
    let payload = |row: usize| octets[row] * 2e6 / 8.0 / packets[row] as f64;
    assert!((1_400.0..=1_448.5).contains(&payload(0)), "a segment has {} octets", payload(0));
    assert!((3_990.0..=4_000.5).contains(&payload(1)), "a datagram has {} octets", payload(1));
}

/// The segments and datagrams are as long as over IPv4, and the packets 20 octets longer, as in a
/// simulation.
#[test]
fn flows_of_a_scenario_with_ipv6_use_it() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulated_ipv6");
    std::fs::create_dir_all(&folder).unwrap();
    let voice = UDP.to_owned() + "category = \"voice\"\n";
    let capture = "[[capture]]\npoint = \"btl_forward\"\nfile = \"forward.pcapng\"\n";
    let text = format!("ip = 6\n{}{capture}", with(&(TCP.to_owned() + &voice)));
    let run = RunOptions { captures: Some(folder.clone()), ..RunOptions::default() };
    let Some(done) = emulated(&text, EmulateOptions { run, ..EmulateOptions::default() }) else { return };
    let tables = Tables::of_results(done.unwrap().results);
    let (octets, packets) =
        (tables.numbers("flows", "mean_sending_rate_l4"), tables.counts("flows", "total_data_packets_l4"));
    let payload = |row: usize| octets[row] * 2e6 / 8.0 / packets[row] as f64;
    assert!((1_400.0..=1_448.5).contains(&payload(0)), "a segment has {} octets", payload(0));
    assert!((995.0..=1_000.5).contains(&payload(1)), "a datagram has {} octets", payload(1));
    assert!(tables.numbers("flows", "mean_throughput_l4")[0] > 8.0, "the kernel of a busy machine fills half the link");
    let mtu = tables.texts("kernel", "parameter").iter().position(|parameter| parameter == "mtu").unwrap();
    assert_eq!(tables.texts("kernel", "value")[mtu], "1520");

    let path = folder.join("forward.pcapng");
    let wrong = "ip || _ws.malformed || tcp.checksum.status == 0 || udp.checksum.status == 0";
    let Some(found) = frames(&path, wrong, &["_ws.expert.message"]) else { return };
    assert_eq!(found, [""; 0]);
    let full = frames(&path, "tcp && ipv6.plen == 1480", &[]).unwrap();
    assert!(full.len() > 100, "{} segments of 1448 octets behind 20 + 12 of TCP", full.len());
    let ends = tshark_with_names(&path, "udp", &["ipv6.src_host", "ipv6.dst_host", "ipv6.tclass.dscp"]).unwrap();
    // EF (RFC 3246) is the code point of voice (RFC 8325, table 1).
    assert!(
        ends.iter().all(|ends| ends == "a b 46") && ends.len() > 100,
        "{} datagrams, {:?}",
        ends.len(),
        ends.first()
    );
}

#[test]
fn what_a_kernel_does_not_tell_is_null() {
    let Some(tables) = tables(&with(TCP)) else { return };
    assert_eq!(tables.texts("acks", "flow"), ["up"]);
    assert_eq!(tables.nulls("acks", "reason"), [true]);
    assert!(tables.nulls("flows", "total_tail_loss_probes_l4")[0]);
    assert!(!tables.nulls("flows", "mean_cwnd_l4")[0] && !tables.nulls("flows", "mean_rtt_l4")[0]);
    let parameters = tables.texts("kernel", "parameter");
    for expected in ["release", "tso", "gso", "gro", "mtu", "net.ipv4.tcp_sack", "net.ipv4.tcp_rmem"] {
        assert!(parameters.iter().any(|parameter| parameter == expected), "{expected}");
    }
}

#[test]
fn a_playback_shows_frames_that_the_kernel_carried() {
    let film = r#"
[[flow]]
name = "film"
from = "a"
to = "b"
transport = "udp"
traffic = { model = "video", rate = "2Mbps" }
reading = { model = "playback", buffer = "100ms" }
"#;
    let Some(tables) = tables(&with(film)) else { return };
    let frames = tables.counts("flows", "total_frames_l7")[0];
    assert!((90..=120).contains(&frames), "{frames} frames of 60 a second in 1.9 s");
    assert_eq!(tables.counts("flows", "total_damaged_frames_l7"), [0]);
}

#[test]
fn a_sample_of_each_second_is_passed_on() {
    let (to, samples) = mpsc::channel();
    let options = EmulateOptions { live: Some(to), ..EmulateOptions::default() };
    let Some(done) = emulated(&with(TCP).replace("2s", "3200ms"), options) else { return };
    let tables = Tables::of_results(done.unwrap().results);
    let samples: Vec<Sample> = samples.try_iter().collect();
    assert_eq!(samples.iter().map(|sample| sample.time).collect::<Vec<_>>(), [1.0, 2.0, 3.0]);
    let mean = samples.iter().map(|sample| sample.flows[0].throughput).sum::<f64>() / 3.0;
    let whole = tables.numbers("flows", "mean_throughput_l4")[0];
    assert!((mean / whole - 1.0).abs() < 0.1, "{mean} and {whole} Mbps");
    let last = &samples[2];
    assert_eq!(last.links.iter().map(|link| link.link.as_str()).collect::<Vec<_>>(), ["btl_forward", "btl_reverse"]);
    assert!(last.links[0].rate > last.flows[0].throughput, "a link carries headers too");
    assert!(last.flows[0].srtt.is_some_and(|srtt| srtt > 15.0), "{:?}", last.flows[0]);
    assert!(last.lateness.is_some_and(|late| late.deliveries > 500 && late.p50 <= late.max));
}

#[test]
fn memory_is_not_locked_after_a_run() {
    let Some(_) = tables(&briefly(UDP)) else { return };
    let _alone = without_emulations();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let locked = status.lines().find(|line| line.starts_with("VmLck")).unwrap();
    assert_eq!(locked.split_whitespace().nth(1), Some("0"), "{locked}");
}

/// `timing` reports whether processors stay awake. For this, the process must be allowed to open
/// the device of the kernel.
#[test]
fn processors_stay_awake_unless_the_caller_lets_them_halt() {
    let processors = |processors: IdleProcessors| {
        let options = EmulateOptions { processors, ..EmulateOptions::default() };
        Some(Tables::of_results(emulated(&briefly(UDP), options)?.unwrap().results).texts("timing", "processors"))
    };
    let Some(without) = processors(IdleProcessors::Halt) else { return };
    assert_eq!(without, ["may halt"]);
    let may_ask = AwakeProcessors::request().is_ok();
    assert_eq!(processors(IdleProcessors::Awake).unwrap(), [if may_ask { "awake" } else { "may halt" }]);
    // The stolen time during the run is not checked.
    let chosen = processors(IdleProcessors::Auto).unwrap();
    assert_eq!(chosen[0].starts_with("awake"), may_ask, "{chosen:?}");
}

/// Only devices, namespaces and sockets are counted: other tests open files at the same time.
#[test]
fn descriptors_are_closed_after_a_run() {
    let is_of_an_emulation = |link: &PathBuf| {
        let kinds = ["/dev/net/tun", "/dev/cpu_dma_latency", "socket:", "net:", "anon_inode:"];
        kinds.iter().any(|kind| link.to_string_lossy().starts_with(kind))
    };
    let open = || {
        let entries = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        entries.filter_map(|entry| std::fs::read_link(entry.path()).ok()).filter(is_of_an_emulation).count()
    };
    let open_after = |flow| {
        tables(&briefly(flow))?;
        let _alone = without_emulations();
        Some(open())
    };
    let Some(before) = open_after(UDP) else { return };
    let after = open_after(TCP).unwrap();
    assert!(after <= before, "{after} descriptors after {before}");
}

#[test]
fn a_program_that_cannot_be_started_is_an_error_that_names_it() {
    let words = vec!["no-such-program".to_owned()];
    let foreground = Some(Foreground { node: "a".to_owned(), words });
    let Some(done) = emulated(PATH, EmulateOptions { foreground, ..EmulateOptions::default() }) else { return };
    let error = done.unwrap_err().to_string();
    assert!(error.contains("cannot run `no-such-program`"), "{error}");
}

#[test]
fn a_simulation_refuses_the_stack_of_the_kernel_by_name() {
    let scenario = load(&with(UDP), "the scenario", &[], None).unwrap();
    let error = run(&scenario, &RunOptions::default(), || true).unwrap_err().to_string();
    assert!(error.starts_with("flow \"calls\": stack: found \"kernel\", expected none"), "{error}");
}

#[test]
fn the_kernel_has_no_quic() {
    let flow = "[[flow]]\nfrom = \"a\"\nto = \"b\"\nstack = \"kernel\"\ntransport = \"quic\"\n";
    let refusal = load(&with(flow), "the scenario", &[], None).unwrap_err().to_string();
    assert!(refusal.contains("the kernel has no QUIC; expected a flow over TCP or UDP"), "{refusal}");
}

/// Returns the same flow over acklab's own stack.
fn own(flow: &str) -> String {
    flow.replace("stack = \"kernel\"", "stack = \"own\"")
}

/// Checks that acklab's own endpoints run the same by the clock as in virtual time: the tables have
/// the same columns, and goodput and ACKs agree within 3 %.
fn are_as_in_a_simulation(flows: [(&str, u8, String); 3]) {
    println!(
        "| flow | IP | simulated, Mbps | emulated, Mbps | simulated ACKs | emulated ACKs |\n|---|---|---|---|---|---|"
    );
    for (name, ip, flow) in flows {
        let text = format!("ip = {ip}\n{}", with(&flow));
        let Some(emulated) = tables(&text) else { return };
        let simulated = Tables::run(&text, &[""; 0], None);
        assert_eq!(emulated.count_columns("flows"), simulated.count_columns("flows"), "{name}");
        for row in 0..simulated.texts("flows", "flow").len() {
            let goodputs = [&simulated, &emulated].map(|tables| tables.numbers("flows", "mean_throughput_l4")[row]);
            let acks = [&simulated, &emulated].map(|tables| {
                if tables.nulls("flows", "total_acks_sent_l4")[row] {
                    0
                } else {
                    tables.counts("flows", "total_acks_sent_l4")[row]
                }
            });
            println!("| {name} | {ip} | {:.3} | {:.3} | {} | {} |", goodputs[0], goodputs[1], acks[0], acks[1]);
            assert!(goodputs[0] > 1.0 && (goodputs[1] / goodputs[0] - 1.0).abs() < 0.03, "{name}: {goodputs:?}");
            assert!(acks[0].abs_diff(acks[1]) as f64 <= 0.03 * acks[0] as f64, "{name}: {acks:?}");
        }
    }
}

#[test]
fn flows_of_the_own_tcp_are_as_in_a_simulation() {
    are_as_in_a_simulation([
        ("TCP", 6, own(TCP)),
        ("TCP, ns-3", 4, own(TCP).replace("linux", "ns3")),
        ("TCP both ways", 4, own(TCP) + "back = { model = \"greedy\" }\n"),
    ]);
}

#[test]
fn flows_of_tack_and_datagrams_are_as_in_a_simulation() {
    let tack = own(TCP).replace("preset = \"linux\"\ncongestion = \"cubic\"\n", "transport = \"tack\"\n");
    are_as_in_a_simulation([("TACK", 4, tack.clone()), ("TACK", 6, tack), ("UDP", 6, own(UDP))]);
}

/// A flow of acklab's stack and one of the kernel share a path, and each gets a part of it. tshark
/// finds right checksums in the packets, and none malformed.
#[test]
fn the_own_stack_runs_beside_the_kernel() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulated_own");
    std::fs::create_dir_all(&folder).unwrap();
    let capture = "[[capture]]\npoint = \"btl_forward\"\nfile = \"forward.pcapng\"\n";
    let flows = own(TCP).replace("\"up\"", "\"own\"") + TCP + &own(UDP);
    let text = format!("{}{capture}", with(&flows));
    let run = RunOptions { captures: Some(folder.clone()), ..RunOptions::default() };
    let Some(done) = emulated(&text, EmulateOptions { run, ..EmulateOptions::default() }) else { return };
    let done = done.unwrap();
    let wrong = done.verdict.reasons.iter().find(|reason| reason.contains("octets"));
    assert_eq!(wrong, None);
    let tables = Tables::of_results(done.results);
    assert_eq!(tables.texts("flows", "flow"), ["own", "up", "calls"]);
    let goodput = tables.numbers("flows", "mean_throughput_l4");
    assert!(goodput[0] > 1.0 && goodput[1] > 1.0, "{goodput:?}");
    assert!((1.8..2.1).contains(&goodput[2]), "{goodput:?}");
    assert!(goodput.iter().sum::<f64>() < 16.0, "{goodput:?}");
    assert!(tables.counts("timing", "deliveries")[0] > 1000, "deliveries to the own stack count");
    let path = folder.join("forward.pcapng");
    let wrong = "_ws.malformed || tcp.checksum.status == 0 || udp.checksum.status == 0 || ip.checksum.status == 0";
    let Some(found) = frames(&path, wrong, &["_ws.expert.message"]) else { return };
    assert_eq!(found, [""; 0]);
}

#[test]
fn a_transport_without_octets_is_no_host() {
    let quic = own(TCP).replace("preset = \"linux\"\ncongestion = \"cubic\"\n", "transport = \"quic\"\n");
    let refusal = load(&with(&quic), "the scenario", &[], None).unwrap_err().to_string();
    let expected = "the own stack of an emulation has no QUIC; expected a flow over TCP or UDP or TACK";
    assert!(refusal.contains(expected), "{refusal}");
}
