//! Saturated cells against closed forms.

#[path = "common/saturated.rs"]
mod saturated;

use acklab_wifi::Config;
use saturated::{Source, run};

fn config(text: &str) -> Config {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn smoke() {
    let config = config(
        r#"{"name":"cell","standard":"802.11n","rate":{"control":"fixed","mcs":7},"ap":{"name":"ap"},"station":[{"name":"sta","count":10}]}"#,
    );
    let seconds = 100.0;
    for sources in [
        (1..=2).map(|station| Source::upload(station, 1500)).collect(),
        (1..=5).map(|station| Source::upload(station, 1500)).collect(),
        vec![Source::download(1, 1500)],
        vec![Source::download(1, 1500), Source::upload(1, 1500)],
        (1..=10).map(|station| Source::upload(station, 1500)).collect(),
    ] {
        let (mut cell, arrived) = run(&config, &sources, seconds, 1);
        let mbps: Vec<f64> = arrived.iter().map(|octets| *octets as f64 * 8.0 / (seconds * 0.9) / 1e6).collect();
        println!("{mbps:?} {}", mbps.iter().sum::<f64>());
        println!("{:?}", cell.counters()[0]);
        println!("{:?}", cell.counters()[1]);
        let (p, u, c, r) = cell
            .counters()
            .iter()
            .fold((0, 0, 0, 0), |s, c| (s.0 + c.ppdus, s.1 + c.unanswered, s.2 + c.collisions, s.3 + c.requests));
        println!(
            "ALL ppdus {p} unans {:.4} req {r} req unans {:.4}",
            u as f64 / p as f64,
            (c - u) as f64 / r.max(1) as f64
        );
        let air = cell.airtime(acklab_base::Instant::from_nanos(100_000_000_000));
        for what in acklab_wifi::airtime::Use::ALL {
            println!("{} {:?}", what.name(), air.total(what));
        }
        let all =
            acklab_wifi::airtime::Use::ALL.iter().fold(acklab_base::Duration::ZERO, |sum, what| sum + air.total(*what));
        assert_eq!(all, acklab_base::Duration::from_nanos(90_000_000_000));
    }
}
