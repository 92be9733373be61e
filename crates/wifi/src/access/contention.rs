//! Backoffs that freeze and resume, without an event per slot.
//!
//! EDCAFs with the same view of the medium, the same AIFS and the same sensing delay form a *lane*.
//! They count the same slots while the medium is idle, so one counter serves them all. An EDCAF
//! that draws a backoff of `s` slots is due when its lane has counted `s` more slots, independent
//! of the medium in between. The EDCAF with the smallest count transmits next. A busy period costs
//! one subtraction per lane. A contention costs O(log n) in the number of waiting EDCAFs.

use super::Parameters;
use acklab_base::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An EDCAF of a cell, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EdcafId(pub(crate) u32);

/// A lane of a cell, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneId(u32);

/// EDCAFs that count the same slots.
#[derive(Clone, Debug)]
struct Lane {
    view: usize,
    aifsn: u8,
    aifs: Duration,
    /// The sensing delay: aCCATime, or longer. Two senders whose transmissions begin within this
    /// time do not sense each other.
    cca: Duration,
    /// Slots counted in all past idle periods.
    counted: u64,
    /// The start of the first slot of this idle period. `None` while the medium is busy.
    start: Option<Instant>,
    /// The waiting EDCAFs with the counts at which they are due.
    waiting: BinaryHeap<Reverse<(u64, EdcafId)>>,
}

/// The backoff of an EDCAF whose first slot does not begin with a slot of its lane. It is counted
/// separately until the medium is next busy. This case occurs after a transmission without a
/// response: the EDCAF waits for the timeout, and the other EDCAFs wait for EIFS. Some dialects
/// also require it.
#[derive(Clone, Copy, Debug)]
struct DetachedBackoff {
    edcaf: EdcafId,
    lane: LaneId,
    start: Instant,
    slots: u64,
}

/// The result of a reception at a view of the medium: the parameter of PHY-RXEND.indication
/// (8.3.5.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RxEnd {
    /// The nodes of the view have decoded or sent the transmission. An earlier error has no further
    /// effect (10.3.2.3.7).
    Correct,
    /// The nodes of the view have detected only the energy of the transmission, not its preamble.
    Undetected,
    /// The nodes of the view could not decode the transmission. Once the medium is idle, they defer
    /// for EIFS, which is longer than AIFS by this time.
    Erroneous(Duration),
}

/// The medium as sensed by the nodes at one place.
#[derive(Clone, Debug, Default)]
struct View {
    /// Transmissions sensed now.
    heard: u32,
    idle_from: Instant,
    /// The end of the last erroneous reception within this busy period, and the time by which nodes
    /// here defer longer than AIFS because of it.
    erroneous: Option<(Instant, Duration)>,
    /// The network allocation vector (NAV): the medium is reserved until this instant (10.3.2.4).
    nav: Instant,
    /// The initiator whose frame set the NAV.
    nav_holder: Option<usize>,
    /// The time at which the NAV is reset unless a PPDU begins before.
    nav_reset: Option<Instant>,
    lanes: Vec<LaneId>,
}

