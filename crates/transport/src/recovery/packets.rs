//! Tracks the outstanding packets of a packet number space (RFC 9002; TACK); the
//! [`scoreboard`](super::scoreboard) does the same for a stream.
//!
//! A number is never reused, so each transmission has one entry and its acknowledgment is never
//! ambiguous. [`Packets`] returns the content `T` when a packet is acknowledged or lost, and the
//! owner decides what to retransmit. One `Packets` is one packet number space.
//!
//! | file | rule |
//! |---|---|
//! | `loss` | loss detection (RFC 9002, §6.1) |
//! | `widening` | a time threshold that adapts to reordering |
//! | [`persistent`] | persistent congestion (§7.6) |
//! | [`timeout`] | the probe timeout (§6.2) |
//! | `reported` | losses that a receiver reports, instead of `loss` (TACK) |

mod loss;
pub mod persistent;
mod reported;
pub mod timeout;
mod widening;

pub use loss::{Lost, Thresholds, Verdict};
pub use widening::Widening;

use super::delivery_rate::{Newest, Stamp};
use acklab_base::{Duration, Instant};
use std::collections::VecDeque;
use std::ops::Range;

/// kGranularity (RFC 9002, §6.1.2): the granularity of a timer.
pub const GRANULARITY: Duration = Duration::from_millis(1);

/// A packet that was sent (RFC 9002, appendix A.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<T> {
    /// The time at which it was sent.
    pub at: Instant,
    /// The size of the packet, as congestion control counts it, in bytes.
    pub octets: u64,
    /// `true` if the receiver must acknowledge the packet (RFC 9002, §2).
    pub is_ack_eliciting: bool,
    /// `true` if the packet counts as in flight (§2). Packets that only acknowledge do not.
    pub is_in_flight: bool,
    /// The content of the packet.
    pub content: T,
}

/// The state of a packet number.
#[derive(Clone, Copy, Debug)]
enum State<T> {
    /// The number was skipped, to detect a receiver that acknowledges packets it has not received
    /// (RFC 9000, §21.4).
    Skipped,
    Outstanding(Packet<T>),
    /// The number was acknowledged, and so were all other numbers below `until`, except skipped
    /// ones. Feedback may list the same ranges repeatedly; known numbers are then passed in one
    /// step.
    Acknowledged {
        until: u64,
    },
    Lost {
        at: Instant,
        octets: u64,
        is_ack_eliciting: bool,
    },
}

/// The error of acknowledging a number that was never used, which only a faulty or malicious peer
/// does (RFC 9000, §13.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeverSent(pub u64);

/// The effect of one acknowledgment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// The number of newly acknowledged packets, including packets that were considered lost.
    pub packets: u64,
    /// The number of bytes of the packets that count as in flight.
    pub octets: u64,
    /// The number of these bytes that were considered lost.
    pub late_octets: u64,
    /// The number of packets that were considered lost spuriously (RFC 9002, §6.1).
    pub spuriously_lost: u64,
    /// The maximum distance of the spuriously lost packets from the largest number acknowledged
    /// before.
    pub displacement: u64,
    /// `true` if a packet was acknowledged after a packet with a larger number.
    pub is_reordered: bool,
    /// A sample of the round-trip time. It requires that the largest acknowledged number and an
    /// ack-eliciting packet are newly acknowledged (§5.1).
    pub rtt: Option<Duration>,
    /// The receiver's delay, which was subtracted from `rtt`.
    pub waited: Duration,
    /// The in-flight packet that was sent last, and its stamp, if stamps are recorded. Other
    /// packets give no evidence of the delivery rate.
    pub newest: Option<(Newest, Stamp)>,
    /// The receiver's report on packet arrivals.
    pub received: Received,
}

/// A receiver's report on packet arrivals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// The arrival time of the [newest](Progress::newest) packet, by the receiver's clock; zero if
    /// the receiver does not report it.
    pub newest_at: Duration,
    /// The minimum of the round-trip times that the packets would have had with immediate
    /// acknowledgments.
    pub least_rtt: Option<Duration>,
}

