//! A cell as a state machine: one access point, its stations, and the shared medium.
//!
//! The cell contains the state of all stations. It computes the winner of the next contention and
//! the instant at which this winner transmits. A frame exchange costs three wake-ups: at its start,
//! at the end of its PPDU and at the end of the response frame.
//!
//! | module | holds the verbs |
//! |---|---|
//! | `setup` | a cell, its queues and EDCAFs are created |
//! | `distribution` | a packet enters the cell and is routed to the queue that leads to its exit |
//! | `thin` | a packet passes the thinner of its node, which may hold it |
//! | `queue` | a packet is enqueued, a queue is scheduled |
//! | `request_access` | an idle EDCAF gets a frame to send and requests the medium |
//! | `contend` | an EDCAF draws a backoff, wins, collides internally |
//! | `transmit` | an EDCAF that has won begins a frame exchange |
//! | `assemble` | a PPDU with data is assembled from the waiting packets |
//! | `dequeue` | packets leave the queues: into a frame, dropped by the discipline, or expired |
//! | `receive` | a PPDU ends, is received or lost, and elicits a response frame or none |
//! | `arrivals` | a packet has passed a hop and leaves the cell or is relayed |
//! | `settle` | the response frame ends: MPDUs are acknowledged |
//! | `fail` | no response frame arrives: retries, and frames that are given up |
//! | `hack` | TCP ACKs are held for a response frame, are appended to it, and arrive with it |
//! | `beacon` | the access point sends beacons |
//! | `presence` | nodes leave and return |
//! | `observe` | measurements and logs |
//! | `capacity` | the capacity of the cell |
//!
//! | module | holds the state |
//! |---|---|
//! | `rules` | the configuration, resolved to the values that the machine uses |
//! | `dialect` | the rules on which implementations differ |
//! | `backlog` | queues and EDCAFs of all nodes |
//! | `exchange` | a frame exchange in progress |
//! | `contenders` | how many EDCAFs wait for the medium |
//! | `medium` | the PPDUs on the air, and which nodes sense and receive them |
//! | `overlaps` | which PPDUs on the air overlap |
//! | `timers` | deadlines besides those of the medium |
//! | `measurement` | counters and logs, which do not influence the cell |

mod arrivals;
mod assemble;
mod backlog;
mod beacon;
mod by_id;
mod capacity;
mod contend;
mod contenders;
mod dequeue;
mod dialect;
mod distribution;
mod error;
mod exchange;
mod fail;
mod hack;
mod measurement;
mod medium;
mod observe;
mod overlaps;
mod presence;
mod queue;
mod receive;
mod request_access;
mod rules;
mod settle;
mod setup;
mod thin;
mod timers;
mod transmit;

pub use capacity::Cycle;
pub use error::Error;
pub use observe::QueueView;

use crate::config::CellConfig;
use crate::packet::Packet;
use crate::phy;
use acklab_base::random::Seed;
use acklab_base::{Bytes, Instant, Machine};
use arrivals::Arrivals;
use backlog::{Backlog, Status, Txq};
use by_id::TxqId;
use contenders::Contenders;
use distribution::Distribution;
use measurement::Measurement;
use medium::Medium;
use rules::Rules;
use thin::Thinners;
use timers::Timers;

/// The access point's node.
pub const ACCESS_POINT: usize = 0;

/// An access point and its stations.
#[derive(Clone, Debug)]
pub struct Cell<D> {
    config: CellConfig,
    seed: Seed,
    rules: Rules,
    backlog: Backlog<D>,
    contenders: Contenders,
    medium: Medium,
    distribution: Distribution,
    thinners: Thinners<D>,
    arrivals: Arrivals<D>,
    timers: Timers,
    measurement: Measurement<D>,
}

impl<D: Packet> Cell<D> {
    /// Recomputes the deadline.
    fn update_deadline(&mut self) {
        self.timers.update_deadline(self.medium.due());
    }

    /// Returns `true` if a delivered packet waits to be polled.
    #[must_use]
    pub fn has_delivered(&self) -> bool {
        self.arrivals.has_delivered()
    }

    /// Returns the fastest rate at which `node` sends data, in bits per second.
    #[must_use]
    pub fn nominal_rate(&self, node: usize) -> Option<u64> {
        let fastest = self.capabilities().modes().last().copied();
        let of_node = self.backlog.txqs.iter().filter(|txq| txq.from == node);
        of_node.filter_map(|txq| txq.rate.only_mode().or(fastest)).map(phy::Mode::data_rate).max()
    }
}

impl<D: Packet> Machine for Cell<D> {
    /// A packet, with the node at which it enters or leaves the cell.
    type Datagram = (usize, D);
    type Outcome = ();

    fn accept(&mut self, now: Instant, (node, packet): (usize, D)) {
        if self.thinners.has(node) {
            return self.thin(now, node, Some(packet));
        }
        self.route(now, node, packet);
    }

    fn wake(&mut self, now: Instant) {
        while let Some(index) = self.medium.exchanges.iter().position(|exchange| exchange.ends <= now) {
            self.advance_exchange(now, index);
        }
        while let Some(index) = self.medium.exchanges.iter().position(|exchange| exchange.arrived.next <= now) {
            self.mpdu_ends(now, index);
        }
        self.medium.contention.reset_navs(now);
        self.update_presence(now);
        self.release_overdue(now);
        self.release_thinned(now);
        self.send_due_beacon(now);
        // An EDCAF that has nothing to send may cause the recipient to release frames. An idle
        // access point forwards them immediately.
        while self.medium.contention.due().is_some_and(|due| due <= now) {
            self.contend(now);
        }
        self.update_deadline();
    }

    fn deadline(&self) -> Option<Instant> {
        self.timers.next()
    }

    fn poll(&mut self, _now: Instant) -> Option<(usize, D)> {
        self.arrivals.take()
    }
}

/// Returns a sequence number as the frame carries it: 12 bits (9.2.4.4.2).
const fn on_the_air(sequence: u64) -> u16 {
    (sequence % 4096) as u16
}

/// Returns the duration of a PPDU, signal extension included.
fn airtime(rules: &Rules, mode: phy::Mode, octets: Bytes) -> acklab_base::Duration {
    rules.timing.duration(mode, octets)
}
