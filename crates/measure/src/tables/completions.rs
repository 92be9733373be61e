//! The completions table: completion times of the copies of a flow with a finite size, by size.

use super::flows::FlowResult;
use crate::metric::Better::{Less, Neither};
use crate::metric::{Metric, Rows, count, number, text};
use std::ops::RangeInclusive;

/// The classes of sizes in octets, from the literature (Alizadeh et al., pFabric, SIGCOMM 2013,
/// §5.2).
const CLASSES: [(&str, RangeInclusive<u64>); 4] = [
    ("all", 0..=u64::MAX),
    ("up to 100 kB", 0..=100_000),
    ("100 kB to 10 MB", 100_001..=10_000_000),
    ("above 10 MB", 10_000_001..=u64::MAX),
];

/// The copies of a flow in a class of sizes.
pub(super) struct Completions<'a> {
    flow: &'a str,
    class: &'static str,
    flows: u64,
    octets: u64,
    /// The completion times of the complete copies in seconds, the shortest first.
    times: Vec<f64>,
}

/// Returns a row for each class of sizes that has a copy, for each flow with copies and a finite
/// size.
pub(super) fn rows<'a>(flows: &'a [FlowResult<'a>]) -> Vec<Completions<'a>> {
    let mut groups: Vec<&str> = Vec::new();
    let sized = || flows.iter().filter_map(|flow| Some((flow.group()?, flow.total()?, flow)));
    for (group, ..) in sized() {
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let row = |group: &'a str, (class, sizes): &(&'static str, RangeInclusive<u64>)| {
        let members: Vec<_> = sized().filter(|(of, size, _)| *of == group && sizes.contains(size)).collect();
        let mut times: Vec<f64> = members.iter().filter_map(|(.., flow)| flow.completed_after()).collect();
        times.sort_by(f64::total_cmp);
        let octets = members.iter().map(|(_, size, _)| size).sum();
        Completions { flow: group, class, flows: members.len() as u64, octets, times }
    };
    let all = groups.into_iter().flat_map(|group| CLASSES.iter().map(move |class| row(group, class)));
    all.filter(|row| row.flows > 0).collect()
}

impl Completions<'_> {
    fn mean(&self) -> Option<f64> {
        (!self.times.is_empty()).then(|| self.times.iter().sum::<f64>() / self.times.len() as f64)
    }

    /// Returns the smallest time that is not exceeded by the given share of the complete copies.
    fn percentile(&self, share: f64) -> Option<f64> {
        let rank = (share * self.times.len() as f64).ceil() as usize;
        self.times.get(rank.saturating_sub(1)).copied()
    }
}

pub(super) struct CompletionRows;

impl Rows for CompletionRows {
    type Row<'a> = Completions<'a>;
}

#[rustfmt::skip]
pub(super) const METRICS: &[Metric<CompletionRows>] = &[
    text("flow", "the flow of the copies", |row| Some(row.flow.to_owned())),
    text("sizes", "size class of the copies, by bytes of their application", |row| Some(row.class.to_owned())),
    count("total_flows_l7", "", Neither, "copies that started", |row| Some(row.flows)),
    count("total_completed_flows_l7", "", Neither, "copies that are complete at the end of the run; times are of these", |row| Some(row.times.len() as u64)),
    number("mean_size_l7", "B", Neither, "mean bytes of a copy", |row| Some(row.octets as f64 / row.flows as f64)),
    number("mean_completion_time_l7", "s", Less, "mean time from the start of a copy to the ACK of its FIN, or until its page is complete", |row| row.mean()),
    number("p50_completion_time_l7", "s", Less, "median of these times: the minimum that half of the copies do not exceed", |row| row.percentile(0.5)),
    number("p95_completion_time_l7", "s", Less, "95th percentile of these times: the minimum that 95 % of the copies do not exceed", |row| row.percentile(0.95)),
    number("p99_completion_time_l7", "s", Less, "99th percentile of these times: the minimum that 99 % of the copies do not exceed", |row| row.percentile(0.99)),
];
