//! One direction of a link: thinner, queue, device, gate, server, channel and spacer as one machine.

mod assigned;
mod channel;
mod config;
mod device;

pub use config::{LinkConfig, TraceFile};

use crate::counters::{Counters, Tally};
use crate::demand::Terminal;
use crate::gate::Gate;
use crate::mtu::Mtu;
use crate::queue::{PacketQueue, Queue, Verdict, Waiting, mark};
use crate::server::Server;
use crate::spacer::Spacer;
use crate::thinner::Thinner;
use acklab_base::random::Seed;
use acklab_base::{Bytes, Datagram, Duration, FlowKey, Instant, Machine};
use assigned::Assigned;
use channel::Channel;
use device::Device;
use std::ops::Range;

/// One direction of a link.
///
/// It wakes only to deliver packets. The state of the queue at an instant is computed when the next packet arrives.
#[derive(Clone, Debug)]
pub struct Link<D> {
    /// The largest packet that it carries, if there is a limit.
    mtu: Option<Box<Mtu>>,
    thinner: Option<Box<Thinner<D>>>,
    queue: Queue<D>,
    device: Device,
    gate: Option<Gate>,
    server: Server,
    /// In place of device, gate and server, if capacity is assigned on demand.
    assigned: Option<Box<Assigned<D>>>,
    /// When the server finishes the last packet that it has begun.
    free_at: Instant,
    channel: Channel<D>,
    spacer: Option<Box<Spacer<D>>>,
    overhead: Bytes,
    tally: Tally,
}

impl<D: Datagram + Clone> Link<D> {
    /// A link with this configuration. `name` selects its random streams. The caller makes `server` from `config.rate`, `config.steps`
    /// or `config.trace`, because a link does not read files.
    #[must_use]
    pub fn new(config: &LinkConfig, server: Server, seed: Seed, name: &str) -> Self {
        // The packets in a queue decide what capacity is requested, so their departures are not known on arrival.
        let terminal = config.demand.zip(config.rate).map(|(demand, rate)| Terminal::new(demand, rate));
        let draws = || seed.stream(&format!("link/{name}/queue"));
        let queue = match terminal {
            Some(_) => Queue::Stored(PacketQueue::new(config.queue, draws())),
            None => Queue::new(config.queue, draws),
        };
        Self {
            mtu: Mtu::new(config.mtu, config.mtu_steps.as_deref()).map(Box::new),
            thinner: config.thinner.map(|rule| Box::new(Thinner::new(rule))),
            queue,
            assigned: terminal.map(|terminal| Box::new(Assigned::new(terminal, config.overhead))),
            device: Device::new(config.device_queue as usize),
            gate: config.gate.map(Gate::new),
            server,
            free_at: Instant::ZERO,
            channel: Channel::new(config, |part| seed.stream(&format!("link/{name}/{part}"))),
            spacer: config.spacer.map(|config| Box::new(Spacer::new(config))),
            overhead: config.overhead,
            tally: Tally::new(),
        }
    }

    /// Restricts the counters to what happens in `window`. The default window is the whole run.
    pub fn measure(&mut self, window: Range<Instant>) {
        self.tally.window = window;
    }

    /// The counters at `now`.
    pub fn counters(&mut self, now: Instant) -> Counters {
        self.advance(now);
        self.tally.counters.clone()
    }

    /// Removes one packet that the queue dropped inside the window from the list of drops, and returns its flow.
    pub fn take_drop(&mut self) -> Option<FlowKey> {
        self.tally.dropped_flows.pop()
    }

    /// Records every change of the queue's length from now on.
    pub fn log_queue(&mut self) {
        self.tally.lengths = Some(Vec::new());
    }

    /// The recorded changes of the queue's length: the instant and the length after it.
    #[must_use]
    pub fn queue_log(&self) -> &[(Instant, u64)] {
        self.tally.lengths.as_deref().unwrap_or_default()
    }

    /// The mean rate in `window` in bits per second. Returns `None` if packets take no time to send.
    #[must_use]
    pub fn mean_rate(&self, window: &Range<Instant>) -> Option<f64> {
        match &self.assigned {
            Some(assigned) => Some(assigned.terminal.greatest_rate()),
            None => self.server.mean_rate(window),
        }
    }

