//! Tests rules of the MAC, each in the smallest cell that shows it: queues after failures, retry
//! limits, lifetimes, NAV, EIFS, named sets.

#![allow(clippy::needless_pass_by_value, reason = "settings are written where they are passed")]

use crate::common::saturated::{Packet, Source, attach_nodes, cell_of, run};
use acklab_base::random::Seed;
use acklab_base::{Bytes, Duration, Instant, Machine};
use acklab_wifi::access::Category;
use acklab_wifi::phy::{Guard, Mode, Standard, Width};
use acklab_wifi::ppdu::{Frame, Outcome, Ppdu};
use acklab_wifi::{Cell, CellConfig};
use serde_json::{Value, json};

const PACKET: u64 = 1_500;

const fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

fn with(settings: &Value, more: Value) -> Value {
    let mut all = settings.clone();
    for (key, value) in more.as_object().into_iter().flatten() {
        all[key] = value.clone();
    }
    all
}

/// Returns a cell without packets that logs its PPDUs.
fn quiet(config: &CellConfig, sources: &[Source]) -> Cell<Packet> {
    let mut cell = Cell::new(config, Seed(7)).unwrap_or_else(|error| panic!("{error}"));
    attach_nodes(&mut cell);
    for source in sources {
        cell.carry(source.from, source.to, source.category).unwrap_or_else(|error| panic!("{error}"));
    }
    cell.log_air();
    cell
}

/// Wakes `cell` until `end` or until it is quiescent. Returns the last instant at which it was
/// woken.
fn play(cell: &mut Cell<Packet>, end: Instant) -> Instant {
    let mut last = Instant::ZERO;
    while let Some(now) = cell.deadline().filter(|now| *now < end) {
        cell.wake(now);
        while cell.poll(now).is_some() {}
        last = now;
    }
    last
}

/// Passes packets of a source to the cell at `now`.
fn enter(cell: &mut Cell<Packet>, now: Instant, source: &Source, place: usize, count: usize) {
    (0..count).for_each(|_| cell.accept(now, (source.from, source.packet(place))));
}

fn data(log: &[Ppdu<Packet>]) -> impl Iterator<Item = &Ppdu<Packet>> {
    log.iter().filter(|ppdu| matches!(ppdu.frame, Frame::Data(_)))
}

/// Returns the octets that the second of two stations downloads, with the first present or absent.
fn second_of_two(settings: &Value, is_first_absent: bool) -> f64 {
    let absences = if is_first_absent { json!([{"node": 1, "from": "0s"}]) } else { json!([]) };
    let config = cell_of(2, with(settings, json!({"reception": {"absences": absences}})));
    let sources = [Source::download(1, PACKET), Source::download(2, PACKET)];
    run(&config, &sources, 2.0, 3).octets[1] as f64
}

/// Ten packets are in the queue when a PPDU takes them all, and twenty more arrive while it is on
/// the air. By the rule of 2014, the queue is then empty, and ten of the new packets fit.
/// Otherwise, the ten packets on the air are still part of the queue. The limit applies to one
/// station, or to all.
#[test]
fn packets_on_the_air_count_unless_the_queue_is_that_of_2014() {
    for queues in ["per-station", "shared"] {
        for (counts, dropped) in [("unacknowledged", 20), ("unsent", 10)] {
            let ap = json!({"name": "ap", "queue": {"discipline": "fifo", "limit": "10packets"}, "queues": queues});
            let config = cell_of(1, json!({"standard": "802.11n", "ap": ap, "queue_counts": counts}));
            let source = Source::download(1, PACKET);
            let mut cell = quiet(&config, &[source]);
            enter(&mut cell, at(1_000), &source, 0, 10);
            // AIFS of 43 us; ten packets take more than 800 us at 150 Mbps.
            play(&mut cell, at(1_100));
            enter(&mut cell, at(1_100), &source, 0, 20);
            assert_eq!(cell.counters()[0].dropped, dropped, "{queues}, {counts}");
        }
    }
}

