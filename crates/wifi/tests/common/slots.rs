//! A naive simulator of contention, which advances from one transmission to the next with every
//! backoff in a list. It is the reference between the cell and the closed forms, and shares only
//! the rules of 802.11 with the cell.
//!
//! All stations sense each other, and all are saturated.

#![allow(unreachable_pub, reason = "others pass it on")]

/// The rules of all stations. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Medium {
    pub slot: u64,
    pub sifs: u64,
    /// `true` if a backoff counts a slot at the end of AIFS itself (EDCA, 10.23.2.4). Otherwise,
    /// the first slot is counted once it has passed (DCF, 10.3.4.3).
    pub counts_at_aifs: bool,
    /// The time after which a station senses the transmission of another station.
    pub sensing: u64,
}

/// One backoff, and its frame exchanges.
#[derive(Clone, Copy, Debug)]
pub struct Contender {
    /// Backoffs of one node never collide on the air: the last in the list has priority.
    pub node: usize,
    pub aifsn: u64,
    pub cw_min: u64,
    pub cw_max: u64,
    /// Failures after which the contention window returns to CWmin; `None` for never.
    pub retries: Option<u32>,
    /// `true` if the frame is given up after `retries` failures.
    pub gives_up: bool,
    pub data: Exchange,
    /// The Block ACK request that follows a failure of data until a response arrives.
    pub request: Option<Exchange>,
    /// The time from the end of its PPDU until it detects that no response frame arrives.
    pub timeout: u64,
}

/// The time for which an exchange occupies the medium.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// The duration with a response: from the beginning of the first PPDU to the end of the last
    /// response frame.
    pub answered: u64,
    /// The duration after a collision: the first PPDU.
    pub collided: u64,
}

/// The results of one contender.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// The number of transmissions, and the number of collided transmissions.
    pub sent: u64,
    pub collided: u64,
    /// Data exchanges with a response, and frames given up.
    pub delivered: u64,
    pub given_up: u64,
    /// The number of backoffs that ended at the same time as a backoff of higher priority of the
    /// same node.
    pub internal: u64,
    /// Time for which its successful exchanges occupied the medium.
    pub airtime: u64,
}

#[derive(Clone, Copy)]
struct Backoff {
    start: u64,
    left: u64,
    window: u64,
    failures: u32,
    requests_block_ack: bool,
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
struct Random(u64);

impl Random {
    fn up_to(&mut self, maximum: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * u128::from(maximum + 1)) >> 64) as u64
    }
}

/// Runs for this number of busy periods. Returns the results of each contender, and the duration.
pub fn simulate(medium: Medium, contenders: &[Contender], busy_periods: u64, seed: u64) -> (Vec<Tally>, u64) {
    let mut random = Random(seed);
    let mut tallies = vec![Tally::default(); contenders.len()];
    let aifs = |contender: &Contender| medium.sifs + contender.aifsn * medium.slot;
    let mut backoffs: Vec<Backoff> = contenders
        .iter()
        .map(|contender| {
            let (start, window) = (aifs(contender), contender.cw_min);
            Backoff { start, left: random.up_to(window), window, failures: 0, requests_block_ack: false }
        })
        .collect();
    let mut now = 0;
    for _ in 0..busy_periods {
        let due: Vec<u64> = backoffs.iter().map(|backoff| backoff.start + backoff.left * medium.slot).collect();
        let begins = due.iter().copied().min().unwrap_or(0);
        let ready: Vec<usize> = (0..due.len()).filter(|index| due[*index] < begins + medium.sensing.max(1)).collect();
        let comes_first = |index: &usize| {
            !ready.iter().any(|other| other > index && contenders[*other].node == contenders[*index].node)
        };
        let (winners, losers): (Vec<usize>, Vec<usize>) = ready.iter().partition(|index| comes_first(index));
        let has_collided = winners.len() > 1;
        let sends = |backoff: &Backoff, contender: &Contender| {
            if backoff.requests_block_ack { contender.request.unwrap_or(contender.data) } else { contender.data }
        };
        let ends_of = |index: usize| {
            let exchange = sends(&backoffs[index], &contenders[index]);
            due[index] + if has_collided { exchange.collided } else { exchange.answered }
        };
        let own_ends: Vec<u64> = winners.iter().map(|index| ends_of(*index)).collect();
        now = own_ends.iter().copied().max().unwrap_or(begins);
        for (index, backoff) in backoffs.iter_mut().enumerate() {
            if !ready.contains(&index) && begins >= backoff.start {
                let counted = (begins - backoff.start) / medium.slot + u64::from(medium.counts_at_aifs);
                backoff.left = backoff.left.saturating_sub(counted);
            }
            backoff.start = now + aifs(&contenders[index]);
        }
        for (index, own_end) in winners.iter().zip(own_ends) {
            let (contender, backoff, tally) = (&contenders[*index], &mut backoffs[*index], &mut tallies[*index]);
            tally.sent += 1;
            if has_collided {
                tally.collided += 1;
                backoff.start = now.max(own_end + contender.timeout) + aifs(contender);
                backoff.requests_block_ack |= contender.request.is_some();
                fail(contender, backoff, tally);
            } else {
                let exchange = sends(backoff, contender);
                tally.delivered += u64::from(!backoff.requests_block_ack);
                tally.airtime += exchange.answered;
                *backoff = Backoff { window: contender.cw_min, failures: 0, requests_block_ack: false, ..*backoff };
            }
            backoff.left = random.up_to(backoff.window);
        }
        for index in losers {
            let backoff = &mut backoffs[index];
            tallies[index].internal += 1;
            fail(&contenders[index], backoff, &mut tallies[index]);
            backoff.left = random.up_to(backoff.window);
        }
    }
    (tallies, now)
}

fn fail(contender: &Contender, backoff: &mut Backoff, tally: &mut Tally) {
    backoff.failures += 1;
    backoff.window = (2 * backoff.window + 1).min(contender.cw_max);
    if contender.retries.is_some_and(|maximum| backoff.failures >= maximum) {
        tally.given_up += u64::from(contender.gives_up);
        *backoff = Backoff { window: contender.cw_min, failures: 0, ..*backoff };
    }
}
