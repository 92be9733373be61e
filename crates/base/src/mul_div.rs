//! Divides a product, for example a rate times a duration, without overflow.

/// Returns `value * factor / divisor`, rounded down. The product may exceed 64 bits. Returns
/// `u64::MAX` if the quotient exceeds 64 bits.
///
/// Most products fit in 64 bits, which avoids the function call of a division of 128 bits.
///
/// # Panics
/// If `divisor` is zero.
#[must_use]
#[inline]
pub const fn mul_div(value: u64, factor: u64, divisor: u64) -> u64 {
    match value.checked_mul(factor) {
        Some(product) => product / divisor,
        None => wide(value, factor, divisor),
    }
}

#[cold]
const fn wide(value: u64, factor: u64, divisor: u64) -> u64 {
    let quotient = value as u128 * factor as u128 / divisor as u128;
    if quotient > u64::MAX as u128 { u64::MAX } else { quotient as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_quotient_of_the_whole_product(value: u64, factor: u64, divisor in 1u64.., shift in 0u32..64) {
            for value in [value, value >> shift] {
                let exact = u128::from(value) * u128::from(factor) / u128::from(divisor);
                prop_assert_eq!(mul_div(value, factor, divisor), u64::try_from(exact).unwrap_or(u64::MAX));
            }
        }
    }
}
