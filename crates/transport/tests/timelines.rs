//! Tests packet timelines: each file in `timelines/` shows one behaviour, and names its source.
//!
//! ```text
//! machine = sender            sender or receiver; a connection: active (opens at 0) or passive
//! preset = rfc                linux, ns3 or rfc
//! shows = RFC 5681, §3.1      the source of what is shown
//! sack = off                  any setting of a connection, by its name in scenarios
//! handshake = 100ms           SYN at 0, answer at this time; if absent, the file shows both
//!
//! 0ms > S 0:0(0) win 65535 <mss 1000>      this leaves the machine, at this instant
//! 100ms < S. 0:0(0) ack 1 win 65535        this arrives
//! 100ms > . 1:2001(2000) x2                two segments of one size
//! 100ms + read 1000                        the application reads this much (`reading = on-demand`)
//! 100ms + write 1000                       it writes so many, into a connection
//! 100ms + write 1000 more                  and announces more; with eor, a record ends
//! 100ms + cork                             it holds back partial segments; with uncork, no longer
//! 100ms + push                             what is held back leaves
//! 100ms + send_buffer 10000                it sets the size of the send buffer
//! 100ms + user_timeout 3s                  it gives up after so much time without progress
//! 100ms + refuse                           the device refuses packets; with take, it accepts them
//! 100ms + close                            and no more
//! 100ms + release                          a connection: it will not read any more either
//! 100ms + abort                            it gives the connection up
//! 100ms ? cwnd 10 state open               this holds
//! 900ms                                    nothing has left in between
//! ```
//!
//! Sequence numbers are relative to the initial number of their direction, so data begin at 1.
//! Outgoing segments must match the written flags, numbers, SACK blocks and ECN field (`ect0`,
//! `ect1`, `ce`, or Not-ECT if omitted). `ack`, `win` and `<…>` are compared if they are written.
//! Incoming segments acknowledge nothing unless `ack` is written. Text after `#` is a comment.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "timelines are files, and one may be asked for by name")]

#[path = "common/driven.rs"]
mod driven;

#[path = "timelines/script.rs"]
mod script;

#[path = "timelines/player.rs"]
mod player;

use std::fs;
use std::path::Path;

#[test]
fn every_timeline_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/timelines");
    let only = std::env::var("ACKLAB_TIMELINE").ok();
    let mut files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .filter(|path| only.as_ref().is_none_or(|only| path.to_string_lossy().contains(only)))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no timeline in {}", folder.display());
    let failures: Vec<String> = files
        .iter()
        .filter_map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let text = fs::read_to_string(path).unwrap();
            let outcome = script::read(&text).and_then(|script| player::play(&script));
            outcome.err().map(|failure| format!("{name}:{failure}"))
        })
        .collect();
    assert!(failures.is_empty(), "{} of {} timelines fail\n\n{}", failures.len(), files.len(), failures.join("\n\n"));
}

mod language {
    use super::{player, script};

    const HEAD: &str = "machine = sender\npreset = rfc\nshows = nothing\nmss = 1000B\ntimestamps = off\n";

    fn failure(body: &str) -> String {
        script::read(&format!("{HEAD}{body}")).and_then(|script| player::play(&script)).unwrap_err()
    }

    #[test]
    fn a_segment_that_differs_is_shown_beside_what_was_expected() {
        let failure = failure("\n0ms > S 0:0(0) win 1234 <mss 1000,sackOK,wscale 0>\n");
        assert_eq!(
            failure,
            "7: expected 0s > S 0:0(0) win 1234 <mss 1000,wscale 0,sackOK>\n        got 0s > S 0:0(0) win 65535 <mss 1000,wscale 0,sackOK>"
        );
    }

    #[test]
    fn what_nobody_expected_and_what_never_came_are_failures() {
        assert!(failure("\n500ms\n").starts_with("7: expected nothing\n        got 0s > S"));
        assert!(
            failure("handshake = 100ms\ntraffic = fixed 500B\n\n200ms > . 1:1001(1000)\n")
                .contains("got 100ms > FP. 1:501(500)")
        );
        assert!(
            failure("handshake = 100ms\ntraffic = fixed 500B\n\n100ms > FP. 1:501(500) ack 1\n100ms > . 0:0(0)\n")
                .ends_with("got nothing")
        );
        assert!(failure("handshake = 100ms\n\n100ms ? cwnd 11\n").contains("expected nothing"));
    }

    #[test]
    fn a_state_that_does_not_hold_is_named() {
        let body = "handshake = 100ms\ninitial_window = 1segment\n\n100ms > . 1:1001(1000)\n100ms ? cwnd 2\n";
        assert_eq!(failure(body), "10: expected cwnd 2\n        got cwnd 1");
    }

    #[test]
    fn nonsense_is_refused_with_its_line() {
        assert_eq!(failure("colour = red\n"), "6: no such setting: colour");
        assert_eq!(failure("\n0ms * S 0:0(0)\n"), "7: expected <, >, + or ? after the time, found *");
        assert!(failure("\n5ms\n0ms\n").starts_with("8: time runs backwards"));
    }
}
