//! The devices to which a world delivers packets, and the lateness of each delivery.

use crate::{Lateness, Tun, WallClock};
use acklab_base::{Duration, Instant};

/// Devices, with the clock that measures the lateness of each delivery.
#[derive(Debug)]
pub struct Outlet<D = Tun> {
    devices: Vec<D>,
    clock: WallClock,
    lateness: Lateness,
    refused: u64,
    burst: Option<Burst>,
    longest_handover: Duration,
}

/// Packets that are due at one place at the same time, such as those of an aggregate.
#[derive(Clone, Copy, Debug)]
struct Burst {
    place: usize,
    due: Instant,
    /// When the first of them was delivered.
    began: Instant,
}

impl Outlet {
    /// Delivers a packet that was due at `due`.
    ///
    /// For packets that are due at one device at the same time, the lateness of each is the
    /// lateness of the first. The host accepts the packets one after another. The time that this
    /// takes is reported separately ([`longest_handover`](Self::longest_handover)).
    #[inline]
    pub fn deliver(&mut self, device: usize, due: Instant, packet: &[u8]) {
        self.note(device, due);
        if self.devices[device].write(packet).is_err() {
            self.refused += 1;
        }
    }
}

impl<D> Outlet<D> {
    /// Creates an outlet to these devices.
    #[must_use]
    pub fn new(devices: Vec<D>, clock: WallClock) -> Self {
        let lateness = Lateness::default();
        Self { devices, clock, lateness, refused: 0, burst: None, longest_handover: Duration::ZERO }
    }

    /// Returns the devices.
    #[must_use]
    pub fn devices(&self) -> &[D] {
        &self.devices
    }

    /// Returns the devices.
    pub fn devices_mut(&mut self) -> &mut [D] {
        &mut self.devices
    }

    /// Records that a packet that was due at `due` is delivered now at `place`. `place` is the
    /// number of a device, or of a host without a device. Such hosts are numbered after the
    /// devices.
    pub fn note(&mut self, place: usize, due: Instant) {
        let now = self.clock.now();
        let is_next = self.burst.is_some_and(|burst| burst.place == place && burst.due == due);
        let burst = self.burst.filter(|_| is_next).unwrap_or(Burst { place, due, began: now });
        self.burst = Some(burst);
        self.lateness.add(due, burst.began);
        self.longest_handover = self.longest_handover.max(now.since(burst.began));
    }

    /// Returns the lateness of all deliveries since the last call of [`reset`](Self::reset).
    #[must_use]
    pub const fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// Returns the longest burst: the time from its first to its last packet, all due at one device
    /// at the same time.
    #[must_use]
    pub const fn longest_handover(&self) -> Duration {
        self.longest_handover
    }

    /// Returns the number of packets that a device did not accept.
    #[must_use]
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// Begins the measurement anew.
    pub fn reset(&mut self) {
        (self.lateness, self.refused) = (Lateness::default(), 0);
        self.longest_handover = Duration::ZERO;
    }
}
