//! A wire between two nodes: a link in each direction.

#![allow(unreachable_pub, reason = "others pass it on")]

use super::exchange::Carrier;
use super::form::Form;
use acklab_base::random::Seed;
use acklab_base::{Datagram, FlowKey, Instant, Machine};
use acklab_path::link::LinkConfig;
use acklab_path::server::Server;
use acklab_path::{Counters, Link};

/// The counters of a link, and the changes of its queue's length.
pub type Counts = (Counters, Vec<(Instant, u64)>);

/// The links from node 0 and from node 1.
pub struct Duplex<D>([Link<D>; 2]);

impl<D: Datagram + Clone> Duplex<D> {
    pub fn new(config: &LinkConfig) -> Self {
        let server = || config.rate.map_or(Server::Unlimited, Server::constant);
        Self(["there", "back"].map(|name| {
            let mut link = Link::new(config, server(), Seed(5), name);
            link.log_queue();
            link
        }))
    }

    pub fn counts(&mut self, now: Instant) -> [Counts; 2] {
        self.0.each_mut().map(|link| (link.counters(now), link.queue_log().to_vec()))
    }
}

impl<D: Form> Machine for Duplex<D> {
    type Datagram = (usize, D);
    type Outcome = ();

    fn accept(&mut self, now: Instant, (node, packet): (usize, D)) {
        self.0[node].accept(now, packet);
    }

    fn wake(&mut self, now: Instant) {
        self.0.iter_mut().filter(|link| link.deadline().is_some_and(|due| due <= now)).for_each(|link| link.wake(now));
    }

    fn deadline(&self) -> Option<Instant> {
        self.0.iter().filter_map(Machine::deadline).min()
    }

    fn poll(&mut self, now: Instant) -> Option<(usize, D)> {
        let [there, back] = &mut self.0;
        there.poll(now).map(|packet| (1, packet)).or_else(|| back.poll(now).map(|packet| (0, packet)))
    }
}

impl<D: Form> Carrier<D> for Duplex<D> {
    fn take_drop(&mut self) -> Option<FlowKey> {
        self.0.iter_mut().find_map(Link::take_drop)
    }
}
