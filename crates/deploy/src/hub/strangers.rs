//! Datagrams of unknown senders: they wait until those of connections are served.
//!
//! The content of a first datagram is known only after keys are derived and it is deciphered, which
//! costs a hundred times what it costs its sender. So the work on strangers is bounded: the driver
//! first takes everything from the socket, and serves [`TURN`] strangers between two looks at it. A
//! flood then fills this queue, where a datagram is dropped at the price of a look at its header.
//! It does not fill the buffer of the kernel, where it would displace datagrams of connections.

use acklab_base::Ecn;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// Strangers that are served between two looks at the socket.
pub(crate) const TURN: usize = 4;
/// The most datagrams that wait, as many as there may be strangers by default: at 50 µs for each,
/// the last waits for some milliseconds, less than a client waits before it repeats its Open.
const MOST: usize = 64;
/// Octets of the longest datagram that is kept. What opens a connection has the base size (RFC
/// 9000, §14), and of all others only the head and the length count.
const LONGEST: usize = 2048;

/// A datagram.
#[derive(Debug)]
pub(super) struct Stranger {
    pub(super) from: SocketAddr,
    pub(super) ecn: Ecn,
    pub(super) datagram: Vec<u8>,
}

/// Datagrams that wait.
#[derive(Debug, Default)]
pub(super) struct Strangers {
    waiting: VecDeque<Stranger>,
    /// Memory of those that were served.
    spare: Vec<Vec<u8>>,
}

impl Strangers {
    /// Returns `false` if too many wait: the datagram is dropped.
    pub(super) fn push(&mut self, from: SocketAddr, ecn: Ecn, octets: &[u8]) -> bool {
        if self.waiting.len() >= MOST {
            return false;
        }
        let mut datagram = self.spare.pop().unwrap_or_default();
        datagram.clear();
        datagram.extend_from_slice(&octets[..octets.len().min(LONGEST)]);
        self.waiting.push_back(Stranger { from, ecn, datagram });
        true
    }

    pub(super) fn pop(&mut self) -> Option<Stranger> {
        self.waiting.pop_front()
    }

    /// Keeps the memory of a datagram that was served.
    pub(super) fn give_back(&mut self, datagram: Vec<u8>) {
        self.spare.push(datagram);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
