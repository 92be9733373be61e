//! Compares saturated stations with a fixed point of the literature and with a naive simulator.

use crate::common::durations::{MPDU, QOS_MPDU, US, a_mpdu, dsss, ht, ofdm};
use crate::common::fixed_point::{Model, Times};
use crate::common::saturated::{Source, cell_of, run};
use crate::common::slots::{self, Contender, Exchange, Medium, simulate};
use serde_json::{Value, json};

const PACKET: u64 = 1_500;
/// MPDUs per aggregate.
const FRAMES: u64 = 8;

/// A kind of cell, with the parameters of the standard.
struct Case {
    name: &'static str,
    settings: Value,
    medium: Medium,
    station: Contender,
    /// Packets of a data exchange.
    packets: u64,
}

impl Case {
    fn b(has_rts: bool) -> Self {
        let medium = Medium { slot: 20 * US, sifs: 10 * US, counts_at_aifs: false, sensing: 15 * US };
        let (data, ack) = (dsss(110, false, PACKET + MPDU), dsss(20, false, 14));
        let (rts, cts) = (dsss(20, false, 20), dsss(20, false, 14));
        Self {
            name: if has_rts { "802.11b with RTS" } else { "802.11b" },
            settings: json!({
                "standard": "802.11b",
                "rate": {"control": "fixed", "rate": "11Mbps"},
                "rts_threshold": has_rts.then_some("0B"),
            }),
            medium,
            station: Contender {
                node: 0,
                aifsn: 2,
                cw_min: 31,
                cw_max: 1_023,
                retries: Some(7),
                gives_up: true,
                data: exchange(medium, has_rts.then_some((rts, cts)), data, ack),
                request: None,
                // SIFS, slot, and the long preamble.
                timeout: (10 + 20 + 192) * US,
            },
            packets: 1,
        }
    }

    fn a(has_rts: bool) -> Self {
        let medium = Medium { slot: 9 * US, sifs: 16 * US, counts_at_aifs: false, sensing: 4 * US };
        let (data, ack) = (ofdm(7, PACKET + MPDU), ofdm(4, 14));
        Self {
            name: if has_rts { "802.11a with RTS" } else { "802.11a" },
            settings: json!({
                "standard": "802.11a",
                "rate": {"control": "fixed", "rate": "54Mbps"},
                "rts_threshold": has_rts.then_some("0B"),
            }),
            medium,
            station: Contender {
                node: 0,
                aifsn: 2,
                cw_min: 15,
                cw_max: 1_023,
                retries: Some(7),
                gives_up: true,
                data: exchange(medium, has_rts.then_some((ofdm(4, 20), ofdm(4, 14))), data, ack),
                request: None,
                timeout: (16 + 9 + 20) * US,
            },
            packets: 1,
        }
    }

    fn n(has_rts: bool) -> Self {
        let medium = Medium { slot: 9 * US, sifs: 16 * US, counts_at_aifs: true, sensing: 4 * US };
        let data = ht(7, 1, 20, false, a_mpdu(PACKET + QOS_MPDU, FRAMES));
        let block_ack = ofdm(4, 32);
        Self {
            name: if has_rts { "802.11n with RTS" } else { "802.11n" },
            settings: json!({
                "standard": "802.11n",
                "width": "20MHz",
                "guard_interval": "800ns",
                "rate": {"control": "fixed", "mcs": 7},
                "aggregation": {"max_frames": FRAMES},
                // The reference simulator does not model lifetimes.
                "retries": {"lifetime": "0s"},
                "rts_threshold": has_rts.then_some("0B"),
            }),
            medium,
            station: Contender {
                node: 0,
                aifsn: 3,
                cw_min: 15,
                cw_max: 1_023,
                retries: Some(7),
                gives_up: false,
                data: exchange(medium, has_rts.then_some((ofdm(4, 20), ofdm(4, 14))), data, block_ack),
                // Data after RTS do not collide: the failed frame is the RTS.
                request: (!has_rts).then(|| exchange(medium, None, ofdm(4, 24), block_ack)),
                timeout: (16 + 9 + 20) * US,
            },
            packets: FRAMES,
        }
    }

    /// Single frames in EDCA: Bianchi's own assumptions, with a retry limit.
    fn single(&self) -> Self {
        let data = ht(7, 1, 20, false, PACKET + QOS_MPDU);
        let mut settings = self.settings.clone();
        settings["aggregation"] = json!({"max_bytes": "0B"});
        Self {
            name: "802.11n without aggregates",
            settings,
            medium: self.medium,
            station: Contender {
                gives_up: true,
                data: exchange(self.medium, None, data, ofdm(4, 14)),
                request: None,
                ..self.station
            },
            packets: 1,
        }
    }

    fn all() -> Vec<Self> {
        let n = Self::n(false);
        let single = n.single();
        vec![Self::b(false), Self::b(true), Self::a(false), Self::a(true), n, Self::n(true), single]
    }

    fn model(&self, stations: u32) -> Model {
        let Self { medium, station, .. } = self;
        let aifs = medium.sifs + station.aifsn * medium.slot;
        let times = |exchange: Exchange| Times {
            answered: (exchange.answered + aifs) as f64 / 1e9,
            collided: (exchange.collided + aifs) as f64 / 1e9,
        };
        Model {
            stations,
            cw_min: station.cw_min as u32,
            cw_max: station.cw_max as u32,
            retries: station.retries,
            counts_at_aifs: medium.counts_at_aifs,
            requests_block_ack: station.request.is_some(),
            timeout: (station.timeout / medium.slot) as u32,
            slot: medium.slot as f64 / 1e9,
            data: times(station.data),
            request: times(station.request.unwrap_or(station.data)),
        }
    }
}

