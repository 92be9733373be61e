//! One direction of a link: thinner, queue, device, gate, server, channel and spacer as one
//! machine.

mod assigned;
mod channel;
mod config;
mod device;
mod flight;

pub use config::{LinkConfig, TraceFile};

use crate::counters::{Counters, Passage, Tally, Waiting};
use crate::demand::Terminal;
use crate::gate::Gate;
use crate::mtu::Mtu;
use crate::queue::{PacketQueue, Queue, Verdict, mark};
use crate::server::Server;
use crate::spacer::Spacer;
use crate::thinner::Thinner;
use acklab_base::random::Seed;
use acklab_base::{Bytes, Datagram, Duration, FlowKey, Instant, Machine, Rate};
use assigned::Assigned;
use channel::Channel;
use device::Device;
use std::ops::Range;

/// One direction of a link.
///
/// The link wakes only to deliver packets. The state of the queue is computed when the next packet
/// arrives.
#[derive(Clone, Debug)]
pub struct Link<D> {
    /// The MTU, if there is a limit.
    mtu: Option<Box<Mtu>>,
    thinner: Option<Box<Thinner<D>>>,
    queue: Queue<D>,
    device: Device,
    gate: Option<Gate>,
    server: Server,
    /// Replaces device, gate and server, if capacity is assigned on demand.
    assigned: Option<Box<Assigned<D>>>,
    /// The time at which the server finishes the last packet that it has begun.
    free_at: Instant,
    channel: Channel<D>,
    spacer: Option<Box<Spacer<D>>>,
    overhead: Bytes,
    /// The rate to which the queue shapes traffic, if any.
    shaper: Option<Rate>,
    /// `true` if there is only a precomputed FIFO, a gate, a server and a delay, so that all times
    /// of a packet are known when it enters.
    is_plain: bool,
    tally: Tally,
}

impl<D: Datagram + Clone> Link<D> {
    /// Returns a link with this configuration. `name` selects its random streams. The caller
    /// creates `server` from `config.rate`, `config.steps` or `config.trace`, because a link does
    /// not read files.
    #[must_use]
    pub fn new(config: &LinkConfig, server: Server, seed: Seed, name: &str) -> Self {
        // The packets in a queue determine the requested capacity, so their departures are not
        // known on arrival.
        let terminal = config.demand.zip(config.rate).map(|(demand, rate)| Terminal::new(demand, rate));
        let draws = || seed.stream(&format!("link/{name}/queue"));
        let queue = match terminal {
            Some(_) => Queue::Stored(PacketQueue::new(config.queue, draws())),
            None => Queue::new(config.queue, draws),
        };
        let channel = Channel::new(config, |part| seed.stream(&format!("link/{name}/{part}")));
        let mtu = Mtu::new(config.mtu, config.mtu_steps.as_deref()).map(Box::new);
        let has_boxes = mtu.is_some() || config.thinner.is_some() || config.spacer.is_some();
        Self {
            is_plain: matches!(queue, Queue::Precomputed(_)) && channel.is_plain() && !has_boxes,
            mtu,
            thinner: config.thinner.map(|rule| Box::new(Thinner::new(rule))),
            queue,
            assigned: terminal.map(|terminal| Box::new(Assigned::new(terminal, config.overhead))),
            device: Device::new(config.device_queue as usize),
            gate: config.gate.map(Gate::new),
            server,
            free_at: Instant::ZERO,
            channel,
            spacer: config.spacer.map(|config| Box::new(Spacer::new(config))),
            overhead: config.overhead,
            shaper: config.queue.shaper(),
            tally: Tally::new(),
        }
    }

    /// Restricts the counters to events in `window`. The default window is the whole run.
    pub fn measure(&mut self, window: Range<Instant>) {
        self.tally.window = window;
    }

    /// Returns the counters at `now`.
    pub fn counters(&mut self, now: Instant) -> Counters {
        self.advance(now);
        match &self.queue {
            Queue::Precomputed(fifo) => self.tally.counters_with(now, fifo.waiting(), self.overhead, self.is_plain),
            Queue::Stored(_) => self.tally.counters.clone(),
        }
    }

    /// Removes one packet that the queue dropped inside the window from the list of drops, and
    /// returns its flow.
    pub fn take_drop(&mut self) -> Option<FlowKey> {
        self.tally.dropped_flows.pop()
    }