    /// Removes the packet that arrives first and returns it with the instant of its arrival, which lies in the future.
    ///
    /// The departures of a FIFO are known when packets enter it. If a link is the only one that feeds the next, its packets can
    /// therefore be passed on at once. Returns `None` if the queue is no FIFO, if there is a spacer, or if packets may overtake each other
    /// or arrive twice.
    #[inline]
    pub fn take_ahead(&mut self) -> Option<(Instant, D)> {
        if !self.channel.is_in_order() || self.spacer.is_some() || !matches!(self.queue, Queue::Precomputed(_)) {
            return None;
        }
        let (arrival, packet) = self.channel.in_flight.pop_front()?;
        self.tally.delivers(arrival, packet.wire_len());
        Some((arrival, packet))
    }

    /// When a packet that reaches the head of the queue at `ready` begins its service.
    #[inline]
    fn start_of(&self, ready: Instant) -> Instant {
        self.gate.as_ref().map_or(ready, |gate| gate.slot_for(ready)).max(self.free_at)
    }

    /// Sends a packet that reached the head of the queue at `ready` and begins its service at `start`.
    #[inline(always)]
    fn serve(&mut self, ready: Instant, start: Instant, packet: D) {
        if let Some(gate) = &mut self.gate {
            gate.pass(gate.slot_for(ready));
        }
        self.device.enter(start);
        let on_wire = packet.wire_len() + self.overhead;
        self.free_at = self.server.finish(start, on_wire, start == self.free_at);
        self.tally.sends(start, self.free_at, on_wire);
        self.channel.send(self.free_at, packet, &mut self.tally);
    }

    /// Lets the packets leave the queue that do so by `now`.
    fn advance(&mut self, now: Instant) {
        match &mut self.queue {
            Queue::Precomputed(fifo) => fifo.advance(now, &mut self.tally),
            Queue::Stored(_) => self.advance_stored(now),
        }
    }

    /// `advance` of a queue that stores packets.
    fn advance_stored(&mut self, now: Instant) {
        if let (Some(assigned), Queue::Stored(packets)) = (&mut self.assigned, &mut self.queue) {
            return assigned.advance(now, packets, &mut self.channel, &mut self.tally);
        }
        while let Some((ready, leaves)) = self.next_departure()
            && leaves <= now
        {
            let start = self.start_of(ready);
            let Queue::Stored(packets) = &mut self.queue else { return };
            // The discipline may drop the head instead.
            let Some((arrived, packet)) = packets.take_head(leaves, &mut self.tally) else { continue };
            self.tally.serves(leaves, packet.wire_len() + self.overhead, leaves.since(arrived));
            self.serve(ready, start, packet);
        }
    }

    /// Is the packet larger than the link carries? If so, it is counted and goes no further.
    #[inline(never)]
    fn is_too_large(&mut self, now: Instant, size: Bytes) -> bool {
        let is_too_large = self.mtu.as_mut().is_some_and(|mtu| mtu.excludes(now, size));
        if is_too_large {
            self.tally.excludes(now, size);
        }
        is_too_large
    }

    /// Passes `packet`, if there is one, through the thinner, and what leaves that now to the queue.
    #[inline(never)]
    fn thin(&mut self, now: Instant, packet: Option<D>) {
        let Some(mut thinner) = self.thinner.take() else { return };
        let removed = thinner.pass(now, packet, |packet| self.join(now, packet));
        self.tally.thins(now, removed);
        self.thinner = Some(thinner);
    }

    /// `poll` of a link with a spacer.
    #[inline(never)]
    fn poll_spaced(&mut self, now: Instant) -> Option<D> {
        let spacer = self.spacer.as_mut()?;
        while self.channel.in_flight.front().is_some_and(|(at, _)| *at <= now) {
            self.channel.in_flight.pop_front().into_iter().for_each(|(_, packet)| spacer.accept(now, packet));
        }
        spacer.wake(now);
        let packet = spacer.poll(now)?;
        self.tally.delivers(now, packet.wire_len());
        Some(packet)
    }

    /// Accepts a packet into the queue.
    #[inline]
    fn join(&mut self, now: Instant, packet: D) {
        match self.queue {
            Queue::Precomputed(_) => self.accept_precomputed(now, packet),
            Queue::Stored(_) => self.accept_stored(now, packet),
        }
    }

