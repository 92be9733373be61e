//! FQ-CoDel (RFC 8290): a queue with CoDel for each flow, served by deficit round robin in which
//! new flows go first.
//!
//! Flows are assigned by a hash to `flows` queues. A queue that becomes active enters the list of
//! new queues with a quantum of octets; when the queue has used its quantum, it moves to the end of
//! the list of old queues. An empty queue is removed from the old list, or is moved from the new to
//! the old list. So it becomes new again only after the other queues have been served (RFC 8290,
//! §4.2).

use super::codel::Law;
use super::fifo::Fifo;
use super::{Discipline, Settings, Total, Verdict, mark};
use crate::counters::Tally;
use acklab_base::random::Stream;
use acklab_base::units::Limit;
use acklab_base::{Bytes, Datagram, Duration, FlowKey, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The settings of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The capacity of all queues together; unlimited by default. The default of Linux is 10240
    /// packets (RFC 8290, §5.2.3). A packet that exceeds it causes the longest queue to lose half
    /// of its octets at the head, at most 64 packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// The acceptable standing delay of each queue (RFC 8290, §5.2.2).
    #[schemars(example = "5ms")]
    pub target: Duration,
    /// The time for which sojourn times must exceed the target before a packet is dropped (RFC
    /// 8290, §5.2.1).
    #[schemars(example = "100ms")]
    pub interval: Duration,
    /// The number of queues into which flows are hashed, 1 to 65536 (RFC 8290, §5.2.5).
    #[schemars(range(min = 1, max = 65536), example = 1024)]
    pub flows: u32,
    /// Octets that a queue may send in a round, at least 256B (RFC 8290, §5.2.4).
    #[schemars(example = "1514B")]
    pub quantum: Bytes,
    /// If `true`, ECN-capable packets are marked instead of dropped (RFC 8290, §5.2.6).
    pub ecn: bool,
    /// If set, every ECN-capable packet that has waited longer than this time is marked, in
    /// addition to the marks of CoDel (RFC 8290, §5.2.7).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "1ms")]
    pub ce_threshold: Option<Duration>,
}

impl Default for Config {
    /// Returns the defaults of RFC 8290, §5.2, except the limit.
    fn default() -> Self {
        Self {
            limit: None,
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            flows: 1024,
            quantum: Bytes(1514),
            ecn: true,
            ce_threshold: None,
        }
    }
}

impl Settings for Config {
    type Discipline<D> = FqCodel<D>;

    fn discipline<D: Datagram>(self, mut draws: Stream) -> FqCodel<D> {
        FqCodel {
            config: self,
            perturbation: u64::from_le_bytes(draws.octets()),
            slots: vec![NONE; self.flows as usize],
            queues: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            total: Total::default(),
            largest: Bytes::ZERO,
        }
    }

    fn times(&self) -> Vec<(&'static str, Duration)> {
        let mut times = vec![("target", self.target), ("interval", self.interval)];
        times.extend(self.ce_threshold.map(|threshold| ("ce_threshold", threshold)));
        times
    }

    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if !(1..=MAX_FLOWS).contains(&self.flows) {
            return Err(("flows", "a number of queues from 1 to 65536"));
        }
        if QUANTUM.contains(&self.quantum) { Ok(()) } else { Err(("quantum", "a size from 256B to 1GB")) }
    }
}

/// `fq_codel_change` of Linux's `net/sched/sch_fq_codel.c`.
const MAX_FLOWS: u32 = 65_536;
/// `fq_codel_change`: a smaller quantum would split a packet into many rounds.
const QUANTUM: std::ops::RangeInclusive<Bytes> = Bytes(256)..=Bytes(1_000_000_000);
/// RFC 8290, §4.1 (`drop_batch_size` of Linux's `fq_codel_init`): the maximum number of packets
/// dropped together when all queues are full.
const MAX_AT_ONCE: usize = 64;
/// A slot of the hash that no flow has used.
const NONE: u32 = u32::MAX;

/// The queues of flows, and the two lists of active queues.
#[derive(Clone, Debug)]
pub(crate) struct FqCodel<D> {
    config: Config,
    /// A value added to the hash, so that different flows collide in runs with different seeds (RFC
    /// 8290, §4.1).
    perturbation: u64,
    /// The index of the queue of each slot of the hash.
    slots: Vec<u32>,
    queues: Vec<Queue<D>>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    total: Total,
    /// The size of the largest packet so far. CoDel does not drop if at most this many octets
    /// remain.
    largest: Bytes,
}

#[derive(Clone, Debug)]
struct Queue<D> {
    waiting: Fifo<(Instant, D)>,
    /// Octets that the queue may send before its round ends.
    deficit: i64,
    law: Law,
    /// `true` if the queue is in one of the two lists.
    is_active: bool,
}

impl<D: Datagram> FqCodel<D> {
    fn queue_of(&mut self, flow: FlowKey) -> usize {
        let hash = FlowKey::of_words(&[self.perturbation, flow.0]).0;
        let slot = ((u128::from(hash) * self.slots.len() as u128) >> 64) as usize;
        if self.slots[slot] == NONE {
            self.slots[slot] = self.queues.len() as u32;
            let law = Law::new(self.config.target, self.config.interval);
            self.queues.push(Queue { waiting: Fifo::new(None, None), deficit: 0, law, is_active: false });
        }
        self.slots[slot] as usize
    }

