//! Bianchi's fixed point of saturated contention (IEEE JSAC 18(3), 2000), as the rules of this
//! decade need it.
//!
//! A station transmits at a slot boundary with probability τ, and collides with probability p = 1 −
//! (1 − τ)ⁿ⁻¹. What differs between the variants is which boundaries there are and how many a frame
//! uses:
//!
//! * EDCA counts a slot for each busy period, as Bianchi assumes: every boundary is open to
//!   everybody (10.23.2.4).
//! * DCF counts whole idle slots only, so that the boundary at the end of DIFS is open to no one
//!   but those who have just sent. Foh and Tantra (IEEE Commun. Lett. 9(4), 2005), and Tinnirello,
//!   Bianchi and Xiao (IEEE TVT 59(3), 2010): a sender that draws zero after a success sends once
//!   more, without a contender.
//! * A frame is given up after so many failures (Wu et al., INFOCOM 2002).
//! * After an aggregate that was not answered, Block ACK requests follow until one is; then the
//!   data go again, from CWmin: a transmission is one of data with probability 1 − p.
//! * Colliders count from the end of their timeout, others from the end of the busy period: for the
//!   first slots after a collision they are not there.

#![allow(unreachable_pub, reason = "others pass it on")]

/// What all stations do.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    pub stations: u32,
    pub cw_min: u32,
    pub cw_max: u32,
    /// Failures after which a frame is given up; none for never.
    pub retries: Option<u32>,
    /// Does a backoff count a slot at the end of AIFS itself (EDCA)?
    pub counts_at_aifs: bool,
    /// Do Block ACK requests follow a failure?
    pub asks: bool,
    /// Slots between the end of a collision and the end of the colliders' timeout.
    pub timeout: u32,
    /// All times in seconds; those of exchanges with AIFS behind them.
    pub slot: f64,
    pub data: Times,
    pub request: Times,
}

/// How long an exchange holds the medium, AIFS included.
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
    /// Data exchanges that succeed, of all stations, per second.
    pub exchanges: f64,
}

impl Model {
    /// Solves for τ by bisection: what a station does given p falls with p, and p rises with τ.
    pub fn solve(&self) -> Point {
        let (mut low, mut high) = (0.0_f64, 1.0_f64);
        for _ in 0..60 {
            let tau = f64::midpoint(low, high);
            if self.attempts(tau) > tau { low = tau } else { high = tau }
        }
        self.point(f64::midpoint(low, high))
    }

    /// The windows of the stages: W = CW + 1.
    fn window(&self, stage: u32) -> f64 {
        f64::from((self.cw_min + 1) << stage.min(16)).min(f64::from(self.cw_max + 1))
    }

    fn collision(&self, tau: f64) -> f64 {
        1.0 - (1.0 - tau).powi(self.stations as i32 - 1)
    }

    /// Boundaries that pass before the colliders' own: until their timeout, or until one of the
    /// others sends.
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
        // With nobody left, nothing but time passes: that is part of the collision.
        if weight > 0.0 { mean / weight } else { 0.0 }
    }

    /// Transmissions per boundary of a station that sees this τ in the others.
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
                // After a success a draw of zero sends at once, where nobody else may.
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
        // A success is followed by another with the probability of drawing zero.
        let runs = if self.counts_at_aifs { 1.0 } else { 1.0 / (1.0 - 1.0 / self.window(0)) };
        let is_data = if self.asks { 1.0 - p } else { 1.0 };
        let answered = is_data * self.data.answered + (1.0 - is_data) * self.request.answered;
        let collided = if self.asks { self.mixed_collision(tau, is_data) } else { self.data.collided };
        let time =
            if self.counts_at_aifs { idle } else { 1.0 } * self.slot + single * runs * answered + collides * collided;
        let sent = n * tau + single * (runs - 1.0);
        Point { collision: (n * tau - single) / sent, exchanges: single * runs * is_data / time }
    }

    /// How long a collision takes if each of those in it sends data with this probability, else a
    /// request.
    fn mixed_collision(&self, tau: f64, is_data: f64) -> f64 {
        let n = self.stations as i32;
        let exactly = |tau: f64, count: i32| match count {
            0 => (1.0 - tau).powi(n),
            _ => f64::from(n) * tau * (1.0 - tau).powi(n - 1),
        };
        let all = 1.0 - exactly(tau, 0) - exactly(tau, 1);
        // Two or more send, all of them requests: those with data are silent.
        let requests = tau * (1.0 - is_data);
        let others = 1.0 - tau;
        let none = others.powi(n);
        let one = f64::from(n) * requests * others.powi(n - 1);
        let only_requests = (others + requests).powi(n) - none - one;
        let share = if all > 0.0 { only_requests / all } else { 0.0 };
        share * self.request.collided + (1.0 - share) * self.data.collided
    }
}
