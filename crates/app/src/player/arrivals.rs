//! The arrived parts of the frames that are not shown yet.

use crate::video::{Frame, Frames, video_in};
use acklab_base::{Arrival, Duration};
use std::collections::VecDeque;

/// The arrived parts of the frames that are not shown yet.
#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    frames: Frames,
    /// The frames that are not shown yet, up to the latest one that was needed so far.
    waiting: VecDeque<Waiting>,
    /// The index of the first frame of `waiting`.
    first: u64,
    /// The number of the first datagram after those of `waiting`.
    datagrams: u64,
    /// The number of frames up to the latest frame of which any part has arrived.
    begun: u64,
}

/// A frame that is not shown yet.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    frame: Frame,
    /// The number of octets that have not arrived.
    missing: u64,
    /// The number of its first datagram.
    first_datagram: u64,
}

/// A frame as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) is_key: bool,
    pub(super) is_complete: bool,
}

impl Arrivals {
    pub(super) fn new(frames: Frames) -> Self {
        Self { frames, waiting: VecDeque::new(), first: 0, datagrams: 0, begun: 0 }
    }

    /// Returns the time to the next frame, in the order of calls.
    pub(super) fn interval(&mut self) -> Duration {
        self.frames.interval()
    }

    /// Processes octets of the stream that carries all frames. They arrived in order.
    pub(super) fn take_octets(&mut self, mut octets: u64) {
        // No frame is skipped, so a shown frame is complete, and octets belong to the first
        // incomplete frame.
        let mut place = self.waiting.iter().take_while(|waiting| waiting.missing == 0).count();
        while octets > 0 {
            self.draw_upto(place);
            let waiting = &mut self.waiting[place];
            let taken = octets.min(waiting.missing);
            waiting.missing -= taken;
            octets -= taken;
            self.begun = self.begun.max(self.first + place as u64 + 1);
            place += 1;
        }
    }

    /// Processes octets of a message that contains one frame.
    pub(super) fn take_message(&mut self, Arrival { number, octets }: Arrival) {
        let Some(place) = number.checked_sub(self.first) else { return };
        self.draw_upto(place as usize);
        self.add(place as usize, octets);
    }

    /// Processes a datagram.
    pub(super) fn take_datagram(&mut self, Arrival { number, octets }: Arrival) {
        while self.datagrams <= number {
            self.draw();
        }
        let Some(place) = self.waiting.partition_point(|waiting| waiting.first_datagram <= number).checked_sub(1)
        else {
            return;
        };
        self.add(place, video_in(u32::try_from(octets).unwrap_or(u32::MAX)));
    }

    fn add(&mut self, place: usize, octets: u64) {
        let waiting = &mut self.waiting[place];
        waiting.missing = waiting.missing.saturating_sub(octets);
        self.begun = self.begun.max(self.first + place as u64 + 1);
    }

    fn draw_upto(&mut self, place: usize) {
        while self.waiting.len() <= place {
            self.draw();
        }
    }

    fn draw(&mut self) {
        let frame = self.frames.draw();
        self.waiting.push_back(Waiting { frame, missing: frame.size, first_datagram: self.datagrams });
        self.datagrams += frame.datagrams();
    }

    /// Returns `true` if the next frame is complete.
    pub(super) fn is_complete(&self) -> bool {
        self.waiting.front().is_some_and(|waiting| waiting.missing == 0)
    }

    /// Returns `true` if any part of a later frame has arrived.
    pub(super) const fn is_passed_over(&self) -> bool {
        self.begun > self.first + 1
    }

    /// Returns the number of frames that may be shown without a stall.
    pub(super) fn ready(&self, is_lossy: bool) -> u64 {
        let complete = self.waiting.iter().take_while(|waiting| waiting.missing == 0).count() as u64;
        if is_lossy { complete.max((self.begun - self.first.min(self.begun)).saturating_sub(1)) } else { complete }
    }

    /// Removes the next frame in order to show it. The frame must be complete or skipped.
    pub(super) fn show(&mut self) -> Shown {
        self.draw_upto(0);
        let shown = self.waiting.pop_front();
        self.first += 1;
        shown.map_or(Shown { is_key: false, is_complete: false }, |waiting| Shown {
            is_key: waiting.frame.is_key,
            is_complete: waiting.missing == 0,
        })
    }
}
