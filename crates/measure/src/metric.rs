//! The columns of metrics tables: each entry computes and describes the values of a column.
//!
//! The tables, the page `docs/models/metrics.md` and the column descriptions in Python are all
//! generated from these entries.

use crate::table::Table;
use serde::Serialize;

/// The direction in which values of a metric improve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// A larger value is better.
    More,
    /// A smaller value is better.
    Less,
    /// Neither. The column is a name, or the better value depends on the question.
    Neither,
}

/// The rows of a table. This is a marker type, because the row type has a lifetime.
pub(crate) trait Rows {
    type Row<'a>;
}

/// One column.
pub(crate) struct Metric<R: Rows> {
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

/// Returns a text column.
pub(crate) const fn text<R: Rows>(
    name: &'static str,
    meaning: &'static str,
    of: for<'a, 'b> fn(&'b R::Row<'a>) -> Option<String>,
) -> Metric<R> {
    Metric { name, unit: "", better: Better::Neither, meaning, measure: Measure::Text(of) }
}

/// Returns a column of numbers. A meaningless value is null.
pub(crate) const fn number<R: Rows>(
    name: &'static str,
    unit: &'static str,
    better: Better,
    meaning: &'static str,
    of: for<'a, 'b> fn(&'b R::Row<'a>) -> Option<f64>,
) -> Metric<R> {
    Metric { name, unit, better, meaning, measure: Measure::Number(of) }
}

/// Returns a column of counts. A value that the transport, link or cell does not count is null.
pub(crate) const fn count<R: Rows>(
    name: &'static str,
    unit: &'static str,
    better: Better,
    meaning: &'static str,
    of: for<'a, 'b> fn(&'b R::Row<'a>) -> Option<u64>,
) -> Metric<R> {
    Metric { name, unit, better, meaning, measure: Measure::Count(of) }
}

/// Returns the table of these metrics.
pub(crate) fn table<R: Rows>(name: &'static str, metrics: &[Metric<R>], rows: &[R::Row<'_>]) -> Table {
    metrics.iter().fold(Table::new(name), |table, metric| match metric.measure {
        Measure::Text(of) => table.text(metric.name, rows.iter().map(of)),
        Measure::Number(of) => table.number(metric.name, metric.unit, rows.iter().map(of)),
        Measure::Count(of) => table.count(metric.name, metric.unit, rows.iter().map(of)),
    })
}

/// The description of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Description {
    /// The name of the table.
    pub table: &'static str,
    /// The name of the column.
    pub name: &'static str,
    /// The unit of the values. Empty for names and for ratios.
    pub unit: &'static str,
    /// The direction in which values improve.
    pub better: Better,
    /// The definition of the values.
    pub meaning: &'static str,
}

/// Returns the descriptions of the columns of a table.
pub(crate) fn describe<R: Rows>(table: &'static str, metrics: &[Metric<R>]) -> Vec<Description> {
    let one = |metric: &Metric<R>| {
        let Metric { name, unit, better, meaning, .. } = *metric;
        Description { table, name, unit, better, meaning }
    };
    metrics.iter().map(one).collect()
}