/// mac80211 moves a queue behind the others after each transmission (`ieee80211_schedule_txq`).
/// With one FIFO for all stations, the queue is moved after the last try of one frame.
#[test]
fn a_silent_station_leaves_the_others_their_share() {
    for standard in ["802.11b", "802.11a", "802.11n", "802.11ac", "802.11ax", "802.11be"] {
        for queues in ["per-station", "shared"] {
            let settings = json!({"standard": standard, "ap": {"name": "ap", "queues": queues}});
            let share = second_of_two(&settings, false);
            let beside_none = second_of_two(&settings, true);
            println!("{standard} {queues}: {:.3} of its share", beside_none / share);
            assert!(beside_none >= 0.9 * share, "{standard} {queues}: {beside_none} of {share} octets");
        }
    }
    // ns-3 serves repeated frames first.
    let settings = json!({"standard": "802.11n", "dialect": "ns3"});
    assert!(second_of_two(&settings, true) < 0.1 * second_of_two(&settings, false));
}

/// The limit applies to each MSDU (10.3.4.4): frames of other queues between its transmissions do
/// not change it.
#[test]
fn a_frame_is_given_up_after_seven_transmissions_whatever_is_sent_between_them() {
    let sources = [Source::download(1, PACKET), Source::download(2, PACKET)];
    let config = cell_of(2, json!({"standard": "802.11a", "reception": {"absences": [{"node": 1, "from": "0s"}]}}));
    let mut cell = quiet(&config, &sources);
    enter(&mut cell, at(10), &sources[0], 0, 3);
    enter(&mut cell, at(10), &sources[1], 1, 40);
    play(&mut cell, at(1_000_000));
    let log: Vec<Ppdu<Packet>> = cell.take_log().collect();
    let mut sent = [0; 3];
    for ppdu in data(&log).filter(|ppdu| ppdu.to == Some(1)) {
        let Frame::Data(mpdus) = &ppdu.frame else { continue };
        sent[usize::from(mpdus[0].sequence)] += 1;
    }
    assert_eq!(sent, [7, 7, 7]);
    assert_eq!((cell.counters()[0].given_up, cell.counters()[0].delivered), (3, 40));
    let between =
        data(&log).take_while(|ppdu| ppdu.to != Some(1) || ppdu.at < at(5_000)).filter(|ppdu| ppdu.to == Some(2));
    assert!(between.count() > 3, "the other station was served in the meantime");
}

/// dot11MaxTransmitMSDULifetime: 512 TU after its first transmission a frame is given up. Block ACK
/// requests also have a limit, so that transmissions to an absent peer end.
#[test]
fn transmissions_to_an_absent_peer_end() {
    let sources = [Source::download(1, PACKET)];
    let config = cell_of(1, json!({"standard": "802.11n", "reception": {"absences": [{"node": 1, "from": "0s"}]}}));
    let mut cell = quiet(&config, &sources);
    enter(&mut cell, at(10), &sources[0], 0, 100);
    let last = play(&mut cell, at(60_000_000));
    assert_eq!(cell.counters()[0].expired, 100);
    // Three aggregates, of 42, 42 and 16 frames, one after the other, and the requests and backoffs
    // after each.
    assert!((at(3 * 524_288)..at(3 * 524_288 + 200_000)).contains(&last), "{last:?}");

    let unlimited = with(
        &json!({"standard": "802.11n", "reception": {"absences": [{"node": 1, "from": "0s"}]}}),
        json!({"retries": {"lifetime": "0s"}}),
    );
    let mut cell = quiet(&cell_of(1, unlimited), &sources);
    enter(&mut cell, at(10), &sources[0], 0, 100);
    play(&mut cell, at(3_000_000));
    assert_eq!(cell.counters()[0].expired, 0);
}

