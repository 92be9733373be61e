//! Errors of a run whose scenario is valid.

use acklab_measure::capture;
use acklab_measure::qlog;
use acklab_path::server::{ScheduleError, TraceError};
use std::io;
use std::path::PathBuf;

/// The reason why a run cannot start or continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A simulation has no flow.
    #[error(
        "flow: found none, expected at least one, because a simulation runs no `application`: `acklab emulate` does"
    )]
    NoFlow,
    /// No flow of a scenario runs over TCP, so no script can be played.
    #[error("flow: found none over TCP, expected one at whose TCP scripts are played")]
    NoTcp,
    /// A flow of a simulation requires the kernel's stack.
    #[error(
        "flow \"{flow}\": stack: found \"kernel\", expected none, because a simulation has no kernel: `acklab emulate` runs it"
    )]
    KernelStack {
        /// The flow's name.
        flow: String,
    },
    /// The scenario has no interfaces.
    #[error("interface: found none, expected two, each with its `node` and its `device`")]
    NoInterfaces,
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
    /// A flow's packets and their ACKs would take no time. The run would never end.
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
        /// The reason, from the transport.
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
    /// A flow names a strategy that the run does not have.
    #[error("flow \"{flow}\": {key}: found \"{name}\", expected {expected}")]
    NoStrategy {
        /// The flow's name.
        flow: String,
        /// The key of the flow that contains the name.
        key: &'static str,
        /// The name.
        name: String,
        /// A description of the known names.
        expected: String,
    },
    /// A script cannot be read.
    #[error("{}: cannot read the script: {source}", path.display())]
    ReadScript {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A capture cannot be read.
    #[error("{}: {reason}", path.display())]
    ReadCapture {
        /// The file.
        path: PathBuf,
        /// The reason, and the expected content.
        reason: String,
    },
    /// A log has no packets with data.
    #[error("{}: {reason}", path.display())]
    EmptyLog {
        /// The file.
        path: PathBuf,
        /// The content of the log, and the expected content.
        reason: String,
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
        /// The line number and the reason.
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
    /// A flow with data in both directions passes through a proxy.
    #[error(
        "flow \"{flow}\": found data in both directions over the proxy at \"{node}\", expected no `back`, because a proxy splits one direction"
    )]
    SplitBothWays {
        /// The flow's name.
        flow: String,
        /// The node of the proxy.
        node: String,
    },
    /// A proxy is on the path of a flow of an emulation.
    #[error(
        "flow \"{flow}\": found the proxy at \"{node}\" on its way, expected none, because an emulation splits no connection"
    )]
    SplitKernel {
        /// The flow's name.
        flow: String,
        /// The node of the proxy.
        node: String,
    },
    /// A flow of an emulation requires an ability that the kernel's TCP lacks.
    #[error("flow \"{flow}\": {key}: found {found}, expected {expected}")]
    Kernel {
        /// The flow's name.
        flow: String,
        /// The key.
        key: String,
        /// The value of the key.
        found: String,
        /// The values that the kernel supports.
        expected: String,
    },
    /// A node that the caller names is missing from the scenario.
    #[error("found no node \"{node}\", expected {expected}")]
    NoNode {
        /// The name.
        node: String,
        /// A description of the existing nodes.
        expected: String,
    },
    /// The system refuses an action that an emulation needs.
    #[error("{what}: {source}")]
    Host {
        /// The attempted action.
        what: String,
        /// The system's reason.
        source: io::Error,
    },
    /// A network namespace cannot be created.
    #[error(transparent)]
    Namespace(#[from] acklab_live::namespace::Error),
    /// A TUN device cannot be created.
    #[error(transparent)]
    Tun(#[from] acklab_live::tun::Error),
    /// A log of an endpoint cannot be written.
    #[error(transparent)]
    Qlog(#[from] qlog::Error),
    /// A capture cannot be written.
    #[error(transparent)]
    Capture(#[from] capture::Error),
    /// The caller stopped the run.
    #[error("the run was stopped before its end")]
    Stopped,
    /// An endpoint, a link or a cell requests to be polled without end at one instant.
    #[error(
        "{who}: no progress at {seconds:.9} s: it was polled millions of times without any time passing, which is a fault of it or of a strategy that it uses"
    )]
    Standstill {
        /// The name of the flow, link or cell.
        who: String,
        /// The instant, in seconds.
        seconds: f64,
    },
    /// The columns of a table differ in length, which is a bug.
    #[error("a result table is inconsistent: {0}")]
    Table(#[from] arrow_schema::ArrowError),
}
