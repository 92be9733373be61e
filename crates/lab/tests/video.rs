//! A video over each transport: the effect of losses and of a slow link on its viewer.

use crate::common::tables::Tables;
use acklab_lab::scenario::load;

/// A video of 8 Mbps over 20 Mbps and 10 ms.
const SCENARIO: &str = r#"
duration = "12s"
seed = 1

[[link]]
name = "btl"
from = "phone"
to = "screen"
forward = { rate = "20Mbps", delay = "5ms", queue = { discipline = "fifo", limit = "200packets" } }
reverse = { rate = "20Mbps", delay = "5ms" }

[[flow]]
from = "phone"
to = "screen"
transport = "tcp"
preset = "linux"
traffic = { model = "video", rate = "8Mbps" }
reading = { model = "playback", buffer = "100ms" }

[measure]
from = "2s"
"#;

const UDP: &str = r#"flow.0.transport={protocol="udp"}"#;
/// TACK without the pauses in which its controller measures the round trip, as in the papers on
/// Miracast.
const TACK: &str = r#"flow.0.transport={protocol="tack", congestion={algorithm="bbr-tack", min_rtt_window="60min"}}"#;
const PAUSES: &str = "flow.0.transport.congestion.min_rtt_window=10s";
const MESSAGES: [&str; 2] = [TACK, "flow.0.traffic.deadline=100ms"];
/// One packet in a hundred is lost.
const LOSSES: &str = r#"link.btl.forward.loss={model="independent", probability=0.01}"#;

fn tables(sets: &[&str]) -> Tables {
    // TCP's settings are among the keys of the flow. Other transports have none of them there.
    let text = if sets.contains(&UDP) || sets.contains(&TACK) {
        SCENARIO.replace("preset = \"linux\"\n", "")
    } else {
        SCENARIO.to_owned()
    };
    Tables::run(&text, sets, None)
}

fn count(tables: &Tables, column: &str) -> u64 {
    tables.counts("flows", column)[0]
}

fn number(tables: &Tables, column: &str) -> f64 {
    tables.numbers("flows", column)[0]
}

/// Over a link with spare capacity, every transport delivers all 600 frames of ten seconds in time.
#[test]
fn a_fast_link_shows_all_frames_in_time() {
    for sets in [&[][..], &[UDP], &[TACK], &MESSAGES] {
        let tables = tables(sets);
        assert_eq!(count(&tables, "total_stalls_l7"), 0, "{sets:?}");
        assert_eq!(count(&tables, "total_damaged_frames_l7"), 0, "{sets:?}");
        assert!(count(&tables, "total_frames_l7").abs_diff(600) <= 1, "{sets:?}");
        let goodput = number(&tables, "mean_throughput_l7");
        // RTP headers add 1 % over UDP. The sizes of 600 frames vary by 10.5 %, and their mean by
        // 0.4 %.
        assert!((7.85..8.2).contains(&goodput), "{sets:?}: {goodput}");
        assert!(number(&tables, "mean_one_way_delay_l7") < 30.0, "{sets:?}");
    }
}

/// A frame of 8 Mbps fills 13 datagrams, so losses of 1 % damage 1 − 0.99^13 = 12 % of frames, and
/// each damages the ten frames after it.
#[test]
fn losses_damage_frames_of_datagrams() {
    let tables = tables(&[UDP, LOSSES]);
    let damaged = count(&tables, "total_damaged_frames_l7") as f64 / count(&tables, "total_frames_l7") as f64;
    assert!((0.08..0.17).contains(&damaged), "{damaged}");
    assert!(number(&tables, "share_macroblocking_l7") > 3.0 * damaged);
    assert!((10..60).contains(&count(&tables, "total_macroblocking_l7")));
    // A damaged frame is recognised when the next one begins to arrive, 17 ms later.
    assert_eq!(count(&tables, "total_stalls_l7"), 0);
}

/// Controllers that do not respond to single losses: a loss is repaired within about 20 ms, long
/// before the frame is due or abandoned.
#[test]
fn losses_are_repaired_in_time_by_streams_and_messages() {
    for sets in [&[LOSSES, "flow.0.congestion=bbr"][..], &[TACK, LOSSES], &[MESSAGES[0], MESSAGES[1], LOSSES]] {
        let tables = tables(sets);
        assert!(count(&tables, "total_retransmissions_l4") > 30, "{sets:?}");
        assert!(number(&tables, "rebuffering_ratio_l7") < 0.01, "{sets:?}");
        assert!(count(&tables, "total_damaged_frames_l7") <= 2, "{sets:?}");
    }
}

