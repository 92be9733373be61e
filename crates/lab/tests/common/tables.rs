//! The tables of a run, by name.

use acklab_lab::scenario::{Scenario, load};
use acklab_lab::{Results, RunOptions, run};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use std::collections::BTreeMap;

/// Every table of a run.
#[derive(PartialEq)]
pub(crate) struct Tables(BTreeMap<&'static str, RecordBatch>);

impl Tables {
    /// Runs `scenario` and returns its tables.
    pub(crate) fn of(scenario: &Scenario, options: &RunOptions) -> Self {
        Self::of_results(run(scenario, options, || true).unwrap_or_else(|error| panic!("{error}")))
    }

    /// Returns the tables of a finished run.
    pub(crate) fn of_results(results: Results) -> Self {
        Self(results.tables.into_iter().map(|table| (table.name(), table.into_arrow().unwrap())).collect())
    }

    /// Runs the scenario in `text` with these overrides, and with another seed if one is given.
    pub(crate) fn run(text: &str, sets: &[impl ToString], seed: Option<u64>) -> Self {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        let scenario = load(text, "the scenario", &sets, seed).unwrap_or_else(|refusal| panic!("{refusal}"));
        Self::of(&scenario, &RunOptions::default())
    }

    pub(crate) fn rows(&self, table: &str) -> usize {
        self.0[table].num_rows()
    }

    fn column(&self, table: &str, column: &str) -> &dyn Array {
        self.0[table].column_by_name(column).unwrap_or_else(|| panic!("{table} has no column {column}"))
    }

    pub(crate) fn texts(&self, table: &str, column: &str) -> Vec<String> {
        self.column(table, column).as_string::<i32>().iter().flatten().map(str::to_owned).collect()
    }

    pub(crate) fn numbers(&self, table: &str, column: &str) -> Vec<f64> {
        let array = self.column(table, column).as_primitive::<Float64Type>();
        array.iter().map(|value| value.unwrap_or(f64::NAN)).collect()
    }

    pub(crate) fn counts(&self, table: &str, column: &str) -> Vec<u64> {
        self.column(table, column).as_primitive::<UInt64Type>().values().to_vec()
    }

    /// Returns `true` by row if the value is null.
    pub(crate) fn nulls(&self, table: &str, column: &str) -> Vec<bool> {
        let column = self.column(table, column);
        (0..column.len()).map(|row| column.is_null(row)).collect()
    }

    /// Returns the columns of counts, by name.
    pub(crate) fn count_columns(&self, table: &str) -> Vec<String> {
        let schema = self.0[table].schema();
        let counts = schema.fields().iter().filter(|field| *field.data_type() == DataType::UInt64);
        counts.map(|field| field.name().clone()).collect()
    }
}
