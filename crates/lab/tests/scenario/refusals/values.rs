//! Values of a wrong type, unit or name.

use super::check;

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
            r#"flow.0.ack.policy: found "delaid", expected one of "per-packet", "delayed", "linux", "byte-counting", "daass", "chrome", "quic", "ack-frequency", "after-gap", "tack", "ack-congestion-control", "ack-rate-request", "custom"; did you mean `delayed`?"#,
        ),
        (
            r#"policy = "delayed""#,
            "policy = «2»",
            r#"flow.0.ack.policy: found 2, expected one of "per-packet", "delayed", "linux", "byte-counting", "daass", "chrome", "quic", "ack-frequency", "after-gap", "tack", "ack-congestion-control", "ack-rate-request", "custom""#,
        ),
        (
            r#"ack = { policy = "delayed", segments = 3, timer = "100ms" }"#,
            r#"ack = «"delayed"»"#,
            r#"flow.0.ack: found "delayed", expected a table such as { policy = "delayed" }"#,
        ),
        (
            r#"ack = { policy = "delayed", segments = 3, timer = "100ms" }"#,
            r#"ack = «"every2"»"#,
            r#"flow.0.ack: found "every2", expected a table such as { policy = "per-packet" }, where policy is one of "per-packet", "delayed", "linux", "byte-counting", "daass", "chrome", "quic", "ack-frequency", "after-gap", "tack", "ack-congestion-control", "ack-rate-request", "custom""#,
        ),
        (
            r#"ack = { policy = "delayed", segments = 3, timer = "100ms" }"#,
            r#"ack = «"delaid"»"#,
            r#"flow.0.ack: found "delaid", expected a table such as { policy = "per-packet" }, where policy is one of "per-packet", "delayed", "linux", "byte-counting", "daass", "chrome", "quic", "ack-frequency", "after-gap", "tack", "ack-congestion-control", "ack-rate-request", "custom"; did you mean `delayed`?"#,
        ),
        (
            r#"gate = { interval = "5ms", quota = 10 }"#,
            "gate = «5»",
            "link.0.reverse.gate: found 5, expected a table with interval, quota",
        ),
        (
            r#"gate = { interval = "5ms", quota = 10 }"#,
            r#"loss = «"1%"»"#,
            r#"link.0.reverse.loss: found "1%", expected a table such as { model = "independent", probability = 0.01 }, where model is one of "independent", "gilbert-elliott", "list""#,
        ),
    ]);
}
