//! Backoffs that freeze and resume, without an event per slot.
//!
//! Functions that sense the medium alike and wait for the same AIFS form a *lane*: while the medium is idle they count the same slots,
//! so the lane counts once for all. A function that draws a backoff of `s` slots is due when the lane has counted `s` more, whatever
//! happens to the medium in between; the next to send is the smallest of these numbers. One busy period costs a subtraction per lane,
//! and one contention O(log n) in the number of functions that have something to send.

use super::Parameters;
use acklab_base::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Those that begin within this time of each other do not sense each other: aCCATime of OFDM (17.4.4), which is what detecting a
/// preamble takes.
pub(crate) const PREAMBLE_DETECTION: Duration = Duration::from_micros(4);

/// An access function of a cell, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FunctionId(pub(crate) u32);

/// A lane of a cell, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneId(u32);

/// Functions that count the same slots.
#[derive(Clone, Debug)]
struct Lane {
    view: usize,
    aifsn: u8,
    aifs: Duration,
    /// Slots counted in all idle periods that are over.
    counted: u64,
    /// When the first slot of this idle period begins; none while the medium is busy.
    start: Option<Instant>,
    /// Who waits, and for which count.
    waiting: BinaryHeap<Reverse<(u64, FunctionId)>>,
}

/// A function that counts by itself until the medium is next busy, because its first slot begins at another instant than the lane's:
/// its transmission was not answered, and it waits for the timeout where others wait for EIFS; or its dialect says so.
#[derive(Clone, Copy, Debug)]
struct Straggler {
    function: FunctionId,
    lane: LaneId,
    start: Instant,
    slots: u64,
}

/// The medium as those at one place sense it.
#[derive(Clone, Debug, Default)]
struct View {
    /// Transmissions that are heard now.
    heard: u32,
    idle_from: Instant,
    /// Until then the medium is reserved (network allocation vector, 10.3.2.4).
    nav: Instant,
    lanes: Vec<LaneId>,
}

/// All lanes of a cell.
#[derive(Clone, Debug)]
pub(crate) struct Contention {
    slot: Duration,
    /// Does a lane count one slot at the end of AIFS itself? EDCA does (10.23.2.4), DCF does not (10.3.4.3).
    counts_at_aifs: bool,
    lanes: Vec<Lane>,
    views: Vec<View>,
    stragglers: Vec<Straggler>,
    /// Who sends although the medium has just become busy, as they cannot have sensed that yet; and when.
    committed: Vec<(Instant, FunctionId)>,
}

impl Lane {
    fn due(&self, slot: Duration) -> Option<Instant> {
        let Reverse((count, _)) = self.waiting.peek()?;
        Some(self.start? + slot * count.saturating_sub(self.counted))
    }
}

impl Contention {
    pub(crate) fn new(slot: Duration, counts_at_aifs: bool, views: usize) -> Self {
        Self {
            slot,
            counts_at_aifs,
            lanes: Vec::new(),
            views: vec![View::default(); views],
            stragglers: Vec::new(),
            committed: Vec::new(),
        }
    }

    /// The lane of functions with these parameters that sense what `view` senses.
    pub(crate) fn lane(&mut self, view: usize, parameters: &Parameters, aifs: Duration) -> LaneId {
        let of_view = &mut self.views[view].lanes;
        if let Some(lane) = of_view.iter().find(|lane| self.lanes[lane.0 as usize].aifsn == parameters.aifsn) {
            return *lane;
        }
        let lane = LaneId(self.lanes.len() as u32);
        of_view.push(lane);
        let start = self.idle_from(view).map(|from| from + aifs);
        self.lanes.push(Lane { view, aifsn: parameters.aifsn, aifs, counted: 0, start, waiting: BinaryHeap::new() });
        lane
    }

    /// Is the medium busy or reserved here?
    pub(crate) fn is_busy(&self, lane: LaneId, now: Instant) -> bool {
        let view = &self.views[self.lanes[lane.0 as usize].view];
        view.heard > 0 || now < view.nav
    }

    /// The count of slots that a backoff which begins now starts from: slots that have begun are over.
    pub(crate) fn count(&self, lane: LaneId, now: Instant) -> u64 {
        let lane = &self.lanes[lane.0 as usize];
        let running = lane.start.map_or(0, |start| now.since(start).as_nanos().div_ceil(self.slot.as_nanos()));
        lane.counted + running
    }

    /// The slots that a lane will have counted if the medium becomes busy now.
    pub(crate) fn counted(&self, lane: LaneId, now: Instant) -> u64 {
        let lane = &self.lanes[lane.0 as usize];
        lane.counted + lane.start.map_or(0, |start| self.slots_since(start, now))
    }

    /// The first slot boundary after `now`, if slots are being counted.
    pub(crate) fn next_boundary(&self, lane: LaneId, now: Instant) -> Option<Instant> {
        let start = self.lanes[lane.0 as usize].start.filter(|start| *start < now)?;
        Some(start + self.slot * (now.since(start).as_nanos() / self.slot.as_nanos() + 1))
    }

    /// Slots counted from `start` on when the medium becomes busy at `now`.
    fn slots_since(&self, start: Instant, now: Instant) -> u64 {
        if now < start {
            0
        } else {
            now.since(start).as_nanos() / self.slot.as_nanos() + u64::from(self.counts_at_aifs)
        }
    }

