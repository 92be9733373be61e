//! One direction of a wire as a machine.

use crate::counters::Counters;
use crate::gate::{self, Gate};
use crate::jitter::{self, Arrivals};
use crate::loss::{self, Loss};
use crate::queue::{self, AckFilter, Fifo, Gauge};
use crate::server::{Server, Step};
use acklab_base::random::Seed;
use acklab_base::{Bytes, Datagram, Duration, Instant, Machine, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// One direction of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Serialisation rate. Without `rate`, `steps` or `trace`, packets take no time to send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Rates that change with time, instead of `rate`; the first at 0s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<Step>>,
    /// A recorded link, instead of `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceFile>,
    /// Propagation delay, one way.
    pub delay: Duration,
    /// Link-layer octets that are serialised with each IP packet.
    pub overhead: Bytes,
    /// Who waits, and who is turned away.
    pub queue: queue::Config,
    /// Sends in bursts, as an ACK-compressing link does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<gate::Config>,
    /// Packets that are lost after they have been sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<loss::Config>,
    /// Extra delay that keeps order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<jitter::Config>,
    /// Packets that are held back and overtaken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<jitter::Reorder>,
}

/// Where a recorded link is read from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceFile {
    /// A file in mahimahi's format, relative to the scenario.
    pub file: String,
}

/// One direction of a wire: queue, gate, server, channel.
///
/// It wakes only to deliver. Who waits at any instant is worked out when the next packet asks.
#[derive(Clone, Debug)]
pub struct Link<D> {
    queue: Queue<D>,
    gauge: Gauge,
    gate: Option<Gate>,
    server: Server,
    free_at: Instant,
    channel: Channel<D>,
    overhead: Bytes,
    counters: Counters,
}

#[derive(Clone, Debug)]
enum Queue<D> {
    Fifo(Fifo),
    AckFilter(AckFilter<D>),
}

/// What lies behind the server: packets on their way, in the order in which they will arrive.
#[derive(Clone, Debug)]
struct Channel<D> {
    flying: VecDeque<(Instant, D)>,
    arrivals: Arrivals,
    loss: Option<Loss>,
    can_overtake: bool,
}

impl<D: Datagram> Channel<D> {
    fn send(&mut self, sent: Instant, packet: D, counters: &mut Counters) {
        if self.loss.as_mut().is_some_and(Loss::strikes) {
            counters.lost += 1;
            counters.bytes_lost += packet.wire_len();
            return;
        }
        let arrival = self.arrivals.arrival(sent);
        if self.can_overtake {
            let place = self.flying.partition_point(|(at, _)| *at <= arrival);
            self.flying.insert(place, (arrival, packet));
        } else {
            self.flying.push_back((arrival, packet));
        }
    }
}

impl<D: Datagram> Link<D> {
    /// A link of this configuration, called `name`. `server` is what `config.rate`, `steps` or `trace` describe: reading a trace
    /// is not a matter of the link.
    #[must_use]
    pub fn new(config: &Config, server: Server, seed: Seed, name: &str) -> Self {
        let stream = |part: &str| seed.stream(&format!("link/{name}/{part}"));
        let channel = Channel {
            flying: VecDeque::new(),
            arrivals: Arrivals::new(
                config.delay,
                config.jitter.map(|jitter| (jitter, stream("jitter"))),
                config.reorder.map(|reorder| (reorder, stream("reorder"))),
            ),
            loss: config.loss.clone().map(|loss| Loss::new(loss, stream("loss"))),
            can_overtake: config.reorder.is_some(),
        };
        Self {
            queue: match config.queue {
                queue::Config::Fifo { limit } => Queue::Fifo(Fifo::new(limit)),
                queue::Config::AckFilter { limit } => Queue::AckFilter(AckFilter::new(limit)),
            },
            gauge: Gauge::default(),
            gate: config.gate.map(Gate::new),
            server,
            free_at: Instant::ZERO,
            channel,
            overhead: config.overhead,
            counters: Counters::default(),
        }
    }

    /// What has happened by `now`, since the window was opened.
    pub fn counters(&mut self, now: Instant) -> Counters {
        self.advance(now);
        Counters { queue: self.gauge.length, ..self.counters }
    }

    /// Open a new window: counts and sums begin again.
    pub fn reopen(&mut self, now: Instant) {
        self.counters = self.counters(now).reopened(now);
        self.gauge.length = self.counters.queue;
    }

    /// Keep every change of the queue's length from here on.
    pub fn log_queue(&mut self) {
        self.gauge.changes = Some(Vec::new());
    }

    /// The changes of the queue's length that were kept: when, and the length after it.
    #[must_use]
    pub fn queue_log(&self) -> &[(Instant, u64)] {
        self.gauge.changes.as_deref().unwrap_or_default()
    }

