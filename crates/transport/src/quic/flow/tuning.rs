//! Decides when an end announces its windows again, and how much the windows grow.

use acklab_base::{Duration, Instant, mul_div};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// quiche: a window doubles if it is announced again within this number of round trips.
const ROUND_TRIPS: u64 = 2;
/// neqo's `WINDOW_UPDATE_FRACTION`: a window is announced again once the window divided by this
/// number has been read.
const NEQO_FRACTION: u64 = 4;
/// neqo's `WINDOW_INCREASE_MULTIPLIER`.
const NEQO_MULTIPLIER: u64 = 4;
/// quic-go: a window doubles if it is read at a rate of more than a window per four round trips.
const QUIC_GO_ROUND_TRIPS: u64 = 4;
/// msquic's `QUIC_RECV_BUFFER_DRAIN_RATIO`.
const MSQUIC_RATIO: u64 = 4;
/// picoquic: an update triples the limit.
const PICOQUIC_FACTOR: u64 = 3;

/// The growth rules of windows, by the implementation that uses them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// The window doubles if it is announced again within two round trips (Google's quiche,
    /// `QuicFlowController::MaybeIncreaseMaxWindowSize`).
    #[default]
    Quiche,
    /// The window grows by four times the excess: the bytes read beyond three quarters of the
    /// window per round trip (neqo, `fc.rs`, `auto_tune_inner`).
    Neqo,
    /// The window doubles if at least half of it was read, at a rate of more than half a window per
    /// two round trips (quic-go, `flow_controller_base.go`, `maybeAdjustWindowSize`).
    QuicGo,
    /// The window doubles if the quarter that is announced again was read within a round trip
    /// (msquic, `stream_recv.c`, `QuicStreamOnBytesDelivered`).
    Msquic,
    /// Each announcement triples the limit (picoquic, `cc_common.c`,
    /// `picoquic_cc_increased_window`, for round-trip times up to 100 ms).
    Picoquic,
}

impl Growth {
    /// All growth rules.
    pub const ALL: [Self; 5] = [Self::Quiche, Self::Neqo, Self::QuicGo, Self::Msquic, Self::Picoquic];
}

/// The use of an announced window, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::quic) struct Window {
    pub(in crate::quic) size: u64,
    /// Bytes read in total.
    pub(in crate::quic) read: u64,
    /// Bytes read since the last announcement.
    pub(in crate::quic) released: u64,
}

/// Decides when a window is announced, and when it grows.
#[derive(Clone, Copy, Debug)]
pub(in crate::quic) struct Tuning {
    /// A window is announced again once the window divided by this number has been read.
    updates: u64,
    /// The growth rule of the window, or `None` for a window of fixed size.
    growth: Option<Growth>,
    largest: u64,
    /// Start of the present measurement: the first bytes read, or the last announcement.
    began: Option<Instant>,
    /// quic-go: bytes read before the present measurement.
    read: u64,
}

impl Tuning {
    pub(in crate::quic) const fn new(updates: u64, growth: Option<Growth>, largest: u64) -> Self {
        Self { updates, growth, largest, began: None, read: 0 }
    }

    /// Records that bytes were read. Except in neqo, the first read starts the measurement of the
    /// initial window.
    pub(in crate::quic) fn begin(&mut self, now: Instant) {
        if self.growth != Some(Growth::Neqo) {
            self.began.get_or_insert(now);
        }
    }

    /// Returns `true` if enough bytes of a window have been read to announce the window again.
    pub(in crate::quic) const fn is_worth_telling(&self, released: u64, size: u64) -> bool {
        released > 0 && released.saturating_mul(self.updates) >= size
    }

    /// Records that the window is announced again now. Returns its new size.
    pub(in crate::quic) fn resized(&mut self, now: Instant, srtt: Option<Duration>, window: Window) -> u64 {
        let Window { size, read, released } = window;
        let wanted = match (self.growth, srtt) {
            (None, _) => size,
            (Some(Growth::Picoquic), _) => PICOQUIC_FACTOR * (read + size - released) - read,
            (Some(_), None) => size,
            (Some(growth), Some(srtt)) => self.began.map_or(size, |began| {
                let read = read - self.read;
                grown(growth, size, Use { time: now.since(began), released, read }, srtt)
            }),
        };
        // quic-go continues the measurement until half of the window has been read.
        if self.growth != Some(Growth::QuicGo) || read - self.read > size / 2 {
            (self.began, self.read) = (Some(now), read);
        }
        wanted.min(self.largest).max(size)
    }
}

/// The use of a window in the present measurement.
#[derive(Clone, Copy, Debug)]
struct Use {
    time: Duration,
    /// Bytes read since the last announcement.
    released: u64,
    /// Bytes read in the present measurement.
    read: u64,
}

