//! What the application wants sent.

use acklab_base::random::Stream;
use acklab_base::{Bytes, Duration, Instant, Rate, Serializer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A model of the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Config {
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

impl Config {
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

/// An application at work. It writes into a send buffer of limited size and waits while that is full.
#[derive(Clone, Debug)]
pub struct Source {
    config: Config,
    stream: Stream,
    buffer: u64,
    /// Octets that the application has wished to write so far.
    wanted: u64,
    /// Octets that have found room in the send buffer.
    written: u64,
    /// Where the stream ends, if the application was closed before its own end.
    closed: Option<u64>,
    next_write: Option<Instant>,
    /// The intervals of a constant rate, which add up to it exactly.
    intervals: Serializer,
}

impl Source {
    /// An application with a send buffer of `buffer`; it begins at [`begin`](Self::begin).
    #[must_use]
    pub fn new(config: Config, buffer: Bytes, stream: Stream) -> Self {
        Self {
            config,
            stream,
            buffer: buffer.get(),
            wanted: 0,
            written: 0,
            closed: None,
            next_write: None,
            intervals: Serializer::default(),
        }
    }

    /// The connection is open. An application that was closed before that writes nothing.
    pub fn begin(&mut self, now: Instant) {
        if self.closed.is_some() {
            return;
        }
        match self.config {
            Config::Greedy {} => self.wanted = u64::MAX,
            Config::Fixed { size } => self.wanted = size.get(),
            Config::Constant { .. } | Config::Poisson { .. } => self.next_write = Some(now),
        }
    }

    /// Write what is due, as far as the buffer has room beyond `acknowledged`.
    #[inline]
    pub fn advance(&mut self, now: Instant, acknowledged: u64) {
        if self.closed.is_some() {
            return;
        }
        if self.next_write.is_some_and(|due| due <= now) {
            self.write(now);
        }
        self.written = self.wanted.min(acknowledged.saturating_add(self.buffer)).max(self.written);
    }

    fn write(&mut self, now: Instant) {
        while let Some(due) = self.next_write
            && due <= now
        {
            let (Config::Constant { rate, write } | Config::Poisson { rate, write }) = self.config else { break };
            self.wanted += write.get();
            let mean = self.intervals.transmit(write, rate);
            let gap = if matches!(self.config, Config::Poisson { .. }) { self.stream.exponential(mean) } else { mean };
            // A write takes at least a nanosecond, so that no rate makes this loop endless.
            self.next_write = Some(due + gap.max(Duration::from_nanos(1)));
        }
    }

    /// No more: what has been sent up to `sent` is all there will be, and what was written beyond it is forgotten.
    pub fn close(&mut self, sent: u64) {
        (self.closed, self.next_write) = (Some(sent), None);
    }

    /// Octets that the application has written, sent or not.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Octets that may be sent.
    #[must_use]
    pub fn sendable(&self) -> u64 {
        self.closed.unwrap_or(self.written)
    }

    /// The octet after the last one, if the application has closed.
    #[must_use]
    pub fn end(&self) -> Option<u64> {
        match self.config {
            Config::Fixed { size } => Some(self.closed.unwrap_or(size.get())),
            _ => self.closed,
        }
    }

    /// When it next writes by itself.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.next_write
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::random::Seed;

    fn source(config: Config, buffer: u64) -> Source {
        let mut source = Source::new(config, Bytes(buffer), Seed(1).stream("source"));
        source.begin(Instant::ZERO);
        source
    }

    #[test]
    fn a_greedy_application_keeps_the_buffer_full() {
        let mut source = source(Config::Greedy {}, 1000);
        source.advance(Instant::ZERO, 0);
        assert_eq!(source.written(), 1000);
        source.advance(Instant::ZERO, 300);
        assert_eq!(source.written(), 1300);
        assert_eq!(source.end(), None);
    }

    #[test]
    fn a_constant_rate_is_kept() {
        let mut source = source(Config::Constant { rate: Rate::from_mbps(8), write: Bytes(1000) }, 1 << 20);
        source.advance(Instant::ZERO + Duration::from_millis(100), 0);
        assert_eq!(source.written(), 101_000, "a write each millisecond, the first at once");
    }

    #[test]
    fn a_rate_that_divides_no_nanosecond_is_kept_too() {
        let rate = Rate::from_bits_per_second(866_700_001).unwrap();
        let mut source = source(Config::Constant { rate, write: Bytes(1472) }, u64::MAX);
        source.advance(Instant::ZERO + Duration::from_secs(100), 0);
        let writes = 100.0 * 866_700_001.0 / (1472.0 * 8.0);
        assert_eq!(source.written(), (writes as u64 + 1) * 1472);
    }

    #[test]
    fn poisson_writes_have_the_mean_rate() {
        let mut source = source(Config::Poisson { rate: Rate::from_mbps(8), write: Bytes(1000) }, u64::MAX);
        source.advance(Instant::ZERO + Duration::from_secs(100), 0);
        assert!((source.written() as f64 / 100e6 - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_fixed_transfer_ends() {
        let mut source = source(Config::Fixed { size: Bytes(5000) }, 4000);
        source.advance(Instant::ZERO, 0);
        assert_eq!((source.written(), source.end()), (4000, Some(5000)));
        source.advance(Instant::ZERO, 2000);
        assert_eq!(source.written(), 5000);
    }

    #[test]
    fn closed_before_the_connection_opens_it_waits_for_nothing() {
        let mut source = Source::new(
            Config::Constant { rate: Rate::from_mbps(8), write: Bytes(1000) },
            Bytes(1000),
            Seed(1).stream("source"),
        );
        source.close(0);
        source.begin(Instant::ZERO);
        source.advance(Instant::ZERO, 0);
        assert_eq!((source.deadline(), source.sendable(), source.end()), (None, 0, Some(0)));
    }

    #[test]
    fn closing_ends_the_stream_where_sending_stands() {
        let mut source = source(Config::Greedy {}, 1000);
        source.advance(Instant::ZERO, 0);
        source.close(300);
        source.advance(Instant::ZERO, 200);
        assert_eq!((source.sendable(), source.end(), source.written()), (300, Some(300), 1000));
    }
}
