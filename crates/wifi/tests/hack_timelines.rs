//! TCP/HACK frame by frame: the figures of Salameh et al. (ATC '14).

use crate::common::tcp::Flow;
use crate::common::timeline::{START, play, run, shows};
use acklab_base::{Duration, Instant};
use acklab_wifi::ppdu::Frame;
use serde_json::{Value, json};

fn n_cell(maximum: u16) -> Value {
    json!({
        "name": "cell",
        "standard": "802.11n",
        "aggregation": {"max_frames": maximum},
        // The access point leaves the medium to the station if both contend for it.
        "ap": {"name": "ap", "access": {"best_effort": {"aifsn": 15}}},
        "station": [{"name": "sta"}],
        "hack": {},
    })
}

fn a_cell() -> Value {
    json!({"name": "cell", "standard": "802.11a", "ap": {"name": "ap"}, "station": [{"name": "sta"}], "hack": {}})
}

fn with(mut cell: Value, key: &str, value: Value) -> Value {
    cell[key] = value;
    cell
}

/// A frame begins with one octet. An ACK takes four, and the fourth of a flow ten, because it
/// carries the stride; later ones take three.
#[test]
fn figure_2_acks_of_one_batch_go_with_the_response_to_the_next() {
    shows(
        &play(&n_cell(2), 4, false, &[]),
        &[
            "ap data 2 3 more",
            "sta block_ack",
            "ap data 4 5",
            "sta block_ack +9 => a2 a3",
            "sta data a4 a5 => a4 a5",
            "ap block_ack",
        ],
    );
    shows(
        &play(&a_cell(), 2, false, &[]),
        &["ap data 2 more", "sta ack", "ap data 3", "sta ack +5 => a2", "sta data a3 => a3", "ap ack"],
    );
}

#[test]
fn figure_2_upwards() {
    let timeline = play(&n_cell(2), 4, true, &[]);
    shows(
        &timeline,
        &[
            "sta data 2 3 more",
            "ap block_ack",
            "sta data 4 5",
            "ap block_ack +9 => a2 a3",
            "ap data a4 a5 => a4 a5",
            "sta block_ack",
        ],
    );
    let [ap, sta] = &timeline.counters[..] else { panic!("two nodes") };
    assert_eq!((ap.compressed, ap.compressed_bytes, ap.plain, ap.cleared), (2, 8, 3, 2));
    assert_eq!((sta.decompressed, sta.compressed, sta.plain), (2, 0, 0));
}

#[test]
fn figure_5a_what_a_lost_block_ack_carried_goes_with_the_next() {
    let timeline = play(&n_cell(2), 6, false, &[3]);
    shows(
        &timeline,
        &[
            "ap data 2 3 more",
            "sta block_ack",
            "ap data 4 5 more",
            "sta block_ack +9 lost",
            "ap block_ack_request",
            "sta block_ack +23 => a2 a3 a4 a5",
            // In the next batch, the Block ACK has arrived, and no ACK is retained any more.
            "ap data 6 7",
            "sta block_ack",
            "sta data a6 a7 => a6 a7",
            "ap block_ack",
        ],
    );
    assert_eq!(timeline.air[5].appended[..9], timeline.air[3].appended, "the same octets, and more behind them");
    let [ap, sta] = &timeline.counters[..] else { panic!("two nodes") };
    assert_eq!((sta.compressed, sta.repeated, sta.augmented, sta.cleared), (4, 2, 2, 0));
    assert_eq!((ap.decompressed, ap.duplicates), (4, 0));
}

#[test]
fn figure_5b_what_a_lost_ack_carried_goes_with_that_of_the_repetition() {
    let timeline = play(&a_cell(), 4, false, &[3, 5]);
    shows(
        &timeline,
        &[
            "ap data 2 more",
            "sta ack",
            "ap data 3 more",
            "sta ack +5 lost",
            "ap data 3 more",
            "sta ack +9 lost",
            "ap data 3 more",
            "sta ack +9 => a2 a3",
            // A greater sequence number.
            "ap data 4 more",
            "sta ack",
            "ap data 5",
            "sta ack +5 => a4",
            "sta data a5 => a5",
            "ap ack",
        ],
    );
    assert_eq!(timeline.acks.data.len(), 5, "a repetition does not go up");
}

