//! Prefetches memory before it is read.

/// Prefetches the beginning of `value`, which is read later. This affects timing only.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_feature = "sse")]
    safe_arch::prefetch_t0(value);
    #[cfg(not(target_feature = "sse"))]
    let _ = value;
}