    /// Drops half of the longest queue at its head, at most [`MAX_AT_ONCE`] packets, and makes its
    /// CoDel signal more often (RFC 8290, §4.1; `fq_codel_drop`).
    fn drop_from_longest(&mut self, now: Instant, tally: &mut Tally) {
        // Of several longest queues, the first is selected, as in the kernel.
        let longest = self.queues.iter_mut().rev().max_by_key(|queue| queue.waiting.bytes);
        let Some(queue) = longest else { return };
        let half = Bytes(queue.waiting.bytes.get() / 2);
        let (mut dropped, mut octets) = (0, Bytes::ZERO);
        while let Some((_, packet)) = queue.waiting.pop() {
            let size = packet.wire_len();
            tally.drops(now, packet.flow(), size);
            dropped += 1;
            octets += size;
            if dropped == MAX_AT_ONCE || octets >= half {
                break;
            }
        }
        queue.law.adds_drops(dropped as u64);
        self.total.loses(dropped, octets);
    }

    /// Returns the queue that is served next: the first with packets in the order in which deficit
    /// round robin visits them.
    fn next(&self) -> Option<&Queue<D>> {
        let active = self.new.iter().chain(&self.old).map(|at| &self.queues[*at as usize]);
        let mut rounds: Vec<(&Queue<D>, i64)> = Vec::new();
        for queue in active.filter(|queue| queue.waiting.len() > 0) {
            if queue.deficit > 0 {
                return Some(queue);
            }
            rounds.push((queue, queue.deficit));
        }
        // All queues have used their quantum, so the queue that needs the fewest further rounds is
        // served first.
        let quantum = self.config.quantum.get().cast_signed();
        rounds.into_iter().min_by_key(|(_, deficit)| -deficit / quantum).map(|(queue, _)| queue)
    }
}

impl<D: Datagram> Discipline<D> for FqCodel<D> {
    fn offer(&mut self, now: Instant, packet: D, room: bool, tally: &mut Tally) -> Verdict<D> {
        if !room {
            return Verdict::Dropped(packet);
        }
        let size = packet.wire_len();
        let at = self.queue_of(packet.flow());
        let queue = &mut self.queues[at];
        queue.waiting.push((now, packet), size);
        if !queue.is_active {
            (queue.is_active, queue.deficit) = (true, self.config.quantum.get().cast_signed());
            self.new.push_back(at as u32);
        }
        self.total.adds(size);
        self.largest = self.largest.max(size);
        if self.total.exceeds(self.config.limit) {
            self.drop_from_longest(now, tally);
        }
        Verdict::Queued
    }

    fn head(&self) -> Option<(Instant, &D)> {
        self.next()?.waiting.head()
    }

    fn take_head(&mut self, leaves: Instant, tally: &mut Tally) -> Option<(Instant, D)> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let at = *list.front()?;
            let queue = &mut self.queues[at as usize];
            if queue.deficit <= 0 {
                queue.deficit += self.config.quantum.get().cast_signed();
                list.pop_front();
                self.old.push_back(at);
                continue;
            }
            let Some((arrived, mut packet)) = queue.waiting.pop() else {
                queue.law.idles();
                list.pop_front();
                // An empty new queue waits for the old ones, so that it does not starve them by
                // becoming new again immediately.
                queue.is_active = is_new && !self.old.is_empty();
                if queue.is_active {
                    self.old.push_back(at);
                }
                continue;
            };
            let size = packet.wire_len();
            self.total.loses(1, size);
            // CoDel uses the backlog of all queues to decide if there is standing delay at all, as
            // in Linux's `fq_codel_dequeue`.
            queue.law.notes_size(self.largest);
            if !queue.law.admits(leaves, arrived, self.total.bytes, &mut packet, self.config.ecn, tally) {
                return None;
            }
            let is_late = self.config.ce_threshold.is_some_and(|threshold| leaves.since(arrived) > threshold);
            if is_late && mark(&mut packet) {
                tally.marks(leaves, size);
            }
            queue.deficit -= size.get().cast_signed();
            return Some((arrived, packet));
        }
    }

    fn any(&self, mut predicate: impl FnMut(&D) -> bool) -> bool {
        self.queues.iter().any(|queue| queue.waiting.any(&mut predicate))
    }

    fn take_out(&mut self, mut wanted: impl FnMut(Instant, &D) -> bool) -> Vec<(Instant, D)> {
        self.total.take_out(self.queues.iter_mut(), |queue| queue.waiting.take_out(&mut wanted))
    }

    /// Passes a packet through its queue, so that a flow that sends to an idle link uses up its
    /// quantum as well.
    fn pass(&mut self, now: Instant, packet: D, tally: &mut Tally) -> Option<D> {
        self.pass_through(now, packet, tally)
    }

    fn len(&self) -> usize {
        self.total.packets
    }

    fn bytes(&self) -> Bytes {
        self.total.bytes
    }
}

#[cfg(test)]
mod tests;
