//! Sequence numbers of TCP.

/// Returns `true` if the number `a` is greater than `b` (RFC 9293, §3.4).
pub(crate) const fn is_after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() > 0
}
