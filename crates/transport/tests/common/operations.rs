//! Operations on two connections with streams and on the packets between them, derived from bytes.
//! The bytes come from a fuzzer or from a seeded stream.

use crate::hostile::{End, Network, PATIENCE, Path};
use crate::octets::Octets;
use acklab_base::Duration;
use acklab_base::random::Seed;

const MS: Duration = Duration::from_millis(1);

/// An end whose packets can be forged.
pub(crate) trait Forgeable: End {
    /// Changes `packet`, which an end of this type has sent, into a packet that it might not have
    /// sent.
    fn forge(packet: &mut Self::Datagram, octets: &mut Octets<'_>);
}

/// Creates a network from the bytes. `ends` creates its two ends from a seed and from the size of
/// the reader's reads, or `None` if it reads immediately.
pub(crate) fn network<E: End>(octets: &mut Octets<'_>, ends: impl FnOnce(Option<u64>, Seed) -> [E; 2]) -> Network<E> {
    let reads = octets.once_in(2).then(|| octets.below(1 << 13));
    let path = |octets: &mut Octets<'_>| Path {
        delay: Duration::from_micros(10 + octets.below(1 << 16)),
        clears_ecn: octets.once_in(8),
        ..Path::CLEAN
    };
    let paths = [path(octets), path(octets)];
    let (as_octets, seed) = (octets.once_in(2), Seed(octets.octet().into()));
    Network::of(ends(reads, seed), paths, reads, as_octets, seed)
}

/// Runs operations derived from the bytes. Applications write, read and reset. Packets are lost,
/// duplicated, delayed, marked and forged, and time passes. The invariants of [`Network::run`] are
/// true at every instant. Afterwards the network has no impairments, and all written data are
/// delivered, unless a packet was forged. Returns the number of operations and a digest of their
/// result.
///
/// # Panics
/// If an invariant fails.
pub(crate) fn connections_keep_their_promises<E: Forgeable>(
    mut network: Network<E>,
    octets: &mut Octets<'_>,
) -> (u64, u64) {
    let is_hostile = octets.once_in(4);
    network.open();
    let mut steps = 0;
    while !octets.is_empty() {
        operate(&mut network, octets, is_hostile);
        steps += 1;
    }
    if network.is_honest() {
        // A reader that had stopped resumes reading.
        network.set_reads(1 << 12);
        let until = network.now + PATIENCE;
        assert!(network.run(until, Network::has_delivered), "it does not end: {}", network.state());
    } else {
        // Each end stops sending eventually, whatever has arrived.
        network.run(network.now + MS * 2000, |_| false);
    }
    (steps, network.digest())
}

fn operate<E: Forgeable>(network: &mut Network<E>, octets: &mut Octets<'_>, is_hostile: bool) {
    match octets.octet() % 16 {
        // The second end writes only to one stream, because the first closes the connection once
        // all of its known streams have ended.
        0 => network.write_more(0, 1 + octets.below(1 << 16)),
        1 => network.write_more(1, 1 + octets.below(1 << 14)),
        2 => network.reset(octets.below(2) as usize, octets.below(4) as usize, octets.octet().into()),
        3 => network.set_reads(octets.below(1 << 13)),
        4 | 5 => network.with_packet(octets.below(1 << 16) as usize, |_| Vec::new()),
        6 => network
            .with_packet(octets.below(1 << 16) as usize, |packet| vec![(Duration::ZERO, packet.clone()), (MS, packet)]),
        7 | 8 => {
            let longer = MS * octets.below(1 << 9);
            network.with_packet(octets.below(1 << 16) as usize, |packet| vec![(longer, packet)]);
        }
        9 => network.mark(octets.below(1 << 16) as usize),
        10 if is_hostile => network.forge(octets.below(1 << 16) as usize, |packet| E::forge(packet, octets)),
        10..13 => _ = network.run(network.now + MS * octets.below(1 << 8), |_| false),
        _ => _ = network.run(network.now + Duration::from_micros(octets.below(1 << 13)), |_| false),
    }
}
