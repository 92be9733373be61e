//! A class of CAKE: its queues, selected by a set-associative hash, and DRR++ between them with
//! host isolation.

use super::cobalt::{Cobalt, Parameters};
use super::{Isolation, duration};
use crate::counters::Tally;
use crate::queue::ack_filter::{self, Chain, Rule};
use crate::queue::{Total, Verdict};
use acklab_base::random::Stream;
use acklab_base::{Bytes, Datagram, FlowKey, Instant};
use std::collections::{BTreeMap, VecDeque};

/// The kernel's `CAKE_QUEUES` and `CAKE_SET_WAYS`.
const QUEUES: usize = 1024;
const WAYS: usize = 8;
/// A place of the hash that no flow has used.
const NONE: u16 = u16::MAX;
/// The bounds of `flow_quantum` of `cake_set_rate`, the octets that a queue may send in a round.
const QUANTUM: std::ops::RangeInclusive<u64> = 300..=1514;
/// Deficits are in units of 1/65536 octet, so that the shares of hosts need no rounding. The kernel
/// rounds at random instead.
const PARTS: i64 = 1 << 16;
/// In the kernel's `quantum_div`, shares are multiples of 1/65535.
const SHARES: i64 = 65_535;

#[derive(Clone, Debug)]
pub(super) struct Tin<D> {
    parameters: Parameters,
    /// The octets that a queue may send in a round.
    quantum: i64,
    isolation: Isolation,
    perturbation: u64,
    /// The index of the queue of each place of the hash.
    places: Vec<u16>,
    queues: Vec<Queue<D>>,
    new: VecDeque<u16>,
    old: VecDeque<u16>,
    /// Empty queues whose AQM has not decayed.
    decaying: VecDeque<u16>,
    /// Queues in the lists `new` and `old`.
    active: usize,
    hosts: Hosts,
    /// The weight and the deficit of the class without a shaper, in octets.
    pub(super) weight: i64,
    pub(super) deficit: i64,
    /// The rate in bits per second up to which the class keeps its priority.
    rate: Option<u64>,
    /// The time from which the class is within this rate.
    pub(super) next: Instant,
    total: Total,
}

#[derive(Clone, Debug)]
struct Queue<D> {
    waiting: Chain<D>,
    tag: u64,
    hosts: [u64; 2],
    set: Set,
    deficit: i64,
    cobalt: Cobalt,
}

/// The kernel's set of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    None,
    Sparse,
    /// The queue is counted as sparse, but is served in the rotation of bulk queues until its
    /// deficit is positive.
    SparseWait,
    Bulk,
    Decaying,
}

/// The number of bulk queues of each host, by source and by destination. Each host has an exact
/// entry, whereas the kernel hashes hosts.
#[derive(Clone, Debug, Default)]
struct Hosts([BTreeMap<u64, u32>; 2]);

impl Hosts {
    fn add(&mut self, hosts: [u64; 2]) {
        for (counts, host) in self.0.iter_mut().zip(hosts) {
            *counts.entry(host).or_default() += 1;
        }
    }

    fn remove(&mut self, hosts: [u64; 2]) {
        for (counts, host) in self.0.iter_mut().zip(hosts) {
            if let Some(count) = counts.get_mut(&host) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(&host);
                }
            }
        }
    }

    /// Returns the number of queues that divide the host's share.
    fn load(&self, hosts: [u64; 2], isolation: Isolation) -> i64 {
        let [by_source, by_destination] = match isolation {
            Isolation::Triple => [true, true],
            Isolation::DualSource => [true, false],
            Isolation::DualDestination => [false, true],
            Isolation::Flows => [false, false],
        };
        let load = |side: usize, counts: bool| {
            if counts { self.0[side].get(&hosts[side]).copied().unwrap_or(0) } else { 0 }
        };
        i64::from(load(0, by_source).max(load(1, by_destination)).max(1))
    }
}

