//! The acknowledgment in a TCP header.

use crate::tcp::Options;
use crate::tcp::octets::{flags_of, has_others, read_options, segment_of};
use acklab_base::{AckHeader, Ecn};
use etherparse::TcpHeaderSlice;

/// Returns the acknowledgment in `segment`, whose complete length is `length`, or `None` if its header is cut off or acknowledges nothing.
///
/// [`AckHeader::has_other_content`] is set if an option is unknown or cannot be parsed, so that no ACK filter drops the segment as redundant.
pub(super) fn header_of(segment: &[u8], length: usize) -> Option<AckHeader> {
    let tcp = TcpHeaderSlice::from_slice(segment).ok()?;
    let options = read_options(tcp.options(), flags_of(&tcp));
    let has_other_content = options.is_err() || has_others(tcp.options());
    // The result does not depend on the ECN field of the IP header.
    let segment = segment_of(&tcp, Ecn::NotEct, options.unwrap_or_else(|_| Options::default()), length);
    let header = segment.ack_header()?;
    Some(AckHeader { has_other_content: header.has_other_content || has_other_content, ..header })
}
