//! The configuration of a reading application.

use acklab_base::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A model of an application that reads. Unread data fill the receive buffer and so reduce the
/// window that is advertised to the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Reading {
    /// Reads all data on arrival.
    AtOnce {},
    /// Reads up to `read` octets at a time, at even intervals, so that it reads at no more than
    /// `rate`.
    Constant {
        /// The maximum rate of reading.
        rate: Rate,
        /// The maximum size of one read.
        #[serde(default = "one_read")]
        read: Bytes,
    },
    /// Plays a video: reads everything on arrival and shows a frame at a time. It begins `buffer`
    /// after the first frame has arrived.
    ///
    /// Playback stalls if a frame that is due has not arrived. Over a transport that loses data it
    /// goes on as soon as something of a later frame has arrived, and shows the frame damaged.
    Playback {
        /// How much video is held back. Android's Miracast source takes a latency below 100 ms for
        /// a sign of spare capacity (`PlaybackSession::onSinkFeedback`).
        #[serde(default = "buffer")]
        #[schemars(example = "100ms")]
        buffer: Duration,
        /// How playback goes on after a stall.
        #[serde(default)]
        after_stall: AfterStall,
    },
}

/// How playback goes on after a stall.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterStall {
    /// Frames that are overdue are shown at once, as on a screen that mirrors another: a stall does
    /// not delay what follows.
    #[default]
    CatchUp,
    /// All that follows is shown later, and playback goes on with a full buffer, as for a film.
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
