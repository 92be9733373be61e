//! The descriptions of the tables' columns.

use acklab_lab::{run, scenario};
use acklab_measure::metrics;

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
