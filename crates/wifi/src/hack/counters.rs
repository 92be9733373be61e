//! What a node has done by TCP/HACK in the window of measurement.

/// Counts of one node, of the ACKs that it has sent and of those that it has received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// ACKs that went on an answer for the first time.
    pub compressed: u64,
    /// Octets of those.
    pub compressed_bytes: u64,
    /// ACKs that went on an answer once more.
    pub repeated: u64,
    /// Answers that carried ACKs.
    pub answers: u64,
    /// Those of them that were longer by no more than AIFS.
    pub answers_within_aifs: u64,
    /// Pure ACKs that were sent in frames of their own, and their octets.
    pub plain: u64,
    /// Octets of those.
    pub plain_bytes: u64,
    /// ACKs that waited for too long and then went plain.
    pub released: u64,
    /// Answers to a last PPDU that ACKs came too late for, which then went plain.
    pub missed: u64,
    /// ACKs that may not have arrived, and that were given up as a plain one says more.
    pub cleared: u64,
    /// Of several flows, ACKs that may have arrived and were sent once more as plain ones.
    pub reissued: u64,
    /// Compressed ACKs that arrived.
    pub decompressed: u64,
    /// Compressed ACKs that had arrived before.
    pub duplicates: u64,
    /// Answers whose ACKs could not be decompressed.
    pub failures: u64,
}
