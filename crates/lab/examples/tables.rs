//! A run without Python:
//!
//! ```sh
//! cargo run --profile quick -p acklab-lab --example tables -- \
//!     SCENARIO [--seed N] [--emulate] [KEY=VALUE…]
//! ```
//!
//! With `--emulate`, the run is in real time, with the kernel's TCP. Prints the tables of the run:
//! one column per line, with the values of the first eight rows.

use acklab_lab::emulate::EmulateOptions;
use acklab_lab::{RunOptions, emulate, run, scenario};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use std::process::ExitCode;

const ROWS: usize = 40;

fn main() -> ExitCode {
    match tables() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn tables() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("expected the path of a scenario")?;
    let (mut sets, mut seed, mut is_real) = (Vec::new(), None, false);
    while let Some(argument) = arguments.next() {
        if argument == "--seed" {
            seed = arguments.next().and_then(|number| number.parse().ok());
        } else if argument == "--emulate" {
            is_real = true;
        } else {
            sets.push(argument);
        }
    }
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let scenario = scenario::load(&text, &path, &sets, seed).map_err(|refusal| refusal.to_string())?;
    let results = if is_real {
        let emulation = emulate(&scenario, &EmulateOptions::default(), || true).map_err(|error| error.to_string())?;
        emulation.verdict.reasons.iter().for_each(|reason| eprintln!("results unreliable: {reason}"));
        emulation.results
    } else {
        run(&scenario, &RunOptions::default(), || true).map_err(|error| error.to_string())?
    };
    for table in results.tables {
        println!("[{}]", table.name());
        let batch = table.into_arrow().map_err(|error| error.to_string())?;
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            let unit = field.metadata().get("unit").map_or("", String::as_str);
            let values: Vec<String> = (0..column.len().min(ROWS)).map(|row| value(column, row)).collect();
            println!("{:<32} {:<10} {}", field.name(), unit, values.join("  "));
        }
    }
    Ok(())
}

fn value(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return "—".to_owned();
    }
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
        _ => format!("{:.4}", column.as_primitive::<Float64Type>().value(row)),
    }
}
