//! Digests of tables: `make digests`, or
//! `cargo run --profile quick -p acklab-lab --example digests < LIST`
//!
//! Each line of the list is the path of a scenario and any number of `KEY=VALUE`, separated by
//! tabs. For each line, the program prints a digest of all tables of that run, followed by the
//! line. Two builds with the same output produce identical tables.

use acklab_lab::{RunOptions, run, scenario};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use std::io::{BufRead, Write};
use std::path::Path;
use std::thread;

fn main() {
    let lines: Vec<String> = std::io::stdin().lock().lines().map_while(Result::ok).collect();
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let digests: Vec<(usize, String)> = thread::scope(|scope| {
        let worker = |first: usize| {
            let lines = &lines;
            move || (first..lines.len()).step_by(workers).map(|at| (at, digest(&lines[at]))).collect::<Vec<_>>()
        };
        let running: Vec<_> = (0..workers).map(|first| scope.spawn(worker(first))).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    let mut sorted = digests;
    sorted.sort();
    let mut out = std::io::stdout().lock();
    for (at, digest) in sorted {
        if writeln!(out, "{digest}\t{}", lines[at]).is_err() {
            return;
        }
    }
}

fn digest(line: &str) -> String {
    let mut words = line.split('\t');
    let path = words.next().unwrap_or_default();
    let sets: Vec<String> = words.map(str::to_owned).collect();
    match tables(path, &sets) {
        Ok(digest) => format!("{digest:016x}"),
        Err(message) => {
            format!("{:016x} refused", fnv(FNV_BASIS, message.lines().next().unwrap_or_default().as_bytes()))
        }
    }
}

fn tables(path: &str, sets: &[String]) -> Result<u64, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let scenario = scenario::load(&text, path, sets, None).map_err(|refusal| refusal.to_string())?;
    let base = Path::new(path).parent().unwrap_or(Path::new(".")).to_owned();
    let options = RunOptions { base, ..RunOptions::default() };
    let results = run(&scenario, &options, || true).map_err(|error| error.to_string())?;
    let mut digest = FNV_BASIS;
    for table in results.tables {
        digest = fnv(digest, table.name().as_bytes());
        let batch = table.into_arrow().map_err(|error| error.to_string())?;
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            digest = fnv(digest, field.name().as_bytes());
            digest = fnv(digest, field.metadata().get("unit").map_or("", String::as_str).as_bytes());
            digest = (0..column.len()).fold(digest, |digest, row| value(digest, column, row));
        }
    }
    Ok(digest)
}

fn value(digest: u64, column: &ArrayRef, row: usize) -> u64 {
    if column.is_null(row) {
        return fnv(digest, b"null");
    }
    match column.data_type() {
        DataType::Utf8 => fnv(digest, column.as_string::<i32>().value(row).as_bytes()),
        DataType::UInt64 => fnv(digest, &column.as_primitive::<UInt64Type>().value(row).to_le_bytes()),
        _ => fnv(digest, &column.as_primitive::<Float64Type>().value(row).to_bits().to_le_bytes()),
    }
}

/// Fowler, Noll and Vo's hash of 64 bits, version 1a.
const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

fn fnv(digest: u64, octets: &[u8]) -> u64 {
    octets.iter().fold(digest, |digest, octet| (digest ^ u64::from(*octet)).wrapping_mul(0x100_0000_01b3))
}
