//! The clock of the capture, and the order of its packets in time.
//!
//! The times of a file come from a clock with a tick. The clock may be stepped, and packets may be
//! out of order. Connections receive times that do not decrease and in which a step takes no time.
//! Times across a step are not measured.
//!
//! | module | contents |
//! |---|---|
//! | `tick` | the step by which times grow |
//! | `timeline` | packets in order of time |
//! | `end_clocks` | the time that has passed by the clocks of both ends |
//! | `jump` | decides whether a jump of the times is a step of the clock |

mod end_clocks;
mod jump;
mod tick;
mod timeline;

pub(crate) use end_clocks::EndClocks;
pub(crate) use jump::JumpEvidence;

use crate::report;
use jump::{HeldPacket, JumpKind, PendingJump};
use tick::Ticks;
use timeline::{Timeline, WINDOW};

/// The maximum number of steps that are reported individually.
const MAX_STEPS: usize = 64;
/// The minimum gap in seconds that is reported if it may be a step: NTP leaves larger steps to the
/// operator (RFC 5905, §11.3, PANICT), and most pauses of a connection are shorter.
const LONG_GAP: f64 = 1000.0;

/// The clock of a capture, and packets that wait for their order in time.
#[derive(Clone, Debug)]
pub(crate) struct Clock<P> {
    ticks: Ticks,
    timeline: Timeline<P>,
    pending: Option<PendingJump<P>>,
    frames: u64,
    /// The first time and the earliest time.
    first: Option<(u64, u64)>,
    /// The offset added to times of the file, for the steps so far.
    offset: i128,
    steps: Vec<report::Step>,
    count: u64,
    /// The longest jump ahead that may be a step or a pause.
    gap: Option<report::Step>,
}

impl<P> Default for Clock<P> {
    fn default() -> Self {
        Self {
            ticks: Ticks::default(),
            timeline: Timeline::default(),
            pending: None,
            frames: 0,
            first: None,
            offset: 0,
            steps: Vec::new(),
            count: 0,
            gap: None,
        }
    }
}

impl<P> Clock<P> {
    /// Reads the time of a frame in nanoseconds. Returns its position in the file.
    #[inline]
    pub(crate) fn read(&mut self, nanos: u64) -> u64 {
        self.ticks.read(nanos);
        self.frames += 1;
        self.frames
    }

    /// Adds a packet with this time, and returns `None`. If its time jumps, or an earlier jump is
    /// unclassified, returns the packet.
    #[inline]
    pub(crate) fn add(&mut self, nanos: u64, packet: P) -> Option<P> {
        let after = self.after(nanos);
        if self.pending.is_some() || after.abs() >= i128::from(WINDOW) && self.first.is_some() {
            return Some(packet);
        }
        self.insert(after, packet);
        None
    }

    /// Returns the time from the newest time so far to this one, without steps.
    fn after(&self, nanos: u64) -> i128 {
        i128::from(nanos) + self.offset - i128::from(self.timeline.newest())
    }

    fn insert(&mut self, after: i128, packet: P) {
        let at =
            u64::try_from(i128::from(self.timeline.newest()) + after).unwrap_or(if after < 0 { 0 } else { u64::MAX });
        let (first, earliest) = self.first.unwrap_or((at, at));
        self.first = Some((first, earliest.min(at)));
        self.timeline.insert(at, packet);
    }

    /// Removes the first packet in time, if no earlier one may follow. None may follow before a
    /// jump is classified, or if the file `is_over`.
    #[inline]
    pub(crate) fn release(&mut self, is_over: bool) -> Option<(u64, P)> {
        self.timeline.release(is_over || self.pending.is_some())
    }

    /// Returns the time of a packet in the timeline, which may be before zero, and the unclassified
    /// jump before it or at it.
    pub(crate) fn jump(&mut self, nanos: u64) -> (i128, i128) {
        let after = self.after(nanos);
        let jump = self.pending.get_or_insert_with(|| PendingJump::new(after)).jump;
        (i128::from(self.timeline.newest()) + after, jump)
    }

