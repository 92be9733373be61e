//! Values of the right type that are impossible, alone or in combination.

use super::check;

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
