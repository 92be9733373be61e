//! A video that is encoded while it is watched, as a sequence of frames.
//!
//! Defaults are those of a screen projected with Miracast: an H.264 stream at a constant bit rate
//! in an MPEG transport stream.

use acklab_base::random::Stream;
use acklab_base::{Bytes, Duration, Rate, Serializer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Octets of a packet of an MPEG transport stream (ISO/IEC 13818-1, 2.4.3.2).
const TS_PACKET: u64 = 188;
/// The number of packets of a transport stream per RTP packet. This is the maximum that fits in
/// 1500 octets after the RTP header, as in Android's Miracast source (`Sender.cpp` of
/// `libstagefright/wifi-display`, `kMaxNumTSPacketsPerRTPPacket`).
const TS_PACKETS_PER_RTP_PACKET: u64 = 7;
/// Octets of an RTP header (RFC 3550, §5.1).
const RTP_HEADER: u64 = 12;
/// Octets of video in a full RTP packet.
const RTP_VIDEO: u64 = TS_PACKETS_PER_RTP_PACKET * TS_PACKET;
/// The bounds of a frame's size relative to the mean of its kind (3GPP TR 38.838, table 5.1.1.1-1).
const SIZES: std::ops::RangeInclusive<f64> = 0.5..=1.5;

/// A video. Sizes of frames follow a truncated normal distribution (3GPP TR 38.838, §5.1.1.1), with
/// one distribution for key frames and one for all other frames.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Video {
    /// Mean bit rate of the transport stream, without RTP headers.
    #[schemars(example = "16Mbps")]
    pub rate: Rate,
    /// Frames per second.
    #[serde(default = "frame_rate")]
    #[schemars(range(min = 1, max = 1000))]
    pub frame_rate: u32,
    /// Number of frames from one key frame to the next. Default: 15 s at 60 Hz, as in Android's
    /// Miracast source (`Converter.cpp`).
    #[serde(default = "group")]
    #[schemars(range(min = 1))]
    pub group: u32,
    /// The ratio of the mean size of a key frame to the mean size of other frames (3GPP TR 38.838,
    /// table 5.1.2.1-1).
    #[serde(default = "key_ratio")]
    #[schemars(range(min = 1.0, max = 100.0))]
    pub key_ratio: f64,
    /// The ratio of the standard deviation to the mean of the sizes of frames of one kind (3GPP TR
    /// 38.838, table 5.1.1.1-1).
    #[serde(default = "variation")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub variation: f64,
    /// Number of frames after which cyclic intra refresh has repaired a damaged picture without a
    /// key frame. Default: Android's Miracast source refreshes 10 % of the macroblocks with each
    /// frame (`Converter.cpp`).
    #[serde(default = "refresh")]
    #[schemars(range(min = 1))]
    pub refresh: u32,
    /// The time after which a frame is abandoned. Each frame is then sent as a separate message,
    /// which only TACK supports. Default: frames are parts of one reliable stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "100ms")]
    pub deadline: Option<Duration>,
}

const fn frame_rate() -> u32 {
    60
}

const fn group() -> u32 {
    900
}

const fn key_ratio() -> f64 {
    1.5
}

const fn variation() -> f64 {
    0.105
}

const fn refresh() -> u32 {
    10
}

impl Video {
    /// The payload of a full datagram: an RTP packet.
    pub const DATAGRAM: Bytes = Bytes(RTP_HEADER + RTP_VIDEO);

    /// Returns the size of the largest possible frame, in octets.
    #[must_use]
    pub fn largest_frame(&self) -> f64 {
        self.mean_sizes().0 * SIZES.end() + TS_PACKET as f64
    }

    /// Returns the mean size of frames of all kinds, in octets.
    #[must_use]
    pub fn mean_frame(&self) -> f64 {
        self.rate.bits_per_second() as f64 / 8.0 / f64::from(self.frame_rate)
    }

    /// Returns the mean size of key frames and the mean size of all other frames, in octets.
    fn mean_sizes(&self) -> (f64, f64) {
        let others = self.mean_frame() * f64::from(self.group) / (f64::from(self.group) - 1.0 + self.key_ratio);
        (others * self.key_ratio, others)
    }
}

/// One frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Octets in the transport stream: a multiple of 188.
    pub size: u64,
    /// `true` if the frame can be decoded without the frames before it.
    pub is_key: bool,
}

impl Frame {
    /// Returns the number of datagrams that carry the frame.
    #[must_use]
    pub const fn datagrams(&self) -> u64 {
        self.size.div_ceil(RTP_VIDEO)
    }

    /// Returns the payload sizes of these datagrams, including RTP headers.
    pub fn payloads(self) -> impl Iterator<Item = u32> {
        let last = self.size - (self.datagrams() - 1) * RTP_VIDEO;
        let full = std::iter::repeat_n(RTP_VIDEO, self.datagrams() as usize - 1);
        full.chain([last]).map(|octets| (RTP_HEADER + octets) as u32)
    }
}

/// Returns the octets of video in a datagram with this payload.
#[must_use]
pub const fn video_in(payload: u32) -> u64 {
    (payload as u64).saturating_sub(RTP_HEADER)
}