fn exchange(medium: Medium, reservation: Option<(u64, u64)>, data: u64, answer: u64) -> Exchange {
    match reservation {
        None => Exchange { answered: data + medium.sifs + answer, collided: data },
        Some((rts, cts)) => Exchange { answered: rts + cts + data + answer + 3 * medium.sifs, collided: rts },
    }
}

/// Measured or computed values.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Data exchanges that succeeded, per second.
    exchanges: f64,
    /// The share of transmissions that collided, and their number.
    collision: f64,
    sent: f64,
    /// The share of frames that were given up.
    given_up: f64,
}

impl Seen {
    fn in_the_cell(case: &Case, stations: u32, periods: f64) -> Self {
        let config = cell_of(stations, case.settings.clone());
        let sources: Vec<Source> = (1..=stations).map(|station| Source::upload(station as usize, PACKET)).collect();
        let seconds = periods / case.model(stations).solve().exchanges;
        let outcome = run(&config, &sources, seconds, 11);
        let counters = outcome.cell.counters();
        let sum = |of: fn(&acklab_wifi::counters::Counters) -> u64| counters.iter().map(of).sum::<u64>() as f64;
        let sent = if case.settings["rts_threshold"].is_null() {
            sum(|counters| counters.ppdus + counters.requests)
        } else {
            sum(|counters| counters.rts)
        };
        let (delivered, given_up) = (sum(|counters| counters.delivered), sum(|counters| counters.given_up));
        Self {
            exchanges: outcome.packets_per_second(PACKET) / case.packets as f64,
            collision: sum(|counters| counters.collisions) / sent,
            sent,
            given_up: given_up / (given_up + delivered),
        }
    }

    fn by_the_referee(case: &Case, stations: u32, periods: u64) -> Self {
        let contenders: Vec<Contender> =
            (0..stations as usize).map(|node| Contender { node, ..case.station }).collect();
        let (tallies, end) = simulate(case.medium, &contenders, periods, 5);
        let sum = |of: fn(&slots::Tally) -> u64| tallies.iter().map(of).sum::<u64>() as f64;
        let (delivered, given_up) = (sum(|tally| tally.delivered), sum(|tally| tally.given_up));
        Self {
            exchanges: delivered / (end as f64 / 1e9),
            collision: sum(|tally| tally.collided) / sum(|tally| tally.sent),
            sent: sum(|tally| tally.sent),
            given_up: given_up / (given_up + delivered),
        }
    }
}

/// Returns `true` if two shares agree within four standard errors. Collisions come in twos and
/// threes, which reduces the effective sample.
fn agree(one: (f64, f64), other: (f64, f64)) -> bool {
    const TOGETHER: f64 = 2.5;
    let share = (one.0 * one.1 + other.0 * other.1) / (one.1 + other.1);
    let error = (TOGETHER * share * (1.0 - share) * (1.0 / one.1 + 1.0 / other.1)).sqrt();
    (one.0 - other.0).abs() <= 4.0 * error.max(1e-9)
}

/// Compares the cell with the reference simulator, which simulates five times as many busy periods
/// as the cell has exchanges.
#[expect(clippy::disallowed_methods, reason = "cases know nothing of each other, and take seconds")]
fn compare(stations: &[u32], periods: u64) {
    std::thread::scope(|scope| {
        for case in Case::all() {
            scope.spawn(move || stations.iter().for_each(|&n| compare_case(&case, n, periods)));
        }
    });
}

fn compare_case(case: &Case, n: u32, periods: u64) {
    let name = format!("{}, n = {n}", case.name);
    let cell = Seen::in_the_cell(case, n, periods as f64);
    let referee = Seen::by_the_referee(case, n, 5 * periods);
    let theory = case.model(n).solve();
    println!(
        "{name}: {:.1} exchanges/s (referee {:+.2} %, theory {:+.2} %), collision {:.4} (referee {:+.2} %, theory {:+.2} %)",
        cell.exchanges,
        (referee.exchanges / cell.exchanges - 1.0) * 100.0,
        (theory.exchanges / cell.exchanges - 1.0) * 100.0,
        cell.collision,
        (referee.collision / cell.collision - 1.0) * 100.0,
        (theory.collision / cell.collision - 1.0) * 100.0,
    );
    assert!((cell.exchanges / referee.exchanges - 1.0).abs() < 0.01, "{name}: {cell:?}, {referee:?}");
    assert!(agree((cell.collision, cell.sent), (referee.collision, referee.sent)), "{name}: {cell:?}, {referee:?}");
    let frames = |seen: &Seen| (seen.given_up, seen.sent * (1.0 - seen.collision));
    assert!(agree(frames(&cell), frames(&referee)), "{name}: {cell:?}, {referee:?}");
    assert!((theory.exchanges / referee.exchanges - 1.0).abs() < 0.02, "{name}: {referee:?}, {theory:?}");
    // The fixed point assumes independent stations. Few stations are not independent: the last
    // winner draws from a small window.
    let tolerance = match n {
        1..=3 => 0.12,
        4..=9 => 0.04,
        _ => 0.02,
    };
    let off = (theory.collision - referee.collision).abs();
    assert!(off <= tolerance * referee.collision, "{name}: {referee:?}, {theory:?}");
}

#[test]
fn saturated_stations_meet_the_fixed_point() {
    compare(&[1, 2, 5, 10, 25, 50], 40_000);
}

#[test]
#[ignore = "minutes; part of `make closed-forms`"]
fn saturated_stations_meet_the_fixed_point_at_length() {
    compare(&[1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50], 100_000);
}
