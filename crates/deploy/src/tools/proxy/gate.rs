//! Limits the clients that have not shown the token yet: their number and their time.

use super::{BUSY, LATE};
use crate::connection::Connection;
use crate::hub::host_of;
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of clients that have not shown the token. Chosen so that they use at most
/// about 20 MB. A new client replaces the client that has waited longest, so a flood never locks
/// anyone out permanently.
const MAX_WAITING: usize = 64;
/// The maximum number of clients of one address (for IPv6, of one /64) that have not shown the
/// token. Chosen: an eighth of the total.
const MAX_OF_HOST: usize = 8;

#[derive(Debug, Default)]
struct Waiting {
    /// Waiting clients, in the order of their arrival.
    clients: VecDeque<(u64, IpAddr, Connection)>,
    count: u64,
}

/// The list of clients that have not shown the token.
#[derive(Clone, Debug, Default)]
pub(super) struct Gate(Arc<Mutex<Waiting>>);

/// The entry of one client.
#[derive(Debug)]
pub(super) struct Place {
    gate: Gate,
    number: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        // The connection is dropped after the lock is released, because closing a connection
        // acquires the endpoint's lock.
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

    /// Adds an entry for a client at `peer`. If too many clients of its host are waiting, closes
    /// the connection and returns `None`.
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
