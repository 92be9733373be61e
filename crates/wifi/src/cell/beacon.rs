//! Transmission of beacons by the access point (11.1.2).
//!
//! A beacon is sent at the lowest basic rate once the medium has been idle for PIFS after the
//! scheduled time of the beacon. It elicits no response.

use super::exchange::{Arrived, Data, Exchange, FrameKind, Phase, Response};
use super::{ACCESS_POINT, Cell, TxqId};
use crate::access::EdcafId;
use crate::packet::Packet;
use acklab_base::{Bytes, Duration, Instant};

/// The times of beacons.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beacons {
    interval: Duration,
    due: Instant,
}

/// The size of a beacon with the elements that every access point sends, in octets: header 24,
/// timestamp, interval and capabilities 12, SSID of 8 octets 10, rates 10, DS parameters 3, TIM 6,
/// country 8, ERP 3, and FCS 4 (9.3.3.2).
const OCTETS: Bytes = Bytes(80);

impl Beacons {
    pub(super) fn new(interval: Duration) -> Self {
        Self { interval, due: Instant::ZERO + interval }
    }

    pub(super) const fn due(&self) -> Instant {
        self.due
    }
}

impl<D: Packet> Cell<D> {
    /// Sends a beacon that is due if the medium has been idle for PIFS. Otherwise tries again when
    /// PIFS is over.
    pub(super) fn send_due_beacon(&mut self, now: Instant) {
        let Some(beacons) = &mut self.timers.beacons else { return };
        if beacons.due > now {
            return;
        }
        let view = self.medium.view_of(ACCESS_POINT);
        // PIFS: SIFS and one slot (10.3.2.3.4).
        let free = self.medium.contention.idle_from(view).map(|from| from + self.rules.timing.aifs(1));
        match free {
            Some(free) if free <= now => {}
            Some(free) => {
                beacons.due = free;
                return;
            }
            None => {
                let ends = self.medium.exchanges.iter().map(|exchange| exchange.ends).max().unwrap_or(now);
                beacons.due = ends.max(now) + self.rules.timing.aifs(1);
                return;
            }
        }
        beacons.due = (now + Duration::from_nanos(1)).next_multiple_of(beacons.interval);
        let mode = self.rules.control.lowest();
        let ends = now + super::airtime(&self.rules, mode, OCTETS);
        let data = Data::none(mode, OCTETS, Response::None);
        let exchange = Exchange {
            edcaf: EdcafId(u32::MAX),
            txq: TxqId(u32::MAX),
            kind: FrameKind::Beacon,
            phase: Phase::Frame,
            begins: now,
            ends,
            sender: ACCESS_POINT,
            receiver: None,
            mode,
            octets: OCTETS,
            response: Response::None,
            data,
            number: 0,
            has_collided: false,
            is_undetected: false,
            is_outlasted: false,
            txop_ends: None,
            arrived: Arrived::default(),
        };
        // A beacon that is sent on time has not waited for the medium.
        let space = self.rules.timing.aifs(1);
        let is_delayed = self.contenders.is_any() || self.measurement.airtime.booked() + space >= now;
        let since = if is_delayed { self.contenders.since() } else { now };
        self.measurement.book_gap(now, ACCESS_POINT, space, since);
        let exchange = self.go_on_air(exchange);
        self.medium.exchanges.push(exchange);
    }
}
