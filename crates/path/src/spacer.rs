//! Spacers: boxes at the far end of a link that spread ACKs over time, and restore missing ones.
//!
//! ACKs that arrive together, or one ACK that replaces many, make an ACK-clocked sender send
//! bursts. They also slow the growth of its window. Partridge (*ACK Spacing for High
//! Delay-Bandwidth Paths with Insufficient Buffering*, draft-rfced-info-partridge-01, 1998) spaces
//! ACKs by the transmission time of the acknowledged data on the bottleneck. Balakrishnan,
//! Padmanabhan and Katz (*The Effects of Asymmetry on TCP Performance*, MobiCom 1997, §5.3.2; RFC
//! 3449, "ACK Reconstruction") restore, at the end of a slow link, the ACKs that an ACK filter has
//! removed at the beginning of the link. The implementation follows the authors' own code in ns-2
//! (`tcp/ack-recons.cc` and `tcl/lib/ns-queue.tcl`).
//!
//! Only pure ACKs that acknowledge new data and have no other content are spaced. When any other
//! packet arrives, such as a duplicate ACK or an ACK with SACK, the waiting ACKs of its flow and
//! then the packet leave immediately. The ACK that ends a loss recovery also leaves immediately.
//! Partial ACKs inserted before it would indicate further losses (RFC 6582, §3.2).

use acklab_base::{
    AckHeader, Bytes, Datagram, Duration, FlowKey, FlowTable, Instant, Machine, Rate, is_after, mul_div,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The rule by which ACKs are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "rule", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SpacerConfig {
    /// ACKs are spaced by the transmission time of the acknowledged data at a rate.
    Rate {
        /// The rate of the data's bottleneck. Only payload octets are counted.
        #[schemars(example = "16Mbps")]
        rate: Rate,
    },
    /// ACKs are spaced by at least this interval.
    Interval {
        /// The interval, above zero.
        #[schemars(example = "1ms")]
        interval: Duration,
    },
    /// Missing ACKs are restored: one ACK per `segments` segments, spread over the mean time
    /// between arriving ACKs.
    Reconstruct(Reconstruct),
}

/// The settings of ACK reconstruction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Reconstruct {
    /// The paper's `ack_thresh`. If an ACK acknowledges more segments, ACKs are inserted before it,
    /// one per this number of segments.
    #[schemars(range(min = 1))]
    pub segments: u32,
    /// The payload octets of a segment, for flows whose SYN was not seen.
    pub segment: Bytes,
    /// The weight of the newest time between two ACKs in the moving mean, above 0 and at most 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub weight: f64,
}

impl Default for Reconstruct {
    /// Returns two segments as for delayed ACKs (the paper), the weight of the examples of ns-2,
    /// and 1500 octets less the headers of IPv4, TCP and timestamps.
    fn default() -> Self {
        Self { segments: 2, segment: Bytes(1448), weight: 0.25 }
    }
}

impl SpacerConfig {
    /// Returns all rules with default settings, or with an example if there are no defaults.
    pub fn built_in() -> impl Iterator<Item = Self> {
        let rate = Self::Rate { rate: Rate::from_mbps(16) };
        [rate, Self::Interval { interval: Duration::from_millis(1) }, Self::Reconstruct(Reconstruct::default())]
            .into_iter()
    }

    /// Returns the name of the rule in scenarios.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Rate { .. } => "rate",
            Self::Interval { .. } => "interval",
            Self::Reconstruct(_) => "reconstruct",
        }
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// The name of a setting with an invalid value, and the expected value.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        match self {
            Self::Interval { interval } if interval.is_zero() => Err(("interval", "a duration above zero")),
            Self::Reconstruct(Reconstruct { segments: 0, .. }) => Err(("segments", "at least 1")),
            Self::Reconstruct(Reconstruct { segment: Bytes(0), .. }) => Err(("segment", "at least one octet")),
            Self::Reconstruct(Reconstruct { weight, .. }) if !(*weight > 0.0 && *weight <= 1.0) => {
                Err(("weight", "a number above 0 and at most 1"))
            }
            _ => Ok(()),
        }
    }
}