/// The application is idle between two frames. After ten seconds, `bbr-tack` would pause and send
/// one packet per TACK for 200 ms, but the empty queue makes this unnecessary. A buffer of 100 ms
/// would not bridge the pause.
#[test]
fn a_video_that_leaves_the_path_idle_is_not_paused() {
    let stream = tables(&[TACK, PAUSES]);
    assert_eq!(count(&stream, "total_stalls_l7"), 0);
    let messages = tables(&[MESSAGES[0], MESSAGES[1], PAUSES]);
    assert_eq!(count(&messages, "total_damaged_frames_l7"), 0);
}

/// Over 6.4 Mbps with headers, a stream of 8 Mbps falls ever further behind, and playback stalls
/// for ever: a screen that mirrors another one is always late. A film is paused instead, as long as
/// its transfer takes longer than its duration.
#[test]
fn a_slow_link_stalls_a_stream() {
    let slow = "link.btl.forward.rate=6.4Mbps";
    let live = tables(&[slow]);
    assert!(number(&live, "rebuffering_ratio_l7") > 0.95, "{}", number(&live, "rebuffering_ratio_l7"));
    let film = tables(&[slow, "flow.0.reading.after_stall=shift"]);
    // A full packet of 1500 octets carries 1448 of the video.
    let expected = 1.0 - 6.4 * 1448.0 / 1500.0 / 8.0;
    let stalled = number(&film, "rebuffering_ratio_l7");
    assert!((stalled - expected).abs() < 0.04, "{stalled}, expected {expected}");
    assert!(count(&film, "total_stalls_l7") > 5);
}

/// Messages that are incomplete at their deadline are abandoned, so later ones are in time:
/// playback goes on, damaged.
#[test]
fn a_slow_link_damages_messages_instead() {
    let tables = tables(&[MESSAGES[0], MESSAGES[1], "link.btl.forward.rate=6.4Mbps"]);
    assert!(number(&tables, "rebuffering_ratio_l7") < 0.5, "{}", number(&tables, "rebuffering_ratio_l7"));
    assert!(count(&tables, "total_damaged_frames_l7") > 100);
    assert!(count(&tables, "total_frames_l7") > 400);
    let rate = |layer: &str| number(&tables, &format!("mean_throughput_{layer}"));
    assert!((rate("l7") - rate("l4")).abs() < 1e-9, "what is read is what has arrived");
}

#[test]
fn impossible_videos_are_refused() {
    let refusal = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        load(SCENARIO, "x.toml", &sets, None).unwrap_err().to_string()
    };
    for (sets, expected) in [
        (&["flow.0.traffic.frame_rate=0"][..], "expected a whole number of at least 1"),
        (&["flow.0.traffic.group=0"], "expected a whole number of at least 1"),
        (&["flow.0.traffic.key_ratio=0.5"], "expected a number from 1 to 100"),
        (&["flow.0.traffic.variation=1.5"], "expected a number from 0 to 1"),
        (&["flow.0.traffic.refresh=0"], "expected a whole number of at least 1"),
        (&["flow.0.traffic.deadline=100ms"], "TCP has no messages that may be given up"),
        (&["flow.0.back={model=\"video\", rate=\"1Mbps\"}"], "no application plays a video of this direction"),
        (&["flow.0.traffic={model=\"greedy\"}"], "only a video can be played"),
    ] {
        let refusal = refusal(sets);
        assert!(refusal.contains(expected), "{refusal}");
    }
    let text = SCENARIO.replace("transport = \"tcp\"\npreset = \"linux\"\n", "transport = { protocol = \"tack\" }\n");
    let sets = ["flow.0.traffic.deadline=1s".to_owned(), "flow.0.traffic.rate=2Gbps".to_owned()];
    let large = load(&text, "x.toml", &sets, None).unwrap_err().to_string();
    assert!(large.contains("may be larger than 4194304B"), "{large}");
    let unread = load(&text, "x.toml", &["flow.0.traffic.deadline=1s".to_owned(), "flow.0.reading=".to_owned()], None);
    assert!(unread.unwrap_err().to_string().contains("which only a player reads"));
}
