//! Memory that is about to be read.

/// Asks the processor to fetch the beginning of `value`, which is read a while later. Nothing but
/// time depends on it.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_feature = "sse")]
    safe_arch::prefetch_t0(value);
    #[cfg(not(target_feature = "sse"))]
    let _ = value;
}
