//! One direction of a wire as a machine.

use crate::counters::{Counters, Tally};
use crate::duplicate::{self, Duplicate};
use crate::gate::{self, Gate};
use crate::jitter::{self, Arrivals};
use crate::loss::{self, Loss};
use crate::queue::{self, Queue, Waiting, mark};
use crate::server::{Server, Step};
use acklab_base::random::Seed;
use acklab_base::{Bytes, Datagram, Duration, FlowKey, Instant, Machine, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;

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
    #[schemars(example = "7.5ms")]
    pub delay: Duration,
    /// Link-layer octets that are serialised with each IP packet.
    #[schemars(example = "2B")]
    pub overhead: Bytes,
    /// Who waits, and who is turned away.
    pub queue: queue::Config,
    /// Packets that the device takes from the queue ahead of sending them, as drivers and ns-3 do. They wait, but not in the queue:
    /// neither its limit nor its length counts them.
    #[serde(skip_serializing_if = "is_zero")]
    pub device_queue: u32,
    /// Sends in bursts, as an ACK-compressing link does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<gate::Config>,
    /// Packets that are lost after they have been sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<loss::Config>,
    /// Packets that arrive twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<duplicate::Config>,
    /// Extra delay that keeps order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<jitter::Config>,
    /// Packets that are held back and overtaken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<jitter::Reorder>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Where a recorded link is read from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceFile {
    /// A file in mahimahi's format, relative to the scenario.
    #[schemars(example = "lte.trace")]
    pub file: String,
}

/// One direction of a wire: queue, gate, server, channel.
///
/// It wakes only to deliver. Who waits at any instant is worked out when the next packet asks.
#[derive(Clone, Debug)]
pub struct Link<D> {
    queue: Queue<D>,
    device: Device,
    gate: Option<Gate>,
    server: Server,
    free_at: Instant,
    channel: Channel<D>,
    overhead: Bytes,
    tally: Tally,
}

/// The places between queue and server. A packet takes one when the packet that many before it begins its service.
#[derive(Clone, Debug)]
struct Device {
    places: usize,
    /// When those last taken begin their service, oldest first.
    starts: VecDeque<Instant>,
}

impl Device {
    /// When a packet leaves the queue that is at its head at `ready` and begins its service at `start`.
    fn entry(&self, ready: Instant, start: Instant) -> Instant {
        match self.places {
            0 => start,
            places if self.starts.len() < places => ready,
            _ => self.starts.front().map_or(ready, |vacated| ready.max(*vacated)),
        }
    }

    fn enter(&mut self, start: Instant) {
        if self.places > 0 {
            if self.starts.len() == self.places {
                self.starts.pop_front();
            }
            self.starts.push_back(start);
        }
    }
}

/// What lies behind the server: packets on their way, in the order in which they will arrive.
#[derive(Clone, Debug)]
struct Channel<D> {
    flying: VecDeque<(Instant, D)>,
    arrivals: Arrivals,
    loss: Option<Loss>,
    duplicate: Option<Duplicate>,
    can_overtake: bool,
}

impl<D: Datagram + Clone> Channel<D> {
    #[inline]
    fn send(&mut self, sent: Instant, packet: D, tally: &mut Tally) {
        if self.loss.as_mut().is_some_and(Loss::strikes) {
            return tally.loses(sent, packet.wire_len());
        }
        if self.duplicate.as_mut().is_some_and(Duplicate::strikes) {
            tally.duplicates(sent, packet.wire_len());
            self.carry(sent, packet.clone());
        }
        self.carry(sent, packet);
    }

    #[inline]
    fn carry(&mut self, sent: Instant, packet: D) {
        let arrival = self.arrivals.arrival(sent);
        if self.can_overtake {
            let place = self.flying.partition_point(|(at, _)| *at <= arrival);
            self.flying.insert(place, (arrival, packet));
        } else {
            self.flying.push_back((arrival, packet));
        }
    }
}

