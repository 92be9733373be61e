//! The devices to which a world delivers packets.

use crate::{Lateness, Tun, WallClock};
use acklab_base::Instant;

/// TUN devices, with the clock that says how late each packet is delivered.
#[derive(Debug)]
pub struct Outlet {
    tuns: Vec<Tun>,
    clock: WallClock,
    lateness: Lateness,
    refused: u64,
}

impl Outlet {
    /// An outlet to these devices.
    #[must_use]
    pub fn new(tuns: Vec<Tun>, clock: WallClock) -> Self {
        Self { tuns, clock, lateness: Lateness::default(), refused: 0 }
    }

    /// The devices.
    #[must_use]
    pub fn tuns(&self) -> &[Tun] {
        &self.tuns
    }

    /// Delivers a packet that was due at `due`.
    #[inline]
    pub fn deliver(&mut self, device: usize, due: Instant, packet: &[u8]) {
        self.lateness.add(due, self.clock.now());
        if self.tuns[device].write(packet).is_err() {
            self.refused += 1;
        }
    }

    /// The lateness of all deliveries since the last call of [`reset`](Self::reset).
    #[must_use]
    pub const fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// The packets that a device did not take.
    #[must_use]
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// Begins the measurement anew.
    pub fn reset(&mut self) {
        (self.lateness, self.refused) = (Lateness::default(), 0);
    }
}
