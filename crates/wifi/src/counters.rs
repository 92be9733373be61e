//! Counters of a node in the window of measurement.

use acklab_base::Duration;

/// Counters of one node as a transmitter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Data PPDUs sent, retransmissions included.
    pub ppdus: u64,
    /// MPDUs in these data PPDUs.
    pub mpdus: u64,
    /// MPDUs that had been sent before.
    pub retries: u64,
    /// MPDUs sent for the first time.
    pub first_tries: u64,
    /// MPDUs that arrived at the first transmission.
    pub first_successes: u64,
    /// Data PPDUs without a response frame.
    pub unanswered: u64,
    /// RTS frames sent.
    pub rts: u64,
    /// RTS frames without a CTS.
    pub rts_unanswered: u64,
    /// Block ACK requests sent.
    pub requests: u64,
    /// Frames that this node sent as an initiator and that were lost, because another frame
    /// overlapped at their receiver.
    pub collisions: u64,
    /// Internal collisions: backoffs that ended at the same time as the backoff of a higher
    /// category of the node (10.23.2.4).
    pub internal_collisions: u64,
    /// ACKs and Block ACKs sent.
    pub link_acks: u64,
    /// Packets that arrived at the peer.
    pub delivered: u64,
    /// Octets of the delivered packets.
    pub delivered_bytes: u64,
    /// The sum of the delays of the delivered packets, from enqueueing to arrival.
    pub delay: Duration,
    /// Packets in frames given up at a retry limit that the peer did not receive.
    pub given_up: u64,
    /// Packets dropped at the end of their lifetime that the peer did not receive.
    pub expired: u64,
    /// Packets dropped by a queue.
    pub dropped: u64,
    /// Pure ACKs replaced by a newer ACK in the queue.
    pub filtered: u64,
    /// Backoffs drawn.
    pub backoffs: u64,
    /// The sum of the slots of all backoffs drawn.
    pub backoff_slots: u64,
}