    /// Accepts a packet into a FIFO whose departures are known on arrival.
    #[inline]
    fn accept_precomputed(&mut self, now: Instant, mut packet: D) {
        let start = self.start_of(now);
        let leaves = self.device.entry(now, start);
        let size = packet.wire_len();
        let on_wire = size + self.overhead;
        let Queue::Precomputed(fifo) = &mut self.queue else { return };
        fifo.advance(now, &mut self.tally);
        self.tally.arrives(now, size);
        if leaves == now {
            // The packets ahead leave no later than a packet that need not wait.
            self.tally.serves(now, on_wire, Duration::ZERO);
        } else if fifo.has_room(size) {
            if fifo.marks() && mark(&mut packet) {
                self.tally.marks(now, size);
            }
            fifo.join(Waiting { arrived: now, leaves, size, on_wire }, &mut self.tally);
        } else {
            return self.tally.drops(now, packet.flow(), size);
        }
        self.serve(now, start, packet);
    }

    /// Accepts a packet into a queue that stores packets.
    #[inline(never)]
    fn accept_stored(&mut self, now: Instant, packet: D) {
        self.advance_stored(now);
        let size = packet.wire_len();
        let on_wire = size + self.overhead;
        self.tally.arrives(now, size);
        let start = self.start_of(now);
        let need_not_wait = self.device.entry(now, start) == now;
        let Queue::Stored(packets) = &mut self.queue else { return };
        if let Some(assigned) = &mut self.assigned {
            if !matches!(packets.offer(now, packet, true, &mut self.tally), Verdict::Dropped(_)) {
                assigned.terminal.joins(on_wire.get());
            }
        } else if need_not_wait && packets.len() == 0 && packets.not_before() <= now {
            let Some(packet) = packets.pass(now, packet, &mut self.tally) else { return };
            self.tally.serves(now, on_wire, Duration::ZERO);
            self.serve(now, start, packet);
        } else {
            // The tally counts the verdict, and nobody needs the packet of a rejection.
            drop(packets.offer(now, packet, true, &mut self.tally));
        }
    }

    /// The deadline of a link whose queue stores `packets`. The first packet in flight arrives at `arrival`.
    #[inline(never)]
    fn deadline_with_queue(&self, arrival: Option<Instant>, packets: &PacketQueue<D>) -> Option<Instant> {
        if let Some(assigned) = &self.assigned {
            let event = assigned.is_waiting(packets).then(|| assigned.terminal.next_event().0);
            return Instant::earliest(arrival, event);
        }
        // A queued packet arrives after those in flight, unless packets may overtake each other.
        if arrival.is_some() && !self.channel.can_overtake {
            return arrival;
        }
        Instant::earliest(arrival, self.next_departure().map(|(_, leaves)| leaves))
    }

    /// When the head of the queue may leave and when it does, for a queue that stores packets.
    fn next_departure(&self) -> Option<(Instant, Instant)> {
        let Queue::Stored(packets) = &self.queue else { return None };
        let ready = packets.head()?.0.max(packets.not_before());
        Some((ready, self.device.entry(ready, self.start_of(ready))))
    }
}

impl<D: Datagram + Clone> Machine for Link<D> {
    type Datagram = D;
    type Outcome = ();

    #[inline]
    fn accept(&mut self, now: Instant, packet: D) {
        if self.mtu.is_some() && self.is_too_large(now, packet.wire_len()) {
            return;
        }
        if self.thinner.is_some() {
            return self.thin(now, Some(packet));
        }
        self.join(now, packet);
    }

    #[inline]
    fn wake(&mut self, now: Instant) {
        // The packets of a precomputed FIFO are in the channel already.
        if !matches!(self.queue, Queue::Precomputed(_)) {
            self.advance_stored(now);
        }
        if self.thinner.is_some() {
            self.thin(now, None);
        }
    }

    #[inline]
    fn deadline(&self) -> Option<Instant> {
        let arrival = self.channel.in_flight.front().map(|(at, _)| *at);
        let departure = match &self.queue {
            // Its packets are in the channel already.
            Queue::Precomputed(_) => arrival,
            Queue::Stored(packets) => self.deadline_with_queue(arrival, packets),
        };
        let departure = match &self.thinner {
            None => departure,
            Some(thinner) => Instant::earliest(departure, thinner.deadline()),
        };
        match &self.spacer {
            None => departure,
            Some(spacer) => Instant::earliest(departure, spacer.deadline()),
        }
    }

    #[inline]
    fn poll(&mut self, now: Instant) -> Option<D> {
        if self.spacer.is_some() {
            return self.poll_spaced(now);
        }
        if self.channel.in_flight.front()?.0 > now {
            return None;
        }
        let (_, packet) = self.channel.in_flight.pop_front()?;
        self.tally.delivers(now, packet.wire_len());
        Some(packet)
    }
}