/// Returns the size to which a window of `size` should grow.
fn grown(growth: Growth, size: u64, used: Use, srtt: Duration) -> u64 {
    // Converts `octets` bytes per round trip to bytes in the measured time.
    let in_time = |octets| mul_div(octets, used.time.as_nanos(), srtt.as_nanos().max(1));
    let is_fast = match growth {
        Growth::Quiche => used.time < srtt.saturating_mul(ROUND_TRIPS),
        Growth::QuicGo => used.read > size / 2 && in_time(size) < QUIC_GO_ROUND_TRIPS * used.read,
        Growth::Msquic => in_time(size / MSQUIC_RATIO) <= used.released,
        Growth::Neqo => {
            let excess = used.released.saturating_sub(in_time(size * (NEQO_FRACTION - 1) / NEQO_FRACTION));
            return size + NEQO_MULTIPLIER * excess;
        }
        Growth::Picoquic => false,
    };
    if is_fast { 2 * size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const SRTT: Option<Duration> = Some(Duration::from_millis(50));

    /// Returns the sizes of a window of 1000 bytes after each announcement. The window is announced
    /// `updates` times per window read. 100 bytes are read at intervals of `every`.
    fn sizes(growth: Growth, updates: u64, every: Duration, times: usize) -> Vec<u64> {
        let mut tuning = Tuning::new(updates, Some(growth), 8000);
        let (mut now, mut size, mut read, mut told, mut sizes) = (Instant::ZERO, 1000, 0, 0, Vec::new());
        while sizes.len() < times {
            (now, read) = (now + every, read + 100);
            tuning.begin(now);
            let window = Window { size, read, released: read - told };
            if tuning.is_worth_telling(window.released, size) {
                size = tuning.resized(now, SRTT, window);
                told = read;
                sizes.push(size);
            }
        }
        sizes
    }

    #[test]
    fn quiche_doubles_a_window_that_is_told_within_two_round_trips() {
        // 500 bytes are read in 4 · 20 ms, measured from the first read. Then 1000 bytes are read
        // in 200 ms.
        assert_eq!(sizes(Growth::Quiche, 2, MS * 20, 3), [2000, 2000, 2000]);
        assert_eq!(sizes(Growth::Quiche, 2, MS, 4), [2000, 4000, 8000, 8000], "up to the most");
        assert_eq!(sizes(Growth::Quiche, 2, MS * 26, 2), [1000, 1000]);
    }

    /// An announcement follows 300 bytes. In 30 ms of a round trip of 50 ms, three quarters of 1000
    /// bytes permit 450 bytes. In 15 ms they permit 225 bytes, so the excess is 75 bytes.
    #[test]
    fn neqo_adds_four_times_what_is_too_fast() {
        assert_eq!(sizes(Growth::Neqo, 4, MS * 10, 3), [1000, 1000, 1000]);
        assert_eq!(sizes(Growth::Neqo, 4, MS * 5, 2), [1000, 1300], "the first time nothing is measured");
    }

    /// Each quarter of the window triggers an announcement. The window grows once more than half of
    /// it was read, at a rate of more than a window per four round trips.
    #[test]
    fn quic_go_measures_until_half_of_the_window_is_read() {
        assert_eq!(sizes(Growth::QuicGo, 4, MS * 20, 2), [1000, 2000], "600 in 100 ms, for 120 are allowed");
        assert_eq!(sizes(Growth::QuicGo, 4, MS * 30, 2), [1000, 1000], "600 in 150 ms");
    }

    /// The limit is a quarter of the window per round trip: 300 bytes within 60 ms.
    #[test]
    fn msquic_doubles_if_a_quarter_takes_a_round_trip() {
        assert_eq!(sizes(Growth::Msquic, 4, MS * 20, 1), [2000], "300 in 40 ms, from the first octets on");
        assert_eq!(sizes(Growth::Msquic, 4, MS * 31, 1), [1000]);
    }

    #[test]
    fn picoquic_triples_the_limit() {
        // Half of 1000 bytes is read. The new limit is 3000, so the window is 2500 bytes.
        assert_eq!(sizes(Growth::Picoquic, 2, MS * 1000, 1), [2500]);
    }

    #[test]
    fn a_window_of_fixed_size_does_not_grow() {
        let mut tuning = Tuning::new(8, None, 1000);
        assert!(!tuning.is_worth_telling(124, 1000) && tuning.is_worth_telling(125, 1000));
        let window = Window { size: 1000, read: 125, released: 125 };
        assert_eq!(tuning.resized(Instant::ZERO, SRTT, window), 1000);
    }
}
