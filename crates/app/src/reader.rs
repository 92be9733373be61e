//! An application that reads received data.

use crate::{Player, Reading};
use acklab_base::{Bytes, CounterValue, Instant, Port, Rate, Serializer, StreamPort};

/// An application that reads.
#[derive(Clone, Debug)]
pub enum Reader {
    /// Reads all data on arrival.
    AtOnce,
    /// Reads at a limited rate.
    Paced(Paced),
    /// Plays a video.
    Player(Box<Player>),
}

/// An application that reads at a limited rate.
#[derive(Clone, Debug)]
pub struct Paced {
    rate: Rate,
    read: Bytes,
    /// The earliest time of the next read.
    next: Option<Instant>,
    /// `true` if data wait for the next read.
    waits: bool,
    intervals: Serializer,
}

impl Reader {
    /// Returns an application that reads according to `reading`. `play` creates the player if the
    /// data are a video.
    #[must_use]
    pub fn new(reading: Reading, play: impl FnOnce(Reading) -> Option<Player>) -> Self {
        match reading {
            Reading::AtOnce {} => Self::AtOnce,
            Reading::Constant { rate, read } => {
                Self::Paced(Paced { rate, read, next: None, waits: false, intervals: Serializer::default() })
            }
            Reading::Playback { .. } => play(reading).map_or(Self::AtOnce, |player| Self::Player(Box::new(player))),
        }
    }

    /// Reads the data that may be read now. Datagrams need not be read, unless a player shows them.
    #[inline]
    pub fn run(&mut self, now: Instant, port: Port<'_>) {
        match (self, port) {
            (Self::Player(player), port) => player.run(now, port),
            (Self::AtOnce, Port::Stream(port)) => _ = port.read(now, u64::MAX),
            (Self::Paced(paced), Port::Stream(port)) => paced.run(now, port),
            (_, Port::Datagram(_) | Port::None) => {}
        }
    }

    /// Returns when the application must run next, or `None` if it only waits for data.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        match self {
            Self::AtOnce => None,
            Self::Paced(paced) => paced.next.filter(|_| paced.waits),
            Self::Player(player) => player.deadline(),
        }
    }

    /// Calls `to` with the name, unit and value of each counter, always in the same order.
    pub fn report_counters(&self, now: Instant, to: &mut dyn FnMut(&'static str, &'static str, CounterValue)) {
        if let Self::Player(player) = self {
            player.report_counters(now, to);
        }
    }
}

impl Paced {
    fn run(&mut self, now: Instant, port: &mut dyn StreamPort) {
        if self.next.is_none_or(|next| next <= now) && port.readable() > 0 {
            port.read(now, self.read.get());
            // A short read takes as long as a full one.
            self.next = Some(now + self.intervals.transmit(self.read, self.rate));
        }
        self.waits = port.readable() > 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Pipe;
    use acklab_base::{Bytes, Duration, Rate};

    #[test]
    fn at_once_reads_everything() {
        let (mut reader, mut pipe) = (Reader::new(Reading::default(), |_| None), Pipe::of(0));
        pipe.readable = 70_000;
        reader.run(Instant::ZERO, Port::Stream(&mut pipe));
        assert_eq!((pipe.readable, reader.deadline()), (0, None));
    }

    #[test]
    fn a_slow_reader_reads_at_its_rate() {
        let reading = Reading::Constant { rate: Rate::from_mbps(8), read: Bytes(1000) };
        let (mut reader, mut pipe) = (Reader::new(reading, |_| None), Pipe::of(0));
        pipe.readable = 10_500;
        reader.run(Instant::ZERO, Port::Stream(&mut pipe));
        while let Some(now) = reader.deadline() {
            reader.run(now, Port::Stream(&mut pipe));
            assert_eq!(10_500 - pipe.readable, (1000 * (1 + now.as_nanos() / 1_000_000)).min(10_500));
        }
        assert_eq!(pipe.readable, 0);
        pipe.readable = 1;
        reader.run(Instant::ZERO + Duration::from_secs(1), Port::Stream(&mut pipe));
        assert_eq!(pipe.readable, 0, "data that arrive after a pause are read at once");
    }
}
