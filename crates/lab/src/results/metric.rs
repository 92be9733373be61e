//! What a table of results measures: one entry a column, which measures it and describes it.
//!
//! The table, its schema, the page `docs/models/metrics.md` and what Python knows of a column all follow from these entries.

use crate::table::Table;
use serde::Serialize;

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// A larger value is better.
    More,
    /// A smaller value is better.
    Less,
    /// Neither: it depends on what is asked, or it is a name.
    Neither,
}

/// What a table has a row for.
pub(super) trait Rows {
    type Row<'a>;
}

/// One column.
pub(super) struct Metric<R: Rows> {
    name: &'static str,
    unit: &'static str,
    better: Better,
    meaning: &'static str,
    measure: Measure<R>,
}

enum Measure<R: Rows> {
    Text(for<'a, 'b> fn(&'b R::Row<'a>) -> Option<String>),
    Number(for<'a, 'b> fn(&'b R::Row<'a>) -> Option<f64>),
    Count(for<'a, 'b> fn(&'b R::Row<'a>) -> Option<u64>),
}

/// A column of names.
pub(super) const fn text<R: Rows>(
    name: &'static str,
    meaning: &'static str,
    of: for<'a, 'b> fn(&'b R::Row<'a>) -> Option<String>,
) -> Metric<R> {
    Metric { name, unit: "", better: Better::Neither, meaning, measure: Measure::Text(of) }
}

/// A column of numbers. A row for which the number has no meaning is null.
pub(super) const fn number<R: Rows>(
    name: &'static str,
    unit: &'static str,
    better: Better,
    meaning: &'static str,
    of: for<'a, 'b> fn(&'b R::Row<'a>) -> Option<f64>,
) -> Metric<R> {
    Metric { name, unit, better, meaning, measure: Measure::Number(of) }
}

/// A column of counts. A row whose transport or box counts no such thing is null.
pub(super) const fn count<R: Rows>(
    name: &'static str,
    unit: &'static str,
    better: Better,
    meaning: &'static str,
    of: for<'a, 'b> fn(&'b R::Row<'a>) -> Option<u64>,
) -> Metric<R> {
    Metric { name, unit, better, meaning, measure: Measure::Count(of) }
}

/// The table of these metrics.
pub(super) fn table<R: Rows>(name: &'static str, metrics: &[Metric<R>], rows: &[R::Row<'_>]) -> Table {
    metrics.iter().fold(Table::new(name), |table, metric| match metric.measure {
        Measure::Text(of) => table.text(metric.name, rows.iter().map(of)),
        Measure::Number(of) => table.number(metric.name, metric.unit, rows.iter().map(of)),
        Measure::Count(of) => table.count(metric.name, metric.unit, rows.iter().map(of)),
    })
}

/// What a column is, for documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Description {
    /// The table.
    pub table: &'static str,
    /// The column.
    pub name: &'static str,
    /// The unit of its values; empty for names and for ratios.
    pub unit: &'static str,
    /// Which way it is better.
    pub better: Better,
    /// What it means.
    pub meaning: &'static str,
}

/// What the columns of a table are.
pub(super) fn describe<R: Rows>(table: &'static str, metrics: &[Metric<R>]) -> Vec<Description> {
    let one = |metric: &Metric<R>| {
        let Metric { name, unit, better, meaning, .. } = *metric;
        Description { table, name, unit, better, meaning }
    };
    metrics.iter().map(one).collect()
}
