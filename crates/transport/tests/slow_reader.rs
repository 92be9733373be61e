//! Tests a transfer limited by an application that reads slowly (RFC 9293, §3.8.6).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "common/driven.rs"]
mod driven;

use acklab_app::Traffic;
use acklab_base::random::Seed;
use acklab_base::{Bytes, Duration, Event, Instant, Machine};
use acklab_transport::ack::{Policy, Reason};
use acklab_transport::cc::Controller;
use acklab_transport::reading::Reading;
use acklab_transport::tcp::{Preset, Receiver};
use acklab_wire::tcp::Segment;
use driven::Driven;
use std::collections::VecDeque;

const DELAY: Duration = Duration::from_millis(10);
const BUFFER: u64 = 60_000;

struct Transfer {
    now: Instant,
    sender: Driven,
    receiver: Receiver,
    forward: VecDeque<(Instant, Segment)>,
    backward: VecDeque<(Instant, Segment)>,
    window_probes: usize,
}

impl Transfer {
    fn new() -> Self {
        let (mut config, seed) = (Preset::Linux.config(), Seed(1));
        config.receive_buffer = Bytes(BUFFER);
        let controller = Controller::new(&config.congestion, &config.controller_start(seed, "f")).unwrap();
        let receiver = Receiver::new(config, Policy::new(config.ack).unwrap(), seed, "f");
        Self {
            now: Instant::ZERO,
            sender: Driven::new(config, controller, Traffic::Greedy {}, None, seed, "f"),
            receiver: receiver.with_reading(Reading::OnDemand),
            forward: VecDeque::new(),
            backward: VecDeque::new(),
            window_probes: 0,
        }
    }

    /// Lets a millisecond pass, after which the application reads at most `octets` bytes.
    fn step(&mut self, octets: u64) {
        self.now += Duration::from_millis(1);
        self.sender.wake(self.now);
        self.receiver.wake(self.now);
        self.settle();
        while let Some((_, segment)) = self.forward.pop_front_if(|(due, _)| *due <= self.now) {
            self.receiver.accept(self.now, segment);
            self.settle();
        }
        while let Some((_, segment)) = self.backward.pop_front_if(|(due, _)| *due <= self.now) {
            self.sender.accept(self.now, segment);
            self.settle();
        }
        self.receiver.read(self.now, octets);
        self.settle();
    }

    fn window_updates(&self) -> u64 {
        self.receiver.counters().acks[Reason::WindowUpdate.index()]
    }

    fn settle(&mut self) {
        let due = self.now + DELAY;
        while let Some(segment) = self.sender.poll(self.now) {
            self.forward.push_back((due, segment));
        }
        while let Some(segment) = self.receiver.poll(self.now) {
            self.backward.push_back((due, segment));
        }
        self.window_probes += self.sender.drain_events().filter(|event| *event == Event::WindowProbe).count();
        assert!(self.receiver.readable() <= BUFFER);
    }
}

#[test]
fn the_sender_keeps_to_the_pace_of_the_reader() {
    let mut transfer = Transfer::new();
    (0..1000).for_each(|_| transfer.step(1000));
    let before = transfer.receiver.delivered();
    (0..1000).for_each(|_| transfer.step(1000));
    assert_eq!(transfer.receiver.delivered() - before, 1_000_000, "the buffer never runs dry");
    assert_eq!(transfer.sender.counters().retransmissions, 0, "nothing is sent that has no room");
    assert_eq!(transfer.window_updates(), 0, "the ACKs of data report enough");
}

#[test]
fn a_window_that_stays_shut_is_probed_until_it_opens() {
    let mut transfer = Transfer::new();
    (0..10_000).for_each(|_| transfer.step(0));
    assert_eq!((transfer.receiver.readable(), transfer.receiver.delivered()), (BUFFER, 0));
    assert!(transfer.window_probes >= 3, "{} probes in 10 s", transfer.window_probes);
    assert_eq!(transfer.window_updates(), 0);
    (0..1000).for_each(|_| transfer.step(u64::MAX));
    assert!(transfer.window_updates() > 0, "the application begins to read");
    assert!(transfer.receiver.delivered() > 10 * BUFFER, "{} delivered", transfer.receiver.delivered());
}