/// Frames that no Block ACK request could report while the peer was absent do not block frames that
/// are sent after its return.
#[test]
fn a_gap_does_not_outlast_an_absence() {
    let sources = [Source::download(1, PACKET)];
    let absences = json!([{"node": 1, "from": "9ms", "until": "3s"}]);
    let config = cell_of(1, json!({"standard": "802.11n", "reception": {"absences": absences}}));
    let mut cell = quiet(&config, &sources);
    let mut arrived = 0;
    let mut step = |cell: &mut Cell<Packet>, end| {
        while let Some(now) = cell.deadline().filter(|now| *now < end) {
            cell.wake(now);
            while cell.poll(now).is_some() {
                arrived += 1;
            }
        }
        arrived
    };
    enter(&mut cell, at(10), &sources[0], 0, 5);
    assert_eq!(step(&mut cell, at(10_000)), 5);
    enter(&mut cell, at(10_000), &sources[0], 0, 5);
    assert_eq!(step(&mut cell, at(4_000_000)), 5);
    enter(&mut cell, at(4_000_000), &sources[0], 0, 1);
    assert_eq!(step(&mut cell, at(5_000_000)), 6, "the recipient does not wait for a frame that was given up");
}

/// QSRC[AC] at dot11ShortRetryLimit resets CW (10.3.3), also after failures of aggregates and
/// requests: 31, 63, …, 1023, 15.
#[test]
fn the_contention_window_is_reset_at_the_limit_of_retries() {
    let sources = [Source::download(1, PACKET)];
    let settings = json!({"standard": "802.11n", "retries": {"lifetime": "0s"}, "reception": {"absences": [{"node": 1, "from": "0s"}]}});
    let outcome = run(&cell_of(1, settings), &sources, 5.0, 11);
    let counters = &outcome.cell.counters()[0];
    let mean = counters.backoff_slots as f64 / counters.backoffs as f64;
    let expected = (31.0 + 63.0 + 127.0 + 255.0 + 511.0 + 1023.0 + 15.0) / 7.0 / 2.0;
    assert!((mean / expected - 1.0).abs() < 0.1, "{mean} slots, expected {expected}");
}

/// 10.22.2.11.1 of 802.11-2016: an internal collision increases the retry counter of the frame that
/// would have been sent.
#[test]
fn internal_collisions_count_as_retries() {
    let low = Source::upload(1, PACKET).with(Category::BestEffort);
    let high = Source::upload(1, PACKET).with(Category::Voice);
    let given_up = |short: u8| {
        let settings = json!({"standard": "802.11n", "aggregation": {"max_bytes": "0B"}, "retries": {"short": short}});
        let outcome = run(&cell_of(1, settings), &[low, high], 5.0, 17);
        let counters = &outcome.cell.counters()[1];
        assert_eq!(counters.unanswered, 0, "nothing collides on the air");
        (counters.given_up, counters.internal_collisions)
    };
    let (given_up_at_two, collisions) = given_up(2);
    assert!(given_up_at_two > 10 && given_up_at_two < collisions, "{given_up_at_two} of {collisions}");
    let (given_up_at_one, collisions) = given_up(1);
    assert_eq!(given_up_at_one, collisions);
}

/// A frame that a Block ACK has acknowledged is not retransmitted, even if it was not in the PPDU
/// that elicited the Block ACK.
#[test]
fn a_block_ack_settles_the_whole_window() {
    let mut smaller = 0;
    for seed in 0..20 {
        let config = cell_of(
            1,
            json!({
                "standard": "802.11n",
                "rate": {"control": "minstrel-ht"},
                "aggregation": {"after_missed": "retransmit"},
                "reception": {"channel": {"model": "fixed", "frame_error_rate": 0.2, "control_error_rate": 0.5}},
            }),
        );
        let source = Source::download(1, PACKET);
        let mut cell = Cell::new(&config, Seed(seed)).unwrap_or_else(|error| panic!("{error}"));
        attach_nodes(&mut cell);
        cell.log_air();
        (0..300).for_each(|_| cell.accept(Instant::ZERO, (0, source.packet(0))));
        play(&mut cell, at(4_000_000));
        let log: Vec<Ppdu<Packet>> = cell.take_log().collect();
        let mut acknowledged = std::collections::BTreeSet::new();
        let mut last = Vec::new();
        for ppdu in &log {
            match &ppdu.frame {
                Frame::Data(mpdus) => {
                    last = mpdus.iter().map(|mpdu| mpdu.sequence).collect();
                    let again: Vec<&u16> = last.iter().filter(|sequence| acknowledged.contains(*sequence)).collect();
                    assert!(again.is_empty(), "seed {seed}: {again:?} at {:?}", ppdu.at);
                }
                Frame::BlockAck { start, bitmap, .. } if ppdu.outcome == Outcome::Received => {
                    for place in 0..64 * bitmap.len() as u16 {
                        if bitmap[usize::from(place / 64)] >> (place % 64) & 1 == 1 {
                            acknowledged.insert(start + place);
                            smaller += u32::from(!last.contains(&(start + place)));
                        }
                    }
                }
                _ => {}
            }
        }
    }
    assert!(smaller > 0, "no Block ACK has acknowledged more than its PPDU carried");
}

