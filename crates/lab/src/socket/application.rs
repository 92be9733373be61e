//! The application at one end of a flow.

use acklab_app::{Reader, Writer};
use acklab_base::{CounterValue, Endpoint, Instant};

/// The application at one end of a flow.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "most ends write, and a writer runs for each packet: it should be no pointer away"
)]
pub(crate) enum Application {
    /// It writes.
    Writer(Writer),
    /// It reads at a limited rate or plays a video, and may write as well.
    Reader(Box<(Reader, Option<Writer>)>),
    /// None: the endpoint reads data on arrival.
    None,
}

impl Application {
    #[inline(always)]
    pub(super) fn run(&mut self, now: Instant, endpoint: &mut impl Endpoint) {
        match self {
            Self::Writer(writer) => writer.run(now, endpoint.port()),
            Self::Reader(both) => read(both, now, endpoint),
            Self::None => {}
        }
    }

    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Writer(writer) => writer.deadline(),
            Self::Reader(both) => {
                let (reader, writer) = &**both;
                Instant::earliest(reader.deadline(), writer.as_ref().and_then(Writer::deadline))
            }
            Self::None => None,
        }
    }

    /// Calls `to` with the name, unit and value of each counter, always in the same order.
    pub(super) fn report_counters(&self, now: Instant, to: &mut dyn FnMut(&'static str, &'static str, CounterValue)) {
        if let Self::Reader(both) = self {
            both.0.report_counters(now, to);
        }
    }
}

/// Runs a reader, and its writer if it has one.
#[inline(never)]
fn read((reader, writer): &mut (Reader, Option<Writer>), now: Instant, endpoint: &mut impl Endpoint) {
    reader.run(now, endpoint.port());
    if let Some(writer) = writer {
        writer.run(now, endpoint.port());
    }
}
