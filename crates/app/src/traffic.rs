//! What an application writes.

use acklab_base::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A model of an application that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Traffic {
    /// Always has more to send: fills the send buffer as soon as there is room.
    Greedy {},
    /// Writes this much at even intervals, so that the mean rate is `rate`.
    Constant {
        /// Mean rate.
        rate: Rate,
        /// Size of one write.
        #[serde(default = "one_segment")]
        write: Bytes,
    },
    /// Writes this much at exponentially distributed intervals, so that the mean rate is `rate`.
    Poisson {
        /// Mean rate.
        rate: Rate,
        /// Size of one write.
        #[serde(default = "one_segment")]
        write: Bytes,
    },
    /// Sends this much and closes.
    Fixed {
        /// Size of the transfer.
        size: Bytes,
    },
}

/// What fills a segment that carries timestamps, and a datagram of iperf3, which takes the size of its control connection's segments.
const fn one_segment() -> Bytes {
    Bytes(1448)
}

impl Traffic {
    /// The size of one write, of an application that writes at a rate of its own.
    #[must_use]
    pub const fn write(&self) -> Option<Bytes> {
        match self {
            Self::Constant { write, .. } | Self::Poisson { write, .. } => Some(*write),
            Self::Greedy {} | Self::Fixed { .. } => None,
        }
    }

    /// As CCperf names it.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Self::Greedy {} => "Greedy(bytes=0)".to_owned(),
            Self::Constant { rate, write } => format!("Constant(rate={rate}, write={write})"),
            Self::Poisson { rate, write } => format!("Poisson(rate={rate}, write={write})"),
            Self::Fixed { size } => format!("Fixed(bytes={})", size.get()),
        }
    }
}
