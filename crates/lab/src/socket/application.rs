//! The application at one end of a flow.

use acklab_app::page::{Browser, Object, Server};
use acklab_app::{Reader, Writer};
use acklab_base::{CounterValue, Endpoint, Instant};

/// The application at one end of a flow.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "most ends write, and a writer runs for each packet: it should be no pointer away"
)]
pub(crate) enum Application {
    /// The application writes.
    Writer(Writer),
    /// The application reads at a limited rate or plays a video. It may write, too.
    Reader(Box<(Reader, Option<Writer>)>),
    /// The application requests a page.
    Browser(Box<Browser>),
    /// The application serves a page.
    Server(Box<Server>),
    /// No application: the endpoint reads data on arrival.
    None,
}

impl Application {
    #[inline(always)]
    pub(super) fn run(&mut self, now: Instant, endpoint: &mut impl Endpoint) {
        match self {
            Self::Writer(writer) => writer.run(now, endpoint.port()),
            Self::None => {}
            Self::Reader(_) | Self::Browser(_) | Self::Server(_) => self.run_rare(now, endpoint),
        }
    }

    /// Runs a rare kind of application.
    #[inline(never)]
    fn run_rare(&mut self, now: Instant, endpoint: &mut impl Endpoint) {
        match self {
            Self::Reader(both) => read(both, now, endpoint),
            Self::Browser(browser) => browser.run(now, endpoint.port()),
            Self::Server(server) => server.run(now, endpoint.port()),
            Self::Writer(_) | Self::None => {}
        }
    }

    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Writer(writer) => writer.deadline(),
            Self::None => None,
            Self::Reader(_) | Self::Browser(_) | Self::Server(_) => self.rare_deadline(),
        }
    }

    /// Returns the deadline of a rare kind of application.
    #[inline(never)]
    fn rare_deadline(&self) -> Option<Instant> {
        match self {
            Self::Reader(both) => {
                let (reader, writer) = &**both;
                Instant::earliest(reader.deadline(), writer.as_ref().and_then(Writer::deadline))
            }
            Self::Browser(browser) => browser.deadline(),
            Self::Server(server) => server.deadline(),
            Self::Writer(_) | Self::None => None,
        }
    }

    /// Returns the objects of the page that the application requests.
    pub(super) fn objects(&self) -> &[Object] {
        match self {
            Self::Browser(browser) => browser.objects(),
            _ => &[],
        }
    }

    /// Calls `to` with the name, unit and value of each counter, always in the same order.
    pub(super) fn report_counters(&self, now: Instant, to: &mut dyn FnMut(&'static str, &'static str, CounterValue)) {
        match self {
            Self::Reader(both) => both.0.report_counters(now, to),
            Self::Browser(browser) => browser.report_counters(to),
            Self::Writer(_) | Self::Server(_) | Self::None => {}
        }
    }
}

/// Runs a reader, and the writer if present.
fn read((reader, writer): &mut (Reader, Option<Writer>), now: Instant, endpoint: &mut impl Endpoint) {
    reader.run(now, endpoint.port());
    if let Some(writer) = writer {
        writer.run(now, endpoint.port());
    }
}
