use acklab_lab::{RunOptions, run, scenario::Scenario};
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let scenario: Scenario = toml::from_str(&text).unwrap();
    let t = std::time::Instant::now();
    let results = run(&scenario, &RunOptions::default(), || true).unwrap();
    let el = t.elapsed();
    for table in results.tables {
        let name = table.name();
        let batch = table.into_arrow().unwrap();
        if batch.num_rows() > 12 {
            continue;
        }
        println!("== {name}");
        for (f, c) in batch.schema().fields().iter().zip(batch.columns()) {
            let v: Vec<String> = (0..batch.num_rows()).map(|r| arrow_cast(c, r)).collect();
            println!("{:32} {}", f.name(), v.join("  "));
        }
    }
    println!(
        "{el:?} wakes {} hops {} ns/hop {:.1}",
        results.wakes,
        results.hops,
        el.as_nanos() as f64 / results.hops as f64
    );
}
fn arrow_cast(c: &arrow_array::ArrayRef, r: usize) -> String {
    use arrow_array::*;
    if let Some(a) = c.as_any().downcast_ref::<StringArray>() {
        a.value(r).into()
    } else if let Some(a) = c.as_any().downcast_ref::<Float64Array>() {
        if a.is_null(r) { "null".into() } else { format!("{:.4}", a.value(r)) }
    } else if let Some(a) = c.as_any().downcast_ref::<UInt64Array>() {
        a.value(r).to_string()
    } else {
        "?".into()
    }
}
