//! Properties of the decapsulation of frames of any link type. The tests of this crate and the fuzz
//! target `decapsulate` share them.

use acklab_base::Instant;
use acklab_inspect::table::Options as Bounds;
use acklab_inspect::{Inspector, LinkType, Report};

/// Link types that are opened, and some that are not.
pub(crate) const LINK_TYPES: [u16; 51] = [
    0, 1, 6, 7, 8, 9, 10, 11, 12, 14, 50, 51, 100, 101, 104, 105, 107, 108, 109, 113, 117, 119, 122, 123, 127, 129,
    163, 166, 178, 179, 180, 181, 192, 204, 205, 206, 220, 226, 228, 229, 239, 240, 242, 258, 259, 274, 276, 281, 282,
    284, 285,
];

/// Splits `octets` into frames of various link types. Checks that the report counts each one: in a
/// connection, as another protocol, or as malformed.
///
/// # Panics
/// If it does not hold.
pub(crate) fn any_frame_is_in_the_report(octets: &[u8]) {
    let mut together = Inspector::new(Bounds::default());
    let mut rest = octets;
    let mut at = 0;
    while let [kind, length, missing, further @ ..] = rest {
        let link_type = LinkType(LINK_TYPES[usize::from(*kind) % LINK_TYPES.len()]);
        let (frame, behind) = further.split_at(further.len().min(usize::from(*length)));
        let length = (frame.len() + usize::from(*missing)) as u32;
        let mut alone = Inspector::new(Bounds::default());
        for inspector in [&mut alone, &mut together] {
            inspector.frame(Instant::from_nanos(at), link_type, frame, length);
        }
        let report = alone.finish();
        assert!(accounted(&report) > 0, "{link_type:?} {frame:02x?}: {:?}", report.counts);
        assert_eq!(report.counts.unopened.retried, 0, "a frame alone repeats none");
        (rest, at) = (behind, at + 1_000_000);
    }
    let _ = together.finish();
}

/// Returns the number of packets that the report accounts for.
pub(crate) fn accounted(report: &Report) -> u64 {
    report.counts.connections + report.counts.others + report.counts.malformed
}
