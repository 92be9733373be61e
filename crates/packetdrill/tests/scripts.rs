//! Runs the scripts of this project. The scripts in `scripts/` pass. A script with another
//! expectation reports the expected and the found content.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "scripts are files")]

use acklab_base::random::Seed;
use acklab_packetdrill::{Machine, Verdict, grammar, play};
use acklab_transport::ack::Policy;
use acklab_transport::cc::Controller;
use acklab_transport::tcp::{Preset, Settings, TcpConfig};
use std::fs;
use std::path::{Path, PathBuf};

mod any_octets;

#[path = "../../../fuzz/seeds.rs"]
mod seeds;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts")
}

fn text(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap()
}

fn verdict(text: &str, settings: &Settings) -> Verdict {
    let include = |name: &str| fs::read_to_string(folder().join(name)).ok();
    let strategy = |config: &TcpConfig| {
        let controller = Controller::new(&config.congestion, &config.controller_start(Seed(1), "script"));
        controller.zip(Policy::new(config.ack)).ok_or_else(|| "not built in".to_owned())
    };
    match grammar::read(text, &include) {
        Ok(script) => play(&script, &mut Machine::new(settings, &strategy, &script)),
        Err(refusal) => refusal.into(),
    }
}

fn linux() -> Settings {
    Settings::of(Preset::Linux)
}

#[test]
fn our_scripts_hold() {
    for name in
        ["slow_start_and_loss.pkt", "blocking_connect_and_read.pkt", "resets.pkt", "user_timeout.pkt", "writes.pkt"]
    {
        assert_eq!(verdict(&text(name), &linux()), Verdict::Passed, "{name}");
    }
}

/// Each change of a script is detected on its line.
#[test]
fn a_broken_rule_is_reported_with_its_line() {
    let whole = text("slow_start_and_loss.pkt");
    for (before, after, line, expected, found) in [
        ("ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>", "ack 1 <mss 1460,nop,wscale 8>", 11, "wscale 8", "sackOK"),
        ("> P. 1:10001(10000) ack 1", "> P. 1:9001(9000) ack 1", 21, "10001:14001(4000)", "9001:10001(1000)"),
        ("> P. 10001:14001(4000)", "> P. 10001:15001(5000)", 21, "10001:15001", "10001:14001(4000)"),
        ("== cwnd", "== cwnd + 1", 25, "tcpi_snd_cwnd == cwnd + 1", "tcpi_snd_cwnd = 12, cwnd = 12"),
        ("+0 > . 2001:3001(1000)", "+.02 > . 2001:3001(1000)", 30, "at 0.23 s", "at 0.21 s"),
        ("-1 EAGAIN", "-1 EPIPE", 15, "read = -1 EPIPE", "-1 EAGAIN"),
        ("+0 > . 2001:3001(1000) ack 1", "+0 > [ect0] . 2001:3001(1000) ack 1", 30, "[ECT(0)]", "[noecn]"),
    ] {
        assert!(whole.contains(before), "{before}");
        let Verdict::Failed(failures) = verdict(&whole.replace(before, after), &linux()) else {
            panic!("{after}: expected a failure");
        };
        let failure = &failures[0];
        assert_eq!(failure.line, line, "{failure}");
        assert!(failure.expected.contains(expected) && failure.found.contains(found), "{failure}");
    }
}

/// Tests that the octets, cork, buffer and time of a write in a script all have an effect.
#[test]
fn all_properties_of_a_write_count() {
    let whole = text("writes.pkt");
    for (before, after, line, found) in [
        ("700, MSG_EOR)", "700)", 17, "P. 1:1001(1000)"),
        ("msg_flags=0}, MSG_MORE)", "msg_flags=0}, 0)", 26, "P. 2401:2601(200) ack 1 at 0.2 s"),
        ("{..., 900}", "{..., 901}", 23, "1201"),
        (
            "TCP_CORK, [1], 4) = 0\n +0 write(4, ..., 1200)",
            "TCP_CORK, [0], 4) = 0\n +0 write(4, ..., 1200)",
            35,
            "P. 3601:3801(200) ack 1 at 0.4 s",
        ),
        ("SO_SNDBUF, [12000]", "SO_SNDBUF, [6000]", 54, "SO_SNDBUF 12000"),
        ("SO_SNDBUF, [6000]", "SO_SNDBUF, [9000]", 54, "SO_SNDBUF 18000"),
        ("+0...0.2 write", "+0...0.1 write", 55, "it returns at"),
        ("<= 151000", "<= 150000 - 1", 47, "tcpi_rwnd_limited = 150000"),
    ] {
        assert!(whole.contains(before), "{before}");
        let Verdict::Failed(failures) = verdict(&whole.replace(before, after), &linux()) else {
            panic!("{after}: expected a failure");
        };
        assert!(failures[0].line == line && failures[0].found.contains(found), "{after}: {}", failures[0]);
    }
}