impl<D: Datagram + Clone> Link<D> {
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
            duplicate: config.duplicate.map(|duplicate| Duplicate::new(duplicate, stream("duplicate"))),
            can_overtake: config.reorder.is_some(),
        };
        Self {
            queue: Queue::new(config.queue),
            device: Device { places: config.device_queue as usize, starts: VecDeque::new() },
            gate: config.gate.map(Gate::new),
            server,
            free_at: Instant::ZERO,
            channel,
            overhead: config.overhead,
            tally: Tally::new(),
        }
    }

    /// Count only what happens in `window`; without this, everything counts.
    pub fn measure(&mut self, window: Range<Instant>) {
        self.tally.window = window;
    }

    /// What has happened by `now`, inside the window.
    pub fn counters(&mut self, now: Instant) -> Counters {
        self.advance(now);
        self.tally.counters.clone()
    }

    /// The flow of a packet that the queue has turned away inside the window and that this has not told yet.
    pub fn take_drop(&mut self) -> Option<FlowKey> {
        self.tally.turned_away.pop()
    }

    /// Keep every change of the queue's length from here on.
    pub fn log_queue(&mut self) {
        self.tally.lengths = Some(Vec::new());
    }

    /// The changes of the queue's length that were kept: when, and the length after it.
    #[must_use]
    pub fn queue_log(&self) -> &[(Instant, u64)] {
        self.tally.lengths.as_deref().unwrap_or_default()
    }

    /// The mean rate up to `until` in bits per second; none if sending takes no time.
    #[must_use]
    pub fn mean_rate(&self, until: Instant) -> Option<f64> {
        self.server.mean_rate(until)
    }

    /// Takes a packet that is on the wire before it arrives, and tells when it will.
    ///
    /// What comes out of a FIFO is settled when a packet goes in. Where a link is the only one to feed the next, its packets may so be
    /// handed on at once, with the instant of their arrival. Nothing, if the queue is no FIFO, or packets may overtake each other or arrive twice.
    #[inline]
    pub fn take_ahead(&mut self) -> Option<(Instant, D)> {
        if self.channel.can_overtake || self.channel.duplicate.is_some() || !matches!(self.queue, Queue::Settled(_)) {
            return None;
        }
        let (arrival, packet) = self.channel.flying.pop_front()?;
        self.tally.delivers(arrival, packet.wire_len());
        Some((arrival, packet))
    }

    /// When a packet begins its service that came to the head of the queue at `ready`.
    fn start_of(&self, ready: Instant) -> Instant {
        self.gate.as_ref().map_or(ready, |gate| gate.slot_for(ready)).max(self.free_at)
    }

    /// Send a packet that came to the head at `ready` and begins at `start`.
    #[inline]
    fn serve(&mut self, ready: Instant, start: Instant, packet: D) {
        if let Some(gate) = &mut self.gate {
            gate.pass(gate.slot_for(ready));
        }
        self.device.enter(start);
        let on_wire = packet.wire_len() + self.overhead;
        self.free_at = self.server.finish(start, on_wire, start == self.free_at);
        self.channel.send(self.free_at, packet, &mut self.tally);
    }

    fn advance(&mut self, now: Instant) {
        if let Queue::Settled(fifo) = &mut self.queue {
            return fifo.advance(now, &mut self.tally);
        }
        while let Some((ready, leaves)) = self.next_departure()
            && leaves <= now
        {
            let start = self.start_of(ready);
            let Queue::Held(held) = &mut self.queue else { return };
            // CoDel may drop what would leave.
            let Some((_, packet)) = held.take_head(leaves, &mut self.tally) else { continue };
            self.tally.serves(leaves, packet.wire_len() + self.overhead, leaves.since(ready));
            self.serve(ready, start, packet);
        }
    }

    /// The head of a queue that holds packets: when it came, and when it leaves the queue.
    fn next_departure(&self) -> Option<(Instant, Instant)> {
        let Queue::Held(held) = &self.queue else { return None };
        let (ready, _) = held.head()?;
        Some((ready, self.device.entry(ready, self.start_of(ready))))
    }
}

impl<D: Datagram + Clone> Machine for Link<D> {
    type Datagram = D;

    fn accept(&mut self, now: Instant, mut packet: D) {
        self.advance(now);
        let size = packet.wire_len();
        let on_wire = size + self.overhead;
        self.tally.arrives(now, size);
        let start = self.start_of(now);
        let leaves = self.device.entry(now, start);
        let need_not_wait = leaves == now;
        match &mut self.queue {
            // In a FIFO, those that wait leave no later than a packet that need not.
            Queue::Settled(_) if need_not_wait => {
                self.tally.serves(now, on_wire, Duration::ZERO);
                self.serve(now, start, packet);
            }
            Queue::Held(held) if need_not_wait && held.len() == 0 => {
                held.passed_by();
                self.tally.serves(now, on_wire, Duration::ZERO);
                self.serve(now, start, packet);
            }
            Queue::Settled(fifo) if fifo.has_room(size) => {
                if fifo.marks() && mark(&mut packet) {
                    self.tally.marks(now, size);
                }
                fifo.join(Waiting { arrived: now, leaves, size, on_wire }, &mut self.tally);
                self.serve(now, start, packet);
            }
            Queue::Settled(_) => self.tally.drops(now, packet.flow(), size),
            // The counters have what became of it; it leaves when its time has come.
            Queue::Held(held) => drop(held.offer(now, packet, true, &mut self.tally)),
        }
    }

    fn wake(&mut self, now: Instant) {
        // What waits in a FIFO is on its way already.
        if !matches!(self.queue, Queue::Settled(_)) {
            self.advance(now);
        }
    }

    #[inline]
    fn deadline(&self) -> Option<Instant> {
        let arrival = self.channel.flying.front().map(|(at, _)| *at);
        // A packet that has yet to begin arrives after those on the wire, unless they may be overtaken.
        if arrival.is_some() && !self.channel.can_overtake {
            return arrival;
        }
        let departure = self.next_departure().map(|(_, leaves)| leaves);
        arrival.into_iter().chain(departure).min()
    }

    #[inline]
    fn poll(&mut self, now: Instant) -> Option<D> {
        if self.channel.flying.front()?.0 > now {
            return None;
        }
        let (_, packet) = self.channel.flying.pop_front()?;
        self.tally.delivers(now, packet.wire_len());
        Some(packet)
    }
}
