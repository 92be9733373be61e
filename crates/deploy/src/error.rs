//! Errors between hosts.

use acklab_transport::fault::{Complaint, Fault};
use std::io;

/// The reason why a connection has ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// This end closed the connection.
    #[error("closed here with code {code}")]
    Here {
        /// The code of the application.
        code: u32,
    },
    /// The peer closed the connection.
    #[error("closed by the peer with code {code:#x}")]
    Peer {
        /// The code: of the peer's application if it is below 2³¹, otherwise of the peer's
        /// transport.
        code: u32,
    },
    /// An end has violated the protocol.
    #[error("the protocol was violated, code {code:#x}")]
    Violation {
        /// The code of the violation.
        code: u32,
    },
    /// The handshake has failed.
    #[error("the handshake has failed: {reason}")]
    Handshake {
        /// The code that is sent to the peer.
        code: u32,
        /// The reason.
        reason: String,
    },
    /// This host has no memory for the peer's data.
    #[error("out of memory")]
    Memory,
    /// No packet arrived within the idle timeout.
    #[error("timed out")]
    TimedOut,
    /// The peer's host has no state for the connection.
    #[error("reset: the peer's host does not know the connection")]
    Reset,
}

impl From<Lost> for io::Error {
    fn from(lost: Lost) -> Self {
        let kind = match lost {
            Lost::Here { .. } => io::ErrorKind::NotConnected,
            Lost::Peer { .. } => io::ErrorKind::ConnectionAborted,
            Lost::Violation { .. } | Lost::Handshake { .. } => io::ErrorKind::InvalidData,
            Lost::Memory => io::ErrorKind::OutOfMemory,
            Lost::TimedOut => io::ErrorKind::TimedOut,
            Lost::Reset => io::ErrorKind::ConnectionReset,
        };
        Self::new(kind, lost)
    }
}

/// The reason why a connection cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The endpoint has no client configuration and therefore trusts no server.
    #[error("the endpoint has no client configuration, so it trusts no server")]
    NoClient,
    /// The endpoint has no certificate.
    #[error("the endpoint has no server configuration")]
    NoServer,
    /// The name is not a valid server name.
    #[error("{0:?} is no name of a server")]
    Name(String),
    /// The settings are invalid.
    #[error("{0}")]
    Settings(String),
    /// The settings name a controller or a policy that acklab does not provide.
    #[error("the controller and the ACK policy have to be built in")]
    OwnStrategy,
    /// The system provides no random numbers.
    #[error("the system gives no random numbers")]
    Randomness,
    /// The connection was lost before it was established.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// The system refused an operation.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl ConnectError {
    pub(crate) fn of(fault: &Fault) -> Self {
        Self::Settings(match &fault.complaint {
            Complaint::Expected(expected) => format!("{}: expected {expected}", fault.path),
            Complaint::Misplaced(reason) => format!("{}: {reason}", fault.path),
        })
    }
}
