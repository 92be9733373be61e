//! TCP/HACK counters of a node in the window of measurement.

/// Counters of one node, for the ACKs that it sent and those that it received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// ACKs carried by a response frame for the first time.
    pub compressed: u64,
    /// Octets of the ACKs in `compressed`.
    pub compressed_bytes: u64,
    /// ACKs carried by a response frame once more.
    pub repeated: u64,
    /// Response frames that carried ACKs.
    pub augmented: u64,
    /// Response frames that were extended by at most AIFS.
    pub augmented_within_aifs: u64,
    /// Pure ACKs sent uncompressed in data frames.
    pub plain: u64,
    /// Octets of the ACKs in `plain`.
    pub plain_bytes: u64,
    /// ACKs whose hold limit expired, so that they were sent uncompressed.
    pub released: u64,
    /// Response frames to a PPDU without MORE DATA for which ACKs were too late; these were then
    /// sent uncompressed.
    pub missed: u64,
    /// ACKs dropped because a later uncompressed ACK superseded them. They may not have arrived.
    pub cleared: u64,
    /// ACKs of other flows that were cleared, may not have arrived, and were retransmitted
    /// uncompressed.
    pub reissued: u64,
    /// Compressed ACKs received.
    pub decompressed: u64,
    /// Compressed ACKs received more than once.
    pub duplicates: u64,
    /// Response frames whose ACKs could not be decompressed.
    pub failures: u64,
}
