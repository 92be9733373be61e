//! Queues datagrams of unknown senders until the datagrams of connections are served.
//!
//! Reading a first datagram costs a hundred times as much as sending it, because keys are derived
//! and the datagram is decrypted. The work for unknown senders is therefore bounded. The driver
//! reads all datagrams from the socket, and serves [`TURN`] unknown senders between two reads. A
//! flood fills this queue, and excess datagrams are dropped after a check of their header. The
//! flood does not fill the socket's buffer, where it would displace datagrams of connections.

use acklab_base::Ecn;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// The number of unknown senders that are served between two reads of the socket.
pub(crate) const TURN: usize = 4;
/// The maximum number of queued datagrams. It equals the default limit of unvalidated clients. At
/// 50 µs each, the last datagram is served after some milliseconds. Clients repeat their first
/// datagram later than that.
const MOST: usize = 64;
/// The number of bytes that are stored of a datagram. A datagram that opens a connection has the
/// base size (RFC 9000, §14). For all other datagrams, only the header and the length are needed.
const LONGEST: usize = 2048;

/// A datagram.
#[derive(Debug)]
pub(super) struct Stranger {
    pub(super) from: SocketAddr,
    pub(super) ecn: Ecn,
    pub(super) datagram: Vec<u8>,
}

/// Queued datagrams.
#[derive(Debug, Default)]
pub(super) struct Strangers {
    waiting: VecDeque<Stranger>,
    /// Memory of served datagrams, for reuse.
    spare: Vec<Vec<u8>>,
}

impl Strangers {
    /// Appends a datagram. Returns `false` and drops the datagram if the queue is full.
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

    /// Reuses the memory of a served datagram.
    pub(super) fn give_back(&mut self, datagram: Vec<u8>) {
        self.spare.push(datagram);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
