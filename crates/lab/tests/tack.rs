//! Flows over TACK: rates, counts of acknowledgments, losses in both directions, data in both
//! directions, captures.

use crate::common::dumbbell::{Dumbbell, goodput};
use crate::common::tables::Tables;
use crate::common::tshark::tshark_with_dissector;
use acklab_lab::RunOptions;
use acklab_lab::scenario::load;
use std::path::Path;

const DUMBBELL: Dumbbell = Dumbbell { protocol: "tack", payload: 1427.0 };

fn run(sets: &[&str]) -> Tables {
    DUMBBELL.run(sets)
}

/// Returns the number of ACKs sent for this reason.
fn acks_for(tables: &Tables, reason: &str) -> u64 {
    let reasons = tables.texts("acks", "reason");
    reasons
        .iter()
        .zip(tables.counts("acks", "count"))
        .filter(|(found, _)| *found == reason)
        .map(|(_, count)| count)
        .sum()
}

const LOSSES: [&str; 2] = [
    r#"link.btl.forward.loss={model="independent", probability=0.1}"#,
    r#"link.btl.reverse.loss={model="independent", probability=0.1}"#,
];

#[test]
fn one_flow_fills_the_link() {
    for congestion in ["bbr-tack", "bbr", "bbr3", "newreno", "cubic", "vegas", "dctcp"] {
        let tables = run(&[&format!("flow.0.congestion={congestion}")]);
        let share = DUMBBELL.share(&tables);
        assert!((0.93..=1.01).contains(&share), "{congestion}: {share}");
        assert_eq!(tables.texts("flows", "transport_protocol"), ["TACK"]);
        assert_eq!(tables.texts("flows", "cca"), [congestion]);
        assert_eq!(tables.texts("flows", "ack_policy"), ["tack"]);
    }
}

/// Copa derives a rate from the delay of each ACK. With four ACKs per round trip, it swings about
/// the rate of the link.
#[test]
fn copa_is_not_starved() {
    let share = DUMBBELL.share(&run(&["flow.0.congestion=copa"]));
    assert!(share > 0.6, "{share}");
}

/// Four ACKs per 40 ms are 100 per second: one for 41 data packets. TCP sends one for one or two.
#[test]
fn acknowledgments_are_as_few_as_the_law_says() {
    let tables = run(&["flow.0.congestion=vegas"]);
    let acks = tables.counts("flows", "total_acks_sent_l4")[0] as f64 / 5.0;
    assert!((80.0..=105.0).contains(&acks), "{acks}");
}

/// The first Accept is lost, or arrives after its repetition if a round trip takes longer than the
/// first timeout of 1 s. Then the receiver has no round trip of the handshake, but the law still
/// holds.
#[test]
fn the_law_holds_though_the_accept_was_sent_twice() {
    let lost = r#"link.btl.reverse.loss={model="list", packets=[1]}"#;
    let late = ["link.btl.forward.delay=600ms", "link.btl.reverse.delay=600ms", "duration=40s", "measure.from=30s"];
    for sets in [&[lost][..], &late] {
        let tables = run(sets);
        let sent = tables.counts("flows", "total_data_packets_l4")[0];
        let each = acks_for(&tables, "slow-start");
        assert!(4 * each < sent, "{each} of {sent} packets were acknowledged as in start-up");
    }
}

/// A round that delivers the bandwidth-delay product bounds the data in flight after it, whatever
/// interval the receiver's rate covers.
#[test]
fn bbr3_withstands_one_loss_in_a_hundred() {
    let share = DUMBBELL.share(&run(&["flow.0.congestion=bbr3", LOSSES[0], "link.btl.forward.loss.probability=0.01"]));
    assert!(share > 0.6, "{share}");
}

