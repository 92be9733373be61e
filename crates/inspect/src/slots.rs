//! The connections that are followed, by their directions. Above the limit, the connections that
//! were silent longest are evicted. A connection that ends is described with the tick of the clock
//! that is known then.

use crate::clock::Clock;
use crate::connection::{Connection, Protocol};
use crate::finished::Finished;
use crate::report;
use acklab_base::{Datagram, FlowKey};
use acklab_wire::IpPacket;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The number of windows of packets per direction, with few and with many connections.
const WINDOWS: (usize, usize) = (8, 2);
/// The maximum number of connections for which the larger number of windows is used.
const FEW: usize = 256;

/// The sockets of a connection, and the key of the direction in which each of them sends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) sockets: [SocketAddr; 2],
    pub(crate) keys: [FlowKey; 2],
}

impl Ends {
    /// Returns the ends of a packet, its sender first. Returns `None` if it has no ports.
    pub(crate) fn of(packet: &IpPacket) -> Option<Self> {
        Some(Self { sockets: packet.sockets()?, keys: [packet.flow(), packet.reverse_flow()?] })
    }

    /// Returns the same ends in the opposite order.
    pub(crate) fn reversed(mut self) -> Self {
        self.sockets.reverse();
        self.keys.reverse();
        self
    }
}

/// The slot of a connection, which changes when other connections end, and the end that has sent a
/// packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) slot: u32,
    pub(crate) from: u8,
}

/// A connection with its directions.
#[derive(Clone, Debug)]
struct Slot {
    connection: Connection,
    /// A unique number.
    serial: u64,
    /// The directions, each with the end that sends in this direction. For QUIC, there may be
    /// several pairs of directions, or none.
    keys: Vec<(FlowKey, u8)>,
}

/// The connections that are followed.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    /// The maximum number of connections that are followed.
    maximum: usize,
    slots: Vec<Slot>,
    by_key: BTreeMap<FlowKey, Place>,
    by_serial: BTreeMap<u64, u32>,
    serials: u64,
    /// The connections found last, because packets arrive in trains.
    recent: [Option<(FlowKey, Place)>; 2],
    finished: Finished,
}

impl Slots {
    /// Creates slots for up to `maximum` connections, of which up to `most_reported` are described.
    pub(crate) const fn new(maximum: usize, most_reported: usize) -> Self {
        Self {
            maximum,
            slots: Vec::new(),
            by_key: BTreeMap::new(),
            by_serial: BTreeMap::new(),
            serials: 0,
            recent: [None; 2],
            finished: Finished::new(most_reported),
        }
    }

    /// Returns the connection in a slot.
    #[inline]
    pub(crate) fn connection(&mut self, slot: u32) -> &mut Connection {
        &mut self.slots[slot as usize].connection
    }

    /// Returns the unique number of the connection in a slot.
    pub(crate) fn serial(&self, slot: u32) -> u64 {
        self.slots[slot as usize].serial
    }

    /// Returns the slot of the connection with this number. Returns `None` if it has ended.
    pub(crate) fn slot_of(&self, serial: u64) -> Option<u32> {
        self.by_serial.get(&serial).copied()
    }

    /// Returns the connection with packets in this direction, and the end that sends them.
    #[inline]
    pub(crate) fn look_up(&mut self, key: FlowKey) -> Option<Place> {
        if let Some((_, found)) = self.recent.iter().flatten().find(|(recent, _)| *recent == key) {
            return Some(*found);
        }
        let found = *self.by_key.get(&key)?;
        self.recent = [Some((key, found)), self.recent[0]];
        Some(found)
    }

    /// Follows a new connection. Its first end is the first of `ends`.
    #[cold]
    pub(crate) fn begin<P>(&mut self, at: u64, ends: &Ends, protocol: Protocol, clock: &Clock<P>) -> u32 {
        if self.slots.len() >= self.maximum {
            self.make_room(clock);
        }
        let windows = if self.slots.len() < FEW { WINDOWS.0 } else { WINDOWS.1 };
        let slot = self.slots.len() as u32;
        let connection = Connection::new(ends.sockets, protocol, at, windows);
        self.slots.push(Slot { connection, serial: self.serials, keys: Vec::with_capacity(2) });
        self.by_serial.insert(self.serials, slot);
        self.serials += 1;
        self.follow(slot, ends.keys, 0);
        slot
    }

    /// Assigns a pair of directions to the connection in `slot`. Its end `from` sends in the first
    /// direction. The directions no longer belong to another connection.
    pub(crate) fn follow(&mut self, slot: u32, keys: [FlowKey; 2], from: u8) {
        for (key, from) in [(keys[1], 1 - from), (keys[0], from)] {
            if let Some(before) = self.by_key.insert(key, Place { slot, from }) {
                self.slots[before.slot as usize].keys.retain(|(other, _)| *other != key);
            }
            self.slots[slot as usize].keys.push((key, from));
        }
        self.recent = [None; 2];
    }

    /// Ends the connection in `slot`, and begins another one between the same ports. Its first end
    /// is the first of `ends`.
    #[cold]
    pub(crate) fn replace<P>(&mut self, slot: u32, at: u64, ends: &Ends, clock: &Clock<P>) {
        let place = slot as usize;
        let Connection { protocol, .. } = self.slots[place].connection;
        let another = Connection::new(ends.sockets, protocol, at, self.slots[place].connection.windows());
        let ended = std::mem::replace(&mut self.slots[place].connection, another);
        self.follow(slot, ends.keys, 0);
        self.end(&ended, clock);
    }

    /// Ends the quarter of connections that were silent longest.
    #[cold]
    fn make_room<P>(&mut self, clock: &Clock<P>) {
        let mut order: Vec<usize> = (0..self.slots.len()).collect();
        order.sort_by_key(|&slot| (self.slots[slot].connection.last, slot));
        order.truncate((self.slots.len() / 4).max(1));
        order.sort_unstable();
        for slot in order.into_iter().rev() {
            let ended = self.slots.swap_remove(slot);
            self.by_serial.remove(&ended.serial);
            for (key, _) in &ended.keys {
                self.by_key.remove(key);
            }
            if let Some(moved) = self.slots.get(slot) {
                self.by_serial.insert(moved.serial, slot as u32);
                for (key, from) in &moved.keys {
                    self.by_key.insert(*key, Place { slot: slot as u32, from: *from });
                }
            }
            self.end(&ended.connection, clock);
        }
        self.recent = [None; 2];
    }

    fn end<P>(&mut self, connection: &Connection, clock: &Clock<P>) {
        let names = connection.ends.map(|end| end.to_string());
        self.finished.push(report::Connection::of(connection, names, clock.tick()));
    }

    /// Returns the number of connections, and the largest of them.
    pub(crate) fn finish<P>(mut self, clock: &Clock<P>) -> (u64, Vec<report::Connection>) {
        for slot in std::mem::take(&mut self.slots) {
            self.end(&slot.connection, clock);
        }
        self.finished.largest()
    }
}
