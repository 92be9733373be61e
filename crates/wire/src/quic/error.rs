//! The codes of transport errors (RFC 9000, §20.1).

/// The reasons why an endpoint closes a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TransportError {
    /// There is no error.
    NoError,
    /// More octets arrived than flow control allows.
    FlowControl,
    /// A stream was opened beyond the limit.
    StreamLimit,
    /// A frame arrived for a stream whose state does not permit it.
    StreamState,
    /// The final size of a stream changed, or octets lie beyond it.
    FinalSize,
    /// A frame is badly formatted.
    FrameEncoding,
    /// An error in the transport parameters.
    TransportParameter,
    /// Any other violation of the protocol.
    ProtocolViolation,
}

impl TransportError {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::NoError,
        Self::FlowControl,
        Self::StreamLimit,
        Self::StreamState,
        Self::FinalSize,
        Self::FrameEncoding,
        Self::TransportParameter,
        Self::ProtocolViolation,
    ];

    /// Returns the code of the error.
    #[must_use]
    pub const fn code(self) -> u64 {
        match self {
            Self::NoError => 0x00,
            Self::FlowControl => 0x03,
            Self::StreamLimit => 0x04,
            Self::StreamState => 0x05,
            Self::FinalSize => 0x06,
            Self::FrameEncoding => 0x07,
            Self::TransportParameter => 0x08,
            Self::ProtocolViolation => 0x0a,
        }
    }
}