/// Runs the same script with another policy at the receiver, or another initial window at the
/// sender.
#[test]
fn the_settings_of_the_caller_are_what_is_tested() {
    let settings = Settings { initial_window: Some(acklab_base::units::Segments(4)), ..linux() };
    let Verdict::Failed(failures) = verdict(&text("slow_start_and_loss.pkt"), &settings) else {
        panic!("an initial window of four passes for ten");
    };
    assert_eq!((failures[0].line, failures[0].found.as_str()), (18, "P. 1:4001(4000) ack 1 at 0.1 s"));
}

/// Within a write, PSH depends on the kernel's number of segments per packet, unless the script
/// requires each segment to be exact.
#[test]
fn a_push_counts_where_a_write_ends() {
    let whole = text("slow_start_and_loss.pkt");
    let packet = "+0 > P. 1:10001(10000) ack 1\n";
    assert!(whole.contains(packet));
    let segments = |last: &str| -> String {
        (0..10)
            .map(|k| {
                let flags = if k == 9 { last } else { "P." };
                format!("+0 > {flags} {}:{}(1000) ack 1\n", k * 1000 + 1, k * 1000 + 1001)
            })
            .collect()
    };
    let of = |lines: &str, head: &str| verdict(&format!("{head}{}", whole.replace(packet, lines)), &linux());
    assert_eq!(of(&segments("."), ""), Verdict::Passed, "the write goes on");
    let Verdict::Failed(failures) = of(&segments("."), "--strict_segments\n") else { panic!("PSH on each passes") };
    assert!(failures[0].found.starts_with(". 1:1001(1000)"), "{}", failures[0]);
}

#[test]
fn scripts_out_of_scope_are_reported_and_not_played() {
    let whole = text("slow_start_and_loss.pkt");
    for (before, after, why) in [
        ("`common/defaults.sh`", "`sysctl -q net.ipv4.tcp_reordering=9`", "3: the variable tcp_reordering = 9"),
        ("nop,nop,sackOK,nop,wscale 8", "FO 1122,nop", "11: TCP Fast Open"),
        (
            "setsockopt(3, SOL_SOCKET, SO_REUSEADDR",
            "setsockopt(3, SOL_SOCKET, SO_ZEROCOPY",
            "6: the option SO_ZEROCOPY of a socket",
        ),
        ("tcpi_sacked == 3", "tcpi_colour == 3", "29: the variable tcpi_colour"),
        ("+0 bind(3, ..., ...) = 0", "+0 epoll_create(3) = 5", "7: the call epoll_create"),
    ] {
        let Verdict::OutOfScope(refusal) = verdict(&whole.replace(before, after), &linux()) else {
            panic!("{after}: expected it to be out of scope");
        };
        assert_eq!(refusal.to_string(), why);
    }
}

#[test]
fn nonsense_is_refused_with_its_line() {
    for (text, why) in [
        ("0 < S 0:0(0) win 1 <mss>", "1: found >, expected a size of 16 bits"),
        ("0 > . 1:5(3)", "1: 1:5(3): the length does not fit"),
        ("\n+0 > X. 1:1(0)", "2: found X., expected flags of FSRPEWAU. or the ACE field"),
        ("0 read(3", "1: found the end, expected )"),
        ("\n--tcp_ts_tick_usecs=86400000001", "2: --tcp_ts_tick_usecs: expected microseconds, a day at most"),
        ("`nowhere.sh`", "1: cannot read nowhere.sh, expected a file beside the script"),
        ("* < . 1:1(0) ack 1", "1: found a range of times, expected it only of a packet that leaves"),
        ("0 < . 1:1(0) ack 1 <...>", "1: found <...>, expected it only of a packet that leaves"),
    ] {
        let Verdict::Malformed(refusal) = verdict(text, &linux()) else { panic!("{text}: expected it to be refused") };
        assert_eq!(refusal.to_string(), why, "{text}");
    }
}
