//! Clients that have not shown the token yet: how many there may be, and for how long.

use super::{BUSY, LATE};
use crate::connection::Connection;
use crate::hub::host_of;
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Such clients in all: chosen, so that what they can take stays below some 20 MB. The one that has
/// waited longest makes room for another, so that a flood keeps no one out for good.
const MAX_WAITING: usize = 64;
/// Such clients of one address (one /64 of IPv6): chosen, an eighth.
const MAX_OF_HOST: usize = 8;

#[derive(Debug, Default)]
struct Waiting {
    /// Waiting clients, in the order of their arrival.
    clients: VecDeque<(u64, IpAddr, Connection)>,
    count: u64,
}

/// The place where clients wait until they have shown the token.
#[derive(Clone, Debug, Default)]
pub(super) struct Gate(Arc<Mutex<Waiting>>);

/// The place of one of them.
#[derive(Debug)]
pub(super) struct Place {
    gate: Gate,
    number: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        // The connection is dropped after the lock, for its end takes that of its endpoint.
        let _gone = self.gate.lock().remove(self.number);
    }
}

impl Waiting {
    fn remove(&mut self, number: u64) -> Option<Connection> {
        let place = self.clients.iter().position(|(found, ..)| *found == number)?;
        self.clients.remove(place).map(|(.., connection)| connection)
    }
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Assigns a place to a client that comes from `peer`. Returns `None` and closes its connection
    /// if too many of its host wait.
    pub(super) fn enter(&self, connection: &Connection, peer: SocketAddr) -> Option<Place> {
        let host = host_of(peer);
        let (place, oldest) = {
            let mut waiting = self.lock();
            let here = waiting.clients.iter().filter(|(_, of, _)| *of == host).count();
            if here >= MAX_OF_HOST {
                (None, None)
            } else {
                let is_full = waiting.clients.len() >= MAX_WAITING;
                let oldest = if is_full { waiting.clients.pop_front() } else { None };
                waiting.count += 1;
                let number = waiting.count;
                waiting.clients.push_back((number, host, connection.clone()));
                (Some(Place { gate: self.clone(), number }), oldest)
            }
        };
        if let Some((.., oldest)) = oldest {
            oldest.close(LATE);
        }
        if place.is_none() {
            connection.close(BUSY);
        }
        place
    }
}