/// All lanes of a cell.
#[derive(Clone, Debug)]
pub(crate) struct Contention {
    slot: Duration,
    /// `true` if a lane counts one slot at the end of AIFS itself: EDCA does (10.23.2.4), DCF does
    /// not (10.3.4.3).
    counts_at_aifs: bool,
    lanes: Vec<Lane>,
    views: Vec<View>,
    detached: Vec<DetachedBackoff>,
    /// Views whose NAV may be reset, with the instants.
    nav_resets: Vec<(Instant, usize)>,
    /// EDCAFs that will transmit although the medium has just become busy, because they cannot
    /// sense this in time. Each has the instant of its transmission.
    committed: Vec<(Instant, EdcafId)>,
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
            detached: Vec::new(),
            nav_resets: Vec::new(),
            committed: Vec::new(),
        }
    }

    /// Returns the lane of EDCAFs with these parameters in `view` that sense a transmission after
    /// `cca`.
    pub(crate) fn lane(&mut self, view: usize, parameters: &Parameters, aifs: Duration, cca: Duration) -> LaneId {
        let of_view = &mut self.views[view].lanes;
        let is_it = |lane: &&LaneId| {
            let lane = &self.lanes[lane.0 as usize];
            (lane.aifsn, lane.cca) == (parameters.aifsn, cca)
        };
        if let Some(lane) = of_view.iter().find(is_it) {
            return *lane;
        }
        let lane = LaneId(self.lanes.len() as u32);
        of_view.push(lane);
        let start = self.idle_from(view).map(|from| from + aifs);
        self.lanes.push(Lane {
            view,
            aifsn: parameters.aifsn,
            aifs,
            cca,
            counted: 0,
            start,
            waiting: BinaryHeap::new(),
        });
        lane
    }

    /// Returns `true` if the medium is busy or reserved here.
    pub(crate) fn is_busy(&self, lane: LaneId, now: Instant) -> bool {
        let view = &self.views[self.lanes[lane.0 as usize].view];
        view.heard > 0 || now < view.nav
    }

    /// Returns the count from which a backoff that begins now starts. A slot that has already begun
    /// is not counted again.
    pub(crate) fn count(&self, lane: LaneId, now: Instant) -> u64 {
        let lane = &self.lanes[lane.0 as usize];
        let running = lane.start.map_or(0, |start| now.since(start).as_nanos().div_ceil(self.slot.as_nanos()));
        lane.counted + running
    }

    /// Returns the count of a lane if the medium becomes busy now.
    pub(crate) fn counted(&self, lane: LaneId, now: Instant) -> u64 {
        let lane = &self.lanes[lane.0 as usize];
        lane.counted + lane.start.map_or(0, |start| self.slots_since(start, now))
    }

    /// Returns the first slot boundary after `now`, if slots are being counted.
    pub(crate) fn next_boundary(&self, lane: LaneId, now: Instant) -> Option<Instant> {
        let start = self.lanes[lane.0 as usize].start.filter(|start| *start < now)?;
        Some(start + self.slot * (now.since(start).as_nanos() / self.slot.as_nanos() + 1))
    }

    /// Slots counted since `start` if the medium becomes busy at `now`.
    fn slots_since(&self, start: Instant, now: Instant) -> u64 {
        if now < start {
            0
        } else {
            now.since(start).as_nanos() / self.slot.as_nanos() + u64::from(self.counts_at_aifs)
        }
    }

    /// Schedules the EDCAF to transmit when its lane reaches `count`.
    pub(crate) fn wait(&mut self, edcaf: EdcafId, lane: LaneId, count: u64) {
        self.lanes[lane.0 as usize].waiting.push(Reverse((count, edcaf)));
    }

    /// Schedules the EDCAF, whose wait for a response frame ends at `timeout`, to transmit AIFS and
    /// `slots` after that (10.23.2.4 c).
    pub(crate) fn wait_after_timeout(&mut self, edcaf: EdcafId, lane: LaneId, timeout: Instant, slots: u64) {
        self.wait_from(edcaf, lane, timeout + self.lanes[lane.0 as usize].aifs, slots);
    }

    /// Schedules the EDCAF to count its first slot at `start`, separately from its lane, until the
    /// medium is next busy.
    pub(crate) fn wait_from(&mut self, edcaf: EdcafId, lane: LaneId, start: Instant, slots: u64) {
        self.detached.push(DetachedBackoff { edcaf, lane, start, slots });
    }

    /// Returns when the next EDCAF transmits, if the state of the medium does not change.
    pub(crate) fn due(&self) -> Option<Instant> {
        let lanes = self.lanes.iter().filter_map(|lane| lane.due(self.slot)).min();
        let has_others = !(self.detached.is_empty() && self.committed.is_empty() && self.nav_resets.is_empty());
        if has_others { Instant::earliest(lanes, self.due_apart()) } else { lanes }
    }

    /// Returns when the next detached backoff ends, or a NAV is reset.
    #[inline(never)]
    fn due_apart(&self) -> Option<Instant> {
        let detached = self.detached.iter().filter_map(|backoff| self.detached_due(backoff));
        let committed = self.committed.iter().map(|(at, _)| *at);
        let nav_resets = self.nav_resets.iter().map(|(at, _)| *at);
        detached.chain(committed).chain(nav_resets).min()
    }

    fn detached_due(&self, backoff: &DetachedBackoff) -> Option<Instant> {
        self.lanes[backoff.lane.0 as usize].start?;
        Some(backoff.start + self.slot * backoff.slots)
    }

    /// Removes all EDCAFs that transmit now, and appends them to `due`.
    pub(crate) fn take_due(&mut self, now: Instant, due: &mut Vec<EdcafId>) {
        due.clear();
        for lane in &mut self.lanes {
            while lane.due(self.slot).is_some_and(|at| at <= now)
                && let Some(Reverse((_, edcaf))) = lane.waiting.pop()
            {
                due.push(edcaf);
            }
        }
        self.committed.retain(|(at, edcaf)| {
            let stays = *at > now;
            if !stays {
                due.push(*edcaf);
            }
            stays
        });
        if self.detached.is_empty() {
            return;
        }
        let detached = std::mem::take(&mut self.detached);
        for backoff in detached {
            if self.detached_due(&backoff).is_some_and(|at| at <= now) {
                due.push(backoff.edcaf);
            } else {
                self.detached.push(backoff);
            }
        }
    }

    /// Records that a transmission begins to be sensed at `view`. Waiting EDCAFs keep their
    /// remaining slots.
    pub(crate) fn busy(&mut self, view: usize, now: Instant) {
        self.views[view].heard += 1;
        if self.views[view].nav_reset.take().is_some() {
            self.nav_resets.retain(|(_, other)| *other != view);
        }
        if self.views[view].heard > 1 {
            return;
        }
        self.commit(view, now);
        for id in &self.views[view].lanes {
            let counted = self.counted(*id, now);
            let lane = &mut self.lanes[id.0 as usize];
            (lane.counted, lane.start) = (counted, None);
        }
        let mut detached = std::mem::take(&mut self.detached);
        detached.retain(|backoff| {
            let counted = self.slots_since(backoff.start, now);
            let lane = &mut self.lanes[backoff.lane.0 as usize];
            let stays = lane.view != view;
            if !stays {
                let left = backoff.slots.saturating_sub(counted);
                lane.waiting.push(Reverse((lane.counted + left, backoff.edcaf)));
            }
            stays
        });
        self.detached = detached;
    }

    /// Commits the EDCAFs at `view` whose backoff ends before they can sense the transmission that
    /// begins now.
    fn commit(&mut self, view: usize, now: Instant) {
        for id in &self.views[view].lanes {
            let lane = &mut self.lanes[id.0 as usize];
            let senses = now + lane.cca;
            while let Some(at) = lane.due(self.slot).filter(|at| *at < senses)
                && let Some(Reverse((_, edcaf))) = lane.waiting.pop()
            {
                self.committed.push((at, edcaf));
            }
        }
        let mut detached = std::mem::take(&mut self.detached);
        detached.retain(|backoff| {
            let lane = &self.lanes[backoff.lane.0 as usize];
            let at = self.detached_due(backoff).filter(|at| lane.view == view && *at < now + lane.cca);
            self.committed.extend(at.map(|at| (at, backoff.edcaf)));
            at.is_none()
        });
        self.detached = detached;
    }

    /// Returns the instant from which the medium, including the NAV, is idle at `view`. Returns
    /// `None` while the medium is busy.
    pub(crate) fn idle_from(&self, view: usize) -> Option<Instant> {
        let view = &self.views[view];
        (view.heard == 0).then(|| view.idle_from.max(view.nav))
    }

    /// Sets the NAV at `view` for an exchange of `holder`, unless the NAV already ends later. The
    /// NAV is reset at `reset` if no PPDU begins before.
    pub(crate) fn reserve(&mut self, view: usize, until: Instant, holder: usize, reset: Option<Instant>) {
        let sensed = &mut self.views[view];
        if until <= sensed.nav {
            return;
        }
        (sensed.nav, sensed.nav_holder, sensed.nav_reset) = (until, Some(holder), reset);
        self.nav_resets.extend(reset.map(|at| (at, view)));
    }

    /// Returns `true` if the NAV at `view` forbids a CTS to `initiator`. A NAV set by `initiator`
    /// does not forbid a CTS (10.3.2.9, 10.23.2.4).
    pub(crate) fn forbids_cts(&self, view: usize, now: Instant, initiator: usize) -> bool {
        let view = &self.views[view];
        now < view.nav && view.nav_holder != Some(initiator)
    }

    /// Resets the NAVs that were set by an RTS after which no PPDU has begun (10.3.2.4).
    pub(crate) fn reset_navs(&mut self, now: Instant) {
        while let Some(index) = self.nav_resets.iter().position(|(at, _)| *at <= now) {
            let (at, view) = self.nav_resets.swap_remove(index);
            let sensed = &mut self.views[view];
            if sensed.nav_reset != Some(at) {
                continue;
            }
            (sensed.nav, sensed.nav_holder, sensed.nav_reset) = (now, None, None);
            for id in &sensed.lanes {
                let lane = &mut self.lanes[id.0 as usize];
                lane.start = Some(now + lane.aifs);
            }
        }
    }

    /// Records that a transmission is no longer sensed at `view`. EIFS begins when the medium
    /// becomes idle after an erroneous reception, unless a frame has been received correctly since
    /// (10.3.2.3.7).
    pub(crate) fn idle(&mut self, view: usize, now: Instant, end: RxEnd) {
        let sensed = &mut self.views[view];
        sensed.heard -= 1;
        match end {
            RxEnd::Erroneous(extra) => sensed.erroneous = Some((now, extra)),
            // If several transmissions end at one instant, an erroneous one takes precedence.
            RxEnd::Correct => sensed.erroneous = sensed.erroneous.filter(|(ended, _)| *ended == now),
            RxEnd::Undetected => {}
        }
        if sensed.heard > 0 {
            return;
        }
        let extra = sensed.erroneous.take().map_or(Duration::ZERO, |(_, extra)| extra);
        sensed.idle_from = now;
        let from = sensed.nav.max(now + extra);
        // EDCAFs with a detached backoff have transmitted within this busy period, so they did not
        // receive the erroneous frame.
        let of_senders = sensed.nav.max(now);
        for id in &sensed.lanes {
            let lane = &mut self.lanes[id.0 as usize];
            lane.start = Some(from + lane.aifs);
        }
        for backoff in &mut self.detached {
            let lane = &self.lanes[backoff.lane.0 as usize];
            if lane.view == view {
                backoff.start = backoff.start.max(of_senders + lane.aifs);
            }
        }
    }
}

#[cfg(test)]
mod tests;
