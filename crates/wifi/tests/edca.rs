//! Compares contention between categories with the naive simulator and a fixed point of the
//! literature.

#![expect(clippy::needless_pass_by_value, reason = "settings are written where they are passed")]

use crate::common::durations::{QOS_MPDU, US, ht, ofdm};
use crate::common::saturated::{Outcome, Source, cell_of, run};
use crate::common::slots::{Contender, Exchange, Medium, simulate};
use crate::common::zones::{self, Class};
use acklab_wifi::access::Category;
use acklab_wifi::airtime::Use;
use serde_json::{Value, json};

const PACKET: u64 = 1_500;
const MEDIUM: Medium = Medium { slot: 9 * US, sifs: 16 * US, counts_at_aifs: true, sensing: 4 * US };

/// Single frames, one per transmission opportunity.
fn settings(access: Value) -> Value {
    let mut settings = json!({
        "standard": "802.11n",
        "width": "20MHz",
        "guard_interval": "800ns",
        "rate": {"control": "fixed", "mcs": 7},
        "aggregation": {"max_bytes": "0B"},
        "access": {"voice": {"txop_limit": "0ms"}, "video": {"txop_limit": "0ms"}},
    });
    for (category, overrides) in access.as_object().into_iter().flatten() {
        settings["access"][category] = overrides.clone();
    }
    settings
}

fn contender(node: usize, category: Category) -> Contender {
    let (aifsn, cw_min, cw_max) = match category {
        // CWmax is 63 instead of 1023: otherwise, a few large backoffs would dominate the share of
        // voice.
        Category::Background => (7, 15, 63),
        Category::BestEffort => (3, 15, 63),
        Category::Video => (2, 7, 15),
        Category::Voice => (2, 3, 7),
    };
    let data = ht(7, 1, 20, false, PACKET + QOS_MPDU);
    let data = Exchange { answered: data + 16 * US + ofdm(4, 14), collided: data };
    Contender { node, aifsn, cw_min, cw_max, retries: Some(7), gives_up: true, data, request: None, timeout: 45 * US }
}

/// Returns the frames per second of each source, in the cell and in the reference simulator.
fn both(sources: &[(usize, Category)], periods: u64) -> (Vec<f64>, Vec<f64>) {
    let stations = sources.iter().map(|(node, _)| *node).max().unwrap_or(1);
    let access = json!({"background": {"cw_max": 63}, "best_effort": {"cw_max": 63}});
    let config = cell_of(stations as u32, settings(access));
    let flows: Vec<Source> =
        sources.iter().map(|(node, category)| Source::upload(*node, PACKET).with(*category)).collect();
    let outcome = run(&config, &flows, periods as f64 / 2_500.0, 17);
    let in_cell = outcome.octets.iter().map(|octets| *octets as f64 / PACKET as f64 / outcome.seconds()).collect();
    let contenders: Vec<Contender> = sources.iter().map(|(node, category)| contender(*node, *category)).collect();
    let (tallies, end) = simulate(MEDIUM, &contenders, 5 * periods, 23);
    (in_cell, tallies.iter().map(|tally| tally.delivered as f64 / (end as f64 / 1e9)).collect())
}

/// Returns the sums of the first `first` sources and of the others.
fn split(rates: &[f64], first: usize) -> (f64, f64) {
    (rates[..first].iter().sum(), rates[first..].iter().sum())
}

#[track_caller]
fn near(what: &str, found: f64, expected: f64, tolerance: f64) {
    println!("{what}: found {found:.2}, expected {expected:.2}, {:+.2} %", (found / expected - 1.0) * 100.0);
    assert!((found / expected - 1.0).abs() < tolerance, "{what}: found {found}, expected {expected}");
}

#[test]
fn categories_share_the_medium_as_in_the_referee() {
    for (high, low, each, tolerance) in [
        (Category::Voice, Category::BestEffort, 1, 0.05),
        (Category::BestEffort, Category::Background, 3, 0.03),
        (Category::Video, Category::BestEffort, 2, 0.05),
        (Category::Video, Category::Voice, 2, 0.03),
    ] {
        let sources: Vec<(usize, Category)> =
            (1..=2 * each).map(|node| (node, if node <= each { high } else { low })).collect();
        let (cell, referee) = both(&sources, 120_000);
        let ((cell_high, cell_low), (high_rate, low_rate)) = (split(&cell, each), split(&referee, each));
        near(&format!("{each} {}", high.name()), cell_high, high_rate, 0.01);
        near(&format!("{each} {} beside it", low.name()), cell_low, low_rate, tolerance);
    }
}

