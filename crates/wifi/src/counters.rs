//! What a node has done in the window of measurement.

use acklab_base::Duration;

/// Counts of one node as a transmitter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Data PPDUs sent, repetitions included.
    pub ppdus: u64,
    /// MPDUs in them.
    pub mpdus: u64,
    /// MPDUs that had been sent before.
    pub retries: u64,
    /// MPDUs that were sent for the first time, and those of them that arrived.
    pub first_tries: u64,
    /// Of those, the ones that arrived.
    pub first_successes: u64,
    /// Data PPDUs that no answer came for.
    pub unanswered: u64,
    /// RTS frames sent.
    pub rts: u64,
    /// RTS frames that no answer came for.
    pub rts_unanswered: u64,
    /// Block ACK requests sent.
    pub requests: u64,
    /// Transmissions of its own that overlapped with another where they were to be received.
    pub collisions: u64,
    /// Backoffs that ended together with another's of the same node, which came first (10.23.2.4).
    pub internal_collisions: u64,
    /// ACKs and Block ACKs sent.
    pub link_acks: u64,
    /// Packets that arrived at the peer.
    pub delivered: u64,
    /// Octets of those.
    pub delivered_bytes: u64,
    /// Sum of their times from joining the queue to arriving.
    pub delay: Duration,
    /// Packets that were given up, as their frame failed too often, and that the peer does not have.
    pub given_up: u64,
    /// Packets that were too old to be sent, and that the peer does not have.
    pub expired: u64,
    /// Packets that found the queue full.
    pub dropped: u64,
    /// Pure ACKs that a newer one has overwritten in the queue.
    pub filtered: u64,
    /// Backoffs drawn, and the slots in all.
    pub backoffs: u64,
    /// Slots of the backoffs drawn.
    pub backoff_slots: u64,
}
