//! Compares a single saturated sender with the cycle of the standard: AIFS, backoff, PPDU, SIFS,
//! response frame.

#![expect(clippy::needless_pass_by_value, reason = "settings are written where they are passed")]

use crate::common::durations::{MPDU, QOS_MPDU, US, a_mpdu, answer_rate, dsss, eht, he, ht, is_in_vht, ofdm, vht};
use crate::common::saturated::{Packet, Source, cell_of, run, saturated, wake};
use acklab_base::{Bytes, Duration, Instant, Machine};
use acklab_wifi::Cell;
use acklab_wifi::access::Category;
use acklab_wifi::airtime::Use;
use acklab_wifi::cell::Cycle;
use acklab_wifi::ppdu::Frame;
use serde_json::{Value, json};

/// Octets of a packet.
const PACKET: u64 = 1_500;
/// aPPDUMaxTime.
const MAX_PPDU: u64 = 5_484 * US;
const SIFS: u64 = 16 * US;
const SLOT: u64 = 9 * US;
/// AIFS of best effort at 5 GHz.
const AIFS: u64 = 43 * US;

/// Returns the times between the beginnings of data PPDUs, and the packets in each, of one station
/// that uploads without backoff.
fn cycles(mut settings: Value, size: u64) -> Vec<(u64, usize)> {
    settings["access"] = json!({"best_effort": {"cw_min": 0}});
    let config = cell_of(1, settings);
    let sources = [Source::upload(1, size)];
    let mut cell = saturated(&config, &sources);
    cell.log_air();
    let mut data: Vec<(u64, usize)> = Vec::new();
    while data.len() < 5 {
        let now = cell.deadline().unwrap_or_else(|| panic!("the cell is silent: {config:?}"));
        wake(&mut cell, &sources, now, |_| {});
        data.extend(cell.take_log().filter_map(|ppdu| match ppdu.frame {
            Frame::Data(frames) => {
                let packets = frames.iter().map(|frame| frame.packets.len()).sum();
                Some((ppdu.at.as_nanos(), packets))
            }
            _ => None,
        }));
    }
    data.windows(2).map(|pair| (pair[1].0 - pair[0].0, pair[0].1)).collect()
}

/// Returns the mean cycle of a sender alone that the cell computes, with this CWmin for best
/// effort.
fn capacity_of(settings: &Value, source: Source, cw_min: u16) -> Cycle {
    let mut settings = settings.clone();
    settings["access"]["best_effort"] = json!({"cw_min": cw_min});
    let cell = saturated(&cell_of(2, settings), &[source]);
    let Source { from, to, category, size } = source;
    cell.cycle(from, to, category, size).unwrap_or_else(|| panic!("no queue for {source:?}"))
}

/// Checks that all cycles of this cell take `expected` and carry this number of packets, and that
/// the capacity follows from the cycles.
#[track_caller]
fn takes(settings: Value, size: u64, expected: u64, packets: usize) {
    let capacity = capacity_of(&settings, Source::upload(1, size), 0);
    let cycle = Cycle { octets: Bytes(packets as u64 * size), time: Duration::from_nanos(expected) };
    assert_eq!(capacity, cycle, "the capacity of {settings}");
    let found = cycles(settings.clone(), size);
    assert!(
        found.iter().all(|cycle| *cycle == (expected, packets)),
        "{settings}\nfound {found:?}, expected {expected} ns and {packets} packets"
    );
}

/// Returns the maximum number of MPDUs of this size in an A-MPDU within `octets` and the window,
/// and whose PPDU is within `time`.
fn frames(mpdu: u64, octets: u64, window: u64, time: u64, duration: impl Fn(u64) -> u64) -> u64 {
    let fits = |count: &u64| a_mpdu(mpdu, *count) <= octets && duration(a_mpdu(mpdu, *count)) <= time;
    (1..=window).take_while(fits).last().unwrap_or(1)
}

