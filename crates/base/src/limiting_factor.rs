//! What keeps a sender from sending.

/// The rate-limiting factor of a sender (Zhang, Breslau, Paxson and Shenker, SIGCOMM 2002): what
/// kept the next octets back when the last attempt to send ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitingFactor {
    /// The application: everything that it has written was sent.
    #[default]
    Application,
    /// The send buffer: it is full, and everything in it was sent and waits for an acknowledgment.
    SendBuffer,
    /// The flow control of the peer.
    ReceiveWindow,
    /// The congestion window.
    Window,
    /// Pacing.
    Pacing,
}

impl LimitingFactor {
    /// All factors, in the order of the tables.
    pub const ALL: [Self; 5] = [Self::Application, Self::SendBuffer, Self::ReceiveWindow, Self::Window, Self::Pacing];
}
