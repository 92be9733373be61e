//! What can go wrong once a scenario has been accepted.

use crate::capture;
use acklab_path::server::{ScheduleError, TraceError};
use std::io;
use std::path::PathBuf;

/// A run that could not begin, or not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The nodes of a flow are not connected.
    #[error("flow \"{flow}\": found no way from \"{from}\" to \"{to}\", expected links that connect them")]
    NoRoute {
        /// The flow's name.
        flow: String,
        /// Where it begins.
        from: String,
        /// Where it should end.
        to: String,
    },
    /// A flow's packets and their ACKs would take no time at all, so that its run would never end.
    #[error("flow \"{flow}\": found neither a rate nor a delay on its way there and back, expected at least one")]
    NoTime {
        /// The flow's name.
        flow: String,
    },
    /// A transport that the run is given does not understand its settings.
    #[error("flow \"{flow}\": transport \"{name}\": {reason}")]
    Transport {
        /// The flow's name.
        flow: String,
        /// The transport's name.
        name: String,
        /// What it says.
        reason: String,
    },
    /// A flow over UDP has an application that leaves it to the transport how fast to send.
    #[error("flow \"{flow}\": found an application without a rate, expected one that has it, for UDP has none")]
    NoRate {
        /// The flow's name.
        flow: String,
    },
    /// A flow names a strategy that the run is not given.
    #[error("flow \"{flow}\": {key}: found \"{name}\", expected {expected}")]
    NoStrategy {
        /// The flow's name.
        flow: String,
        /// The flow's key that names it.
        key: &'static str,
        /// The name.
        name: String,
        /// The names that there are, in words.
        expected: String,
    },
    /// A trace file cannot be read.
    #[error("link \"{link}\": cannot read the trace {}: {source}", path.display())]
    ReadTrace {
        /// The link direction's name.
        link: String,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A trace file holds something else.
    #[error("link \"{link}\": {} is no trace: {source}", path.display())]
    Trace {
        /// The link direction's name.
        link: String,
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: TraceError,
    },
    /// The steps of a link make no schedule.
    #[error("link \"{link}\": {source}")]
    Schedule {
        /// The link direction's name.
        link: String,
        /// Why.
        source: ScheduleError,
    },
    /// A cell cannot be.
    #[error("wifi \"{cell}\": {source}")]
    Wifi {
        /// The cell's name.
        cell: String,
        /// Why.
        source: acklab_wifi::cell::Error,
    },
    /// A flow cannot join the network.
    #[error("flow \"{flow}\": {source}")]
    Join {
        /// The flow's name.
        flow: String,
        /// Why.
        source: acklab_net::AttachError,
    },
    /// A capture cannot be written.
    #[error(transparent)]
    Capture(#[from] capture::Error),
    /// The caller asked to stop.
    #[error("the run was stopped before its end")]
    Stopped,
    /// A table's columns do not fit each other: a fault of the lab.
    #[error("a result table is inconsistent: {0}")]
    Table(#[from] arrow_schema::ArrowError),
}