/// Returns the duration and the packets of one cycle at 5 GHz with aggregates.
fn aggregated(mcs: usize, maximum: u64, window: u64, delimits: bool, duration: impl Fn(u64) -> u64) -> (u64, usize) {
    let mpdu = PACKET + QOS_MPDU;
    let count = frames(mpdu, maximum, window, MAX_PPDU, &duration);
    let answer = answer_rate(mcs);
    let exchange = match count {
        1 => duration(if delimits { mpdu + 4 } else { mpdu }) + SIFS + ofdm(answer, 14),
        _ => duration(a_mpdu(mpdu, count)) + SIFS + ofdm(answer, 24 + window / 8),
    };
    (AIFS + exchange, count as usize)
}

fn fixed(standard: &str, mcs: usize, streams: u64, megahertz: u64, guard: u64) -> Value {
    json!({
        "standard": standard,
        "width": format!("{megahertz}MHz"),
        "guard_interval": format!("{guard}ns"),
        "streams": streams,
        "rate": {"control": "fixed", "mcs": mcs, "streams": streams},
    })
}

#[test]
fn every_rate_of_dsss_takes_its_time() {
    for is_short in [false, true] {
        for (name, rate) in [("1Mbps", 10), ("2Mbps", 20), ("5.5Mbps", 55), ("11Mbps", 110)] {
            for size in [40, 576, PACKET] {
                // The lowest rate has the long preamble only; the highest basic rate is 2 Mbps.
                let data = dsss(rate, is_short && rate > 10, size + MPDU);
                let ack = if rate == 10 { dsss(10, false, 14) } else { dsss(20, is_short, 14) };
                let settings = json!({
                    "standard": "802.11b",
                    "short_preamble": is_short,
                    "rate": {"control": "fixed", "rate": name},
                });
                takes(settings, size, 50 * US + data + 10 * US + ack, 1);
            }
        }
    }
}

#[test]
fn every_rate_of_ofdm_takes_its_time() {
    for (rate, mbps) in [6, 9, 12, 18, 24, 36, 48, 54].into_iter().enumerate() {
        let answer = match mbps {
            6 | 9 => 0,
            12 | 18 => 2,
            _ => 4,
        };
        for size in [40, 576, PACKET] {
            let (data, ack) = (ofdm(rate, size + MPDU), ofdm(answer, 14));
            let of = |standard: &str, long_slot: bool| {
                json!({
                    "standard": standard,
                    "long_slot": long_slot,
                    "rate": {"control": "fixed", "rate": format!("{mbps}Mbps")},
                })
            };
            takes(of("802.11a", false), size, 34 * US + data + 16 * US + ack, 1);
            // A signal extension of 6 µs after both.
            takes(of("802.11g", false), size, 28 * US + data + 10 * US + ack + 12 * US, 1);
            takes(of("802.11g", true), size, 50 * US + data + 10 * US + ack + 12 * US, 1);
        }
    }
}

#[test]
fn every_mcs_of_ht_takes_its_time() {
    for (mcs, streams) in (0..8).flat_map(|mcs| (1..=4).map(move |streams| (mcs, streams))) {
        for (megahertz, guard) in [(20, 800), (20, 400), (40, 800), (40, 400)] {
            let (cycle, packets) =
                aggregated(mcs, 65_535, 64, false, |octets| ht(mcs, streams, megahertz, guard == 400, octets));
            takes(fixed("802.11n", mcs, streams, megahertz, guard), PACKET, cycle, packets);
        }
    }
}

#[test]
fn every_mcs_of_vht_takes_its_time() {
    for (mcs, streams) in (0..10).flat_map(|mcs| (1..=4).map(move |streams| (mcs, streams))) {
        for (megahertz, guard) in [20, 40, 80, 160].into_iter().flat_map(|width| [(width, 800), (width, 400)]) {
            let settings = fixed("802.11ac", mcs, streams, megahertz, guard);
            if !is_in_vht(mcs, streams, megahertz) {
                let refused = Cell::<Packet>::new(&cell_of(1, settings), acklab_base::random::Seed(0));
                assert!(refused.is_err(), "MCS {mcs}, {streams} streams, {megahertz} MHz");
                continue;
            }
            let (cycle, packets) =
                aggregated(mcs, 1_048_575, 64, true, |octets| vht(mcs, streams, megahertz, guard == 400, octets));
            takes(settings, PACKET, cycle, packets);
        }
    }
}