/// Returns the spacings of two PPDUs that collide, in microseconds, and which of two stations
/// begins second.
fn spacings_of_collisions(settings: Value) -> Vec<(u64, usize)> {
    let sources: Vec<Source> = (1..=2).map(|station| Source::upload(station, PACKET)).collect();
    let config = cell_of(2, with(&settings, json!({"standard": "802.11a"})));
    let mut cell = quiet(&config, &sources);
    for (place, source) in sources.iter().enumerate() {
        enter(&mut cell, at(1_000), source, place, 400);
    }
    play(&mut cell, at(2_000_000));
    let log: Vec<Ppdu<Packet>> = cell.take_log().collect();
    let collided: Vec<&Ppdu<Packet>> = data(&log).filter(|ppdu| ppdu.outcome == Outcome::Collided).collect();
    let mut spacings: Vec<(u64, usize)> = collided
        .chunks_exact(2)
        .map(|pair| {
            assert!(pair[1].at < pair[0].at + pair[0].duration, "they overlap");
            let spacing = pair[1].at.since(pair[0].at).as_nanos() / 1_000;
            (spacing, if spacing == 0 { 0 } else { pair[1].from })
        })
        .collect();
    spacings.sort_unstable();
    spacings.dedup();
    spacings
}

/// A slot takes 9 us: a station that senses the medium a slot late transmits although another
/// station has begun in the previous slot.
#[test]
fn late_sensing_lets_adjacent_slots_collide() {
    let late = |by: &str| spacings_of_collisions(json!({"late_sensing": by}));
    assert_eq!(late("0us"), [(0, 0)]);
    assert_eq!(late("9us"), [(0, 0), (9, 1), (9, 2)]);
    assert_eq!(late("18us"), [(0, 0), (9, 1), (9, 2), (18, 1), (18, 2)]);
}

/// Only the station that senses late begins within the other's PPDU, whichever of the two deviates
/// from the cell.
#[test]
fn a_node_may_sense_later_than_others() {
    let stations =
        |first: Value, second: Value| json!([with(&first, json!({"name": "a"})), with(&second, json!({"name": "b"}))]);
    let late = json!({"late_sensing": "9us"});
    let second = spacings_of_collisions(json!({"station": stations(json!({}), late.clone())}));
    assert_eq!(second, [(0, 0), (9, 2)]);
    let punctual = json!({"late_sensing": "0us"});
    let first = spacings_of_collisions(with(&late, json!({"station": stations(json!({}), punctual)})));
    assert_eq!(first, [(0, 0), (9, 1)]);
}

/// Returns the microseconds from the end of data of the access point to another station until the
/// earliest PPDU of a bystander, and how many response frames collide. Response frames take 28 us
/// and begin `late` microseconds later than SIFS.
fn earliest_bystander(late: u64, is_announced: bool) -> (u64, usize) {
    let sources = [Source::download(1, PACKET), Source::upload(2, PACKET)];
    let settings = json!({
        "standard": "802.11a", "late_answers": format!("{late}us"), "announces_late_answers": is_announced,
    });
    let mut cell = quiet(&cell_of(2, settings), &sources);
    for (place, source) in sources.iter().enumerate() {
        enter(&mut cell, at(1_000), source, place, 1_000);
    }
    play(&mut cell, at(2_000_000));
    let log: Vec<Ppdu<Packet>> = cell.take_log().collect();
    let sent: Vec<&Ppdu<Packet>> = data(&log).collect();
    let pairs =
        sent.windows(2).filter(|pair| pair[0].from == 0 && pair[0].outcome == Outcome::Received && pair[1].from == 2);
    let gaps = pairs.map(|pair| pair[1].at.since(pair[0].at + pair[0].duration).as_nanos() / 1_000);
    let is_lost = |ppdu: &&Ppdu<Packet>| matches!(ppdu.frame, Frame::Ack) && ppdu.outcome == Outcome::Collided;
    (gaps.min().expect("the station sends after the access point"), log.iter().filter(is_lost).count())
}

