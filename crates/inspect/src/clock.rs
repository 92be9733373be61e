//! The clock of the capture.
//!
//! Times of a file are those of a clock with a tick, which may be stepped, and packets may be out
//! of order. Connections see times that do not fall and in which a step takes no time: what it
//! spans is not measured.
//!
//! | module | contents |
//! |---|---|
//! | `tick` | the step by which times grow |
//! | `timeline` | packets in order of time |
//! | `witness` | the time that has passed by the clocks of the ends |
//! | `trial` | whether a jump of the times is a step of the clock |

mod tick;
mod timeline;
mod trial;
mod witness;

pub(crate) use trial::Testimony;
pub(crate) use witness::Witness;

use crate::report;
use tick::Ticks;
use timeline::{Timeline, WINDOW};
use trial::{Held, Trial, Verdict};

/// Steps that are reported one by one.
const MAX_STEPS: usize = 64;
/// A gap in seconds that is named if it may be a step: from here on NTP leaves steps to people (RFC
/// 5905, §11.3, PANICT), and most pauses are shorter.
const LONG_GAP: f64 = 1000.0;

/// The clock of a capture, and packets that wait for their place in time.
#[derive(Clone, Debug)]
pub(crate) struct Clock<P> {
    ticks: Ticks,
    timeline: Timeline<P>,
    trial: Option<Trial<P>>,
    frames: u64,
    /// The first time, and the earliest.
    first: Option<(u64, u64)>,
    /// What is added to times of the file, for the steps so far.
    offset: i128,
    steps: Vec<report::Step>,
    count: u64,
    /// The longest jump ahead of which nothing shows whether it is a step.
    gap: Option<report::Step>,
}

impl<P> Default for Clock<P> {
    fn default() -> Self {
        Self {
            ticks: Ticks::default(),
            timeline: Timeline::default(),
            trial: None,
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
    /// A frame has this time in nanoseconds. Returns its place in the file.
    #[inline]
    pub(crate) fn read(&mut self, nanos: u64) -> u64 {
        self.ticks.read(nanos);
        self.frames += 1;
        self.frames
    }

    /// Adds a packet with this time, and returns `None`, unless its time jumps or a jump is not
    /// judged yet.
    #[inline]
    pub(crate) fn add(&mut self, nanos: u64, packet: P) -> Option<P> {
        let after = self.after(nanos);
        if self.trial.is_some() || after.abs() >= i128::from(WINDOW) && self.first.is_some() {
            return Some(packet);
        }
        self.insert(after, packet);
        None
    }

    /// The time from the newest so far to this one, with steps left out.
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

    /// Removes the first packet in time, if none is expected before it. Before a jump is judged,
    /// and if the file `is_over`, none is.
    #[inline]
    pub(crate) fn release(&mut self, is_over: bool) -> Option<(u64, P)> {
        self.timeline.release(is_over || self.trial.is_some())
    }

    /// Returns the time of a packet in the timeline, which may be before zero, and the jump that is
    /// not judged, or that begins with it.
    pub(crate) fn jump(&mut self, nanos: u64) -> (i128, i128) {
        let after = self.after(nanos);
        let jump = self.trial.get_or_insert_with(|| Trial::new(after)).jump;
        (i128::from(self.timeline.newest()) + after, jump)
    }

    /// Holds back a packet of a jump with the place of its connection and what it shows. Returns
    /// the packets that are to be added again, once the jump is judged.
    pub(crate) fn hold(&mut self, packet: Held<P>, shows: (u32, Testimony)) -> Vec<Held<P>> {
        let after = self.after(packet.1);
        if let Some(trial) = &mut self.trial {
            trial.hold(packet, after, shows);
        }
        self.judge(false)
    }

    /// Judges a jump, if there is enough of it, or `is_over`. Returns the packets that are to be
    /// added again.
    pub(crate) fn judge(&mut self, is_over: bool) -> Vec<Held<P>> {
        let Some(verdict) = self.trial.as_ref().and_then(|trial| trial.verdict(is_over)) else { return Vec::new() };
        let Some(trial) = self.trial.take() else { return Vec::new() };
        let (jump, size, mut held) = (trial.jump, trial.size(), trial.held);
        // The last is no stray if it has returned to the times from before the jump.
        let returns = |after: i128| if jump > 0 { 2 * after < jump } else { after >= -i128::from(WINDOW) };
        let is_back = held.len() > 1 && held.last().is_some_and(|last| returns(self.after(last.1)));
        let rest = held.split_off(match verdict {
            Verdict::Stray => held.len() - usize::from(is_back),
            _ => held.len().min(1),
        });
        for (place, nanos, packet) in held {
            match verdict {
                Verdict::Step => self.step(jump, size, place),
                Verdict::Unknown => self.gap(jump, place),
                Verdict::Stray => self.timeline.disorder.add(jump.unsigned_abs() as u64),
                Verdict::Pause => {}
            }
            let after = if verdict == Verdict::Stray { 0 } else { self.after(nanos) };
            self.insert(after, packet);
        }
        rest
    }

    /// The clock has stepped before the packet `place` of the file, within a `jump`. Without a
    /// `size`, all of the jump is the step.
    fn step(&mut self, jump: i128, size: Option<f64>, place: u64) {
        let size = size.map_or(jump, |size| (size as i128).min(jump));
        self.offset -= size;
        self.count += 1;
        if self.steps.len() < MAX_STEPS {
            self.steps.push(self.report(size, place));
        }
    }

    /// Nothing shows whether a jump ahead is a pause or a step.
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

    /// The number of steps so far.
    pub(crate) const fn steps(&self) -> u64 {
        self.count
    }

    /// The tick in nanoseconds.
    pub(crate) fn tick(&self) -> f64 {
        self.ticks.tick()
    }

    /// The earliest time and the newest.
    pub(crate) fn span(&self) -> (u64, u64) {
        self.first.map_or((0, 0), |(_, earliest)| (earliest, self.timeline.newest()))
    }

    /// What there is to report of the clock.
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