#[test]
fn every_mcs_of_he_takes_its_time() {
    for (mcs, streams) in (0..12).flat_map(|mcs| (1..=4).map(move |streams| (mcs, streams))) {
        for (megahertz, guard) in
            [20, 40, 80, 160].into_iter().flat_map(|width| [800, 1_600, 3_200].map(|guard| (width, guard)))
        {
            let (cycle, packets) =
                aggregated(mcs, 6_500_631, 256, true, |octets| he(mcs, streams, megahertz, guard, octets));
            takes(fixed("802.11ax", mcs, streams, megahertz, guard), PACKET, cycle, packets);
        }
    }
}

#[test]
fn every_mcs_of_eht_takes_its_time() {
    for (mcs, streams) in (0..14).flat_map(|mcs| (1..=4).map(move |streams| (mcs, streams))) {
        for (megahertz, guard) in
            [20, 40, 80, 160, 320].into_iter().flat_map(|width| [800, 1_600, 3_200].map(|guard| (width, guard)))
        {
            let (cycle, packets) =
                aggregated(mcs, 15_523_200, 1_024, true, |octets| eht(mcs, streams, megahertz, guard, octets));
            takes(fixed("802.11be", mcs, streams, megahertz, guard), PACKET, cycle, packets);
        }
    }
}

#[test]
fn a_larger_window_has_a_longer_block_ack() {
    let settings = fixed("802.11ax", 11, 4, 80, 800);
    let data = he(11, 4, 80, 800, a_mpdu(PACKET + QOS_MPDU, 256));
    takes(settings, PACKET, AIFS + data + SIFS + ofdm(4, 56), 256);
    // All 1024 frames fit into 5.484 ms from 2.33 Gbps on.
    let data = eht(13, 2, 320, 800, a_mpdu(PACKET + QOS_MPDU, 1_024));
    takes(fixed("802.11be", 13, 2, 320, 800), PACKET, AIFS + data + SIFS + ofdm(4, 152), 1_024);
    let mut settings = fixed("802.11be", 13, 2, 320, 800);
    settings["aggregation"] = json!({"window": 512});
    let data = eht(13, 2, 320, 800, a_mpdu(PACKET + QOS_MPDU, 512));
    takes(settings, PACKET, AIFS + data + SIFS + ofdm(4, 88), 512);
}

#[test]
fn frames_one_by_one_are_acknowledged_one_by_one() {
    let mut settings = fixed("802.11n", 7, 1, 20, 800);
    settings["aggregation"] = json!({"max_bytes": "0B"});
    takes(settings, PACKET, AIFS + ht(7, 1, 20, false, PACKET + QOS_MPDU) + SIFS + ofdm(4, 14), 1);
}

#[test]
fn an_a_msdu_has_one_header_for_several_packets() {
    // Each packet has addresses, length and LLC, and all except the last are padded. Two packets
    // fit into 3839 octets.
    let (subframe, packets) = (14 + 8 + PACKET, 2);
    let mpdu = 26 + subframe.div_ceil(4) * 4 + subframe + 4;
    let count = frames(mpdu, 65_535, 64, MAX_PPDU, |octets| ht(7, 2, 40, true, octets));
    let mut settings = fixed("802.11n", 7, 2, 40, 400);
    settings["aggregation"] = json!({"a_msdu": "3839B"});
    let exchange = ht(7, 2, 40, true, a_mpdu(mpdu, count)) + SIFS + ofdm(4, 32);
    takes(settings.clone(), PACKET, AIFS + exchange, count as usize * packets);
    settings["aggregation"]["max_bytes"] = json!("0B");
    takes(settings, PACKET, AIFS + ht(7, 2, 40, true, mpdu) + SIFS + ofdm(4, 14), packets);
}

