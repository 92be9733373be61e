//! Tests the dialect of ns-2, each rule in the smallest cell that shows it. Times are those of
//! 802.11b with the long preamble and control frames at 1 Mbps: DIFS 50 µs, slot 20 µs, ACK 304 µs,
//! EIFS 10 + 304 + 50 = 364 µs.

#![allow(clippy::needless_pass_by_value, reason = "settings are written where they are passed")]

use crate::common::saturated::{Packet, Source, attach_nodes, cell_of};
use acklab_base::random::Seed;
use acklab_base::{Duration, Instant, Machine};
use acklab_wifi::ppdu::{Frame, Outcome, Ppdu};
use acklab_wifi::{Cell, CellConfig};
use serde_json::{Value, json};

const DIFS: u64 = 50;
const EIFS: u64 = 364;

fn ns2(stations: u32, more: Value) -> CellConfig {
    let mut settings = json!({"standard": "802.11b", "dialect": "ns2", "basic_rates": ["1Mbps"]});
    for (key, value) in more.as_object().into_iter().flatten() {
        settings[key] = value.clone();
    }
    cell_of(stations, settings)
}

fn quiet(config: &CellConfig, sources: &[Source], seed: u64) -> Cell<Packet> {
    let mut cell = Cell::new(config, Seed(seed)).unwrap();
    attach_nodes(&mut cell);
    for source in sources {
        cell.carry(source.from, source.to, source.category).unwrap();
    }
    cell.log_air();
    cell
}

/// Returns the PPDUs of `sources`, each with `packets` packets from the first instant on.
fn log(config: &CellConfig, sources: &[Source], packets: usize, seed: u64) -> Vec<Ppdu<Packet>> {
    let mut cell = quiet(config, sources, seed);
    for (place, source) in sources.iter().enumerate() {
        (0..packets).for_each(|_| cell.accept(Instant::ZERO, (source.from, source.packet(place))));
    }
    while let Some(now) = cell.deadline().filter(|now| *now < Instant::ZERO + Duration::from_secs(10)) {
        cell.wake(now);
        while cell.poll(now).is_some() {}
    }
    cell.take_log().collect()
}

fn data(log: &[Ppdu<Packet>]) -> Vec<&Ppdu<Packet>> {
    log.iter().filter(|ppdu| matches!(ppdu.frame, Frame::Data(_))).collect()
}

/// Returns the nanoseconds between the end of one PPDU and the beginning of another.
fn gap(from: &Ppdu<Packet>, to: &Ppdu<Packet>) -> u64 {
    to.at.since(from.at + from.duration).as_nanos()
}

/// `BackoffTimer::start` draws `random() % cw`: with CWmin 1 there is no backoff, and with CWmin 2
/// the backoff is 0 or 1 slot.
#[test]
fn backoffs_are_below_the_window() {
    let slots = |cw: u16| {
        let config = ns2(1, json!({"access": {"best_effort": {"cw_min": cw}}}));
        let log = log(&config, &[Source::upload(1, 1_500)], 200, 3);
        let gaps = log.windows(2).filter(|pair| matches!(pair[1].frame, Frame::Data(_)));
        let mut seen: Vec<u64> = gaps.map(|pair| (gap(&pair[0], &pair[1]) / 1_000 - DIFS) / 20).collect();
        seen.sort_unstable();
        seen.dedup();
        seen
    };
    assert_eq!((slots(1), slots(2)), (vec![0], vec![0, 1]));
}

/// A frame on an idle medium backs off as well (`Mac802_11::send` with `bugFix_timer_`).
#[test]
fn the_first_frame_backs_off() {
    let config = ns2(1, json!({}));
    let begins = |seed| log(&config, &[Source::upload(1, 1_500)], 1, seed)[0].at.as_nanos() / 1_000;
    let seen: Vec<u64> = (0..20).map(begins).collect();
    assert!(seen.iter().all(|at| (*at - DIFS).is_multiple_of(20) && *at <= DIFS + 30 * 20), "{seen:?}");
    assert!(seen.iter().any(|at| *at > DIFS + 5 * 20), "{seen:?}");
}

/// 34 octets around a packet, and frames that are not rounded to microseconds: 1534 octets at 11
/// Mbps take 1115.64 µs.
#[test]
fn frames_have_no_llc_and_take_what_their_bits_take() {
    let log = log(&ns2(1, json!({})), &[Source::upload(1, 1_500)], 1, 1);
    assert_eq!((log[0].octets.get(), log[0].duration.as_nanos()), (1_534, 192_000 + 1_115_637));
}