/// The first ten packets permit 19 in the second round, whatever rate their few samples give. So 28
/// packets take two rounds plus the handshake.
#[test]
fn the_first_flight_doubles_the_window() {
    let tables = run(&["measure.from=0s", r#"flow.0.traffic={model="fixed", size="40kB"}"#]);
    let time = tables.numbers("flows", "flow_completion_time_l4")[0];
    assert!(time < 0.16, "{time}");
}

/// The number of a lost packet never arrives, so no later packet continues the numbers until the
/// sender sends Forget.
#[test]
fn policies_count_what_comes_behind_a_gap() {
    for (policy, count) in [("delayed", 2), ("daass", 2), ("linux", 2), ("byte-counting", 3), ("ack-rate-request", 2)] {
        let policy = format!("flow.0.ack.policy={policy}");
        let tables = run(&[&policy, "flow.0.congestion=cubic", LOSSES[0], "link.btl.forward.loss.probability=0.001"]);
        let by_timer = acks_for(&tables, "timer");
        let acks = tables.counts("flows", "total_acks_sent_l4")[0];
        let sent = tables.counts("flows", "total_data_packets_l4")[0];
        assert!(sent <= acks * count, "{policy}: {acks} acknowledge {sent}");
        assert!(20 * by_timer < acks, "{policy}: {by_timer} of {acks} by the timer");
    }
}

/// After an overshoot with losses in both directions, a TACK has no room for all arrivals. The
/// window is full of packets whose outcome the sender does not know. Published for 300 Mbps, 200
/// ms, 1 % and 5 %: 91.6 % of the rate.
#[test]
fn rich_lists_do_not_starve_on_a_fat_path() {
    let loss = |direction: &str, share: &str| {
        format!(r#"link.btl.{direction}.loss={{model="independent", probability={share}}}"#)
    };
    let tables = run(&[
        &loss("forward", "0.01"),
        &loss("reverse", "0.05"),
        "link.btl.forward.rate=300Mbps",
        "link.btl.reverse.rate=300Mbps",
        "link.btl.forward.delay=100ms",
        "link.btl.reverse.delay=100ms",
        "link.btl.forward.queue.limit=5000packets",
        "flow.0.transport.send_buffer=64MiB",
        "flow.0.transport.receive_buffer=64MiB",
        "measure.from=8s",
        "duration=14s",
    ]);
    let rate = goodput(&tables);
    assert!(rate > 0.85 * 300.0, "{rate}");
}

/// An ACK for every second packet takes 0.5 of the 1 Mbps return link, without lists. If each ACK
/// listed the losses of the overshoot, it would take ten.
#[test]
fn lists_do_not_fill_a_narrow_return_path() {
    let tables = run(&[
        "flow.0.ack.policy=delayed",
        "flow.0.congestion=cubic",
        "link.btl.forward.rate=20Mbps",
        "link.btl.reverse.rate=1Mbps",
        "link.btl.forward.delay=300ms",
        "link.btl.reverse.delay=300ms",
        "link.btl.forward.queue.limit=1000packets",
        "flow.0.transport.send_buffer=32MiB",
        "flow.0.transport.receive_buffer=32MiB",
        "duration=40s",
    ]);
    let rate = goodput(&tables);
    assert!(rate > 0.8 * 20.0, "{rate}");
}

/// In a TACK, one block of losses is enough up to ρ′ = MSS/(ρ·bdp), which is 12 % here (S §5.1).
/// The acked list is separate: without a report of the arrived packets, a sender would count them
/// as in flight.
#[test]
fn one_lost_block_is_enough_while_few_acknowledgments_are_lost() {
    let loss = |direction: &str| format!(r#"link.btl.{direction}.loss={{model="independent", probability=0.05}}"#);
    let tables = run(&[&loss("forward"), &loss("reverse"), "flow.0.transport.lists=poor"]);
    let share = DUMBBELL.share(&tables);
    assert!(share > 0.85, "{share}");
}

/// The path takes 40 ms and 0.25 ms of transmission. Without losses, nothing waits behind a gap,
/// and no delay exceeds that of a full queue. The queue of Startup has drained after 1.5 s.
#[test]
fn delays_are_those_of_the_path() {
    let tables = run(&[r#"flow.0.traffic={model="constant", rate="40Mbps"}"#, "measure.from=2s"]);
    let number = |column: &str| tables.numbers("flows", column)[0];
    assert!((40.0..41.0).contains(&number("min_rtt_l4")), "{}", number("min_rtt_l4"));
    assert!(number("mean_blocked_l4") < 1e-9);
    let late = number("p95_one_way_delay_l4");
    // All delays are equal, and a quantile is the bound of a bin of a histogram.
    assert!(late > 0.99 * number("mean_one_way_delay_l4") && late < 70.0, "{late}");
}

/// TCP BBR reaches 0.81 here, and TACK as much.
#[test]
fn at_ten_percent_of_loss_both_ways_the_stream_goes_on() {
    let tables = run(&LOSSES);
    let share = DUMBBELL.share(&tables);
    assert!(share > 0.75, "{share}");
    assert_eq!(tables.counts("flows", "total_rtos_l4"), [0]);
}

#[test]
fn reordering_costs_little() {
    let reorder = r#"link.btl.forward.reorder={probability=0.05, by="5ms"}"#;
    let tables = run(&["flow.0.congestion=bbr-tack", reorder]);
    let share = DUMBBELL.share(&tables);
    assert!(share > 0.9, "{share}");
    let sent = tables.counts("flows", "total_data_packets_l4")[0];
    let again = tables.counts("flows", "total_retransmissions_l4")[0];
    assert!(again * 100 < sent, "the settling time is longer: {again} of {sent}");
}

#[test]
fn a_transfer_ends() {
    let tables = run(&["measure.from=0s", r#"flow.0.traffic={model="fixed", size="3MB"}"#, LOSSES[0], LOSSES[1]]);
    assert_eq!(tables.counts("flows", "total_delivered_bytes_l7"), [3_000_000]);
    let time = tables.numbers("flows", "flow_completion_time_l4")[0];
    assert!(time < 5.0, "{time}");
}

#[test]
fn both_ends_write() {
    let tables = run(&[r#"flow.0.back={model="greedy"}"#]);
    for share in tables.numbers("flows", "mean_throughput_l7").iter().map(|rate| DUMBBELL.share_of(*rate)) {
        assert!((0.85..=1.01).contains(&share), "{share}");
    }
    let sent = tables.counts("flows", "total_data_packets_l4");
    for (acks, sent) in tables.counts("flows", "total_acks_delivered_l4").into_iter().zip(sent) {
        assert!(400 < acks && 10 * acks < sent, "{acks} for {sent}");
    }
}

#[test]
fn a_slow_reader_holds_its_sender_back() {
    let tables = run(&[
        r#"flow.0.reading={model="constant", rate="10Mbps", read="10kB"}"#,
        "flow.0.receive_buffer=100kB",
        "flow.0.congestion=cubic",
    ]);
    let rate = goodput(&tables);
    assert!((9.5..=10.5).contains(&rate), "{rate}");
}

#[test]
fn decisions_and_events_are_recorded() {
    let tables =
        run(&[r#"measure.series=["events", "decisions", "operating_point", "throughput"]"#, "measure.from=0s"]);
    assert!(tables.texts("events", "event").iter().any(|event| event == "established"));
    assert!(tables.rows("operating_point") > 100);
    assert!(tables.rows("decisions") > 1000);
    assert!(tables.texts("acks", "reason").iter().any(|reason| reason == "periodic"));
}

#[test]
fn impossible_values_are_refused() {
    let refused = |set: &str| DUMBBELL.refusal(set);
    assert!(refused("flow.0.packet=1000B").contains("1228B to 65535B"));
    assert!(refused("flow.0.settling=9").contains("settling"));
    assert!(refused("flow.0.preset=linux").contains("preset"));
}

/// The dissector of Wireshark reads what is sent.
#[test]
fn captures_are_dissected() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tack");
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!("{}\n[[capture]]\npoint = \"b\"\nfile = \"b.pcapng\"\n", DUMBBELL.text());
    let sets = [LOSSES[0], LOSSES[1], "duration=2s"].map(str::to_owned);
    let scenario = load(&text, "the dumbbell", &sets, None).unwrap();
    let options = RunOptions { captures: Some(folder.clone()), ..RunOptions::default() };
    let tables = Tables::of(&scenario, &options);
    let dissected = |filter: &str| {
        tshark_with_dissector(&folder.join("b.pcapng"), "tack.lua", filter, &["tack.pkt_seq"])
            .map(|packets| packets.len() as u64)
    };
    let Some(malformed) = dissected("_ws.malformed or _ws.lua.error") else { return };
    let count = |filter: &str| dissected(filter).unwrap();
    assert_eq!(malformed, 0);
    assert_eq!(count("udp and not tack"), 0);
    assert_eq!((count("tack.frame == 0x0c"), count("tack.frame == 0x0d")), (1, 1), "Open and Accept");
    assert!(count("tack.frame == 0x05") > 50, "loss-event-driven IACKs");
    assert!(count("tack.rate > 20 and tack.rate < 55") > 50, "rates of the link");
    // The table begins at 1 s. Earlier packets are in the capture alone.
    assert!(
        count("tack.frame == 0x04 or tack.frame == 0x05 or tack.frame == 0x0d")
            > tables.counts("flows", "total_acks_sent_l4")[0]
    );
}