/// The time without packets after which a flow is dropped from the table, if there are many. It
/// exceeds the maximum retransmission timeout (RFC 6298, §2.5).
const SILENT: Duration = Duration::from_secs(60);
/// The maximum number of ACKs that are inserted before one ACK. An ACK that acknowledges more data
/// passes alone, because it is the first after a long gap.
const MAX_INSERTED: u32 = 255;
/// The octets by which timestamps shorten a segment (RFC 6691, §2; RFC 7323, §3.2).
const TIMESTAMPS: u64 = 12;

/// A spacer.
#[derive(Clone, Debug)]
pub struct Spacer<D> {
    config: SpacerConfig,
    flows: FlowTable<Flow<D>>,
    /// The times at which waiting ACKs leave, with their flows. The ACK of an entry may have left
    /// already.
    due: BinaryHeap<Reverse<(Instant, FlowKey)>>,
    leaving: VecDeque<D>,
    /// The earliest time at which the first packets of `leaving` may leave.
    leaving_since: Instant,
    made: u64,
}

#[derive(Clone, Debug)]
struct Flow<D> {
    waiting: VecDeque<(Instant, D)>,
    /// The highest acknowledgment number that has left or waits, and the time of its departure.
    last: Option<(u32, Instant)>,
    /// The arrival time of the newest ACK.
    arrived: Option<Instant>,
    /// The mean time between ACKs in nanoseconds.
    spacing: Option<f64>,
    mss: Option<u16>,
    /// `true` if the last ACK was a duplicate or had SACK.
    recovers: bool,
    seen: Instant,
}

impl<D: Datagram> Spacer<D> {
    /// Returns a spacer with these settings.
    #[must_use]
    pub fn new(config: SpacerConfig) -> Self {
        Self {
            config,
            flows: FlowTable::new(),
            due: BinaryHeap::new(),
            leaving: VecDeque::new(),
            leaving_since: Instant::ZERO,
            made: 0,
        }
    }

    /// Returns the number of inserted ACKs.
    #[must_use]
    pub const fn made(&self) -> u64 {
        self.made
    }

    fn space(&mut self, now: Instant, packet: D, segment: AckHeader) {
        self.flows.forget(|flow| !flow.waiting.is_empty() || now.since(flow.seen) < SILENT);
        let key = packet.flow();
        let flow = self.flows.entry(key, || Flow::new(now));
        flow.seen = now;
        let is_plain = segment.is_pure && segment.sack.is_empty() && !segment.has_other_content && segment.ecn == 0;
        let last = flow.last.filter(|(number, _)| is_plain && is_after(segment.ack, *number) && !flow.recovers);
        let Some((number, left)) = last else {
            let is_news = flow.last.is_none_or(|(number, _)| is_after(segment.ack, number));
            // A data segment that repeats the previous acknowledgment number does not indicate a
            // loss.
            flow.recovers = if is_plain { !is_news } else { flow.recovers || !segment.sack.is_empty() };
            flow.arrived = Some(now);
            flow.release(&mut self.leaving);
            if is_news {
                flow.last = Some((segment.ack, now));
            }
            return self.leaving.push_back(packet);
        };
        let octets = segment.ack.wrapping_sub(number);
        match self.config {
            SpacerConfig::Rate { rate } => {
                let nanos = mul_div(u64::from(octets), 8_000_000_000, rate.bits_per_second());
                let due = now.max(left + Duration::from_nanos(nanos));
                flow.wait(due, segment.ack, packet, key, &mut self.due);
            }
            SpacerConfig::Interval { interval } => {
                flow.wait(now.max(left + interval), segment.ack, packet, key, &mut self.due);
            }
            SpacerConfig::Reconstruct(settings) => {
                let spacing = flow.arrives(now, settings.weight);
                let share = flow.share(&settings, segment.timestamps.is_some());
                let missing = octets.div_ceil(share) - 1;
                let interval = spacing * f64::from(share) / f64::from(octets);
                let ahead = left + Duration::from_nanos(interval as u64);
                // If ACKs are a whole interval late, they would never catch up.
                let is_behind = ahead > now + Duration::from_nanos(spacing as u64);
                if is_behind {
                    flow.release(&mut self.leaving);
                }
                let start = if is_behind || flow.waiting.is_empty() { now } else { now.max(ahead) };
                let after = |count: u32| start + Duration::from_nanos((interval * f64::from(count)) as u64);
                let missing = if missing > MAX_INSERTED { 0 } else { missing };
                for count in 0..missing {
                    let number = number.wrapping_add((count + 1) * share);
                    let Some(made) = packet.with_ack_number(number) else { break };
                    self.made += 1;
                    flow.wait(after(count), number, made, key, &mut self.due);
                }
                flow.wait(after(missing), segment.ack, packet, key, &mut self.due);
            }
        }
        self.wake(now);
    }
}