/// The frames of a video, one after another. Both ends of a flow have the same frames. The writer
/// sends them. The reader uses them to find the end of each frame. A real reader finds it in
/// headers.
#[derive(Clone, Debug)]
pub struct Frames {
    video: Video,
    chance: Stream,
    /// The index of the next frame.
    next: u64,
    /// The number of octets by which the sizes so far are smaller than the drawn sizes, because
    /// sizes are whole packets of the transport stream.
    rest: f64,
    /// Computes intervals whose rounding errors do not accumulate.
    intervals: Serializer,
}

impl Frames {
    /// Returns the frames of `video`, whose sizes are drawn from `chance`.
    #[must_use]
    pub fn new(video: Video, chance: Stream) -> Self {
        Self { video, chance, next: 0, rest: 0.0, intervals: Serializer::default() }
    }

    /// Returns the video.
    #[must_use]
    pub const fn video(&self) -> &Video {
        &self.video
    }

    /// Returns the next frame.
    pub fn draw(&mut self) -> Frame {
        let is_key = self.next.is_multiple_of(u64::from(self.video.group));
        self.next += 1;
        let (key, other) = self.video.mean_sizes();
        let mean = if is_key { key } else { other };
        let drawn = mean * self.factor() + self.rest;
        let packets = (drawn / TS_PACKET as f64).round().max(1.0) as u64;
        let size = packets * TS_PACKET;
        self.rest = drawn - size as f64;
        Frame { size, is_key }
    }

    /// Returns the time to the next frame.
    pub fn interval(&mut self) -> Duration {
        // A frame lasts as long as one octet at `frame_rate` octets per second. Scenarios with a
        // rate of zero are refused.
        let rate = Rate::from_bits_per_second(8 * u64::from(self.video.frame_rate));
        rate.map_or(Duration::ZERO, |rate| self.intervals.transmit(Bytes(1), rate))
    }

    /// Returns the size of a frame relative to the mean of its kind. Values beyond the bounds are
    /// drawn again.
    fn factor(&mut self) -> f64 {
        if self.video.variation <= 0.0 {
            return 1.0;
        }
        loop {
            let factor = self.chance.normal(1.0, self.video.variation);
            if SIZES.contains(&factor) {
                return factor;
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use acklab_base::random::Seed;

    /// Returns a video with frames of exactly seven packets of the transport stream, 60 per second.
    pub(crate) fn even(group: u32, refresh: u32, deadline: Option<Duration>) -> Video {
        let rate = Rate::from_bits_per_second(RTP_VIDEO * 8 * 60).unwrap();
        Video { rate, frame_rate: 60, group, key_ratio: 1.0, variation: 0.0, refresh, deadline }
    }

    fn video(rate: u64) -> Video {
        Video { rate: Rate::from_mbps(rate), ..even(60, refresh(), None) }
    }

    fn frames(video: Video) -> Frames {
        Frames::new(video, Seed(1).stream("source"))
    }

    #[test]
    fn the_mean_rate_is_that_of_the_video() {
        for rate in [2, 16, 500] {
            let video = Video { key_ratio: 5.0, variation: 0.105, ..video(rate) };
            let mut frames = frames(video);
            let octets: u64 = (0..6000).map(|_| frames.draw().size).sum();
            let mbps = octets as f64 * 8.0 / 100.0 / 1e6;
            // 6000 sizes with a relative standard deviation of 10.5 % have a mean with a relative
            // standard deviation of 0.14 %.
            assert!((mbps / rate as f64 - 1.0).abs() < 0.006, "{mbps} Mbps for {rate}");
        }
    }

    #[test]
    fn key_frames_come_with_each_group_and_are_larger() {
        let mut frames = frames(Video { key_ratio: 5.0, ..video(16) });
        let all: Vec<Frame> = (0..120).map(|_| frames.draw()).collect();
        assert!(all.iter().enumerate().all(|(index, frame)| frame.is_key == index.is_multiple_of(60)));
        let ratio = all[0].size as f64 / all[1].size as f64;
        assert!((ratio - 5.0).abs() < 0.05, "{ratio}, which differs by the rounding to packets of 188 octets");
    }

    #[test]
    fn sizes_vary_within_their_bounds() {
        let video = Video { variation: 0.5, ..video(16) };
        let mut frames = frames(video);
        for _ in 0..1000 {
            let factor = frames.draw().size as f64 / video.mean_frame();
            assert!((0.49..1.51).contains(&factor), "{factor}");
        }
    }

    #[test]
    fn a_frame_fills_datagrams_of_seven_packets() {
        let frame = Frame { size: 16 * 188, is_key: false };
        assert_eq!(frame.payloads().collect::<Vec<_>>(), [1328, 1328, 388]);
        assert_eq!(frame.payloads().map(video_in).sum::<u64>(), frame.size);
        assert_eq!(Frame { size: 14 * 188, is_key: false }.payloads().count(), 2);
    }

    #[test]
    fn sixty_frames_take_a_second() {
        let mut frames = frames(video(16));
        let second: u64 = (0..600).map(|_| frames.interval().as_nanos()).sum();
        assert!(second.abs_diff(10_000_000_000) <= 1, "{second}");
    }
}
