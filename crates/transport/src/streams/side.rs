//! The ends of a connection.

/// Which end of a connection this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The end that opens the connection.
    Client,
    /// The end that accepts the connection.
    Server,
}

impl Side {
    /// Returns the lowest id of the streams that this side opens (RFC 9000, §2.1).
    pub(crate) const fn first_id(self) -> u32 {
        match self {
            Self::Client => 0,
            Self::Server => 1,
        }
    }

    /// Returns `true` if this side opens the stream with this id.
    pub(crate) const fn opens(self, id: u64) -> bool {
        id % 2 == self.first_id() as u64
    }

    /// Returns the side at the other end.
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    /// Returns the name of this side that names of random streams contain.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}