    /// Holds a packet of a jump, with the place of its connection and its evidence. Returns the
    /// packets to add again once the jump is classified.
    pub(crate) fn hold(&mut self, packet: HeldPacket<P>, shows: (u32, JumpEvidence)) -> Vec<HeldPacket<P>> {
        let after = self.after(packet.1);
        if let Some(pending) = &mut self.pending {
            pending.hold(packet, after, shows);
        }
        self.classify(false)
    }

    /// Classifies a jump if there is enough evidence, or if the file `is_over`. Returns the packets
    /// to add again.
    pub(crate) fn classify(&mut self, is_over: bool) -> Vec<HeldPacket<P>> {
        let Some(kind) = self.pending.as_ref().and_then(|pending| pending.kind(is_over)) else { return Vec::new() };
        let Some(pending) = self.pending.take() else { return Vec::new() };
        let (jump, size, mut held) = (pending.jump, pending.size(), pending.held);
        // The last packet is not stray if it has returned to the times before the jump.
        let returns = |after: i128| if jump > 0 { 2 * after < jump } else { after >= -i128::from(WINDOW) };
        let is_back = held.len() > 1 && held.last().is_some_and(|last| returns(self.after(last.1)));
        let rest = held.split_off(match kind {
            JumpKind::Stray => held.len() - usize::from(is_back),
            _ => held.len().min(1),
        });
        for (place, nanos, packet) in held {
            match kind {
                JumpKind::Step => self.step(jump, size, place),
                JumpKind::Unknown => self.gap(jump, place),
                JumpKind::Stray => self.timeline.disorder.add(jump.unsigned_abs() as u64),
                JumpKind::Pause => {}
            }
            let after = if kind == JumpKind::Stray { 0 } else { self.after(nanos) };
            self.insert(after, packet);
        }
        rest
    }

    /// Records that the clock has stepped before the packet `place` of the file, within a `jump`.
    /// Without a `size`, the whole jump is the step.
    fn step(&mut self, jump: i128, size: Option<f64>, place: u64) {
        let size = size.map_or(jump, |size| (size as i128).min(jump));
        self.offset -= size;
        self.count += 1;
        if self.steps.len() < MAX_STEPS {
            self.steps.push(self.report(size, place));
        }
    }

    /// Records a jump ahead that may be a pause or a step.
    fn gap(&mut self, jump: i128, place: u64) {
        let gap = self.report(jump, place);
        if gap.size >= LONG_GAP && self.gap.is_none_or(|longest| longest.size < gap.size) {
            self.gap = Some(gap);
        }
    }

    fn report(&self, size: i128, place: u64) -> report::Step {
        let (first, _) = self.first.unwrap_or_default();
        let at = self.timeline.newest().saturating_sub(first) as f64 / 1e9;
        report::Step { packet: place, at, size: size as f64 / 1e9 }
    }

    /// Returns the number of steps so far.
    pub(crate) const fn steps(&self) -> u64 {
        self.count
    }

    /// Returns the tick in nanoseconds.
    pub(crate) fn tick(&self) -> f64 {
        self.ticks.tick()
    }

    /// Returns the earliest and the newest time.
    pub(crate) fn span(&self) -> (u64, u64) {
        self.first.map_or((0, 0), |(_, earliest)| (earliest, self.timeline.newest()))
    }

    /// Returns the report of the clock.
    pub(crate) fn describe(&self) -> report::Clock {
        let timeline::Disorder { packets, longest } = self.timeline.disorder;
        report::Clock {
            tick: self.tick() / 1e6,
            steps: self.steps.clone(),
            step_count: self.count,
            gap: self.gap,
            out_of_order: packets,
            out_of_order_by: (packets > 0).then_some(longest as f64 / 1e6),
        }
    }
}