/// Segment 6 of the second batch is lost, and the whole third batch. The request starts at 6, and
/// the station cannot determine that its Block ACK for 5 and 7 was received. (Frames of a batch are
/// lost individually if each is passed up at its end, as in ns-3.)
#[test]
fn figure_6_a_request_confirms_nothing_and_duplicates_are_known_by_their_numbers() {
    let cell = with(n_cell(3), "dialect", json!("ns3"));
    let second = &play(&cell, 9, false, &[]).air[2];
    let within =
        |share: f64| format!("{}ns", second.at.as_nanos() + (second.duration.as_nanos() as f64 * share) as u64);
    let away = json!([{"node": 1, "from": within(0.5), "until": within(0.8)}]);
    let timeline = play(&with(cell, "reception", json!({"absences": away})), 9, false, &[4]);
    shows(
        &timeline,
        &[
            "ap data 2 3 4 more",
            "sta block_ack",
            "ap data 5 6 7 more",
            "sta block_ack +13 => a2 a3 a4",
            "ap data 6 8 9 more lost",
            "ap block_ack_request",
            "sta block_ack +23 => a5",
            "ap data 6 8 9 more",
            "sta block_ack",
            "ap data 10",
            "sta ack +13 => a6 a7 a8 a9",
            "sta data a10 => a10",
            "ap ack",
        ],
    );
    assert!(matches!(timeline.air[5].frame, Frame::BlockAckRequest { start: 5, .. }), "segment 6 is the sixth frame");
    assert_eq!(timeline.counters[0].duplicates, 3);
}

#[test]
fn figure_7_ordinary_acks_clear_those_that_a_lost_block_ack_carried() {
    let timeline = play(&n_cell(2), 4, false, &[3]);
    shows(
        &timeline,
        &[
            "ap data 2 3 more",
            "sta block_ack",
            "ap data 4 5",
            "sta block_ack +9 lost",
            "sta data a4 a5 => a4 a5",
            "ap block_ack",
            "ap block_ack_request",
            "sta block_ack",
        ],
    );
    assert_eq!(timeline.counters[1].cleared, 2);
}

#[test]
fn figure_8_sync_keeps_what_requests_in_vain_have_not_brought() {
    let given_up = with(n_cell(2), "retries", json!({"requests": 2, "aggregated": 1}));
    shows(
        &play(&given_up, 6, false, &[3, 5, 7]),
        &[
            "ap data 2 3 more",
            "sta block_ack",
            "ap data 4 5 more",
            "sta block_ack +9 lost",
            "ap block_ack_request",
            "sta block_ack +23 lost",
            "ap block_ack_request",
            "sta block_ack +23 lost",
            "ap data 6 7 sync",
            "sta block_ack +23 => a2 a3 a4 a5",
            "sta data a6 a7 => a6 a7",
            "ap block_ack",
        ],
    );
    // Frames that are not given up are retransmitted, and the same applies to them.
    let sent_again = with(n_cell(2), "retries", json!({"requests": 2}));
    shows(
        &play(&sent_again, 6, false, &[3, 4, 5]),
        &[
            "ap data 2 3 more",
            "sta block_ack",
            "ap data 4 5 more",
            "sta block_ack +9 lost",
            "ap block_ack_request lost",
            "ap block_ack_request lost",
            "ap data 4 5 more sync",
            "sta block_ack +23 => a2 a3 a4 a5",
            "ap data 6 7",
            "sta block_ack",
            "sta data a6 a7 => a6 a7",
            "ap block_ack",
        ],
    );
}

/// 802.11a has no Block ACK requests: the frame is given up, and the next one is marked SYNC.
#[test]
fn sync_behind_a_frame_that_was_given_up() {
    shows(
        &play(&with(a_cell(), "retries", json!({"short": 2})), 3, false, &[3, 5]),
        &[
            "ap data 2 more",
            "sta ack",
            "ap data 3 more",
            "sta ack +5 lost",
            "ap data 3 more",
            "sta ack +9 lost",
            "ap data 4 sync",
            "sta ack +9 => a2 a3",
            "sta data a4 => a4",
            "ap ack",
        ],
    );
}

/// The Block ACK for a3, a5 and a6 does not arrive before they expire, while a4 is known to have
/// arrived. Their peer has all of them. If the station had continued from a4, the last confirmed
/// ACK, the peer could not decompress.
#[test]
fn acks_that_were_given_up_are_no_context() {
    let cell = with(with(n_cell(3), "dialect", json!("ns3")), "lifetime", json!("20ms"));
    let mut cell = with(cell, "hack", json!({"delay": "1ms"}));
    let at = |millis| Instant::ZERO + START + Duration::from_millis(millis);
    let joins = [0; 6].into_iter().chain([50; 5]).map(at);
    let flow = Flow::new(0, 1, std::iter::once(Instant::ZERO).chain(joins).collect());
    let away = |node: usize, from: u64, until: u64| json!({"node": node, "from": format!("{from}ns"), "until": format!("{until}ns")});
    let batch = &run(&cell, &flow).air[4];
    let ends = (batch.at + batch.duration).as_nanos();
    // The second of three frames of 80 octets at 150 Mbps.
    let away_from_batch = away(0, ends - 6_000, ends - 2_000);
    cell["reception"] = json!({"absences": [away_from_batch]});
    let again = &run(&cell, &flow).air[6];
    let ends = (again.at + again.duration).as_nanos();
    cell["reception"] = json!({"absences": [away_from_batch, away(1, ends + 1, ends + 30_000_000)]});
    shows(
        &run(&cell, &flow),
        &[
            "ap data 2 3 4 more",
            "sta block_ack",
            "ap data 5 6 7",
            "sta block_ack",
            "sta data a2 a3 a4 more",
            "ap block_ack",
            "sta data a3 a5 a6 more => a6",
            "ap block_ack lost",
            "sta block_ack_request",
            "ap block_ack",
            "ap data 8 9 10 more",
            "sta block_ack",
            "sta data a8 a9 a10 => a10",
            "ap block_ack",
            "ap data 11 12",
            "sta block_ack",
            "sta data a11 a12 => a12",
            "ap block_ack",
        ],
    );
}

