//! What a TCP header says to the sender of data.

use crate::tcp::Options;
use crate::tcp::octets::{flags_of, has_others, read_options, segment_of};
use acklab_base::{AckHeader, Ecn};
use etherparse::TcpHeaderSlice;

/// What `carried` says, which is of a segment of `length` octets, or `None` if its header is cut off or acknowledges nothing.
///
/// Options that acklab does not know say more, and so do those that cannot be read: a filter must not take the segment for one that says
/// less.
pub(super) fn header_of(carried: &[u8], length: usize) -> Option<AckHeader> {
    let tcp = TcpHeaderSlice::from_slice(carried).ok()?;
    let options = read_options(tcp.options(), flags_of(&tcp));
    let has_other_content = options.is_err() || has_others(tcp.options());
    // The ECN field of the IP header is no part of what is asked for.
    let segment = segment_of(&tcp, Ecn::NotEct, options.unwrap_or_else(|_| Options::default()), length);
    let header = segment.ack_header()?;
    Some(AckHeader { has_other_content: header.has_other_content || has_other_content, ..header })
}
