//! The configuration of a writing application.

use crate::{Sizes, Video};
use acklab_base::random::Stream;
use acklab_base::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A model of a writing application.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Traffic {
    /// Always has data to send: fills the send buffer whenever it has space.
    Greedy {},
    /// Writes `write` octets at even intervals, at the mean rate `rate`.
    Constant {
        /// Mean rate.
        rate: Rate,
        /// Size of one write.
        #[serde(default = "one_segment")]
        write: Bytes,
    },
    /// Writes `write` octets at exponentially distributed intervals, at the mean rate `rate`.
    Poisson {
        /// Mean rate.
        rate: Rate,
        /// Size of one write.
        #[serde(default = "one_segment")]
        write: Bytes,
    },
    /// Writes `size` octets and closes.
    Fixed {
        /// Size of the transfer.
        size: Bytes,
    },
    /// Writes a number of octets drawn from a distribution, and closes. A separate size is drawn
    /// for each copy of a flow.
    Drawn {
        /// The distribution.
        sizes: Sizes,
    },
    /// Writes a frame of a video as soon as it is encoded.
    Video(Video),
}

/// Returns the payload of a full-sized segment with timestamps. iperf3's datagrams have the same
/// size, which is the size of the segments of its control connection.
const fn one_segment() -> Bytes {
    Bytes(1448)
}

impl Traffic {
    /// Returns the size of one write, or of a full-sized datagram of a video. Returns `None` for
    /// traffic without a rate.
    #[must_use]
    pub const fn write(&self) -> Option<Bytes> {
        match self {
            Self::Constant { write, .. } | Self::Poisson { write, .. } => Some(*write),
            Self::Video(_) => Some(Video::DATAGRAM),
            Self::Greedy {} | Self::Fixed { .. } | Self::Drawn { .. } => None,
        }
    }

    /// Returns the name of the traffic in the format of CCperf.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Self::Greedy {} => "Greedy(bytes=0)".to_owned(),
            Self::Constant { rate, write } => format!("Constant(rate={rate}, write={write})"),
            Self::Poisson { rate, write } => format!("Poisson(rate={rate}, write={write})"),
            Self::Fixed { size } => format!("Fixed(bytes={})", size.get()),
            Self::Drawn { sizes } => format!("Drawn(sizes={})", sizes.name()),
            Self::Video(video) => format!("Video(rate={}, frame_rate={})", video.rate, video.frame_rate),
        }
    }

    /// Returns the same traffic with a drawn size, if it has a distribution.
    #[must_use]
    pub fn sized(self, chance: impl FnOnce() -> Stream) -> Self {
        match self {
            Self::Drawn { sizes } => Self::Fixed { size: sizes.draw(&mut chance()) },
            _ => self,
        }
    }

    /// Returns the total number of octets that the application writes, if the traffic is finite.
    #[must_use]
    pub const fn total(&self) -> Option<Bytes> {
        match self {
            Self::Fixed { size } => Some(*size),
            _ => None,
        }
    }

    /// Returns the video, if the traffic is one.
    #[must_use]
    pub const fn video(&self) -> Option<&Video> {
        match self {
            Self::Video(video) => Some(video),
            _ => None,
        }
    }
}
