//! The largest packet that the path carries (RFC 8899).
//!
//! Open and Accept are padded to the base size, so that a connection that opens has shown that the path carries it (RFC 9000, §14.1).
//! From there on, the sender searches: a probe is a Ping with padding, whose acknowledgment shows that its size is carried, and
//! whose loss is no sign of congestion (RFC 8899, §3, item 7). The first probe has the largest size, which most paths carry; the others halve
//! what is left. A size counts as too large after three probes (§5.1.2, MAX_PROBES). If nothing is acknowledged for three probe
//! timeouts, the path may have become a black hole for large packets (§4.3), and the search begins again after the raise timer.

use crate::recovery::alarm::Alarm;
use acklab_base::{Duration, Instant};

/// MAX_PROBES (RFC 8899, §5.1.2).
const MOST_PROBES: u32 = 3;
/// Timeouts in a row that may be a black hole: as many as a size has probes.
const MOST_TIMEOUTS: u32 = 3;
/// PMTU_RAISE_TIMER (RFC 8899, §5.1.1).
const RAISE: Duration = Duration::from_secs(600);
/// The search ends where less than this is left to gain: a header of IPv6 less one of IPv4, by which tunnels differ.
const STEP: u16 = 20;

/// What is known of the path. Sizes are of packets with the headers of IP.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mtu {
    /// What is known to be carried without a search.
    base: u16,
    /// The largest size that was acknowledged.
    size: u16,
    /// The largest that is wanted, and the largest that is not known to fail.
    most: u16,
    ceiling: u16,
    /// The size that is probed next or now, how many probes of it were lost, and whether one is out.
    candidate: u16,
    lost: u32,
    is_out: bool,
    raise: Alarm,
}

impl Mtu {
    /// Sizes up to `most` are wanted, and up to `base` known to be carried.
    pub(super) fn new(base: u16, most: u16) -> Self {
        let base = base.min(most);
        Self { base, size: base, most, ceiling: most, candidate: most, lost: 0, is_out: false, raise: Alarm::NEVER }
    }

    /// No packet may be larger than this: the peer takes no more.
    pub(super) fn limit(&mut self, most: u16) {
        let most = most.min(self.most);
        (self.base, self.size) = (self.base.min(most), self.size.min(most));
        (self.most, self.ceiling, self.candidate) = (most, most, most);
    }

    /// The largest packet that may leave.
    #[inline]
    pub(super) const fn size(&self) -> u16 {
        self.size
    }

    /// The size of the probe that is to leave, if one is.
    #[inline]
    pub(super) const fn due(&self) -> Option<u16> {
        if self.is_out || self.candidate <= self.size { None } else { Some(self.candidate) }
    }

    /// The probe leaves.
    pub(super) const fn on_sent(&mut self) {
        self.is_out = true;
    }

    /// A probe of this size was acknowledged.
    pub(super) fn on_acknowledged(&mut self, size: u16) {
        self.is_out = false;
        if size > self.size && size <= self.ceiling {
            self.size = size;
            self.choose();
        }
    }

    /// A probe of this size was lost.
    pub(super) fn on_lost(&mut self, now: Instant, size: u16) {
        self.is_out = false;
        if size != self.candidate {
            return;
        }
        self.lost += 1;
        if self.lost >= MOST_PROBES {
            self.ceiling = size - 1;
            self.choose();
            if self.due().is_none() {
                self.raise.set(Some(now + RAISE));
            }
        }
    }

    /// The next size: halfway between what is carried and what is not known to fail.
    fn choose(&mut self) {
        self.lost = 0;
        let left = self.ceiling - self.size;
        self.candidate = if left < STEP { self.size } else { self.size + left.div_ceil(2) };
    }

    /// So many probe timeouts have passed in a row. Returns whether packets are smaller from now on.
    pub(super) fn on_timeout(&mut self, now: Instant, expiries: u32) -> bool {
        let is_black_hole = expiries == MOST_TIMEOUTS && self.size > self.base;
        if is_black_hole {
            (self.size, self.candidate, self.is_out) = (self.base, self.base, false);
            self.raise.set(Some(now + RAISE));
        }
        is_black_hole
    }

    /// When the search begins again.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.raise.at()
    }

    pub(super) fn wake(&mut self, now: Instant) {
        if self.raise.expire(now) {
            (self.ceiling, self.candidate, self.lost) = (self.most, self.most, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::ZERO;

    /// The sizes that are probed on a path that carries `carried`, and what is found.
    fn search(mtu: &mut Mtu, carried: u16) -> (Vec<u16>, u16) {
        let probe = |mtu: &mut Mtu| {
            let size = mtu.due()?;
            mtu.on_sent();
            if size <= carried {
                mtu.on_acknowledged(size)
            } else {
                mtu.on_lost(NOW, size)
            }
            Some(size)
        };
        (std::iter::from_fn(|| probe(mtu)).collect(), mtu.size())
    }

    #[test]
    fn the_largest_size_is_tried_first() {
        let mut mtu = Mtu::new(1228, 1500);
        assert_eq!(search(&mut mtu, 1500), (vec![1500], 1500));
        assert_eq!(mtu.deadline(), None);
    }

    #[test]
    fn a_size_is_tried_three_times_and_what_is_left_halved() {
        let mut mtu = Mtu::new(1228, 1500);
        let (probed, found) = search(&mut mtu, 1400);
        assert_eq!((&probed[..4], found), (&[1500, 1500, 1500, 1364][..], 1398));
        assert!(found + STEP > 1400);
        let raised = NOW + RAISE;
        assert_eq!(mtu.deadline(), Some(raised));
        mtu.wake(raised);
        assert_eq!(search(&mut mtu, 1500), (vec![1500], 1500), "the path has become better");
    }

    #[test]
    fn a_black_hole_brings_the_base_size_back() {
        let mut mtu = Mtu::new(1228, 1500);
        search(&mut mtu, 1500);
        assert!(!mtu.on_timeout(NOW, 2) && mtu.on_timeout(NOW, 3));
        assert_eq!((mtu.size(), mtu.due(), mtu.deadline()), (1228, None, Some(NOW + RAISE)));
    }

    #[test]
    fn the_peer_limits_what_it_takes() {
        let mut mtu = Mtu::new(1500, 1500);
        mtu.limit(1300);
        assert_eq!((mtu.size(), mtu.due()), (1300, None));
    }
}