#[test]
fn within_a_station_the_higher_category_comes_first() {
    let alone = [(1, Category::BestEffort), (1, Category::Background)];
    let several = [(1, Category::BestEffort), (1, Category::Video), (2, Category::BestEffort), (2, Category::Video)];
    for sources in [&alone[..], &several[..]] {
        // In the reference simulator, the order of contenders is their priority.
        let mut ranked = sources.to_vec();
        ranked.sort_by_key(|(node, category)| (*node, *category));
        let (cell, referee) = both(&ranked, 40_000);
        for ((source, cell), referee) in ranked.iter().zip(cell).zip(referee) {
            near(&format!("{source:?} of {}", sources.len()), cell, referee, 0.04);
        }
    }
}

#[test]
fn nobody_collides_with_oneself() {
    let sources = [Category::Voice, Category::Video, Category::BestEffort]
        .map(|category| Source::upload(1, PACKET).with(category));
    let outcome = run(&cell_of(1, settings(json!({}))), &sources, 5.0, 3);
    let counters = &outcome.cell.counters()[1];
    assert!(counters.internal_collisions > 1_000, "{counters:?}");
    assert_eq!((counters.collisions, counters.unanswered), (0, 0));
}

/// Returns the frames per second of two classes with `each` stations.
fn classes(overrides: [Value; 2], each: u32) -> (f64, f64) {
    let mut settings = settings(json!({}));
    settings["ap"] = json!({"name": "ap"});
    settings["station"] = json!([
        {"name": "one", "count": each, "access": {"best_effort": overrides[0]}},
        {"name": "two", "count": each, "access": {"best_effort": overrides[1]}},
    ]);
    let sources: Vec<Source> = (1..=2 * each as usize).map(|station| Source::upload(station, PACKET)).collect();
    let outcome = run(&cell_of(1, settings), &sources, 20.0, 29);
    let rates: Vec<f64> =
        outcome.octets.iter().map(|octets| *octets as f64 / PACKET as f64 / outcome.seconds()).collect();
    split(&rates, each as usize)
}

#[test]
fn windows_and_interframe_spaces_share_as_in_the_fixed_point() {
    let data = contender(0, Category::BestEffort).data;
    for (one, two, each) in [((3, 15), (3, 31), 5), ((3, 15), (3, 63), 5), ((3, 31), (5, 31), 5), ((2, 31), (4, 63), 4)]
    {
        let class = |(aifsn, cw_min): (u32, u32)| Class { stations: each, aifsn, cw_min, cw_max: 1_023, retries: 7 };
        let shortest = 16e-6 + 9e-6 * f64::from(one.0);
        let rates = zones::solve(
            [class(one), class(two)],
            9e-6,
            data.answered as f64 / 1e9 + shortest,
            data.collided as f64 / 1e9 + shortest,
        );
        let of = |(aifsn, cw_min): (u32, u32)| json!({"aifsn": aifsn, "cw_min": cw_min});
        let found = classes([of(one), of(two)], each);
        near(&format!("{one:?} beside {two:?}"), found.0, rates.0, 0.03);
        near(&format!("{two:?} beside {one:?}"), found.1, rates.1, 0.05);
        near(&format!("{one:?} over {two:?}"), found.0 / found.1, rates.0 / rates.1, 0.06);
    }
}

fn shares(limits: [u64; 2]) -> (Outcome, f64) {
    let mut settings = settings(json!({}));
    settings["ap"] = json!({"name": "ap"});
    settings["station"] = json!([
        {"name": "one", "access": {"best_effort": {"txop_limit": format!("{}us", limits[0])}}},
        {"name": "two", "access": {"best_effort": {"txop_limit": format!("{}us", limits[1])}}},
    ]);
    let mut outcome = run(&cell_of(1, settings), &[Source::upload(1, PACKET), Source::upload(2, PACKET)], 60.0, 31);
    let end = outcome.end;
    let air = outcome.cell.airtime(end);
    let [one, two] = [1, 2].map(|node| air.of(node, Use::Data).as_nanos() as f64);
    (outcome, one / two)
}

#[test]
fn airtime_follows_transmission_opportunities() {
    // Frames of 228 µs with their response frames, SIFS between them.
    let exchange = contender(0, Category::BestEffort).data.answered;
    let frames = |limit: u64| ((limit * US + 16 * US) / (exchange + 16 * US)).max(1) as f64;
    for limits in [[4_096, 1_024], [3_008, 0], [2_528, 2_528]] {
        let (outcome, share) = shares(limits);
        // A failed frame costs its sender no more than a whole opportunity, and both fail together.
        near(&format!("{limits:?}"), share, frames(limits[0]) / frames(limits[1]), 0.03);
        assert!(outcome.cell.counters()[1].collisions > 100);
    }
}
