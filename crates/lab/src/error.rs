//! Errors of a run whose scenario is valid.

use crate::capture;
use acklab_path::server::{ScheduleError, TraceError};
use std::io;
use std::path::PathBuf;

/// Why a run cannot start or continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The nodes of a flow are not connected.
    #[error("flow \"{flow}\": found no route from \"{from}\" to \"{to}\", expected links that connect them")]
    NoRoute {
        /// The flow's name.
        flow: String,
        /// The sending node.
        from: String,
        /// The receiving node.
        to: String,
    },
    /// A flow's packets and their ACKs would take no time, so that the run would never end.
    #[error("flow \"{flow}\": found neither a rate nor a delay on its path there and back, expected at least one")]
    NoTime {
        /// The flow's name.
        flow: String,
    },
    /// A transport of the user rejects its settings.
    #[error("flow \"{flow}\": transport \"{name}\": {reason}")]
    Transport {
        /// The flow's name.
        flow: String,
        /// The transport's name.
        name: String,
        /// The reason that the transport gives.
        reason: String,
    },
    /// The application of a flow over UDP has no rate.
    #[error(
        "flow \"{flow}\": found an application without a rate, expected one with a rate, because UDP has no congestion control"
    )]
    NoRate {
        /// The flow's name.
        flow: String,
    },
    /// A flow names a strategy that is not among those of the run.
    #[error("flow \"{flow}\": {key}: found \"{name}\", expected {expected}")]
    NoStrategy {
        /// The flow's name.
        flow: String,
        /// The flow's key with the name.
        key: &'static str,
        /// The name.
        name: String,
        /// A description of the names that are known.
        expected: String,
    },
    /// A trace file cannot be read.
    #[error("link \"{link}\": cannot read the trace {}: {source}", path.display())]
    ReadTrace {
        /// The link direction's name.
        link: String,
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A trace file is malformed.
    #[error("link \"{link}\": {} is not a valid trace: {source}", path.display())]
    Trace {
        /// The link direction's name.
        link: String,
        /// The file.
        path: PathBuf,
        /// The line and the reason.
        source: TraceError,
    },
    /// The steps of a link do not form a schedule.
    #[error("link \"{link}\": {source}")]
    Schedule {
        /// The link direction's name.
        link: String,
        /// The reason.
        source: ScheduleError,
    },
    /// The configuration of a cell is impossible.
    #[error("wifi \"{cell}\": {source}")]
    Wifi {
        /// The cell's name.
        cell: String,
        /// The reason.
        source: acklab_wifi::cell::Error,
    },
    /// A flow cannot be attached to the network.
    #[error("flow \"{flow}\": {source}")]
    Attach {
        /// The flow's name.
        flow: String,
        /// The reason.
        source: acklab_net::AttachError,
    },
    /// A flow with data in both directions crosses a proxy.
    #[error(
        "flow \"{flow}\": found data in both directions over the proxy at \"{node}\", expected no `back`, because a proxy splits one direction"
    )]
    SplitBothWays {
        /// The flow's name.
        flow: String,
        /// The node of the proxy.
        node: String,
    },
    /// A capture cannot be written.
    #[error(transparent)]
    Capture(#[from] capture::Error),
    /// The caller stopped the run.
    #[error("the run was stopped before its end")]
    Stopped,
    /// The columns of a table differ in length, which is a bug.
    #[error("a result table is inconsistent: {0}")]
    Table(#[from] arrow_schema::ArrowError),
}
