//! Prints the page of the tables' columns:
//! `cargo run -p acklab-measure --example metrics > docs/models/metrics.md`

use acklab_measure::{Better, Description, metrics};

const HEAD: &str = "# Tables and their metrics

<!-- This page is made by `cargo run -p acklab-measure --example metrics > docs/models/metrics.md`; a test holds it against the code. -->

Names of columns have the form of CCperf: statistic, quantity, layer. Means \"over time\" are weighted by duration. A value is null if it does not apply
to the transport, or if nothing was measured in the window. It is also null if only one end is measured (`acklab_measure::Recorder`) and the value
belongs to the other end.

The active time of a flow begins at its start, or at that of the window. It ends when all its data are acknowledged, or at its stop, or at the last
departure or arrival of its data after the stop. The page of [TCP](tcp.md#metrics-of-a-flow) defines windows, bins and means.
";

/// Returns the page.
pub(crate) fn page() -> String {
    let all = metrics();
    let mut page = HEAD.to_owned();
    for of_table in all.chunk_by(|one, other| one.table == other.table) {
        page.push_str(&format!(
            "\n## `{}`\n\n| column | unit | better | definition |\n|---|---|---|---|\n",
            of_table[0].table
        ));
        of_table.iter().for_each(|column| page.push_str(&row(column)));
    }
    page
}

fn row(column: &Description) -> String {
    let better = match column.better {
        Better::More => "more",
        Better::Less => "less",
        Better::Neither => "",
    };
    format!("| `{}` | {} | {better} | {} |\n", column.name, column.unit, column.meaning)
}

#[allow(dead_code, reason = "the tests have this file as a module")]
fn main() {
    print!("{}", page());
}
