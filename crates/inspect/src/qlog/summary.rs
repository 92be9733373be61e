//! The summary of a log, with counts of unknown events.

use serde::Serialize;
use std::collections::BTreeMap;

/// The maximum number of names of unknown events; the others share one.
const MAX_NAMES: usize = 64;
/// The number of names in a note.
const SHOWN: usize = 5;

/// Summary of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The version or the schema that the log states.
    pub version: Option<String>,
    /// Traces in the file.
    pub traces: usize,
    /// Events that were read in the requested traces.
    pub events: u64,
    /// Packets that were sent, received, and declared lost.
    pub packets: [u64; 3],
    /// Packets with data of streams or datagrams among the sent and received ones.
    pub packets_with_data: u64,
    /// Unknown events, by name.
    pub not_understood: BTreeMap<String, u64>,
    /// The same as text, with the most frequent names.
    pub note: Option<String>,
}

impl Summary {
    /// Counts an event of this name as unknown.
    pub(super) fn not_understood(&mut self, name: &str) {
        let counts = &mut self.not_understood;
        let name = if counts.len() < MAX_NAMES || counts.contains_key(name) { name } else { "(others)" };
        *counts.entry(name.to_owned()).or_default() += 1;
    }

    /// Describes the unknown events.
    pub(super) fn describe(&mut self) {
        let all: u64 = self.not_understood.values().sum();
        let mut names: Vec<(&String, u64)> = self.not_understood.iter().map(|(name, count)| (name, *count)).collect();
        names.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let shown: Vec<String> = names.iter().take(SHOWN).map(|(name, count)| format!("{name} ×{count}")).collect();
        let rest: u64 = names.iter().skip(SHOWN).map(|(_, count)| count).sum();
        let rest = if rest > 0 { format!(", others ×{rest}") } else { String::new() };
        self.note = (all > 0).then(|| {
            let events = if all == 1 { "event was" } else { "events were" };
            format!("{all} {events} not understood: {}{rest}", shown.join(", "))
        });
    }
}