#[test]
fn rts_and_cts_go_ahead_of_what_exceeds_the_threshold() {
    let of = |threshold: u64| {
        json!({
            "standard": "802.11a",
            "rate": {"control": "fixed", "rate": "54Mbps"},
            "rts_threshold": format!("{threshold}B"),
        })
    };
    let plain = 34 * US + ofdm(7, PACKET + MPDU) + SIFS + ofdm(4, 14);
    takes(of(PACKET + MPDU), PACKET, plain, 1);
    takes(of(PACKET + MPDU - 1), PACKET, plain + ofdm(4, 20) + SIFS + ofdm(4, 14) + SIFS, 1);
    let b = json!({"standard": "802.11b", "rate": {"control": "fixed", "rate": "11Mbps"}, "rts_threshold": "0B"});
    let exchange = dsss(20, false, 20) + dsss(20, false, 14) + dsss(110, false, PACKET + MPDU) + dsss(20, false, 14);
    takes(b, PACKET, 50 * US + exchange + 30 * US, 1);
}

#[test]
fn dsss_goes_ahead_of_ofdm_where_old_stations_listen() {
    let of = |protection: &str| {
        json!({
            "standard": "802.11g",
            "rate": {"control": "fixed", "rate": "54Mbps"},
            "protection": protection,
        })
    };
    // The slots are long in this case.
    let plain = 50 * US + ofdm(7, PACKET + MPDU) + 6 * US + 10 * US + ofdm(4, 14) + 6 * US;
    takes(of("cts-to-self"), PACKET, plain + dsss(20, false, 14) + 10 * US, 1);
    takes(of("rts-cts"), PACKET, plain + dsss(20, false, 20) + 10 * US + dsss(20, false, 14) + 10 * US, 1);
}

/// Returns the PPDUs of a transmission opportunity: their packets, and the time from the beginning
/// of the first to the end of the last response frame.
fn burst(limit: u64, most_frames: u64, ahead: u64, duration: impl Fn(u64) -> u64) -> (u64, u64) {
    let mpdu = PACKET + QOS_MPDU;
    let (mut spent, mut packets) = (0, 0);
    loop {
        let begins = if spent == 0 { 0 } else { spent + SIFS };
        let answer = SIFS + ofdm(4, 32);
        let left = limit.saturating_sub(begins + ahead + answer);
        if duration(a_mpdu(mpdu, 1)) > left {
            return (spent, packets);
        }
        let count = frames(mpdu, 65_535, 64, left.min(MAX_PPDU), &duration).min(most_frames);
        spent = begins
            + ahead
            + match count {
                1 => duration(mpdu) + SIFS + ofdm(4, 14),
                _ => duration(a_mpdu(mpdu, count)) + answer,
            };
        packets += count;
    }
}

#[test]
fn a_transmission_opportunity_holds_what_fits() {
    let video = |extra: Value| {
        let mut settings = fixed("802.11n", 7, 1, 20, 800);
        settings["access"] = json!({"video": {"cw_min": 0}});
        for (key, value) in extra.as_object().into_iter().flatten() {
            settings[key] = value.clone();
        }
        let config = cell_of(1, settings);
        let source = Source::upload(1, PACKET).with(Category::Video);
        let capacity = saturated(&config, &[source]).cycle(1, 0, Category::Video, Bytes(PACKET)).unwrap();
        (run(&config, &[source], 2.0, 1).packets_per_second(PACKET), capacity)
    };
    let duration = |octets| ht(7, 1, 20, false, octets);
    let rts = ofdm(4, 20) + SIFS + ofdm(4, 14) + SIFS;
    for (extra, most_frames, ahead) in [
        (json!({}), 64, 0),
        (json!({"aggregation": {"max_frames": 8}}), 8, 0),
        (json!({"aggregation": {"max_frames": 3}}), 3, 0),
        (json!({"aggregation": {"max_frames": 8}, "rts_threshold": "0B"}), 8, rts),
    ] {
        let (time, packets) = burst(4_096 * US, most_frames, ahead, duration);
        assert!(packets > most_frames || most_frames == 64);
        let (found, capacity) = video(extra.clone());
        let cycle = 34 * US + time;
        let octets = Bytes(packets * PACKET);
        assert_eq!(capacity, Cycle { octets, time: Duration::from_nanos(cycle) }, "the capacity of {extra}");
        let expected = packets as f64 * 1e9 / cycle as f64;
        assert!((found / expected - 1.0).abs() < 0.005, "{extra}: {found} packets/s, expected {expected}");
    }
}

