//! Prints the page of the tables' columns:
//! `cargo run -p acklab-measure --example metrics > docs/models/metrics.md`

use acklab_measure::{Better, Description, metrics};

const HEAD: &str = "# Tables and their metrics

<!-- This page is made by `cargo run -p acklab-measure --example metrics > docs/models/metrics.md`; a test holds it against the code. -->

A column is named as CCperf names its metrics: statistic, quantity, layer. Means \"over time\" weigh a value by how long it held. What has no
meaning for a transport, or was not seen in the window of measurement, is null. So is, where one end of a connection is measured alone
(`acklab_measure::Recorder`), what only its peer can know. The active time of a flow lasts from its start, or the window's, until all
its data are acknowledged, or until its stop, or the last departure or arrival of its data after that. How windows, bins and means are taken
is told on the page of [TCP](tcp.md#metrics-of-a-flow).
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