/// `usec` rounds duration fields: CTS, data of 1115.64 + 192 µs and ACK, with three SIFS.
#[test]
fn duration_fields_are_whole_microseconds() {
    let log = log(&ns2(2, json!({"rts_threshold": "0B"})), &[Source::upload(1, 1_500)], 1, 1);
    assert!(matches!(log[0].frame, Frame::Rts));
    assert_eq!(log[0].reserved.as_nanos(), (3 * 10 + 304 + 1_308 + 304) * 1_000);
    assert_eq!(log[0].reserved.as_nanos() - 363, gap(&log[0], &log[3]) + 304_000);
}

/// After a collision of frames of equal length, all nodes receive an error at the end of the
/// frames, including the senders (`recv`: `tx_active_`). They continue after EIFS and then DIFS. If
/// the lengths differ, the sender of the longer frame has transmitted all the time. It continues
/// DIFS after its timeout of SIFS, ACK and 4 µs.
#[test]
fn after_a_collision_eifs_and_then_difs() {
    let earliest = |second: u64| {
        // Two stations collide often with windows of 4. The third station gets a frame to send
        // during a collision.
        let config = ns2(3, json!({"access": {"best_effort": {"cw_min": 4}}}));
        let sources = [Source::upload(1, 1_500), Source::upload(2, second), Source::upload(3, 1_500)];
        let mut earliest = [u64::MAX; 4];
        for seed in 0..40 {
            let log = log(&config, &sources, 60, seed);
            let data = data(&log);
            for triple in data.windows(3).filter(|three| three[0].at == three[1].at && three[1].at < three[2].at) {
                let collided = [triple[0], triple[1]];
                if collided.iter().any(|ppdu| ppdu.outcome != Outcome::Collided || ppdu.from == 3) {
                    continue;
                }
                let last = if triple[0].duration > triple[1].duration { triple[0] } else { triple[1] };
                let space = gap(last, triple[2]) / 1_000;
                earliest[triple[2].from] = earliest[triple[2].from].min(space);
            }
        }
        [earliest[1], earliest[2], earliest[3]]
    };
    let after_error = EIFS + DIFS;
    // A bystander has at least one slot left, or it would have transmitted as well.
    let bystander = after_error + 20;
    assert_eq!(earliest(1_500), [after_error, after_error, bystander]);
    assert_eq!(earliest(1_000), [10 + 304 + 4 + DIFS, after_error, bystander]);
}

/// The MAC keeps `pktTx_` until it is acknowledged or given up.
#[test]
fn a_failed_frame_is_repeated_before_all_others() {
    let absences = json!({"absences": [{"node": 1, "from": "0s"}]});
    let config = ns2(2, json!({"ap": {"name": "ap", "queues": "shared"}, "reception": absences}));
    let log = log(&config, &[Source::download(1, 1_500), Source::download(2, 1_500)], 1, 1);
    let to: Vec<Option<usize>> = data(&log).iter().map(|ppdu| ppdu.to).collect();
    assert_eq!(to, [vec![Some(1); 7], vec![Some(2)]].concat());
}

/// `rst_cw` is called when a frame is given up, also under MIMD.
#[test]
fn giving_up_resets_the_window_of_mimd() {
    let config = ns2(
        1,
        json!({"access": {"best_effort": {"cw_control": "mimd"}}, "reception": {"absences": [{"node": 1, "from": "0s"}]}}),
    );
    let mut cell = quiet(&config, &[Source::download(1, 1_500)], 1);
    cell.measure(Instant::ZERO..Instant::ZERO + Duration::from_secs(100));
    (0..300).for_each(|_| cell.accept(Instant::ZERO, (0, Source::download(1, 1_500).packet(0))));
    while let Some(now) = cell.deadline().filter(|now| *now < Instant::ZERO + Duration::from_secs(100)) {
        cell.wake(now);
    }
    let counters = &cell.counters()[0];
    let mean = counters.backoff_slots as f64 / counters.backoffs as f64;
    // Six failures widen the window to 63, …, 1023 and 1023, and the seventh resets it to 31. Draws
    // are below the window. Without the reset, the window would remain at 1023.
    let expected = (63.0 + 127.0 + 255.0 + 511.0 + 1023.0 + 1023.0 + 31.0 - 7.0) / 14.0;
    assert!((mean - expected).abs() < 0.1 * expected, "{mean} slots, expected {expected}");
}
