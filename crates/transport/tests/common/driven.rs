//! A sender combined with the application that writes to it.

use acklab_app::{Traffic, Writer};
use acklab_base::random::Seed;
use acklab_base::{Endpoint, Fate, Instant, Machine};
use acklab_transport::cc::Controller;
use acklab_transport::tcp::sender::Phase;
use acklab_transport::tcp::{Sender, TcpConfig};
use acklab_wire::tcp::Segment;
use std::ops::Deref;

/// A sender and its application, which opens the connection immediately.
#[derive(Debug)]
pub(crate) struct Driven {
    sender: Sender,
    writer: Writer,
}

impl Driven {
    /// Creates a sender whose application stops at `stop`. `name` names the random streams of both.
    pub(crate) fn new(
        config: TcpConfig,
        controller: Controller,
        traffic: Traffic,
        stop: Option<Instant>,
        seed: Seed,
        name: &str,
    ) -> Self {
        let chance = seed.stream(&format!("flow/{name}/source"));
        Self {
            sender: Sender::new(config, controller, seed, name),
            writer: Writer::new(traffic, Instant::ZERO, stop, chance),
        }
    }

    /// Drains the events since the last call.
    #[allow(dead_code, reason = "not every test asks")]
    pub(crate) fn drain_events(&mut self) -> impl Iterator<Item = acklab_base::Event> + '_ {
        self.sender.drain_events()
    }
}

impl Deref for Driven {
    type Target = Sender;

    fn deref(&self) -> &Sender {
        &self.sender
    }
}

impl Machine for Driven {
    type Datagram = Segment;
    type Outcome = Fate;

    fn accept(&mut self, now: Instant, segment: Segment) -> Fate {
        let fate = self.sender.accept(now, segment);
        self.writer.run(now, self.sender.port());
        fate
    }

    fn wake(&mut self, now: Instant) {
        self.writer.run(now, self.sender.port());
        self.sender.wake(now);
    }

    fn deadline(&self) -> Option<Instant> {
        // The application of a finished connection may still wait for its stop time, which has no
        // effect.
        let writes = self.writer.deadline().filter(|_| self.sender.phase() != Phase::Finished);
        Instant::earliest(writes, self.sender.deadline())
    }

    fn poll(&mut self, now: Instant) -> Option<Segment> {
        let may_transmit = self.sender.may_transmit();
        let segment = self.sender.poll(now);
        assert!(may_transmit || segment.is_none(), "{segment:?} leaves, though none may");
        segment
    }
}
