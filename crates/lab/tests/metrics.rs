//! The descriptions of the tables' columns, and the page that lists them.

#[path = "../examples/metrics.rs"]
mod page;

use acklab_lab::{Better, metrics, run, scenario};
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn the_page_is_that_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/models/metrics.md");
    let written = std::fs::read_to_string(path).unwrap();
    let again = "cargo run -p acklab-lab --example metrics > docs/models/metrics.md";
    assert!(written == page::page(), "the page is out of date: {again}");
}

#[test]
fn every_column_says_what_it_means() {
    for column in metrics() {
        assert!(!column.meaning.is_empty() && !column.meaning.ends_with('.'), "{}.{}", column.table, column.name);
    }
}

/// Columns with the same name have the same meaning in all tables.
#[test]
fn a_column_is_better_the_same_way_in_every_table() {
    let mut ways: BTreeMap<&str, Better> = BTreeMap::new();
    for column in metrics() {
        let known = *ways.entry(column.name).or_insert(column.better);
        assert_eq!(known, column.better, "{}.{}", column.table, column.name);
    }
}

#[test]
fn the_schema_of_a_run_follows() {
    let text = r#"
        duration = "1s"
        seed = 1
        wifi = [{ name = "cell", standard = "802.11n", ap = { name = "ap" }, station = [{ name = "sta" }], hack = {} }]
        link = [{ name = "wire", from = "server", to = "ap", forward = { delay = "1ms" }, reverse = { delay = "1ms" } }]
        flow = [{ from = "server", to = "sta", preset = "linux" }]
    "#;
    let scenario = scenario::load(text, "x.toml", &[], None).unwrap();
    let results = run(&scenario, &acklab_lab::RunOptions::default(), || true).unwrap();
    for table in results.tables {
        let described: Vec<_> = metrics().into_iter().filter(|column| column.table == table.name()).collect();
        if described.is_empty() {
            continue;
        }
        let batch = table.into_arrow().unwrap();
        let schema = batch.schema();
        let fields = schema
            .fields()
            .iter()
            .map(|field| (field.name().as_str(), field.metadata().get("unit").map_or("", String::as_str)));
        assert!(fields.eq(described.iter().map(|column| (column.name, column.unit))));
    }
    assert_eq!(results.undeliverable, 0);
}