/// Bystanders count DIFS, 34 us, from the end announced by duration fields, and at least one slot
/// of 9 us; with none left they would have transmitted together with the data. A response frame
/// that is 37 us late begins 53 us after the data and stops them. If it is 100 us late, they are
/// already transmitting.
#[test]
fn late_responses_that_are_not_announced_collide_if_they_come_after_difs() {
    let one_slot = 34 + 9;
    for is_announced in [true, false] {
        assert_eq!(earliest_bystander(37, is_announced), (16 + 37 + 28 + one_slot, 0));
    }
    assert_eq!(earliest_bystander(100, true), (16 + 100 + 28 + one_slot, 0));
    let (earliest, collided) = earliest_bystander(100, false);
    assert!((16 + 28 + 34..16 + 100).contains(&earliest), "{earliest}");
    assert!(collided > 0);
}

/// Returns the exchanges per second of saturated stations.
fn exchanges(stations: u32, settings: &Value) -> f64 {
    let sources: Vec<Source> = (1..=stations as usize).map(|station| Source::upload(station, PACKET)).collect();
    run(&cell_of(stations, settings.clone()), &sources, 20.0, 5).packets_per_second(PACKET)
}

/// The reduction of exchanges if all bystanders of a collision defer for EIFS: SIFS and an ACK
/// longer than DIFS, once per collision. With `none`, the cell is ns-3's with preambles of equal
/// power.
#[test]
fn eifs_after_collisions_costs_its_length_once_a_collision() {
    for (standard, stations, eifs) in [("802.11a", 10, 16 + 44), ("802.11b", 10, 10 + 304)] {
        let settings = json!({"standard": standard});
        let none = exchanges(stations, &settings);
        let always = exchanges(stations, &with(&settings, json!({"eifs_after_collision": "always"})));
        println!("{standard}, {stations} stations: {:.2} %", 100.0 * (always / none - 1.0));
        let sources: Vec<Source> = (1..=stations as usize).map(|station| Source::upload(station, PACKET)).collect();
        let outcome = run(&cell_of(stations, settings), &sources, 20.0, 5);
        let collided: u64 = outcome.cell.counters().iter().map(|counters| counters.collisions).sum();
        // Nearly all collisions involve two stations.
        let cost = collided as f64 / 2.0 / outcome.seconds() * f64::from(eifs) * 1e-6;
        let found = 1.0 - always / none;
        // The senders of the collision do not defer, and are ahead of the others, which also
        // changes which stations collide.
        assert!((0.5 * cost..1.8 * cost).contains(&found), "{standard}: {found:.4}, {cost:.4} of the time is EIFS");
    }
}

/// Returns the microseconds from the end of a collision of stations 1 and 2 to the earliest PPDU of
/// one of them, and to that of station 3, a bystander.
fn earliest_after_collision(config: &CellConfig) -> [u64; 2] {
    let sources: Vec<Source> = (1..=3).map(|station| Source::upload(station, PACKET)).collect();
    let mut cell = quiet(config, &sources);
    let mut earliest = [u64::MAX; 2];
    for round in 0..400 {
        let now = at(20_000 * (round + 1));
        // Two stations collide on an idle medium. The third gets a frame during the collision and
        // backs off.
        enter(&mut cell, now, &sources[0], 0, 1);
        enter(&mut cell, now, &sources[1], 1, 1);
        play(&mut cell, now + Duration::from_micros(50));
        enter(&mut cell, now + Duration::from_micros(50), &sources[2], 2, 1);
        play(&mut cell, now + Duration::from_millis(19));
        let log: Vec<Ppdu<Packet>> = cell.take_log().collect();
        let collided: Vec<&Ppdu<Packet>> =
            data(&log).filter(|ppdu| ppdu.at < now + Duration::from_micros(30)).collect();
        if collided.len() < 2 || collided.iter().any(|ppdu| ppdu.outcome != Outcome::Collided) {
            continue;
        }
        let ends = collided[0].at + collided[0].duration;
        if let Some(next) = data(&log).find(|ppdu| ppdu.at >= ends) {
            let gap = next.at.since(ends).as_nanos() / 1_000;
            let is_bystander = usize::from(next.from == 3);
            earliest[is_bystander] = earliest[is_bystander].min(gap);
        }
    }
    earliest
}

