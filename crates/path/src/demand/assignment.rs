//! The network control centre: requests in flight, and the slots that it assigns.

use super::DemandConfig;
use super::slots::Slots;
use acklab_base::Rate;
use std::collections::VecDeque;
use std::ops::Range;

/// A capacity request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// The rate in bits per second; zero leaves the current rate unchanged.
    pub(super) rate: u64,
    /// The volume in octets, in addition to earlier requests.
    pub(super) volume: u64,
}

/// The requests and assignments of one terminal. No request and no assignment is lost.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub(super) slots: Slots,
    constant: Option<Rate>,
    background: Option<Rate>,
    persistence: u64,
    /// The number of superframes from a request to the first one in which its assignment can be
    /// used.
    latency: u64,
    /// Requests whose assignment cannot be used yet, each with the first superframe in which the
    /// assignment can be used.
    under_way: VecDeque<(u64, Request)>,
    /// The requested rate that is in force, in bits per second.
    rate: u64,
    /// The superframe in which the rate expires.
    rate_ends: u64,
    /// The capacity earned by the rate and not yet assigned: at most a slot, in bits times 10⁹.
    fraction: u128,
    /// The volume requested and not yet assigned, without requests in flight, in octets.
    volume: u64,
}

impl Assignment {
    pub(super) fn new(config: &DemandConfig, slots: Slots) -> Self {
        Self {
            slots,
            constant: config.constant,
            background: config.background,
            persistence: config.persistence.into(),
            latency: config.assignment.as_nanos().div_ceil(config.superframe.as_nanos()),
            under_way: VecDeque::new(),
            rate: 0,
            rate_ends: 0,
            fraction: 0,
            volume: 0,
        }
    }

    /// The number of superframes from a request to the first in which its assignment can be used.
    pub(super) const fn latency(&self) -> u64 {
        self.latency
    }

    /// Sends a request at the beginning of `superframe`.
    pub(super) fn request(&mut self, superframe: u64, request: Request) {
        self.under_way.push_back((superframe + self.latency, request));
    }

    /// Returns the sum of the octets that each requested rate in flight carries in one superframe.
    pub(super) fn rate_under_way(&self) -> u64 {
        self.under_way.iter().map(|(_, request)| self.slots.octets_at(request.rate)).sum()
    }

    /// Returns the number of octets of volume requested and not yet assigned.
    pub(super) fn volume_pending(&self) -> u64 {
        self.volume + self.under_way.iter().map(|(_, request)| request.volume).sum::<u64>()
    }

    /// Returns the slots of constant capacity in `superframes`.
    pub(super) fn constant_slots(&self, superframes: Range<u64>) -> u64 {
        self.slots.at_rate(self.constant, superframes)
    }

    /// Returns `true` if only constant capacity is assigned after `superframe`, unless there are
    /// new requests.
    pub(super) fn is_constant_after(&self, superframe: u64) -> bool {
        self.under_way.is_empty() && self.volume == 0 && self.rate_ends <= superframe + 1
    }

    /// Returns the number of slots that are assigned in `superframe`: constant capacity first, then
    /// the requested rate, then requested volume (EN 301 790, 6.6.1). Must be called for all
    /// superframes in order, except for those in which only constant capacity is assigned.
    pub(super) fn slots_in(&mut self, superframe: u64) -> u64 {
        while let Some((_, request)) = self.under_way.pop_front_if(|(first, _)| *first <= superframe) {
            if request.rate > 0 {
                (self.rate, self.rate_ends) = (request.rate, superframe + self.persistence);
            }
            self.volume += request.volume;
        }
        if self.rate_ends <= superframe {
            self.rate = 0;
        }
        let this = superframe..superframe + 1;
        let constant = self.constant_slots(this.clone());
        let free = self.slots.count.saturating_sub(constant + self.slots.at_rate(self.background, this));
        self.fraction += self.slots.units_at(self.rate);
        let by_rate = free.min((self.fraction / self.slots.units()) as u64);
        // Capacity for which the superframe has no free slot is lost, except for one slot.
        // Otherwise, a terminal that finds the carrier full whenever a slot is due would never get
        // one.
        let rest = self.fraction - u128::from(by_rate) * self.slots.units();
        self.fraction = rest.min(self.slots.units());
        let by_volume = (free - by_rate).min(self.volume.div_ceil(self.slots.octets));
        self.volume = self.volume.saturating_sub(by_volume * self.slots.octets);
        constant + by_rate + by_volume
    }
}