/// §3.3.1: the last batch arrives before the NIC has the ACKs of the previous one.
#[test]
fn the_race_of_a_last_batch_is_lost_without_harm() {
    let timeline = play(&with(n_cell(2), "hack", json!({"delay": "1ms"})), 4, false, &[]);
    shows(
        &timeline,
        &[
            "ap data 2 3 more",
            "sta block_ack",
            "ap data 4 5",
            "sta block_ack",
            "sta data a2 a3 more => a2 a3",
            "ap block_ack",
            "sta data a4 a5 => a4 a5",
            "ap block_ack",
        ],
    );
    assert_eq!(timeline.counters[1].missed, 1);
}

/// At 6 Mbps, a Block ACK of 32 octets ends 10 symbols before the AIFS of 43 µs behind it does:
/// room for 31 octets.
#[test]
fn an_response_is_cut_at_aifs_or_goes_beyond_it() {
    let of = |hack: Value| {
        let timeline = play(&with(with(n_cell(12), "basic_rates", json!(["6Mbps"])), "hack", hack), 36, false, &[]);
        let of_station = timeline.air.iter().filter(|ppdu| ppdu.from == 1);
        let answers: Vec<usize> = of_station.map(|ppdu| ppdu.appended.len()).collect();
        let numbers: Vec<usize> = timeline.acks.arrived.iter().map(|(_, ack)| ack.number).collect();
        assert_eq!(numbers, (1..=37).collect::<Vec<_>>());
        let counters = &timeline.counters[1];
        (answers, counters.compressed, counters.augmented_within_aifs, counters.missed)
    };
    // Twelve ACKs each, then twelve plain ones.
    assert_eq!(of(json!({})), (vec![0, 47, 37, 0], 24, 0, 0));
    // Six and ten; the others of the first two batches are sent plain as well.
    assert_eq!(of(json!({"split": true})), (vec![0, 29, 31, 0, 0], 16, 2, 1));
}

#[test]
fn opportunistic_acks_go_with_a_response_if_they_still_wait() {
    let mut cell = with(n_cell(2), "hack", json!({"variant": "opportunistic"}));
    cell["ap"] = json!({"name": "ap"});
    cell["station"][0]["access"] = json!({"best_effort": {"aifsn": 15}});
    shows(
        &play(&cell, 4, false, &[]),
        &[
            "ap data 2 3 more",
            "sta block_ack",
            "ap data 4 5",
            "sta block_ack +9 => a2 a3",
            "sta data a4 a5 => a4 a5",
            "ap block_ack",
        ],
    );
    // The station is first.
    shows(
        &play(&with(n_cell(2), "hack", json!({"variant": "opportunistic"})), 4, false, &[]),
        &[
            "ap data 2 3 more",
            "sta block_ack",
            "sta data a2 a3 => a2 a3",
            "ap block_ack",
            "ap data 4 5",
            "sta block_ack",
            "sta data a4 a5 => a4 a5",
            "ap block_ack",
        ],
    );
}

#[test]
fn acks_on_a_timer_wait_for_a_response_without_more_data() {
    let cell = with(n_cell(2), "hack", json!({"variant": "timer", "hold_limit": "3ms"}));
    let timeline = play(&cell, 4, false, &[]);
    shows(
        &timeline,
        &[
            "ap data 2 3 more",
            "sta block_ack",
            "ap data 4 5",
            "sta block_ack +9 => a2 a3",
            "sta data a4 a5 => a4 a5",
            "ap block_ack",
        ],
    );
    assert_eq!(timeline.counters[1].released, 2);
    // At the next slot then.
    let waited = timeline.air[4].at.since(timeline.acks.sent[3].0).as_nanos();
    assert!((3_000_000..3_009_000).contains(&waited), "{waited}");
}