#[test]
fn the_mean_backoff_is_half_the_window() {
    let cases = [
        (json!({"standard": "802.11b", "rate": {"control": "fixed", "rate": "11Mbps"}}), {
            50 * US + 31 * 20 * US / 2 + dsss(110, false, PACKET + MPDU) + 10 * US + dsss(20, false, 14)
        }),
        (json!({"standard": "802.11a", "rate": {"control": "fixed", "rate": "54Mbps"}}), {
            34 * US + 15 * SLOT / 2 + ofdm(7, PACKET + MPDU) + SIFS + ofdm(4, 14)
        }),
        (json!({"standard": "802.11g", "rate": {"control": "fixed", "rate": "6Mbps"}}), {
            28 * US + 15 * SLOT / 2 + ofdm(0, PACKET + MPDU) + 10 * US + ofdm(0, 14) + 12 * US
        }),
        (
            json!({
                "standard": "802.11n",
                "width": "20MHz",
                "rate": {"control": "fixed", "mcs": 7},
                "aggregation": {"max_bytes": "0B"},
            }),
            AIFS + 15 * SLOT / 2 + ht(7, 1, 20, true, PACKET + QOS_MPDU) + SIFS + ofdm(4, 14),
        ),
    ];
    for (settings, cycle) in cases {
        let window = if settings["standard"] == "802.11b" { 31 } else { 15 };
        let capacity = capacity_of(&settings, Source::upload(1, PACKET), window);
        assert_eq!(capacity.time, Duration::from_nanos(cycle), "the capacity of {settings}");
        for source in [Source::upload(1, PACKET), Source::download(1, PACKET)] {
            let found = run(&cell_of(1, settings.clone()), &[source], 20.0, 7).packets_per_second(PACKET);
            let expected = 1e9 / cycle as f64;
            assert!((found / expected - 1.0).abs() < 0.005, "{settings}: {found} packets/s, expected {expected}");
        }
    }
}

/// A packet between two stations uses both hops of the medium.
#[test]
fn the_capacity_between_stations_is_that_of_both_hops() {
    let settings = json!({"standard": "802.11a", "rate": {"control": "fixed", "rate": "54Mbps"}});
    let source = Source { to: 2, ..Source::upload(1, PACKET) };
    let (one, both) = (capacity_of(&settings, Source::upload(1, PACKET), 15), capacity_of(&settings, source, 15));
    assert_eq!((both.octets, both.time), (one.octets, one.time * 2));
}

#[test]
fn a_beacon_is_sent_once_an_interval() {
    let config = cell_of(1, json!({"standard": "802.11a", "beacon_interval": "102.4ms"}));
    let mut cell: Cell<Packet> =
        Cell::new(&config, acklab_base::random::Seed(1)).unwrap_or_else(|error| panic!("{error}"));
    cell.log_air();
    let end = Instant::from_nanos(10_000_000_000);
    while let Some(now) = cell.deadline().filter(|now| *now < end) {
        cell.wake(now);
    }
    let beacons: Vec<u64> = cell.take_log().map(|ppdu| ppdu.at.as_nanos()).collect();
    assert_eq!(beacons, (1..=97).map(|beacon| beacon * 102_400_000).collect::<Vec<_>>());
    let airtime = cell.airtime(end);
    let of_beacons = airtime.total(Use::Control);
    assert_eq!(
        (airtime.total(Use::Backoff), airtime.total(Use::Idle) + of_beacons),
        (Duration::ZERO, end.since(Instant::ZERO))
    );
}
