//! The source and the destination host of a packet.

use acklab_base::FlowKey;

/// Returns the source and the destination of a packet with a complete IP header: IPv4 addresses, or
/// hashes of IPv6 addresses.
pub(super) fn of(octets: &[u8]) -> [u64; 2] {
    let address = |at: usize, len: usize| {
        let words = octets.get(at..at + len).unwrap_or_default().chunks_exact(4);
        words.map(|word| u64::from(u32::from_be_bytes([word[0], word[1], word[2], word[3]])))
    };
    let hash = |at| FlowKey::of_words(&address(at, 16).collect::<Vec<_>>()).0;
    if octets.first().is_some_and(|first| first >> 4 == 6) {
        return [hash(8), hash(24)];
    }
    [12, 16].map(|at| address(at, 4).next().unwrap_or(0))
}