impl Progress {
    /// Counts the acknowledgment of packet `number`, which was considered lost. `octets` of its
    /// bytes counted as in flight. `largest` was the largest number acknowledged before.
    fn count_late(&mut self, number: u64, octets: u64, largest: Option<u64>) {
        self.spuriously_lost += 1;
        self.displacement = self.displacement.max(largest.map_or(0, |largest| largest.saturating_sub(number)));
        self.octets += octets;
        self.late_octets += octets;
    }
}

/// The packets of one number space.
#[derive(Clone, Debug)]
pub struct Packets<T> {
    /// The number of the packet that the first entry of `states` describes.
    first: u64,
    /// The state of each number from `first` to the last one used.
    states: VecDeque<State<T>>,
    /// The stamp of each packet, if stamps are recorded.
    stamps: VecDeque<Stamp>,
    keeps_stamps: bool,
    /// The number below which no packet is outstanding.
    settled: u64,
    largest_acknowledged: Option<u64>,
    /// The number of acknowledged entries in `states`.
    acknowledged: u64,
    /// The skipped numbers, in order.
    skipped: VecDeque<u64>,
    /// The lost numbers below `settled`, in order. Acknowledgments change no other entries below
    /// `settled`.
    lost: VecDeque<u64>,
    in_flight: u64,
    ack_eliciting: u64,
    last_ack_eliciting_at: Option<Instant>,
    /// The time at which the next packet below the largest acknowledged number will be considered
    /// lost.
    loss_at: Option<Instant>,
}

impl<T> Default for Packets<T> {
    fn default() -> Self {
        Self {
            first: 0,
            states: VecDeque::new(),
            stamps: VecDeque::new(),
            keeps_stamps: false,
            settled: 0,
            largest_acknowledged: None,
            acknowledged: 0,
            skipped: VecDeque::new(),
            lost: VecDeque::new(),
            in_flight: 0,
            ack_eliciting: 0,
            last_ack_eliciting_at: None,
            loss_at: None,
        }
    }
}

impl<T> Packets<T> {
    /// Records the stamp of each packet if `keeps_stamps` is `true`. Otherwise every returned stamp
    /// is the default.
    #[must_use]
    pub fn keeping_stamps(self, keeps_stamps: bool) -> Self {
        Self { keeps_stamps, ..self }
    }

    /// Returns the number of the next packet.
    #[must_use]
    pub fn next_number(&self) -> u64 {
        self.first + self.states.len() as u64
    }

    /// Returns the largest number that was acknowledged.
    #[must_use]
    pub const fn largest_acknowledged(&self) -> Option<u64> {
        self.largest_acknowledged
    }

    /// Returns the number of bytes in flight (`bytes_in_flight` of RFC 9002, appendix B.2).
    #[must_use]
    pub const fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Returns `true` if an ack-eliciting packet is outstanding. The probe timer runs only then
    /// (§6.2.1).
    #[must_use]
    pub const fn has_ack_eliciting(&self) -> bool {
        self.ack_eliciting > 0
    }

    /// Returns the time at which the last ack-eliciting packet was sent.
    #[must_use]
    pub const fn last_ack_eliciting_at(&self) -> Option<Instant> {
        self.last_ack_eliciting_at
    }

    /// Returns the outstanding packets with their numbers, oldest first. A probe repeats the first
    /// packet (§6.2.4).
    pub fn outstanding(&self) -> impl Iterator<Item = (u64, &Packet<T>)> {
        (self.first..).zip(&self.states).skip((self.settled - self.first) as usize).filter_map(|(number, state)| {
            match state {
                State::Outstanding(packet) => Some((number, packet)),
                _ => None,
            }
        })
    }

