//! Queues datagrams of unknown senders until those of connections are served.
//!
//! Reading a first datagram costs a hundred times as much as sending it, because keys are derived
//! and the datagram is decrypted. So the work for unknown senders is bounded. The driver first
//! reads everything from the socket, and serves [`TURN`] unknown senders between two reads. A flood
//! fills this queue, where a datagram is dropped after a look at its header. It does not fill the
//! socket's buffer, where it would displace datagrams of connections.

use acklab_base::Ecn;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// The unknown senders served between two reads of the socket.
pub(crate) const TURN: usize = 4;
/// The maximum number of waiting datagrams, which is also the default limit of unvalidated clients.
/// At 50 µs each, the last one waits for some milliseconds, less than a client waits before it
/// repeats its Open.
const MOST: usize = 64;
/// The bytes kept of a datagram. A datagram that opens a connection has the base size (RFC 9000,
/// §14). Of all others, only the header and the length matter.
const LONGEST: usize = 2048;

/// A datagram.
#[derive(Debug)]
pub(super) struct Stranger {
    pub(super) from: SocketAddr,
    pub(super) ecn: Ecn,
    pub(super) datagram: Vec<u8>,
}

/// Waiting datagrams.
#[derive(Debug, Default)]
pub(super) struct Strangers {
    waiting: VecDeque<Stranger>,
    /// Memory of served datagrams, for reuse.
    spare: Vec<Vec<u8>>,
}

impl Strangers {
    /// Appends a datagram. Returns `false` and drops it if too many wait.
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
