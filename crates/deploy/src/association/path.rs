//! The peer's address, and its changes.
//!
//! The address of a client may change if its NAT drops the mapping, or if the client changes its
//! network (RFC 9000, §9). The server uses the address of the newest authentic packet and validates
//! it. Until then, the server sends at most three times the bytes received from the new address. If
//! validation fails, the server returns to the previous address.

use super::Association;
use crate::association::{controller, random};
use acklab_base::{Duration, Instant};
use acklab_wire::tack::version::AMPLIFICATION;
use std::net::SocketAddr;

/// The number of probe timeouts within which an address must be validated (RFC 9000, §8.2.4).
const PATIENCE: u64 = 3;
/// The minimum time for validation: three probe timeouts of an unknown path (RFC 9000, §8.2.4).
const MIN_PATIENCE: Duration = Duration::from_secs(3);

/// The peer's address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    address: SocketAddr,
    /// The number of bytes that may still be sent before the address is validated, and the deadline
    /// of the validation. `None` if the address is validated.
    trial: Option<Trial>,
    /// The last address that was validated.
    proven: SocketAddr,
}

#[derive(Clone, Copy, Debug)]
struct Trial {
    credit: u64,
    until: Instant,
}

impl Path {
    pub(super) const fn validated(address: SocketAddr) -> Self {
        Self { address, trial: None, proven: address }
    }

    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) const fn is_proven(&self) -> bool {
        self.trial.is_none()
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.trial.map(|trial| trial.until)
    }

    pub(super) fn on_arrival(&mut self, from: SocketAddr, octets: usize) {
        if let Some(trial) = &mut self.trial
            && from == self.address
        {
            trial.credit += AMPLIFICATION * octets as u64;
        }
    }

    /// Returns `true` if `octets` bytes may be sent, and subtracts them from the credit.
    pub(super) fn lets(&mut self, octets: usize) -> bool {
        match &mut self.trial {
            Some(trial) if trial.credit < octets as u64 => false,
            Some(trial) => {
                trial.credit -= octets as u64;
                true
            }
            None => true,
        }
    }
}

impl Association {
    /// Changes to the address of the newest authentic packet.
    pub(super) fn follow(&mut self, now: Instant, address: SocketAddr, octets: usize) {
        let Ok(value) = random() else { return };
        let patience = MIN_PATIENCE.max(self.probe_timeout() * PATIENCE);
        // An address that was validated before needs no new validation.
        self.path.trial = (address != self.path.proven)
            .then(|| Trial { credit: AMPLIFICATION * octets as u64, until: now + patience });
        self.path.address = address;
        self.counters.migrations += 1;
        if self.path.trial.is_some() {
            self.machine.challenge(value);
        }
    }

    /// Checks whether the peer has shown that it receives packets at its address.
    pub(super) fn check_path(&mut self, now: Instant) {
        if self.machine.take_validation() {
            self.path.trial = None;
            let before = std::mem::replace(&mut self.path.proven, self.path.address);
            // If only the port has changed, a NAT has dropped its mapping. The path is the same
            // (RFC 9000, §9.4).
            if before.ip() != self.path.address.ip()
                && let Some(controller) = controller(&self.settings, self.seed)
            {
                self.machine.on_path_change(now, controller);
            }
        }
    }

    pub(super) fn wake_path(&mut self, now: Instant) {
        if self.path.trial.is_some_and(|trial| trial.until <= now) {
            self.path = Path::validated(self.path.proven);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_on_trial_gets_three_times_what_came_from_it() {
        let [here, there] = [4001, 4002].map(|port| SocketAddr::from(([192, 0, 2, 1], port)));
        let mut path = Path::validated(here);
        assert!(path.lets(1 << 30));
        (path.address, path.trial) = (there, Some(Trial { credit: 100, until: Instant::ZERO }));
        path.on_arrival(here, 1000);
        assert_eq!([path.lets(101), path.lets(60), path.lets(60)], [false, true, false]);
        path.on_arrival(there, 10);
        assert!(path.lets(70));
    }
}
