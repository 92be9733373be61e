//! The rate-limiting factor of a sender.

/// The rate-limiting factor of a sender (Zhang, Breslau, Paxson and Shenker, SIGCOMM 2002): the
/// factor that prevented the sender from sending more octets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitingFactor {
    /// The application: all data that it has written have been sent.
    #[default]
    Application,
    /// The send buffer: it is full, and all data in it have been sent and wait for an
    /// acknowledgment.
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
