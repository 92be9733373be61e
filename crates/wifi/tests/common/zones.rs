//! Two classes of stations with different windows and interframe spaces: Bianchi's fixed point with
//! contention zones, after Robinson and Randhawa (IEEE JSAC 22(5), 2004) and, where only windows
//! differ, Xiao (IEEE Trans. Wireless Commun. 4(4), 2005).
//!
//! After a busy period the class with the longer AIFS is silent for the first slots. The number of
//! boundaries since then is a Markov chain, which determines the share of boundaries in either
//! zone.

#![allow(unreachable_pub, reason = "others pass it on")]

/// A class of equal stations.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    pub stations: u32,
    pub aifsn: u32,
    pub cw_min: u32,
    pub cw_max: u32,
    /// Failures after which a frame is given up.
    pub retries: u32,
}

impl Class {
    /// Returns the probability to transmit at a boundary that is open to the class, if a
    /// transmission collides with probability `p`.
    fn attempts(self, p: f64) -> f64 {
        let (mut sent, mut boundaries, mut reaches) = (0.0, 0.0, 1.0);
        for stage in 0..self.retries {
            let window = f64::from(((self.cw_min + 1) << stage).min(self.cw_max + 1));
            sent += reaches;
            boundaries += reaches * (window + 1.0) / 2.0;
            reaches *= p;
        }
        sent / boundaries
    }
}

/// Returns the successes per second of both classes. The first has the shorter AIFS, which
/// `answered` and `collided` include; times in seconds.
pub fn solve(classes: [Class; 2], slot: f64, answered: f64, collided: f64) -> (f64, f64) {
    let [one, two] = classes;
    let apart = (two.aifsn - one.aifsn) as i32;
    let (n, m) = (one.stations as i32, two.stations as i32);
    let (mut tau, mut sigma) = (0.05_f64, 0.05_f64);
    let mut first = 0.0;
    for _ in 0..5_000 {
        let (quiet_one, quiet_two) = ((1.0 - tau).powi(n), (1.0 - sigma).powi(m));
        // The number of boundaries of a busy cycle in the zone of the first class alone, and in the
        // zone of both classes.
        let alone: f64 = (0..apart).map(|slot| quiet_one.powi(slot)).sum();
        let together = quiet_one.powi(apart) / (1.0 - quiet_one * quiet_two);
        first = alone / (alone + together);
        let p_alone = 1.0 - (1.0 - tau).powi(n - 1);
        let p_together = 1.0 - (1.0 - tau).powi(n - 1) * quiet_two;
        let p_one = first * p_alone + (1.0 - first) * p_together;
        let p_two = 1.0 - quiet_one * (1.0 - sigma).powi(m - 1);
        tau += 0.05 * (one.attempts(p_one) - tau);
        sigma += 0.05 * (two.attempts(p_two) - sigma);
    }
    let (quiet_one, quiet_two) = ((1.0 - tau).powi(n), (1.0 - sigma).powi(m));
    let single_one = f64::from(n) * tau * (1.0 - tau).powi(n - 1);
    let single_two = f64::from(m) * sigma * (1.0 - sigma).powi(m - 1);
    let both = 1.0 - first;
    let idle = first * quiet_one + both * quiet_one * quiet_two;
    let rate_one = first * single_one + both * single_one * quiet_two;
    let rate_two = both * single_two * quiet_one;
    let collisions = 1.0 - idle - rate_one - rate_two;
    let time = idle * slot + (rate_one + rate_two) * answered + collisions * collided;
    (rate_one / time, rate_two / time)
}