    /// `function` sends when its lane has counted up to `count`.
    pub(crate) fn wait(&mut self, function: FunctionId, lane: LaneId, count: u64) {
        self.lanes[lane.0 as usize].waiting.push(Reverse((count, function)));
    }

    /// `function` gives up at `timeout` on an answer, and sends after AIFS from then and `slots` more (10.23.2.4 c).
    pub(crate) fn wait_alone(&mut self, function: FunctionId, lane: LaneId, timeout: Instant, slots: u64) {
        self.wait_from(function, lane, timeout + self.lanes[lane.0 as usize].aifs, slots);
    }

    /// `function` counts its first slot at `start`, whatever its lane does until the medium is next busy.
    pub(crate) fn wait_from(&mut self, function: FunctionId, lane: LaneId, start: Instant, slots: u64) {
        self.stragglers.push(Straggler { function, lane, start, slots });
    }

    /// When the next function may send, if the medium stays as it is.
    pub(crate) fn due(&self) -> Option<Instant> {
        let lanes = self.lanes.iter().filter_map(|lane| lane.due(self.slot));
        let stragglers = self.stragglers.iter().filter_map(|straggler| self.due_alone(straggler));
        let committed = self.committed.iter().map(|(at, _)| *at);
        lanes.chain(stragglers).chain(committed).min()
    }

    fn due_alone(&self, straggler: &Straggler) -> Option<Instant> {
        self.lanes[straggler.lane.0 as usize].start?;
        Some(straggler.start + self.slot * straggler.slots)
    }

    /// Takes all functions that send now.
    pub(crate) fn take_due(&mut self, now: Instant, due: &mut Vec<FunctionId>) {
        due.clear();
        for lane in &mut self.lanes {
            while lane.due(self.slot).is_some_and(|at| at <= now)
                && let Some(Reverse((_, function))) = lane.waiting.pop()
            {
                due.push(function);
            }
        }
        self.committed.retain(|(at, function)| {
            let stays = *at > now;
            if !stays {
                due.push(*function);
            }
            stays
        });
        if self.stragglers.is_empty() {
            return;
        }
        let stragglers = std::mem::take(&mut self.stragglers);
        for straggler in stragglers {
            if self.due_alone(&straggler).is_some_and(|at| at <= now) {
                due.push(straggler.function);
            } else {
                self.stragglers.push(straggler);
            }
        }
    }

    /// A transmission begins to be heard at `view`. Those that wait keep the slots that they have left.
    pub(crate) fn busy(&mut self, view: usize, now: Instant) {
        self.views[view].heard += 1;
        if self.views[view].heard > 1 {
            return;
        }
        self.commit(view, now);
        for id in &self.views[view].lanes {
            let counted = self.counted(*id, now);
            let lane = &mut self.lanes[id.0 as usize];
            (lane.counted, lane.start) = (counted, None);
        }
        let mut stragglers = std::mem::take(&mut self.stragglers);
        stragglers.retain(|straggler| {
            let counted = self.slots_since(straggler.start, now);
            let lane = &mut self.lanes[straggler.lane.0 as usize];
            let stays = lane.view != view;
            if !stays {
                let left = straggler.slots.saturating_sub(counted);
                lane.waiting.push(Reverse((lane.counted + left, straggler.function)));
            }
            stays
        });
        self.stragglers = stragglers;
    }

    /// Those at `view` whose backoff ends before they can sense what begins now.
    fn commit(&mut self, view: usize, now: Instant) {
        let senses = now + PREAMBLE_DETECTION;
        for id in &self.views[view].lanes {
            let lane = &mut self.lanes[id.0 as usize];
            while let Some(at) = lane.due(self.slot).filter(|at| *at < senses)
                && let Some(Reverse((_, function))) = lane.waiting.pop()
            {
                self.committed.push((at, function));
            }
        }
        let mut stragglers = std::mem::take(&mut self.stragglers);
        stragglers.retain(|straggler| {
            let is_here = self.lanes[straggler.lane.0 as usize].view == view;
            let at = self.due_alone(straggler).filter(|at| is_here && *at < senses);
            self.committed.extend(at.map(|at| (at, straggler.function)));
            at.is_none()
        });
        self.stragglers = stragglers;
    }

    /// Since when the medium is idle at `view`, reservations included; none while it is busy.
    pub(crate) fn idle_from(&self, view: usize) -> Option<Instant> {
        let view = &self.views[view];
        (view.heard == 0).then(|| view.idle_from.max(view.nav))
    }

    /// The medium is reserved at `view`.
    pub(crate) fn reserve(&mut self, view: usize, until: Instant) {
        let view = &mut self.views[view];
        view.nav = view.nav.max(until);
    }

    /// A transmission is heard no longer at `view`. `extra` is what those there wait beyond AIFS, because they could not read it.
    pub(crate) fn idle(&mut self, view: usize, now: Instant, extra: Duration) {
        let sensed = &mut self.views[view];
        sensed.heard -= 1;
        if sensed.heard > 0 {
            return;
        }
        sensed.idle_from = now;
        let from = sensed.nav.max(now + extra);
        for id in &sensed.lanes {
            let lane = &mut self.lanes[id.0 as usize];
            lane.start = Some(from + lane.aifs);
        }
        for straggler in &mut self.stragglers {
            let lane = &self.lanes[straggler.lane.0 as usize];
            if lane.view == view {
                straggler.start = straggler.start.max(from + lane.aifs);
            }
        }
    }
}

#[cfg(test)]
mod tests;
