//! Names of things that many crates must agree on.

use std::fmt;

/// One direction of one connection.
///
/// A connection owns two neighbouring ids: the even one carries its data, the odd one what comes back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

impl FlowId {
    /// The direction in which connection `index` carries its data.
    #[must_use]
    pub const fn data(index: u32) -> Self {
        Self(index * 2)
    }

    /// The other direction of the same connection.
    #[must_use]
    pub const fn reverse(self) -> Self {
        Self(self.0 ^ 1)
    }

    /// Which connection this is, from zero.
    #[must_use]
    pub const fn connection(self) -> u32 {
        self.0 / 2
    }

    /// Does this direction carry the connection's data?
    #[must_use]
    pub const fn is_data(self) -> bool {
        self.0.is_multiple_of(2)
    }
}

impl fmt::Debug for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.connection(), if self.is_data() { "→" } else { "←" })
    }
}
