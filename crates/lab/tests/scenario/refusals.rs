//! Every way to be refused: what is said, and of which place.

use super::{FULL, NAME, edited, read};
use crate::common::names::quoted;
use acklab_lab::scenario::load;
use acklab_transport::ack;

/// What is replaced, with what, and what is said. The place that is underlined stands between `«` and `»`.
type Case<'a> = (&'a str, &'a str, &'a str);

fn check(cases: &[Case<'_>]) {
    for (what, with, message) in cases {
        check_marked(&edited(what, with), message);
    }
}

fn check_marked(marked: &str, message: &str) {
    let (before, rest) = marked.split_once('«').expect("a mark");
    let (underlined, after) = rest.split_once('»').expect("a second mark");
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let (line, column) = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
    let refusal = read(&format!("{before}{underlined}{after}"), &[]).expect_err(message).to_string();
    let mut lines = refusal.lines();
    assert_eq!(lines.next(), Some(&*format!("{NAME}:{line}:{column}: {message}")));
    let carets = format!("| {}{}", " ".repeat(column - 1), "^".repeat(underlined.chars().count()));
    assert!(lines.nth(2).is_some_and(|line| line.ends_with(&carets)), "{refusal}\nshould underline {underlined}");
}

#[test]
fn values_with_units() {
    check(&[
        (
            r#"rate = "16Mbps""#,
            r#"rate = «"16mps"»"#,
            r#"link.0.forward.rate: found "16mps", expected a rate such as "16Mbps" (units: bps, kbps, Mbps, Gbps); the unit "mps" is unknown"#,
        ),
        (
            r#"rate = "16Mbps""#,
            r#"rate = «"-16Mbps"»"#,
            r#"link.0.forward.rate: found "-16Mbps", expected a rate such as "16Mbps" (units: bps, kbps, Mbps, Gbps); it must not be negative"#,
        ),
        (
            r#"rate = "16Mbps""#,
            r#"rate = «"0Mbps"»"#,
            r#"link.0.forward.rate: found "0Mbps", expected a rate above zero; a link with a rate of zero would never send"#,
        ),
        (
            r#"rate = "16Mbps""#,
            r#"rate = «"99999999999999Gbps"»"#,
            r#"link.0.forward.rate: found "99999999999999Gbps", expected a rate such as "16Mbps" (units: bps, kbps, Mbps, Gbps); it is too large"#,
        ),
        (
            r#"delay = "7.5ms""#,
            "delay = «7.5»",
            r#"link.0.forward.delay: found 7.5, expected a duration such as "15ms" (units: ns, us, µs, ms, s, min); the unit is missing"#,
        ),
        (
            r#"delay = "7.5ms""#,
            "delay = «[]»",
            r#"link.0.forward.delay: found a list of 0, expected a duration such as "15ms" (units: ns, us, µs, ms, s, min)"#,
        ),
        (
            r#"delay = "7.5ms""#,
            r#"delay = «"0.5ns"»"#,
            r#"link.0.forward.delay: found "0.5ns", expected a duration such as "15ms" (units: ns, us, µs, ms, s, min); it is finer than the smallest unit"#,
        ),
        (
            r#"mss = "1400B""#,
            "mss = «1400»",
            r#"flow.0.mss: found 1400, expected a size such as "1448B" (units: B, kB, MB, GB, KiB, MiB, GiB); the unit is missing"#,
        ),
        (
            r#"limit = "20packets""#,
            r#"limit = «"20 pakets"»"#,
            r#"link.0.forward.queue.limit: found "20 pakets", expected a limit such as "20packets" or "30kB" (units: packets, packet, B, kB, MB, GB, KiB, MiB, GiB); the unit "pakets" is unknown"#,
        ),
        (
            r#"mss = "1400B""#,
            r#"initial_window = «"ten"»"#,
            r#"flow.0.initial_window: found "ten", expected a number of segments such as "10segments" (units: segments, segment); the number is missing"#,
        ),
        (
            r#"timer = "100ms""#,
            r#"timer = «"200"»"#,
            r#"flow.0.ack.timer: found "200", expected a duration such as "15ms" (units: ns, us, µs, ms, s, min); the unit is missing"#,
        ),
        (
            r#"rate = "500kbps""#,
            r#"rate = «"500kb"»"#,
            r#"link.0.reverse.steps.1.rate: found "500kb", expected a rate such as "16Mbps" (units: bps, kbps, Mbps, Gbps); the unit "kb" is unknown"#,
        ),
    ]);
}

#[test]
fn values_of_other_types() {
    check(&[
        ("seed = 42", r#"seed = «"42"»"#, r#"seed: found "42", expected a whole number of at least 0"#),
        ("seed = 42", "seed = «-1»", "seed: found -1, expected a whole number of at least 0"),
        ("seed = 42", "seed = «4.5»", "seed: found 4.5, expected a whole number of at least 0"),
        (
            "seed = 42",
            "seed = «99999999999999999999»",
            "seed: found 99999999999999999999, expected a whole number of at most 18446744073709551615",
        ),
        (
            "seed = 42",
            "seed = «2026-01-01»",
            "seed: found the date or time 2026-01-01, expected a whole number of at least 0",
        ),
        (r#"title = "something of everything""#, "title = «5»", "title: found 5, expected text in quotes"),
        (r#"min_rto = "250ms""#, r#"sack = «"yes"»"#, r#"flow.0.sack: found "yes", expected true or false"#),
        ("count = 3", "count = «0»", "flow.0.count: found 0, expected a whole number of at least 1"),
        (
            "count = 3",
            "count = «4294967296»",
            "flow.0.count: found 4294967296, expected a whole number of at most 4294967295",
        ),
        ("quota = 10", "quota = «0»", "link.0.reverse.gate.quota: found 0, expected a whole number of at least 1"),
        ("segments = 3", "segments = «0»", "flow.0.ack.segments: found 0, expected a whole number of at least 1"),
        (
            "packets = [5, 9]",
            "packets = [5, «0»]",
            "link.1.reverse.loss.packets.1: found 0, expected a whole number of at least 1",
        ),
        ("packets = [5, 9]", "packets = «5»", "link.1.reverse.loss.packets: found 5, expected a list"),
        (
            "probability = 0.0625",
            "probability = «-1.0»",
            "link.0.forward.duplicate.probability: found -1.0, expected a number from 0 to 1",
        ),
        (
            "probability = 0.125",
            "probability = «1.25»",
            "link.0.forward.reorder.probability: found 1.25, expected a number from 0 to 1",
        ),
        (
            "probability = 0.1 ",
            "probability = «-0.1» ",
            "link.2.reverse.loss.probability: found -0.1, expected a number from 0 to 1",
        ),
        (
            "bad_to_good = 0.3",
            "bad_to_good = «nan»",
            "link.0.forward.loss.bad_to_good: found NaN, expected a number from 0 to 1",
        ),
        (
            "bad_to_good = 0.3",
            r#"bad_to_good = «"0.3"»"#,
            r#"link.0.forward.loss.bad_to_good: found "0.3", expected a number from 0 to 1"#,
        ),
        (
            r#"series = ["operating_point", "#,
            r#"series = [«"operating_pint"», "#,
            r#"measure.series.0: found "operating_pint", expected one of "operating_point", "throughput", "queue", "packets", "air", "events", "decisions"; did you mean `operating_point`?"#,
        ),
        (
            r#"preset = "ns3""#,
            r#"preset = «"windows"»"#,
            r#"flow.0.preset: found "windows", expected one of "linux", "ns3", "rfc""#,
        ),
        (
            r#"policy = "delayed""#,
            r#"policy = «"delaid"»"#,
            r#"flow.0.ack.policy: found "delaid", expected one of "per-packet", "delayed", "linux", "byte-counting", "daass", "chrome", "quic", "ack-frequency", "tack", "ack-congestion-control", "custom"; did you mean `delayed`?"#,
        ),
        (
            r#"policy = "delayed""#,
            "policy = «2»",
            r#"flow.0.ack.policy: found 2, expected one of "per-packet", "delayed", "linux", "byte-counting", "daass", "chrome", "quic", "ack-frequency", "tack", "ack-congestion-control", "custom""#,
        ),
        (
            r#"ack = { policy = "delayed", segments = 3, timer = "100ms" }"#,
            r#"ack = «"delayed"»"#,
            r#"flow.0.ack: found "delayed", expected a table such as { policy = "delayed" }"#,
        ),
        (
            r#"gate = { interval = "5ms", quota = 10 }"#,
            "gate = «5»",
            "link.0.reverse.gate: found 5, expected a table with interval, quota",
        ),
    ]);
}

#[test]
fn unknown_and_missing_keys() {
    check(&[
        (
            r#"interval = "5ms""#,
            r#"«intervall» = "5ms""#,
            "link.0.reverse.gate.intervall: unknown key; did you mean `interval`?",
        ),
        (r#"growth = "per-ack""#, r#"«colour» = "red""#, "flow.0.colour: unknown key"),
        ("seed = 42", "seed = 42\n«durration» = \"3s\"", "durration: unknown key; did you mean `duration`?"),
        ("segments = 3", "«segmets» = 3", "flow.0.ack.segmets: unknown key; did you mean `segments`?"),
        ("[link.reverse]", "[link.«revers»]", "link.0.revers: unknown key; did you mean `reverse`?"),
        ("count = 3", r#"«"co.unt"» = 3"#, "flow.0.co.unt: unknown key; did you mean `count`?"),
    ]);
}

#[test]
fn values_that_make_no_sense() {
    check(&[
        (r#"duration = "15s""#, r#"duration = «"0s"»"#, r#"duration: found "0s", expected a duration above zero"#),
        (
            r#"duration = "15s""#,
            r#"duration = «"99999999min"»"#,
            r#"duration: found "99999999min", expected at most ten years"#,
        ),
        (
            r#"rate = "16Mbps""#,
            r#"rate = «"10001Gbps"»"#,
            r#"link.0.forward.rate: found "10001Gbps", expected at most 10000Gbps"#,
        ),
        (
            r#"delay = "7.5ms""#,
            r#"delay = «"99999999min"»"#,
            r#"link.0.forward.delay: found "99999999min", expected at most ten years"#,
        ),
        (
            r#"overhead = "2B""#,
            r#"overhead = «"2GB"»"#,
            r#"link.0.forward.overhead: found "2GB", expected at most 65535B"#,
        ),
        (
            r#"limit = "20packets""#,
            r#"limit = «"0packets"»"#,
            r#"link.0.forward.queue.limit: found "0packets", expected a limit above zero; without a `limit`, the queue is unlimited"#,
        ),
        (
            r#"limit = "30kB""#,
            r#"limit = «"0B"»"#,
            r#"link.0.reverse.queue.limit: found "0B", expected a limit above zero; without a `limit`, the queue is unlimited"#,
        ),
        (
            r#"interval = "5ms""#,
            r#"interval = «"0ms"»"#,
            r#"link.0.reverse.gate.interval: found "0ms", expected a duration above zero"#,
        ),
        (r#"by = "3ms""#, r#"by = «"0s"»"#, r#"link.0.forward.reorder.by: found "0s", expected a duration above zero"#),
        (
            r#"deviation = "200us""#,
            r#"deviation = «"0us"»"#,
            r#"link.0.reverse.jitter.deviation: found "0us", expected a duration above zero"#,
        ),
        (
            r#"file = "lte.trace""#,
            r#"file = «""»"#,
            r#"link.1.reverse.trace.file: found "", expected the name of a file, relative to the scenario"#,
        ),
        (
            r#"delay = "7.5ms""#,
            "delay = \"7.5ms\"\nsteps = «[{ at = \"0s\", rate = \"1Mbps\" }]»",
            "link.0.forward.steps: expected only one of `rate`, `steps` and `trace`; `rate` is given too",
        ),
        (
            r#"steps = [{ at = "0s", rate = "1Mbps" }, { at = "5s", rate = "500kbps" }]"#,
            "steps = «[]»",
            r#"link.0.reverse.steps: found a list of 0, expected at least one step, such as { at = "0s", rate = "8Mbps" }"#,
        ),
        (
            r#"{ at = "0s", "#,
            r#"{ at = «"1s"», "#,
            r#"link.0.reverse.steps.0.at: found "1s", expected "0s": the first step sets the rate at the start"#,
        ),
        (
            r#"{ at = "5s", "#,
            r#"{ at = «"0s"», "#,
            r#"link.0.reverse.steps.1.at: found "0s", expected a time after the step before it, which is at 0s"#,
        ),
        (r#"mss = "1400B""#, r#"mss = «"0B"»"#, r#"flow.0.mss: found "0B", expected a size from 1B to 65483B"#),
        (r#"mss = "1400B""#, r#"mss = «"65484B"»"#, r#"flow.0.mss: found "65484B", expected a size from 1B to 65483B"#),
        (
            r#"mss = "1400B""#,
            r#"initial_window = «"0segments"»"#,
            r#"flow.0.initial_window: found "0segments", expected at least one segment"#,
        ),
        (
            r#"mss = "1400B""#,
            r#"send_buffer = «"1kB"»"#,
            r#"flow.0.send_buffer: found "1kB", expected at least one segment of 1448B"#,
        ),
        (
            r#"mss = "1400B""#,
            r#"receive_buffer = «"1447B"»"#,
            r#"flow.0.receive_buffer: found "1447B", expected at least one segment of 1448B"#,
        ),
        (
            r#"mss = "1400B""#,
            r#"receive_buffer = «"2GiB"»"#,
            r#"flow.0.receive_buffer: found "2GiB", expected at most 1GiB"#,
        ),
        (
            r#"min_rto = "250ms""#,
            r#"min_rto = «"0s"»"#,
            r#"flow.0.min_rto: found "0s", expected a duration above zero"#,
        ),
        (
            r#"min_rto = "250ms""#,
            r#"min_rto = «"61s"»"#,
            r#"flow.0.min_rto: found "61s", expected at most the largest timeout, which is 60s"#,
        ),
        (
            r#"min_rto = "250ms""#,
            r#"max_rto = «"250ms"»"#,
            r#"flow.0.max_rto: found "250ms", expected at least the smallest timeout, which is 1s"#,
        ),
        (
            r#"min_rto = "250ms""#,
            r#"timestamp_tick = «"0s"»"#,
            r#"flow.0.timestamp_tick: found "0s", expected a duration above zero"#,
        ),
        (
            r#"min_rto = "250ms""#,
            "timestamps = false\ntimestamp_tick = «\"1ms\"»",
            "flow.0.timestamp_tick: there is no tick without timestamps, and they are switched off",
        ),
        (
            r#"min_rto = "250ms""#,
            "timestamps = false\nrtt_clock = «\"timestamps\"»",
            r#"flow.0.rtt_clock: found "timestamps", expected "send-times", for timestamps are switched off"#,
        ),
        (
            r#"min_rto = "250ms""#,
            "sack = false\ndsack = «true»",
            "flow.0.dsack: what comes twice is reported by SACK, and SACK is switched off",
        ),
        (r#"timer = "100ms""#, r#"timer = «"0s"»"#, r#"flow.0.ack.timer: found "0s", expected a duration above zero"#),
        (
            r#"ack = { policy = "delayed", segments = 3, timer = "100ms" }"#,
            r#"ack = { policy = "byte-counting", segments = «0» }"#,
            r#"flow.0.ack.segments: found 0, expected a whole number of at least 1"#,
        ),
        (
            r#"ack = { policy = "delayed", segments = 3, timer = "100ms" }"#,
            r#"ack = { policy = "byte-counting", timer = «"0s"» }"#,
            r#"flow.0.ack.timer: found "0s", expected a duration above zero"#,
        ),
        (
            r#"ack = { policy = "delayed", segments = 3, timer = "100ms" }"#,
            r#"ack = { policy = "daass", timer = «"0s"» }"#,
            r#"flow.0.ack.timer: found "0s", expected a duration above zero"#,
        ),
        (
            r#"ack = { policy = "delayed", segments = 3, timer = "100ms" }"#,
            r#"ack = { policy = "chrome", rtt_divisor = «0» }"#,
            r#"flow.0.ack.rtt_divisor: found 0, expected a whole number of at least 1"#,
        ),
        (
            r#"ack = { policy = "delayed", segments = 3, timer = "100ms" }"#,
            r#"ack = { policy = "chrome", max_ack_delay = «"0s"» }"#,
            r#"flow.0.ack.max_ack_delay: found "0s", expected a duration above zero"#,
        ),
        (
            r#"ack = { policy = "delayed", segments = 3, timer = "100ms" }"#,
            r#"ack = { policy = "quic", packets = «0» }"#,
            r#"flow.0.ack.packets: found 0, expected a whole number of at least 1"#,
        ),
        (
            r#"ack = { policy = "delayed", segments = 3, timer = "100ms" }"#,
            r#"ack = { policy = "ack-frequency", requested_max_ack_delay = «"0s"» }"#,
            r#"flow.0.ack.requested_max_ack_delay: found "0s", expected a duration above zero"#,
        ),
        (
            r#"ack = { policy = "delayed", segments = 3, timer = "100ms" }"#,
            r#"ack = { policy = "tack", beta = «1» }"#,
            r#"flow.0.ack.beta: found 1, expected a whole number of at least 2"#,
        ),
        (
            r#"ack = { policy = "delayed", segments = 3, timer = "100ms" }"#,
            r#"ack = { policy = "tack", rtt_window = «"0s"» }"#,
            r#"flow.0.ack.rtt_window: found "0s", expected a duration above zero"#,
        ),
        (
            r#"ack = { policy = "delayed", segments = 3, timer = "100ms" }"#,
            r#"ack = { policy = "ack-congestion-control", timer = «"501ms"» }"#,
            r#"flow.0.ack.timer: found "501ms", expected at most 500ms"#,
        ),
        (r#"size = "3MB""#, r#"size = «"0B"»"#, r#"flow.0.traffic.size: found "0B", expected a size above zero"#),
        (
            r#"rate = "2Mbps" }"#,
            r#"rate = "2Mbps", write = «"0B"» }"#,
            r#"flow.1.traffic.write: found "0B", expected a size above zero"#,
        ),
        (
            r#"rate = "2Mbps" }"#,
            r#"rate = "2Mbps", write = «"2GB"» }"#,
            r#"flow.1.traffic.write: found "2GB", expected at most 1GiB"#,
        ),
        (
            r#"rate = "2Mbps" }"#,
            r#"rate = "9Gbps", write = «"1B"» }"#,
            r#"flow.1.traffic.write: found "1B", expected a larger size, which takes at least a nanosecond at 9Gbps"#,
        ),
        (
            "count = 3",
            "count = «9_999_999»",
            "flow.0.count: the scenario has 9999999 flows up to this one; expected at most 10000",
        ),
    ]);
}

#[test]
fn names_and_nodes() {
    check(&[
        (
            r#"name = "btl""#,
            r#"name = «"bottle neck"»"#,
            r#"link.0.name: found "bottle neck", expected a name of letters, digits, `_` and `-` that begins with a letter or `_`"#,
        ),
        (
            r#"name = "btl""#,
            r#"name = «"10"»"#,
            r#"link.0.name: found "10", expected a name of letters, digits, `_` and `-` that begins with a letter or `_`"#,
        ),
        (
            r#"name = "bulk""#,
            r#"name = «"a.b"»"#,
            r#"flow.0.name: found "a.b", expected a name of letters, digits, `_` and `-` that begins with a letter or `_`"#,
        ),
        (
            r#"from = "r1""#,
            r#"from = «""»"#,
            r#"link.0.from: found "", expected a name of letters, digits, `_` and `-` that begins with a letter or `_`"#,
        ),
        (
            r#"name = "lan""#,
            r#"name = «"btl"»"#,
            r#"link.2.name: found "btl", expected a unique name; another link has this one"#,
        ),
        ("to = \"r2\"\n\n", "to = «\"r1\"»\n\n", r#"link.0.to: found "r1", expected a node other than `from`"#),
        (
            "from = \"r2\"\n",
            "from = «\"access_reverse\"»\n",
            r#"link.2.from: found "access_reverse", expected another name; a direction of the link `access` has this one"#,
        ),
        (
            "to = \"r2\"\npreset",
            "to = «\"src_0\"»\npreset",
            r#"flow.1.to: found "src_0", expected a node other than `from`"#,
        ),
        (
            "to = \"r2\"\npreset",
            "to = «\"src_1\"»\npreset",
            r#"flow.1.to: found "src_1", expected a node that a link or a cell names: dst_0, r1, r2, src_0; did you mean `src_0`?"#,
        ),
        (
            "to = \"r2\"\npreset",
            "to = «\"nowhere\"»\npreset",
            r#"flow.1.to: found "nowhere", expected a node that a link or a cell names: dst_0, r1, r2, src_0"#,
        ),
        (
            r#"point = "dst_0""#,
            r#"point = «"dst_1"»"#,
            r#"capture.0.point: found "dst_1", expected a node where a flow begins or ends, or a direction of a link, with `.out` for packets as they leave it: dst_0, r2, src_0, btl_forward, btl_reverse, access_forward, access_reverse, lan_forward, lan_reverse; did you mean `dst_0`?"#,
        ),
        (
            r#"point = "dst_0""#,
            r#"point = «"r1"»"#,
            r#"capture.0.point: found "r1", expected a node where a flow begins or ends, or a direction of a link, with `.out` for packets as they leave it: dst_0, r2, src_0, btl_forward, btl_reverse, access_forward, access_reverse, lan_forward, lan_reverse; did you mean `r2`?"#,
        ),
        (
            r#"point = "dst_0""#,
            r#"point = «"dst_0.out"»"#,
            r#"capture.0.point: found "dst_0.out", expected a node where a flow begins or ends, or a direction of a link, with `.out` for packets as they leave it: dst_0, r2, src_0, btl_forward, btl_reverse, access_forward, access_reverse, lan_forward, lan_reverse"#,
        ),
        (
            r#"point = "btl_reverse.out""#,
            r#"point = «"btl_revers.out"»"#,
            r#"capture.1.point: found "btl_revers.out", expected a node where a flow begins or ends, or a direction of a link, with `.out` for packets as they leave it: dst_0, r2, src_0, btl_forward, btl_reverse, access_forward, access_reverse, lan_forward, lan_reverse; did you mean `btl_reverse`?"#,
        ),
        (
            r#"file = "dst_0.pcapng""#,
            r#"file = «""»"#,
            r#"capture.0.file: found "", expected the name of a file, such as "src_0.pcapng""#,
        ),
        (
            r#"file = "dst_0.pcapng""#,
            r#"file = «"a/"»"#,
            r#"capture.0.file: found "a/", expected the name of a file, such as "src_0.pcapng""#,
        ),
        (
            r#"file = "dst_0.pcapng""#,
            r#"file = «"../a"»"#,
            r#"capture.0.file: found "../a", expected a file inside the folder of the run: no `..` and no leading `/`"#,
        ),
        (
            r#"file = "dst_0.pcapng""#,
            r#"file = «"/etc/a"»"#,
            r#"capture.0.file: found "/etc/a", expected a file inside the folder of the run: no `..` and no leading `/`"#,
        ),
        (
            r#"file = "captures/acks.pcapng""#,
            r#"file = «"dst_0.pcapng"»"#,
            r#"capture.1.file: found "dst_0.pcapng", expected a unique file; another capture writes it"#,
        ),
    ]);
}

#[test]
fn times() {
    check(&[
        (
            r#"from = "1s""#,
            r#"from = «"15s"»"#,
            r#"measure.from: found "15s", expected a time before the run's end at 15s"#,
        ),
        (
            r#"until = "14.5s""#,
            r#"until = «"15.1s"»"#,
            r#"measure.until: found "15.1s", expected a time up to the run's end at 15s"#,
        ),
        (
            r#"until = "14.5s""#,
            r#"until = «"1s"»"#,
            r#"measure.until: found "1s", expected a time after measure.from, which is 1s"#,
        ),
        (r#"bin = "100ms""#, r#"bin = «"0s"»"#, r#"measure.bin: found "0s", expected a duration above zero"#),
        (
            r#"bin = "100ms""#,
            r#"bin = «"1ns"»"#,
            r#"measure.bin: found "1ns", expected longer bins, so that the window of measurement has at most 10000000"#,
        ),
        (
            r#"start = "100ms""#,
            r#"start = «"15s"»"#,
            r#"flow.1.start: found "15s", expected a time before the run's end at 15s"#,
        ),
        (
            r#"start = "100ms""#,
            "start = \"100ms\"\nstop = «\"100ms\"»",
            r#"flow.1.stop: found "100ms", expected a time after `start`, which is 100ms"#,
        ),
        (
            r#"spacing = "1s""#,
            r#"spacing = «"8s"»"#,
            "flow.0.spacing: the last of 3 flows would start at 16s, after the run's end at 15s",
        ),
        (
            r#"stop = "14s""#,
            r#"stop = «"2s"»"#,
            r#"flow.0.stop: found "2s", expected a time after the start of the last flow at 2s"#,
        ),
    ]);
}

/// What is missing has no place of its own: that of the table is shown.
#[test]
fn what_is_missing() {
    let built_in: Vec<ack::Config> = ack::Config::built_in().collect();
    let policies = quoted(built_in.iter().map(ack::Config::name));
    let no_policy = format!("flow.0.ack: the key `policy` is missing; expected one of {policies}, \"custom\"");
    let cases = [
        (
            "preset = \"linux\"\n",
            "",
            "[[flow]]\nfrom",
            "flow.1: the key `preset` is missing; expected preset = \"linux\", for example",
        ),
        (
            ", quota = 10",
            "",
            "gate",
            "link.0.reverse.gate: the key `quota` is missing; expected quota = 10, for example",
        ),
        ("policy = \"delayed\", ", "", "ack = {", &*no_policy),
        (
            ", size = \"3MB\"",
            "",
            "traffic",
            "flow.0.traffic: the key `size` is missing, which model = \"fixed\" needs; expected size = \"1448B\", for example",
        ),
    ];
    for (what, with, place, message) in cases {
        let text = edited(what, with);
        let at = text.find(place).expect(place);
        let line = text[..at].matches('\n').count() + 1;
        let refusal = read(&text, &[]).expect_err(message).to_string();
        assert!(
            refusal.starts_with(&format!("{NAME}:{line}:1: {message}\n")),
            "{refusal}\nexpected line {line}: {message}"
        );
    }
    let whole = |text: &str| read(text, &[]).expect_err(text).to_string();
    assert_eq!(whole(""), format!("{NAME}: the key `duration` is missing; expected duration = \"15s\", for example"));
    assert_eq!(
        whole(&FULL[..FULL.find("[[link]]").unwrap()]),
        format!("{NAME}: the key `flow` is missing; expected at least one table [[flow]]")
    );
    assert_eq!(
        whole("duration = \"1s\"\nseed = 1\nlink = []\nflow = []"),
        format!("{NAME}:3:8: link: expected at least one link or Wi-Fi cell\n  |\n3 | link = []\n  |        ^^")
    );
}

#[test]
fn flows_that_share_a_name() {
    check_marked(
        &FULL.replace("from = \"src_0\"\nto = \"r2\"", "name = «\"bulk_2\"»\nfrom = \"src_0\"\nto = \"r2\""),
        "flow.1.name: two flows would be called `bulk_2`: flow.0 and flow.1",
    );
}

#[test]
fn nodes_without_a_path() {
    let island =
        "\n[[link]]\nname = \"island\"\nfrom = \"a\"\nto = \"b\"\nforward = { delay = \"1ms\" }\nreverse = {}\n";
    check_marked(
        &format!("{}{island}", edited("to = \"r2\"\npreset", "to = «\"b\"»\npreset")),
        "flow.1.to: found \"b\", expected a node that is connected with src_0: dst_0, r1, r2",
    );
}

/// Nothing would keep such a flow from sending for ever at the same instant.
#[test]
fn paths_that_take_no_time() {
    let refusal = |forward: &str, reverse: &str| {
        let text = format!(
            "duration = \"1s\"\nseed = 1\n[[link]]\nname = \"l\"\nfrom = \"a\"\nto = \"b\"\nforward = {forward}\nreverse = {reverse}\n[[flow]]\nfrom = \"a\"\nto = \"b\"\npreset = \"rfc\"\n"
        );
        read(&text, &[]).err().map(|refusal| refusal.message().to_owned())
    };
    assert_eq!(
        refusal("{}", "{}").as_deref(),
        Some(
            "packets between a and b take no time, so the run would never end; expected a rate or a delay on a link between them"
        )
    );
    for some_time in ["{ delay = \"1ns\" }", "{ rate = \"10000Gbps\" }", "{ gate = { interval = \"1ms\", quota = 1 } }"]
    {
        assert_eq!(refusal(some_time, "{}"), None);
        assert_eq!(refusal("{}", some_time), None);
    }
}

#[test]
fn texts_that_are_not_toml() {
    check(&[
        ("rate = \"16Mbps\"", "rate = «16Mbps»", "found 16Mbps without quotes, expected \"16Mbps\""),
        ("model = \"poisson\"", "model = «poisson»", "found poisson without quotes, expected \"poisson\""),
        ("delay = \"7.5ms\"", "delay = «7.5 ms»   # both ways", "found 7.5 ms without quotes, expected \"7.5 ms\""),
        ("seed = 42", "seed = 42\n«seed» = 43", "this is not TOML: duplicate key"),
    ]);
    let refusal = read(&edited("seed = 42", "seed ="), &[]).unwrap_err();
    assert_eq!((refusal.place(), refusal.message()), ("studies/x.toml:4:7", "the value is missing"));
    let refusal = read(&edited("[[flow]]\nname", "[[flow\nname"), &[]).unwrap_err();
    assert!(refusal.message().starts_with("this is not TOML: "), "{refusal}");
}

#[test]
fn json_is_refused_by_path() {
    let json = |seed: &str| format!("{{\"duration\": \"1s\",\n \"seed\": {seed}}}");
    let refusal = |text: &str| load(text, "scenario", &[], None).unwrap_err().to_string();
    assert_eq!(refusal(&json("\"x\"")), "scenario: the key `flow` is missing; expected at least one table [[flow]]");
    assert_eq!(
        refusal(&json("1, \"link\": [{\"name\": 3}], \"flow\": []")),
        "scenario: link.0: the key `from` is missing; expected from = \"r1\", for example"
    );
    assert_eq!(
        refusal(&json("1, \"seed\": 2")),
        "scenario:2:22: this is not JSON: the key `seed` is given twice\n  |\n2 |  \"seed\": 1, \"seed\": 2}\n  |                      ^"
    );
    assert_eq!(
        refusal(&json("1,")),
        "scenario:2:12: this is not JSON: trailing comma\n  |\n2 |  \"seed\": 1,}\n  |            ^"
    );
    assert!(refusal(&format!("{{\"a\":{}", "[".repeat(100_000))).contains("recursion limit exceeded"));
}

#[test]
fn the_whole_message() {
    let refusal = read(&edited("interval = \"5ms\"", "intervall = \"5ms\""), &[]).unwrap_err();
    let expected = r#"
studies/x.toml:24:10: link.0.reverse.gate.intervall: unknown key; did you mean `interval`?
   |
24 | gate = { intervall = "5ms", quota = 10 }
   |          ^^^^^^^^^
   = known keys: interval, quota"#;
    assert_eq!(refusal.to_string(), expected.trim_start());
    assert_eq!(refusal.path(), "link.0.reverse.gate.intervall");
}

/// A text may come from a stranger, and a terminal obeys some characters.
#[test]
fn no_control_characters_reach_the_terminal() {
    let refusal =
        read(&edited("seed = 42", "seed = \"\u{85}\\u001b[31m\"\n\"\\u001b[2J\" = 1"), &["title=\u{1b}[31m\n"]);
    let message = refusal.unwrap_err().to_string();
    assert!(message.chars().all(|character| !character.is_control() || character == '\n'), "{message:?}");
}

#[test]
fn marks_and_those_who_need_them() {
    check(&[
        (
            "congestion = \"newreno\"\ngrowth = \"per-ack\"\necn = \"accurate\"",
            "congestion = \"dctcp\"\necn = «\"classic\"»",
            r#"flow.0.ecn: "dctcp" needs to know how much was marked: expected "dctcp" or "accurate", found "classic""#,
        ),
        (
            "ecn = \"accurate\"",
            "ecn = \"classic\"\necn_option = «true»",
            r#"flow.0.ecn_option: only `ecn = "accurate"` has an option, and `ecn` is "classic""#,
        ),
        (
            r#"queue = { discipline = "fifo", limit = "20packets" }"#,
            r#"queue = { discipline = "codel", target = «"0ms"» }"#,
            r#"link.0.forward.queue.target: found "0ms", expected a duration above zero"#,
        ),
        (
            r#"queue = { discipline = "fifo", limit = "20packets" }"#,
            r#"queue = { discipline = "codel", interval = «"0ms"» }"#,
            r#"link.0.forward.queue.interval: found "0ms", expected a duration above zero"#,
        ),
    ]);
    let asked = read(FULL, &["flow.0.congestion=dctcp", "flow.0.ecn="]).unwrap();
    assert_eq!(asked.flow[0].tcp().unwrap().ecn, acklab_transport::tcp::ecn::Config::Dctcp, "it asks by itself");
}
