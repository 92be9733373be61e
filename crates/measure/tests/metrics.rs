//! The descriptions of the tables' columns, and the page that lists them.

#[path = "../examples/metrics.rs"]
mod page;

use acklab_measure::{Better, metrics};
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn the_page_is_that_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/models/metrics.md");
    let written = std::fs::read_to_string(path).unwrap();
    let again = "cargo run -p acklab-measure --example metrics > docs/models/metrics.md";
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