    /// Records a packet that is sent. Returns its number.
    pub fn send(&mut self, packet: Packet<T>, stamp: Stamp) -> u64 {
        let number = self.next_number();
        if packet.is_in_flight {
            self.in_flight += packet.octets;
        }
        if packet.is_ack_eliciting {
            self.ack_eliciting += 1;
            self.last_ack_eliciting_at = Some(packet.at);
        }
        self.push(State::Outstanding(packet), stamp);
        number
    }

    /// Skips the next number and returns it.
    pub fn skip(&mut self) -> u64 {
        let number = self.next_number();
        self.push(State::Skipped, Stamp::default());
        self.skipped.push_back(number);
        number
    }

    fn push(&mut self, state: State<T>, stamp: Stamp) {
        self.states.push_back(state);
        if self.keeps_stamps {
            self.stamps.push_back(stamp);
        }
    }

    /// Acknowledges these ranges of numbers. Appends newly acknowledged packets to `acknowledged`,
    /// except packets that were considered lost, whose content was returned before.
    ///
    /// # Errors
    /// If one of the numbers was never used. The state is then unchanged.
    pub fn acknowledge(
        &mut self,
        now: Instant,
        ranges: impl Iterator<Item = Range<u64>> + Clone,
        acknowledged: &mut Vec<(u64, Packet<T>)>,
    ) -> Result<Progress, NeverSent> {
        let mut largest = None;
        for range in ranges.clone().filter(|range| !range.is_empty()) {
            self.check(&range)?;
            largest = largest.max(Some(range.end - 1));
        }
        let (before, mut progress, mut brings_ack_eliciting) = (self.largest_acknowledged, Progress::default(), false);
        let (mut largest_left_at, mut newest): (_, Option<(u64, Instant)>) = (None, None);
        self.largest_acknowledged = before.max(largest);
        for range in ranges {
            if self.lost.front().is_some_and(|first| *first < range.end) && range.start < self.settled {
                self.refute(&range, before, &mut progress);
            }
            let start = range.start.max(self.settled);
            let mut next = start;
            while next < range.end {
                let (number, index) = (next, (next - self.first) as usize);
                next += 1;
                match self.states[index] {
                    State::Acknowledged { until } => {
                        next = next.max(until);
                        continue;
                    }
                    State::Skipped => continue,
                    State::Outstanding(_) | State::Lost { .. } => {}
                }
                match std::mem::replace(&mut self.states[index], State::Acknowledged { until: next }) {
                    State::Acknowledged { .. } | State::Skipped => {}
                    State::Lost { octets, .. } => {
                        progress.count_late(number, octets, before);
                    }
                    State::Outstanding(packet) => {
                        self.uncount(&packet);
                        brings_ack_eliciting |= packet.is_ack_eliciting;
                        progress.octets += if packet.is_in_flight { packet.octets } else { 0 };
                        if Some(number) == largest {
                            largest_left_at = Some(packet.at);
                        }
                        if packet.is_in_flight && newest.is_none_or(|(before, _)| number > before) {
                            newest = Some((number, packet.at));
                        }
                        acknowledged.push((number, packet));
                    }
                }
                progress.packets += 1;
                progress.is_reordered |= before.is_some_and(|before| number < before);
            }
            if start < range.end
                && let State::Acknowledged { until } = &mut self.states[(start - self.first) as usize]
            {
                *until = next;
            }
        }
        self.acknowledged += progress.packets;
        progress.newest = newest.map(|(number, at)| {
            let stamp = self.stamps.get((number - self.first) as usize).copied().unwrap_or_default();
            (Newest { at, number, is_retransmission: false }, stamp)
        });
        let is_measured = largest > before && brings_ack_eliciting;
        progress.rtt = largest_left_at.filter(|_| is_measured).map(|at| now.since(at));
        Ok(progress)
    }

