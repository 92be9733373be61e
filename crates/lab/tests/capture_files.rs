//! Properties of the readers of captures and logs, with the seeds of the fuzz target and with
//! damaged files.

use crate::properties::capture_file::any_file_is_reported_or_refused;
use crate::seeds;
use proptest::prelude::*;
use proptest::sample::{Index, select};

#[test]
fn any_file_is_reported_or_refused_on_the_seeds_of_the_fuzz_target() {
    seeds::replay("capture_file", any_file_is_reported_or_refused);
}

/// Returns a capture of two packets, each with this IPv4 header.
fn pcap(header: [u8; 20]) -> Vec<u8> {
    let file = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 101, 0, 0, 0];
    let record = [&[1, 0, 0, 0, 2, 0, 0, 0, 20, 0, 0, 0, 20, 0, 0, 0][..], &header].concat();
    [&file[..], &record, &record].concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_damaged_capture_is_reported_or_refused(
        header in any::<[u8; 20]>(),
        damages in prop::collection::vec((any::<Index>(), select(vec![0, 1, 0x7f, 0x80, 0xff])), 0..4),
        length in any::<Index>(),
    ) {
        let mut octets = pcap(header);
        for (place, octet) in damages {
            let place = place.index(octets.len());
            octets[place] = octet;
        }
        octets.truncate(length.index(octets.len() + 1));
        any_file_is_reported_or_refused(&octets);
    }
}