impl<D> Flow<D> {
    const fn new(now: Instant) -> Self {
        Self {
            waiting: VecDeque::new(),
            last: None,
            arrived: None,
            spacing: None,
            mss: None,
            recovers: false,
            seen: now,
        }
    }

    /// Records the arrival of an ACK. Returns the mean time between ACKs in nanoseconds.
    fn arrives(&mut self, now: Instant, weight: f64) -> f64 {
        let sample = self.arrived.replace(now).map(|before| now.since(before).as_nanos() as f64);
        if let Some(sample) = sample {
            self.spacing = Some(self.spacing.map_or(sample, |mean| weight * sample + (1.0 - weight) * mean));
        }
        self.spacing.unwrap_or(0.0)
    }

    /// Returns the octets per ACK.
    fn share(&self, settings: &Reconstruct, has_timestamps: bool) -> u32 {
        let options = if has_timestamps { TIMESTAMPS } else { 0 };
        let segment = self.mss.map_or(settings.segment.get(), |mss| u64::from(mss).saturating_sub(options).max(1));
        u32::try_from(segment).unwrap_or(u32::MAX).saturating_mul(settings.segments)
    }

    fn wait(
        &mut self,
        due: Instant,
        number: u32,
        packet: D,
        key: FlowKey,
        all: &mut BinaryHeap<Reverse<(Instant, FlowKey)>>,
    ) {
        self.last = Some((number, due));
        self.waiting.push_back((due, packet));
        all.push(Reverse((due, key)));
    }

    /// Releases all waiting ACKs, in order.
    fn release(&mut self, leaving: &mut VecDeque<D>) {
        leaving.extend(self.waiting.drain(..).map(|(_, packet)| packet));
    }
}

impl<D: Datagram> Machine for Spacer<D> {
    type Datagram = D;
    type Outcome = ();

    fn accept(&mut self, now: Instant, packet: D) {
        self.leaving_since = now;
        if let Some(segment) = packet.ack_header() {
            return self.space(now, packet, segment);
        }
        if let Some(opening) = packet.opening() {
            // A new connection may reuse the ports of an earlier one.
            let flow = self.flows.entry(packet.flow(), || Flow::new(now));
            flow.release(&mut self.leaving);
            *flow = Flow { mss: opening.mss, ..Flow::new(now) };
        } else if let Some(flow) = self.flows.get_mut(packet.flow()) {
            flow.release(&mut self.leaving);
        }
        self.leaving.push_back(packet);
    }

    fn wake(&mut self, now: Instant) {
        self.leaving_since = now;
        while let Some(Reverse((at, key))) = self.due.peek().copied()
            && at <= now
        {
            self.due.pop();
            let Some(flow) = self.flows.get_mut(key) else { continue };
            while flow.waiting.front().is_some_and(|(due, _)| *due <= now) {
                self.leaving.extend(flow.waiting.pop_front().map(|(_, packet)| packet));
            }
        }
    }

    /// Packets that may leave now are a deadline, too, so that the driver continues polling.
    fn deadline(&self) -> Option<Instant> {
        let waits = self.due.peek().map(|Reverse((at, _))| *at);
        if self.leaving.is_empty() { waits } else { Some(self.leaving_since) }
    }

    fn poll(&mut self, _now: Instant) -> Option<D> {
        self.leaving.pop_front()
    }
}

#[cfg(test)]
mod tests;