    /// Acknowledges the packets of `range` below `settled` that were considered lost.
    fn refute(&mut self, range: &Range<u64>, largest: Option<u64>, progress: &mut Progress) {
        let from = self.lost.partition_point(|number| *number < range.start);
        while let Some(number) = self.lost.get(from).copied().filter(|number| *number < range.end) {
            self.lost.remove(from);
            let state = &mut self.states[(number - self.first) as usize];
            if let State::Lost { octets, .. } = std::mem::replace(state, State::Acknowledged { until: number + 1 }) {
                progress.count_late(number, octets, largest);
                progress.packets += 1;
                progress.is_reordered |= largest.is_some_and(|largest| number < largest);
            }
        }
    }

    /// Advances `settled` by one number, which is not outstanding.
    #[inline]
    fn pass_settled(&mut self) {
        if matches!(self.states[(self.settled - self.first) as usize], State::Lost { .. }) {
            self.lost.push_back(self.settled);
        }
        self.settled += 1;
    }

    fn check(&self, range: &Range<u64>) -> Result<(), NeverSent> {
        if range.end > self.next_number() {
            return Err(NeverSent(range.end - 1));
        }
        // Skipped numbers are near the newest numbers, and few ranges include those.
        if self.skipped.back().is_none_or(|last| *last < range.start) {
            return Ok(());
        }
        let skipped = self.skipped_in(range);
        if skipped.is_empty() { Ok(()) } else { Err(NeverSent(self.skipped[skipped.start])) }
    }

    /// Returns the indices in `skipped` of the numbers of `range`.
    fn skipped_in(&self, range: &Range<u64>) -> Range<usize> {
        let place = |end: u64| self.skipped.partition_point(|number| *number < end);
        place(range.start)..place(range.end)
    }

    /// Subtracts a packet from the counts of outstanding packets.
    fn uncount(&mut self, packet: &Packet<T>) {
        if packet.is_in_flight {
            self.in_flight -= packet.octets;
        }
        self.ack_eliciting -= u64::from(packet.is_ack_eliciting);
    }

    /// Removes the lost packets that were sent before `sent_before`. Other entries are removed only
    /// after they are acknowledged.
    pub fn forget_lost(&mut self, sent_before: Instant) {
        while self.first < self.settled {
            if let Some(State::Lost { at, .. }) = self.states.front()
                && *at >= sent_before
            {
                break;
            }
            self.pop();
        }
        trim(&mut self.states);
        trim(&mut self.stamps);
    }

    /// Removes all packets, as when the keys of a packet number space are discarded (§6.4). Returns
    /// the outstanding packets.
    pub fn abandon(&mut self) -> impl Iterator<Item = Packet<T>> + use<T> {
        self.first = self.next_number();
        self.settled = self.first;
        (self.in_flight, self.ack_eliciting, self.acknowledged) = (0, 0, 0);
        self.skipped.clear();
        self.lost.clear();
        (self.last_ack_eliciting_at, self.loss_at) = (None, None);
        self.stamps.clear();
        std::mem::take(&mut self.states).into_iter().filter_map(|state| match state {
            State::Outstanding(packet) => Some(packet),
            _ => None,
        })
    }

    fn pop(&mut self) {
        match self.states.pop_front() {
            Some(State::Acknowledged { .. }) => self.acknowledged -= 1,
            Some(State::Skipped) => _ = self.skipped.pop_front(),
            Some(State::Lost { .. }) => _ = self.lost.pop_front(),
            Some(State::Outstanding(_)) | None => {}
        }
        self.stamps.pop_front();
        self.first += 1;
    }
}

/// The minimum number of entries for which memory is retained.
const MIN_KEPT: usize = 1024;

/// Releases memory if `entries` use at most three eighths of it. A ring buffer cycles through all
/// of its memory. After a slow start that overshoots, that memory would displace the packets
/// themselves from the cache.
#[inline]
fn trim<E>(entries: &mut VecDeque<E>) {
    if entries.capacity() > MIN_KEPT && entries.len() < entries.capacity() / 8 * 3 {
        entries.shrink_to(entries.capacity() / 2);
    }
}

#[cfg(test)]
mod tests;