/// SIFS, a slot and a preamble of 20 µs, then DIFS.
const SENDERS: u64 = 16 + 9 + 20 + 34;
/// DIFS, and with EIFS SIFS and an ACK at 6 Mbps more.
const BYSTANDER: [u64; 2] = [34, 34 + 60];

/// The senders of a collision were transmitting, so they count AIFS from their timeouts, while all
/// others wait for EIFS.
#[test]
fn the_senders_of_a_collision_do_not_defer_for_eifs() {
    for (rule, bystander) in [("none", BYSTANDER[0]), ("always", BYSTANDER[1])] {
        let config = cell_of(3, json!({"standard": "802.11a", "eifs_after_collision": rule}));
        assert_eq!(earliest_after_collision(&config), [SENDERS, bystander], "{rule}");
    }
}

/// ns-3's `ThresholdPreambleDetectionModel`: a preamble is detected if it is 4 dB stronger than all
/// else. A bystander next to one of the senders detects it and defers for EIFS. A bystander at
/// equal distances does not detect it, nor does a bystander whose two signals differ by 3 dB. With
/// 35 dB per decade, 4 dB are a ratio of distances of 1.30.
#[test]
fn a_bystander_defers_for_eifs_if_it_detects_a_preamble() {
    // Both senders are equally far from the access point, so it decodes neither.
    for (bystander, deferred) in [([0.0, 10.0], 0), ([1.0, 0.0], 0), ([1.5, 0.0], 1), ([12.0, 0.0], 1)] {
        let channel = json!({
            "model": "snr",
            "path_loss": {"exponent": 3.5, "reference_distance": 1.0},
            "place": {"shape": "points", "points": [[10.0, 0.0], [-10.0, 0.0], bystander]},
        });
        let settings = json!({
            "standard": "802.11a",
            "eifs_after_collision": "preamble-detection",
            "reception": {"channel": channel},
        });
        let found = earliest_after_collision(&cell_of(3, settings));
        assert_eq!(found, [SENDERS, BYSTANDER[deferred]], "{bystander:?}");
    }
}

/// 10.3.2.4: a station that receives an RTS resets its NAV if no PPDU begins within NAVTimeout.
#[test]
fn an_rts_without_a_cts_does_not_reserve_the_medium() {
    let sources = [Source::download(1, PACKET), Source::upload(2, PACKET)];
    let config = cell_of(
        2,
        json!({
            "standard": "802.11a",
            "rate": {"control": "fixed", "rate": "6Mbps"},
            "rts_threshold": "0B",
            "retries": {"short": 1},
            "reception": {"absences": [{"node": 1, "from": "0s"}]},
        }),
    );
    let mut gaps = Vec::new();
    for round in 0..20 {
        let mut cell = quiet(&config, &sources);
        let now = at(10_000 + round);
        enter(&mut cell, now, &sources[0], 0, 1);
        // The packet arrives while the RTS of 52 µs is on the air.
        play(&mut cell, now + Duration::from_micros(30));
        enter(&mut cell, now + Duration::from_micros(30), &sources[1], 1, 1);
        play(&mut cell, at(30_000));
        let log: Vec<Ppdu<Packet>> = cell.take_log().collect();
        let rts = log.iter().find(|ppdu| matches!(ppdu.frame, Frame::Rts)).unwrap();
        let next = log.iter().find(|ppdu| ppdu.from == 2).unwrap();
        assert!(rts.reserved > Duration::from_millis(2), "{:?}", rts.reserved);
        gaps.push(next.at.since(rts.at + rts.duration).as_nanos() / 1_000);
    }
    // Two SIFS, a CTS of 44 µs, a preamble of 20 µs and two slots; then DIFS and at most 15 slots.
    let timeout = 2 * 16 + 44 + 20 + 2 * 9;
    assert!(gaps.iter().all(|gap| (timeout + 34..=timeout + 34 + 15 * 9).contains(gap)), "{gaps:?}");
}

