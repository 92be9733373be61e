//! Bianchi's fixed point of saturated contention (IEEE JSAC 18(3), 2000), adapted to the current
//! rules.
//!
//! A station transmits at a slot boundary with probability τ, and collides with probability p = 1 −
//! (1 − τ)ⁿ⁻¹. The variants differ in the boundaries that exist, and in the number that a frame
//! uses:
//!
//! * EDCA counts a slot for each busy period, as Bianchi assumes: all stations may transmit at
//!   every boundary (10.23.2.4).
//! * DCF counts only whole idle slots, so that only stations that have just transmitted may
//!   transmit at the end of DIFS. Foh and Tantra (IEEE Commun. Lett. 9(4), 2005), and Tinnirello,
//!   Bianchi and Xiao (IEEE TVT 59(3), 2010): a sender that draws zero after a success transmits
//!   once more, without a contender.
//! * A frame is given up after a number of failures (Wu et al., INFOCOM 2002).
//! * After an aggregate without a Block ACK, requests follow until one has a response. Then the
//!   data are retransmitted, from CWmin: a transmission carries data with probability 1 − p.
//! * Colliders count from the end of their timeout, others from the end of the busy period, so
//!   colliders are absent in the first slots after a collision.

#![allow(unreachable_pub, reason = "others pass it on")]

/// The parameters of all stations.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    pub stations: u32,
    pub cw_min: u32,
    pub cw_max: u32,
    /// The number of failures after which a frame is given up; `None` for never.
    pub retries: Option<u32>,
    /// `true` if a backoff counts a slot at the end of AIFS itself (EDCA).
    pub counts_at_aifs: bool,
    /// `true` if Block ACK requests follow a failure.
    pub requests_block_ack: bool,
    /// Slots between the end of a collision and the end of the colliders' timeout.
    pub timeout: u32,
    /// The duration of a slot. All times are in seconds, and the times of exchanges include AIFS.
    pub slot: f64,
    pub data: Times,
    pub request: Times,
}

/// The time for which an exchange occupies the medium, including AIFS.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub answered: f64,
    pub collided: f64,
}

/// The fixed point.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Probability that a transmission collides.
    pub collision: f64,
    /// Successful data exchanges of all stations per second.
    pub exchanges: f64,
}

impl Model {
    /// Solves for τ by bisection: a station's τ falls with p, and p rises with τ.
    pub fn solve(&self) -> Point {
        let (mut low, mut high) = (0.0_f64, 1.0_f64);
        for _ in 0..60 {
            let tau = f64::midpoint(low, high);
            if self.attempts(tau) > tau { low = tau } else { high = tau }
        }
        self.point(f64::midpoint(low, high))
    }

    /// Returns the windows of the stages: W = CW + 1.
    fn window(&self, stage: u32) -> f64 {
        f64::from((self.cw_min + 1) << stage.min(16)).min(f64::from(self.cw_max + 1))
    }

    fn collision(&self, tau: f64) -> f64 {
        1.0 - (1.0 - tau).powi(self.stations as i32 - 1)
    }

    /// Returns the number of boundaries before the first boundary of the colliders: until their
    /// timeout, or until another station transmits.
    fn absent(&self, tau: f64) -> f64 {
        let others = self.stations as i32 - 1;
        let (mut mean, mut weight) = (0.0, 0.0);
        let mut binomial = 1.0;
        for with in 1..=others {
            binomial *= f64::from(others - with + 1) / f64::from(with);
            let probability = binomial * tau.powi(with) * (1.0 - tau).powi(others - with);
            let idle = (1.0 - tau).powi(others - with);
            mean += probability * (0..self.timeout).map(|slot| idle.powi(slot as i32)).sum::<f64>();
            weight += probability;
        }
        // If no station is left, the idle time is part of the collision.
        if weight > 0.0 { mean / weight } else { 0.0 }
    }

    /// Returns the transmissions per boundary of a station if the other stations have this τ.
    fn attempts(&self, tau: f64) -> f64 {
        let p = self.collision(tau);
        let absent = self.absent(tau);
        let (mut sent, mut boundaries) = (0.0, 0.0);
        let mut reaches = 1.0;
        for stage in 0..self.retries.unwrap_or(200) {
            let window = self.window(stage);
            let waits = (window - 1.0) / 2.0 + if stage > 0 { absent } else { 0.0 };
            if self.counts_at_aifs {
                sent += reaches;
                boundaries += reaches * (waits + 1.0);
                reaches *= p;
            } else {
                // After a success, a station that draws zero transmits immediately, at a time at
                // which no other station may transmit.
                let is_free = if stage == 0 { 1.0 / window } else { 0.0 };
                sent += reaches * (1.0 - is_free);
                boundaries += reaches * waits;
                reaches *= p * (1.0 - is_free);
            }
        }
        sent / boundaries
    }

    fn point(&self, tau: f64) -> Point {
        let n = f64::from(self.stations);
        let p = self.collision(tau);
        let idle = (1.0 - tau).powi(self.stations as i32);
        let single = n * tau * (1.0 - tau).powi(self.stations as i32 - 1);
        let collides = 1.0 - idle - single;
        // A success is followed by another success with the probability of drawing zero.
        let runs = if self.counts_at_aifs { 1.0 } else { 1.0 / (1.0 - 1.0 / self.window(0)) };
        let is_data = if self.requests_block_ack { 1.0 - p } else { 1.0 };
        let answered = is_data * self.data.answered + (1.0 - is_data) * self.request.answered;
        let collided = if self.requests_block_ack { self.mixed_collision(tau, is_data) } else { self.data.collided };
        let time =
            if self.counts_at_aifs { idle } else { 1.0 } * self.slot + single * runs * answered + collides * collided;
        let sent = n * tau + single * (runs - 1.0);
        Point { collision: (n * tau - single) / sent, exchanges: single * runs * is_data / time }
    }

    /// Returns the duration of a collision if each participant sends data with this probability,
    /// and otherwise a request.
    fn mixed_collision(&self, tau: f64, is_data: f64) -> f64 {
        let n = self.stations as i32;
        let exactly = |tau: f64, count: i32| match count {
            0 => (1.0 - tau).powi(n),
            _ => f64::from(n) * tau * (1.0 - tau).powi(n - 1),
        };
        let all = 1.0 - exactly(tau, 0) - exactly(tau, 1);
        // Two or more transmit, all of them requests; stations with data are silent.
        let requests = tau * (1.0 - is_data);
        let others = 1.0 - tau;
        let none = others.powi(n);
        let one = f64::from(n) * requests * others.powi(n - 1);
        let only_requests = (others + requests).powi(n) - none - one;
        let share = if all > 0.0 { only_requests / all } else { 0.0 };
        share * self.request.collided + (1.0 - share) * self.data.collided
    }
}