    /// The mean rate up to `until` in bits per second; none if sending takes no time.
    #[must_use]
    pub fn mean_rate(&self, until: Instant) -> Option<f64> {
        self.server.mean_rate(until)
    }

    /// Packets inside: waiting, in service or on the wire.
    #[must_use]
    pub fn inside(&self) -> usize {
        let waiting = match &self.queue {
            // Packets of a FIFO are on the wire from the moment at which they arrive.
            Queue::Fifo(_) => 0,
            Queue::AckFilter(filter) => filter.len(),
        };
        waiting + self.channel.flying.len()
    }

    /// When a packet begins its service that came to the head of the queue at `ready`.
    fn start_of(&self, ready: Instant) -> Instant {
        self.gate.as_ref().map_or(ready, |gate| gate.slot_for(ready)).max(self.free_at)
    }

    /// Send a packet that came to the head at `ready` and begins at `start`.
    fn serve(&mut self, ready: Instant, start: Instant, packet: D) {
        if let Some(gate) = &mut self.gate {
            gate.pass(gate.slot_for(ready));
        }
        let on_wire = packet.wire_len() + self.overhead;
        self.free_at = self.server.finish(start, on_wire, start == self.free_at);
        self.channel.send(self.free_at, packet, &mut self.counters);
    }

    fn advance(&mut self, now: Instant) {
        if let Queue::Fifo(fifo) = &mut self.queue {
            fifo.advance(now, &mut self.counters, &mut self.gauge);
            return;
        }
        while let Some((ready, start)) = self.next_start()
            && start <= now
        {
            let Queue::AckFilter(filter) = &mut self.queue else { return };
            let Some(packet) = filter.take_head(start, &mut self.gauge) else { return };
            self.counters.serve(packet.wire_len(), packet.wire_len() + self.overhead);
            self.counters.waited += start.since(ready);
            self.serve(ready, start, packet);
        }
    }

    /// The head of a queue that holds packets: when it came, and when it begins.
    fn next_start(&self) -> Option<(Instant, Instant)> {
        match &self.queue {
            Queue::Fifo(_) => None,
            Queue::AckFilter(filter) => filter.head_arrived().map(|ready| (ready, self.start_of(ready))),
        }
    }

    fn drop_at_tail(&mut self, size: Bytes) {
        self.counters.dropped += 1;
        self.counters.bytes_dropped += size;
    }
}

impl<D: Datagram> Machine for Link<D> {
    type Datagram = D;

    fn accept(&mut self, now: Instant, packet: D) {
        self.advance(now);
        let size = packet.wire_len();
        let on_wire = size + self.overhead;
        self.counters.packets_in += 1;
        self.counters.bytes_in += size;
        let start = self.start_of(now);
        let begins_at_once = start == now;
        match &mut self.queue {
            Queue::Fifo(_) if begins_at_once => {
                self.counters.serve(size, on_wire);
                self.serve(now, start, packet);
            }
            Queue::Fifo(fifo) if fifo.has_room(size) => {
                fifo.join(now, start, size, on_wire, &mut self.gauge);
                self.counters.waited += start.since(now);
                self.serve(now, start, packet);
            }
            Queue::Fifo(_) => self.drop_at_tail(size),
            Queue::AckFilter(filter) if begins_at_once && filter.len() == 0 => {
                self.counters.serve(size, on_wire);
                self.serve(now, start, packet);
            }
            Queue::AckFilter(filter) => match filter.offer(now, packet, &mut self.gauge) {
                queue::Outcome::Queued => {}
                queue::Outcome::Replaced(old_size) => {
                    self.counters.filtered += 1;
                    self.counters.bytes_filtered += old_size;
                }
                queue::Outcome::Dropped => self.drop_at_tail(size),
            },
        }
    }

    fn wake(&mut self, now: Instant) {
        self.advance(now);
    }

    fn deadline(&self) -> Option<Instant> {
        let arrival = self.channel.flying.front().map(|(at, _)| *at);
        // A packet that has yet to begin arrives after those on the wire, unless they may be overtaken.
        if arrival.is_some() && !self.channel.can_overtake {
            return arrival;
        }
        let start = self.next_start().map(|(_, start)| start);
        arrival.into_iter().chain(start).min()
    }

    fn poll(&mut self, now: Instant) -> Option<D> {
        if self.channel.flying.front()?.0 > now {
            return None;
        }
        let (_, packet) = self.channel.flying.pop_front()?;
        self.counters.packets_out += 1;
        self.counters.bytes_out += packet.wire_len();
        Some(packet)
    }
}
