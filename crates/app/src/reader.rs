//! An application that reads received data.

use crate::Reading;
use acklab_base::{Instant, Port, Serializer, StreamPort};

/// An application that reads.
#[derive(Clone, Debug)]
pub struct Reader {
    reading: Reading,
    /// The earliest time of the next read.
    next: Option<Instant>,
    /// Whether data are waiting for that time.
    waits: bool,
    intervals: Serializer,
}

impl Reader {
    /// An application that reads as `reading` says.
    #[must_use]
    pub fn new(reading: Reading) -> Self {
        Self { reading, next: None, waits: false, intervals: Serializer::default() }
    }

    /// Reads what may be read now. Datagrams need not be read.
    #[inline]
    pub fn run(&mut self, now: Instant, port: Port<'_>) {
        if let Port::Stream(port) = port {
            match self.reading {
                Reading::AtOnce {} => _ = port.read(now, u64::MAX),
                Reading::Constant { .. } => self.run_paced(now, port),
            }
        }
    }

    /// When the application must run next, or `None` if it only waits for data.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.next.filter(|_| self.waits)
    }

    fn run_paced(&mut self, now: Instant, port: &mut dyn StreamPort) {
        let Reading::Constant { rate, read } = self.reading else { return };
        if self.next.is_none_or(|next| next <= now) && port.readable() > 0 {
            port.read(now, read.get());
            // A short read takes as long as a full one.
            self.next = Some(now + self.intervals.transmit(read, rate));
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
        let (mut reader, mut pipe) = (Reader::new(Reading::default()), Pipe::of(0));
        pipe.readable = 70_000;
        reader.run(Instant::ZERO, Port::Stream(&mut pipe));
        assert_eq!((pipe.readable, reader.deadline()), (0, None));
    }

    #[test]
    fn a_slow_reader_reads_at_its_rate() {
        let reading = Reading::Constant { rate: Rate::from_mbps(8), read: Bytes(1000) };
        let (mut reader, mut pipe) = (Reader::new(reading), Pipe::of(0));
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