    /// Records every change of the queue's length from now on.
    pub fn log_queue(&mut self) {
        self.tally.lengths = Some(Vec::new());
    }

    /// Returns the recorded changes of the queue's length: the instant and the new length.
    #[must_use]
    pub fn queue_log(&self) -> &[(Instant, u64)] {
        self.tally.lengths.as_deref().unwrap_or_default()
    }

    /// Returns the mean rate in `window` in bits per second, at most that of the queue's shaper.
    /// Returns `None` if packets take no time to send.
    #[must_use]
    pub fn mean_rate(&self, window: &Range<Instant>) -> Option<f64> {
        let of_link = match &self.assigned {
            Some(assigned) => Some(assigned.terminal.greatest_rate()),
            None => self.server.mean_rate(window),
        };
        let of_shaper = self.shaper.map(|rate| rate.bits_per_second() as f64);
        of_link.into_iter().chain(of_shaper).min_by(f64::total_cmp)
    }

    /// Returns `true` if only the FIFO, the gate, the server and the delay process a packet, so
    /// that it can [pass](Self::pass) immediately.
    #[must_use]
    #[inline]
    pub const fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Passes a packet through a [plain](Self::is_plain) link. Returns it with the instant of its
    /// arrival at the far end, or `None` if the queue has dropped it. The caller forwards the
    /// packet immediately, with its later arrival time, or lets the link [carry](Self::carry) it
    /// until then.
    #[inline(always)]
    pub fn pass(&mut self, now: Instant, packet: D) -> Option<(Instant, D)> {
        let (passage, packet) = self.serve_precomputed(now, packet)?;
        let arrival = self.channel.arrival(passage.end);
        self.tally.passes(passage, Some(arrival));
        Some((arrival, packet))
    }

    /// Keeps a packet that has [passed](Self::pass) until its arrival. Returns `true` if the caller
    /// must [poll](Machine::poll) the link now or read its deadline.
    #[inline]
    pub fn carry(&mut self, now: Instant, arrival: Instant, packet: D) -> bool {
        let must_be_polled = self.channel.in_flight.next().is_none_or(|first| first <= now);
        self.channel.in_flight.push(arrival, packet);
        must_be_polled
    }

    /// Removes the packet that arrives first from a link that is not plain, and returns it with the
    /// instant of its arrival, which lies in the future.
    ///
    /// The departures of a FIFO are known when packets enter it. So if a link is the only source of
    /// packets of the next link, its packets can be forwarded before they arrive. Returns `None` if
    /// the queue is not a FIFO, if there is a spacer, or if packets may overtake each other or be
    /// duplicated.
    pub fn take_ahead(&mut self) -> Option<(Instant, D)> {
        if !self.channel.is_in_order() || self.spacer.is_some() || !matches!(self.queue, Queue::Precomputed(_)) {
            return None;
        }
        let (arrival, packet) = self.channel.in_flight.pop()?;
        self.tally.delivers(arrival, packet.wire_len());
        Some((arrival, packet))
    }

    /// Returns when a packet that reaches the head of the queue at `ready` begins its service.
    #[inline]
    fn start_of(&self, ready: Instant) -> Instant {
        self.gate.as_ref().map_or(ready, |gate| gate.slot_for(ready)).max(self.free_at)
    }

    /// Serves a packet that reached the head of the queue at `ready` and begins its service at
    /// `start`, which ends at `free_at`.
    #[inline(always)]
    fn serve(&mut self, ready: Instant, start: Instant, packet: &D) {
        if let Some(gate) = &mut self.gate {
            gate.pass(gate.slot_for(ready));
        }
        self.device.enter(start);
        let on_wire = packet.wire_len() + self.overhead;
        self.free_at = self.server.finish(start, on_wire, start == self.free_at);
        self.tally.sends(start, self.free_at, on_wire);
    }

    /// Sends a packet that has been served.
    #[inline(always)]
    fn send(&mut self, packet: D) {
        self.channel.send(self.free_at, packet, &mut self.tally);
    }