#[test]
fn the_window_is_256_frames_in_802_11ax_and_1024_in_802_11be() {
    let window = |settings: Value| cell_of(1, settings).window();
    assert_eq!(window(json!({"standard": "802.11ax"})), 256);
    assert_eq!(window(json!({"standard": "802.11be"})), 1_024);
    assert_eq!(window(json!({"standard": "802.11ac"})), 64);
    assert_eq!(window(json!({"standard": "802.11ax", "aggregation": {"window": 64}})), 64);
    let source = [Source::download(1, PACKET)];
    let download = |settings: Value| run(&cell_of(1, settings), &source, 1.0, 1).octets[0] as f64;
    let [wide, narrow] = [256, 64]
        .map(|window| download(json!({"standard": "802.11ax", "streams": 4, "aggregation": {"window": window}})));
    assert!(wide > 1.3 * narrow, "{wide} octets against {narrow}");
    let [wide, narrow] = [1_024, 256]
        .map(|window| download(json!({"standard": "802.11be", "streams": 4, "aggregation": {"window": window}})));
    assert!(wide > 1.3 * narrow, "{wide} octets against {narrow} with 802.11be");
}

#[test]
fn a_set_of_edca_parameters_is_chosen_by_name() {
    let source = [Source::upload(1, 200)];
    let spaces = |edca: &str| {
        let config = cell_of(1, json!({"standard": "802.11n", "edca": edca, "aggregation": {"max_bytes": "0B"}}));
        let mut cell = quiet(&config, &source);
        enter(&mut cell, at(10), &source[0], 0, 4);
        play(&mut cell, at(10_000));
        let log: Vec<Ppdu<Packet>> = cell.take_log().collect();
        let gaps = log.windows(2).filter(|pair| matches!(pair[1].frame, Frame::Data(_)));
        let gap = |pair: &[Ppdu<Packet>]| pair[1].at.since(pair[0].at + pair[0].duration).as_nanos() / 1_000;
        gaps.map(gap).collect::<Vec<u64>>()
    };
    assert_eq!(spaces("802.11-2016"), [16, 16, 16], "within a TXOP of 2.528 ms");
    for single in ["ns3", "802.11-2012", "hostapd"] {
        assert!(spaces(single).iter().all(|gap| *gap >= 43), "{single}: one exchange a TXOP");
    }
}

/// 27.3.13: the response follows SIFS after the extension.
#[test]
fn a_packet_extension_makes_he_ppdus_longer() {
    let ends = |extension: &str| {
        let source = [Source::upload(1, PACKET)];
        let mut cell = quiet(&cell_of(1, json!({"standard": "802.11ax", "packet_extension": extension})), &source);
        enter(&mut cell, at(10), &source[0], 0, 1);
        play(&mut cell, at(10_000));
        let log: Vec<Ppdu<Packet>> = cell.take_log().collect();
        log.iter().map(|ppdu| (ppdu.at.as_nanos(), ppdu.duration.as_nanos())).collect::<Vec<_>>()
    };
    let ([(begins, data), (ack, length)], [(same, longer), (later, alike)]) =
        (<[_; 2]>::try_from(ends("0us")).unwrap(), <[_; 2]>::try_from(ends("16us")).unwrap());
    assert_eq!((same, longer, later, alike), (begins, data + 16_000, ack + 16_000, length));
    let he = Mode { format: Standard::Ax.data_format(), mcs: 11, streams: 1, width: Width::Mhz80, guard: Guard::Ns800 };
    assert!(data >= he.duration(Bytes(PACKET)).as_nanos());
}
