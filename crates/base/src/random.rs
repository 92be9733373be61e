//! Named random streams.
//!
//! Each component that needs random numbers requests a [`Stream`] from the run's [`Seed`] by its
//! own name (`"link/btl_forward/loss"`). Its draws depend only on the seed and on this name:
//! another component, or more draws in another component, do not change them.

use crate::Duration;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The only source of all random streams of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub u64);

impl Seed {
    /// Returns the stream of the component called `name`.
    #[must_use]
    pub fn stream(self, name: &str) -> Stream {
        Stream(Xoshiro256PlusPlus::seed_from_u64(self.0 ^ fnv1a(name)))
    }
}

/// Returns the 64-bit FNV-1a hash of the name. FNV-1a is fixed, whereas the hasher of the standard
/// library may change.
fn fnv1a(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A reproducible source of draws.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// Returns a uniform value in [0, 1), in steps of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns a uniform value in 0…`bound` − 1, without bias (Lemire, "Fast random integer
    /// generation in an interval", 2019).
    ///
    /// # Panics
    /// If `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "the bound must be above zero");
        let threshold = bound.wrapping_neg() % bound;
        loop {
            let wide = u128::from(self.0.next_u64()) * u128::from(bound);
            if wide as u64 >= threshold {
                return (wide >> 64) as u64;
            }
        }
    }

    /// Returns eight uniform octets.
    pub fn octets(&mut self) -> [u8; 8] {
        self.0.next_u64().to_le_bytes()
    }

    /// Returns `true` with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Returns an exponentially distributed value with this mean.
    pub fn exponential(&mut self, mean: Duration) -> Duration {
        Duration::from_secs_f64(-mean.as_secs_f64() * libm::log(1.0 - self.unit()))
    }

    /// Returns a normally distributed value (Marsaglia's polar method).
    pub fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        loop {
            let (u, v) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                return mean + deviation * u * libm::sqrt(-2.0 * libm::log(s) / s);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_stream_and_another_name_another() {
        let draws = |seed, name| {
            let mut stream = Seed(seed).stream(name);
            [stream.below(u64::MAX), stream.below(u64::MAX)]
        };
        assert_eq!(draws(7, "loss"), draws(7, "loss"));
        assert_ne!(draws(7, "loss"), draws(7, "jitter"));
        assert_ne!(draws(7, "loss"), draws(8, "loss"));
    }

    #[test]
    fn moments_are_those_of_the_distribution() {
        let mut stream = Seed(1).stream("moments");
        let n = 200_000;
        let mean = |mut draw: Box<dyn FnMut() -> f64 + '_>| (0..n).map(|_| draw()).sum::<f64>() / f64::from(n);
        assert!((mean(Box::new(|| stream.unit())) - 0.5).abs() < 0.003);
        assert!((mean(Box::new(|| stream.below(10) as f64)) - 4.5).abs() < 0.03);
        assert!((mean(Box::new(|| stream.exponential(Duration::from_secs(2)).as_secs_f64())) - 2.0).abs() < 0.02);
        assert!((mean(Box::new(|| stream.normal(3.0, 1.0))) - 3.0).abs() < 0.01);
        assert!((mean(Box::new(|| stream.normal(0.0, 2.0).powi(2))) - 4.0).abs() < 0.06);
    }
}