    /// Removes the packets that leave the queue by `now`.
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
            self.serve(ready, start, &packet);
            self.send(packet);
        }
    }

    /// Returns `true` if the packet exceeds the MTU. The packet is then counted and discarded.
    #[inline(never)]
    fn is_too_large(&mut self, now: Instant, size: Bytes) -> bool {
        let is_too_large = self.mtu.as_mut().is_some_and(|mtu| mtu.excludes(now, size));
        if is_too_large {
            self.tally.excludes(now, size);
        }
        is_too_large
    }

    /// Passes `packet`, if any, through the thinner, and the packets that leave it to the queue.
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
        while let Some(packet) = self.channel.in_flight.pop_arrived(now) {
            spacer.accept(now, packet);
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

    /// Accepts a packet into a FIFO that computes the departure of each packet on its arrival.
    #[inline]
    fn accept_precomputed(&mut self, now: Instant, packet: D) {
        if let Some((passage, packet)) = self.serve_precomputed(now, packet) {
            self.tally.passes(passage, None);
            self.send(packet);
        }
    }

    /// Passes a packet through a FIFO whose departures are known on arrival. Returns `None` if the
    /// queue has dropped it; otherwise the caller counts its passage.
    #[inline(always)]
    fn serve_precomputed(&mut self, now: Instant, mut packet: D) -> Option<(Passage, D)> {
        let Queue::Precomputed(fifo) = &mut self.queue else { return None };
        let slot = self.gate.as_ref().map_or(now, |gate| gate.slot_for(now));
        let start = slot.max(self.free_at);
        let leaves = self.device.entry(now, start);
        let size = packet.wire_len();
        // If a packet need not wait, all packets ahead of it have left. Reading the queue's length
        // removes them.
        if leaves != now {
            fifo.advance(now, &mut self.tally);
            if !fifo.has_room(size) {
                self.tally.arrives(now, size);
                self.tally.drops(now, packet.flow(), size);
                return None;
            }
            if fifo.marks() && mark(&mut packet) {
                self.tally.marks(now, size);
            }
            fifo.join(Waiting { arrived: now, leaves, size }, &mut self.tally);
        }
        if let Some(gate) = &mut self.gate {
            gate.pass(slot);
        }
        self.device.enter(start);
        let on_wire = size + self.overhead;
        let end = self.server.finish(start, on_wire, start == self.free_at);
        self.free_at = end;
        Some((Passage { arrived: now, leaves, start, end, size, on_wire }, packet))
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
            self.serve(now, start, &packet);
            self.send(packet);
        } else {
            // The tally counts the verdict, and a rejected packet is not needed.
            drop(packets.offer(now, packet, true, &mut self.tally));
        }
    }

    /// Returns the deadline of a link whose queue stores `packets`. The first packet in flight
    /// arrives at `arrival`.
    #[inline(never)]
    fn deadline_with_queue(&self, arrival: Option<Instant>, packets: &PacketQueue<D>) -> Option<Instant> {
        if let Some(assigned) = &self.assigned {
            let event = assigned.is_waiting(packets).then(|| assigned.terminal.next_event().0);
            return Instant::earliest(arrival, event);
        }
        // A queued packet arrives after the packets in flight, unless packets may overtake each
        // other.
        if arrival.is_some() && !self.channel.can_overtake {
            return arrival;
        }
        Instant::earliest(arrival, self.next_departure().map(|(_, leaves)| leaves))
    }

    /// Returns when the head of the queue may leave and when it leaves, for a queue that stores
    /// packets.
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
        if self.is_plain {
            if let Some((arrival, packet)) = self.pass(now, packet) {
                self.carry(now, arrival, packet);
            }
            return;
        }
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
        if self.is_plain {
            return;
        }
        // The packets of a precomputed FIFO are already in the channel.
        if !matches!(self.queue, Queue::Precomputed(_)) {
            self.advance_stored(now);
        }
        if self.thinner.is_some() {
            self.thin(now, None);
        }
    }

    #[inline]
    fn deadline(&self) -> Option<Instant> {
        let arrival = self.channel.in_flight.next();
        if self.is_plain {
            return arrival;
        }
        let departure = match &self.queue {
            // Its packets are already in the channel.
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
        let packet = self.channel.in_flight.pop_arrived(now)?;
        // Packets in a plain link were counted when they passed.
        if !self.is_plain {
            self.tally.delivers(now, packet.wire_len());
        }
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::QueueLength;
    use crate::gate::GateConfig;
    use crate::loss::LossConfig;
    use crate::queue::sample::{Packet, data};
    use crate::queue::{QueueConfig, fifo};
    use acklab_base::Rate;
    use acklab_base::units::Limit;
    use proptest::prelude::*;

    const MS: Duration = Duration::from_millis(1);

    fn link(config: &LinkConfig) -> Link<Packet> {
        let server = config.rate.map_or(Server::Unlimited, Server::constant);
        Link::new(config, server, Seed(1), "link")
    }

    proptest! {
        /// Packets that pass immediately arrive at the same time as polled packets, and are counted
        /// in the same manner: before, in and after the window, at the end of the window, and while
        /// packets wait.
        #[test]
        fn plain_link_counts_as_polled_link(
            packets in proptest::collection::vec((0u64..3000, 40u64..1500), 1..60),
            (is_limited, device_queue, is_gated) in (any::<bool>(), 0u32..3, any::<bool>()),
            (begin, length) in (0u64..20, 1u64..60),
        ) {
            let limit = is_limited.then_some(Limit::Packets(3));
            let config = LinkConfig {
                rate: Some(Rate::from_mbps(8)),
                delay: MS * 5,
                queue: QueueConfig::Fifo(fifo::Config { limit, mark_above: None }),
                device_queue,
                gate: is_gated.then_some(GateConfig { interval: MS, quota: 2 }),
                ..LinkConfig::default()
            };
            let (mut passing, mut polled, mut now) = (link(&config), link(&config), Instant::ZERO);
            prop_assert!(passing.is_plain());
            polled.is_plain = false;
            let window = Instant::ZERO + MS * begin..Instant::ZERO + MS * (begin + length);
            [&mut passing, &mut polled].into_iter().for_each(|link| { link.measure(window.clone()); link.log_queue(); });
            let mut stored = stored(&config);
            stored.measure(window.clone());
            stored.log_queue();
            for (pause, size) in packets {
                now += Duration::from_micros(pause);
                run_until(&mut stored, now);
                stored.accept(now, data(size));
                polled.accept(now, data(size));
                prop_assert_eq!(passing.pass(now, data(size)), polled.take_ahead());
                let (ahead, told) = (passing.counters(now), stored.counters(now));
                prop_assert_eq!((ahead.served, ahead.waited), (told.served, told.waited));
                prop_assert_eq!(of_queue(&ahead, &window), of_queue(&told, &window));
            }
            let end = now + MS * 1000;
            run_until(&mut stored, end);
            prop_assert_eq!(passing.counters(end), polled.counters(end));
            let (ahead, told) = (passing.counters(end), stored.counters(end));
            prop_assert_eq!(of_queue(&ahead, &window), of_queue(&told, &window));
            let others = |counters| Counters { queue: QueueLength::default(), ..counters };
            prop_assert_eq!(others(ahead), others(told));
            prop_assert_eq!(passing.queue_log(), stored.queue_log());
        }
    }

    /// Delivers all packets that arrive by `until`, each at its time.
    fn run_until(link: &mut Link<Packet>, until: Instant) {
        while let Some(at) = link.deadline().filter(|at| *at <= until) {
            link.wake(at);
            while link.poll(at).is_some() {}
        }
    }

    /// Returns the maximum, the current and the mean length of the queue.
    fn of_queue(counters: &Counters, window: &Range<Instant>) -> (u64, u64, f64) {
        (counters.queue.max, counters.queue.current(), counters.queue.mean(window))
    }

    /// Returns the same link with a queue that stores its packets.
    fn stored(config: &LinkConfig) -> Link<Packet> {
        let draws = Seed(1).stream("unused");
        Link { queue: Queue::Stored(PacketQueue::new(config.queue, draws)), is_plain: false, ..link(config) }
    }

    #[test]
    fn what_a_box_may_hold_does_not_pass_at_once() {
        let plain = LinkConfig { rate: Some(Rate::from_mbps(8)), ..LinkConfig::default() };
        let boxed = [
            LinkConfig { mtu: Some(Bytes(1400)), ..plain.clone() },
            LinkConfig { loss: Some(LossConfig::Independent { probability: 0.5 }), ..plain.clone() },
            LinkConfig { queue: QueueConfig::CoDel(Default::default()), ..plain.clone() },
        ];
        assert!(link(&plain).is_plain());
        assert_eq!(boxed.map(|config| link(&config).is_plain()), [false; 3]);
    }
}
