//! The configuration of a reading application.

use acklab_base::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A model of a reading application. Unread data fill the receive buffer and reduce the window that
/// the peer may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Reading {
    /// Reads all data on arrival.
    AtOnce {},
    /// Reads up to `read` octets at a time, at even intervals, and at most at `rate`.
    Constant {
        /// The maximum rate of reading.
        rate: Rate,
        /// The maximum size of one read.
        #[serde(default = "one_read")]
        read: Bytes,
    },
    /// Plays a video: reads all data on arrival and shows one frame at a time. Playback begins
    /// `buffer` after the first frame has arrived.
    ///
    /// Playback stalls if a frame that is due has not arrived. If the transport loses data,
    /// playback continues once any part of a later frame has arrived, and the frame is shown
    /// damaged.
    Playback {
        /// The duration of video that is buffered. Android's Miracast source interprets a latency
        /// below 100 ms as spare capacity (`PlaybackSession::onSinkFeedback`).
        #[serde(default = "buffer")]
        #[schemars(example = "100ms")]
        buffer: Duration,
        /// How playback continues after a stall.
        #[serde(default)]
        after_stall: AfterStall,
    },
}

/// How playback continues after a stall.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterStall {
    /// Overdue frames are shown immediately, as on a screen that mirrors another. A stall then does
    /// not delay later frames.
    #[default]
    CatchUp,
    /// All later frames are delayed, and playback continues with a full buffer, as for a film.
    Shift,
}

const fn buffer() -> Duration {
    Duration::from_millis(100)
}

/// Returns the size of a read of iperf3's receiver over TCP (`DEFAULT_TCP_BLKSIZE`).
const fn one_read() -> Bytes {
    Bytes(128 << 10)
}

impl Default for Reading {
    fn default() -> Self {
        Self::AtOnce {}
    }
}

impl Reading {
    /// Returns `true` for the default, [`Self::AtOnce`].
    #[must_use]
    pub const fn is_at_once(&self) -> bool {
        matches!(self, Self::AtOnce {})
    }
}