impl<D: Datagram> Tin<D> {
    pub(super) fn new(
        parameters: Parameters,
        rate: Option<u64>,
        weight: i64,
        perturbation: u64,
        isolation: Isolation,
    ) -> Self {
        // The octets sent in 1/4096 s.
        let quantum = rate.map_or(*QUANTUM.end(), |rate| (rate / 8 / 4096).clamp(*QUANTUM.start(), *QUANTUM.end()));
        Self {
            parameters,
            quantum: quantum.cast_signed(),
            isolation,
            perturbation,
            places: vec![NONE; QUEUES],
            queues: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            decaying: VecDeque::new(),
            active: 0,
            hosts: Hosts::default(),
            weight,
            deficit: 0,
            rate,
            next: Instant::ZERO,
            total: Total::default(),
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.total.packets
    }

    pub(super) const fn bytes(&self) -> Bytes {
        self.total.bytes
    }

    /// Returns `true` if a queue is in the rotation, though it may be empty.
    pub(super) const fn is_active(&self) -> bool {
        self.active > 0
    }

    /// Handles the end of an idle period. The class may not save capacity from the time during
    /// which it was empty.
    pub(super) fn wakes(&mut self, now: Instant) {
        if self.total.packets == 0 {
            self.next = self.next.max(now);
        }
    }

    /// Adds a packet to the queue of its flow. With a filter, an acknowledging segment may replace
    /// an older ACK, which is returned.
    pub(super) fn offer(
        &mut self,
        now: Instant,
        packet: D,
        room: bool,
        filter: Option<ack_filter::cake::Cake>,
    ) -> Verdict<D> {
        let at = self.queue_of(&packet);
        let queue = &mut self.queues[at];
        let newer = filter.zip(packet.ack_header());
        let older = newer.and_then(|(rule, newer)| rule.superseded(&queue.waiting, packet.flow(), newer));
        let older = older.and_then(|older| queue.waiting.remove(older)).map(|(_, older)| older);
        if older.is_none() && !room {
            return Verdict::Dropped(packet);
        }
        self.total.adds(packet.wire_len());
        queue.waiting.push(now, packet, false);
        self.activate(at);
        let Some(older) = older else { return Verdict::Queued };
        self.total.loses(1, older.wire_len());
        Verdict::Replaced(older)
    }

    /// Returns the queue of a packet's flow (`cake_hash`): one of the eight places of its set. This
    /// is the place that the flow already has, or a free place. Without either, it is the first
    /// place, which two flows then share.
    fn queue_of(&mut self, packet: &D) -> usize {
        let tag = FlowKey::of_words(&[self.perturbation, packet.flow().0]).0;
        let place = (tag % QUEUES as u64) as usize;
        let (first, inner) = (place - place % WAYS, place % WAYS);
        let mut ways = (0..WAYS).map(|step| first + (inner + step) % WAYS);
        let own = ways.clone().find(|at| self.queue_at(*at).is_some_and(|queue| queue.tag == tag));
        let free = || ways.find(|at| self.queue_at(*at).is_none_or(|queue| queue.set == Set::None));
        let place = own.or_else(free).unwrap_or(place);
        let hosts = packet.hosts();
        if self.places[place] == NONE {
            self.places[place] = self.queues.len() as u16;
            let (waiting, cobalt) = (Chain::new(), Cobalt::default());
            self.queues.push(Queue { waiting, tag, hosts, set: Set::None, deficit: 0, cobalt });
        }
        let at = usize::from(self.places[place]);
        let queue = &mut self.queues[at];
        if queue.tag != tag {
            queue.tag = tag;
            if queue.set == Set::Bulk {
                self.hosts.remove(queue.hosts);
                self.hosts.add(hosts);
            }
        }
        queue.hosts = hosts;
        at
    }

    fn queue_at(&self, place: usize) -> Option<&Queue<D>> {
        self.queues.get(usize::from(self.places[place]))
    }

    /// Puts the queue that a packet has joined into the rotation (`cake_enqueue`).
    fn activate(&mut self, at: usize) {
        let queue = &mut self.queues[at];
        match queue.set {
            Set::None | Set::Decaying => {
                if queue.set == Set::Decaying {
                    self.decaying.retain(|other| usize::from(*other) != at);
                }
                queue.set = Set::Sparse;
                self.active += 1;
                queue.deficit = self.quantum * (SHARES / self.hosts.load(queue.hosts, self.isolation));
                self.new.push_back(at as u16);
            }
            Set::SparseWait => {
                queue.set = Set::Bulk;
                self.hosts.add(queue.hosts);
            }
            Set::Sparse | Set::Bulk => {}
        }
    }

    /// Selects the next packet by DRR++, and applies COBALT to it. Returns `None` if a queue was
    /// found empty, so that another class may be served. `is_first` permits a decaying queue to
    /// decay further, once for each packet that leaves the discipline.
    pub(super) fn take(
        &mut self,
        now: Instant,
        is_first: &mut bool,
        draws: &mut Stream,
        tally: &mut Tally,
    ) -> Option<(Instant, D)> {
        loop {
            let list = match (*is_first, self.new.is_empty(), self.old.is_empty()) {
                (true, _, _) if !self.decaying.is_empty() => &mut self.decaying,
                (_, false, _) => &mut self.new,
                (_, true, false) => &mut self.old,
                (_, true, true) => &mut self.decaying,
            };
            *is_first = false;
            let at = list.pop_front()?;
            let queue = &mut self.queues[usize::from(at)];
            if queue.deficit <= 0 {
                if queue.set == Set::Sparse {
                    queue.set = if queue.waiting.len() > 0 { Set::Bulk } else { Set::SparseWait };
                    if queue.set == Set::Bulk {
                        self.hosts.add(queue.hosts);
                    }
                }
                queue.deficit += self.quantum * (SHARES / self.hosts.load(queue.hosts, self.isolation));
                self.old.push_back(at);
                continue;
            }
            let (packets, bytes) = (queue.waiting.len(), queue.waiting.bytes());
            let admitted = queue.next_admitted(now, &self.parameters, draws, tally);
            let gone = (packets - queue.waiting.len(), bytes - queue.waiting.bytes());
            let Some((arrived, packet)) = admitted else {
                self.retire(now, at);
                return None;
            };
            queue.deficit -= packet.wire_len().get().cast_signed() * PARTS;
            // The queue remains at the front of its list until its deficit is used.
            let list = if queue.set == Set::Sparse { &mut self.new } else { &mut self.old };
            list.push_front(at);
            self.total.loses(gone.0, gone.1);
            return Some((arrived, packet));
        }
    }

    /// Handles a queue that was found empty: the state of its AQM decays, or the queue is removed
    /// from the rotation.
    fn retire(&mut self, now: Instant, at: u16) {
        let queue = &mut self.queues[usize::from(at)];
        queue.cobalt.runs_empty(now, &self.parameters);
        if queue.set != Set::Decaying {
            self.active -= 1;
        }
        if queue.set == Set::Bulk {
            self.hosts.remove(queue.hosts);
        }
        if queue.cobalt.is_at_rest(now) {
            queue.set = Set::None;
        } else {
            queue.set = Set::Decaying;
            self.decaying.push_back(at);
        }
    }

    /// Returns the packet that DRR++ serves next.
    pub(super) fn head(&self) -> Option<(Instant, &D)> {
        let in_order = self.new.iter().chain(&self.old).map(|at| &self.queues[usize::from(*at)]);
        let mut waiting: Vec<(&Queue<D>, i64)> = Vec::new();
        for queue in in_order.filter(|queue| queue.waiting.len() > 0) {
            if queue.deficit > 0 {
                return queue.waiting.head();
            }
            let share = self.quantum * (SHARES / self.hosts.load(queue.hosts, self.isolation));
            waiting.push((queue, -queue.deficit / share.max(1)));
        }
        waiting.into_iter().min_by_key(|(_, rounds)| *rounds).and_then(|(queue, _)| queue.waiting.head())
    }

    /// Charges a packet to the share of the class.
    pub(super) fn charge(&mut self, now: Instant, size: Bytes) {
        self.deficit -= size.get().cast_signed();
        let Some(rate) = self.rate else { return };
        let taken = duration(size, rate);
        self.next = if self.next < now { self.next + taken } else { self.next.max(now + taken) };
    }

    /// Returns the octets of the longest queue.
    pub(super) fn longest(&self) -> Bytes {
        self.queues.iter().map(|queue| queue.waiting.bytes()).max().unwrap_or(Bytes::ZERO)
    }

    /// Removes the head of the longest queue, and records the overflow in its AQM.
    pub(super) fn drop_from_longest(&mut self, now: Instant) -> Option<(Instant, D)> {
        let queue = self.queues.iter_mut().rev().max_by_key(|queue| queue.waiting.bytes())?;
        let dropped = queue.waiting.pop()?;
        queue.cobalt.overflows(now, &self.parameters);
        self.total.loses(1, dropped.1.wire_len());
        Some(dropped)
    }

    pub(super) fn any(&self, mut predicate: impl FnMut(&D) -> bool) -> bool {
        self.queues.iter().any(|queue| queue.waiting.iter().any(&mut predicate))
    }

    pub(super) fn take_out(&mut self, mut wanted: impl FnMut(Instant, &D) -> bool) -> Vec<(Instant, D)> {
        self.total.take_out(self.queues.iter_mut(), |queue| queue.waiting.take_out(&mut wanted))
    }
}

impl<D: Datagram> Queue<D> {
    /// Returns the next packet that COBALT does not drop. The last packet in the queue may be
    /// marked, but is not dropped.
    fn next_admitted(
        &mut self,
        now: Instant,
        parameters: &Parameters,
        draws: &mut Stream,
        tally: &mut Tally,
    ) -> Option<(Instant, D)> {
        loop {
            let (arrived, mut packet) = self.waiting.pop()?;
            let judgement = self.cobalt.judge(now, now.since(arrived), parameters, &mut packet, draws);
            if !judgement.is_dropped || self.waiting.len() == 0 {
                if judgement.is_marked {
                    tally.marks(now, packet.wire_len());
                }
                return Some((arrived, packet));
            }
            tally.drops(now, packet.flow(), packet.wire_len());
        }
    }
}
