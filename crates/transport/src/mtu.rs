//! Finds the largest datagram that a path forwards: datagram packetization layer path MTU discovery
//! (RFC 8899), for transports that number their packets (RFC 9000, §14.3).
//!
//! A [`Search`] begins with a size that every path must forward and sends probes: packets without
//! content. The acknowledgment of a probe shows that the path forwards its size. The loss of a
//! probe does not indicate congestion. The first probe has the maximum size. If it is lost, the
//! search bisects the remaining range.
//!
//! A path may change and silently drop packets of a size that it forwarded before (a black hole).
//! The search detects repeated losses of packets above the minimum size while smaller ones arrive.
//! It then returns to the minimum size, and searches below the failed size.

use acklab_base::{Duration, Event, Instant};

/// The number of lost probes of one size after which the size is too large (`MAX_PROBES`, RFC 8899,
/// §5.1.2).
const MAX_PROBES: u32 = 3;
/// The number of consecutive losses of packets above the minimum size that indicate a black hole.
/// RFC 8899, §4.3, leaves the definition of excessive loss to the transport, and uses `MAX_PROBES`
/// for probes.
const MAX_LOSSES: u32 = MAX_PROBES;
/// The time after which a larger size is tried again (`PMTU_RAISE_TIMER`, RFC 8899, §5.1.1).
const RAISE: Duration = Duration::from_secs(600);
/// The remaining range, in bytes, at which the search ends. RFC 8899, §5.3.2, leaves this value to
/// implementations; here it is quinn-proto's `BINARY_SEARCH_MINIMUM_CHANGE`.
const PRECISION: u64 = 20;

/// The state of the search (RFC 8899, §5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// `BASE`: the connection is not established, and the path has not been tested.
    Base,
    /// `SEARCH`: sizes of at least `below` are considered too large.
    Searching { below: u64 },
    /// `SEARCH_COMPLETE`, until this instant.
    Complete { until: Instant },
}

/// A search for the largest datagram that a path forwards. Sizes are bytes of datagrams, as the
/// transport counts them.
#[derive(Clone, Debug)]
pub struct Search {
    /// `BASE_PLPMTU`.
    base: u64,
    /// `MAX_PLPMTU`.
    most: u64,
    /// `PLPMTU`.
    size: u64,
    phase: Phase,
    /// The current probe: its number, once it has been sent, and its size.
    probe: Option<(Option<u64>, u64)>,
    /// The number of lost probes of the current size (`PROBE_COUNT`).
    failed: u32,
    /// `true` if the maximum size was tried in this search, or is known to be too large.
    tried_most: bool,
    /// The largest number of an acknowledged packet above the minimum size.
    largest_acknowledged: Option<u64>,
    /// `true` if a packet above the minimum size was lost, and no later packet above the minimum
    /// size has arrived.
    is_suspicious: bool,
    /// The number of consecutive losses of packets above the minimum size.
    losses: u32,
}

impl Search {
    /// Creates a search that begins with `base` and may reach `most`.
    #[must_use]
    pub const fn new(base: u64, most: u64) -> Self {
        Self {
            base,
            most,
            size: base,
            phase: Phase::Base,
            probe: None,
            failed: 0,
            tried_most: false,
            largest_acknowledged: None,
            is_suspicious: false,
            losses: 0,
        }
    }

    /// Returns the largest datagram that may be sent, except for probes (`PLPMTU`).
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Returns the event that reports this size, without the `below` bytes of lower layers.
    #[must_use]
    pub const fn size_event(&self, below: u64) -> Event {
        Event::DatagramSize { octets: self.size - below }
    }

    /// Returns the size that every path must forward (`BASE_PLPMTU`). Essential packets do not
    /// exceed it.
    #[must_use]
    pub const fn base(&self) -> u64 {
        self.base
    }

    /// Starts the search once the connection is established, which shows that the path forwards the
    /// minimum size (RFC 9000, §14.3). The peer accepts datagrams up to `most`.
    pub fn start(&mut self, most: u64) {
        self.most = self.most.min(most).max(self.base);
        if self.phase == Phase::Base {
            self.search(self.most + 1, false);
        }
    }

    /// Restarts the search on another path (RFC 9000, §14.3).
    pub fn restart(&mut self) {
        (self.size, self.is_suspicious, self.losses) = (self.base, false, 0);
        if self.phase != Phase::Base {
            self.search(self.most + 1, false);
        }
    }

    /// Returns the size of the probe that must be sent now. There is one probe at a time.
    pub fn due(&mut self, now: Instant) -> Option<u64> {
        match self.phase {
            Phase::Base => return None,
            Phase::Complete { until } if now < until || self.size == self.most => return None,
            Phase::Complete { .. } => self.search(self.most + 1, false),
            Phase::Searching { .. } => {}
        }
        if let Some((number, octets)) = self.probe {
            return number.is_none().then_some(octets);
        }
        let Some(octets) = self.next_size() else {
            self.phase = Phase::Complete { until: now + RAISE };
            return None;
        };
        self.probe = Some((None, octets));
        Some(octets)
    }

    /// Records that the due probe is sent with this number.
    pub const fn on_sent(&mut self, number: u64) {
        if let Some((sent, _)) = &mut self.probe {
            *sent = Some(number);
        }
    }

    /// Processes the acknowledgment of a packet of `octets` bytes.
    #[inline]
    pub fn on_acknowledged(&mut self, number: u64, octets: u64) {
        if octets > self.base {
            self.on_large_acknowledged(number, octets);
        }
    }

    #[inline(never)]
    fn on_large_acknowledged(&mut self, number: u64, octets: u64) {
        self.largest_acknowledged = self.largest_acknowledged.max(Some(number));
        (self.is_suspicious, self.losses) = (false, 0);
        if self.is_probe(number) {
            (self.probe, self.failed) = (None, 0);
            self.size = self.size.max(octets);
        }
    }

    /// Processes the loss of a packet of `octets` bytes. Returns `true` if it was a probe, whose
    /// loss does not indicate congestion (RFC 9000, §14.4).
    pub fn on_lost(&mut self, number: u64, octets: u64) -> bool {
        if self.is_probe(number) {
            self.failed += 1;
            self.probe = (self.failed < MAX_PROBES).then_some((None, octets));
            if self.failed == MAX_PROBES
                && let Phase::Searching { .. } = self.phase
            {
                (self.phase, self.failed) = (Phase::Searching { below: octets }, 0);
            }
            return true;
        }
        if octets > self.base && self.largest_acknowledged.is_none_or(|largest| number > largest) {
            self.is_suspicious = true;
        }
        false
    }

    /// Ends a report of losses detected together. Returns `true` if the path is a black hole for
    /// the current size, which is then reset to the minimum.
    pub fn finds_black_hole(&mut self) -> bool {
        if !std::mem::take(&mut self.is_suspicious) || self.size == self.base {
            return false;
        }
        self.losses += 1;
        if self.losses < MAX_LOSSES {
            return false;
        }
        self.fall_back();
        true
    }

    /// Records `timeouts` consecutive probe timeouts without an acknowledgment. Returns `true` if
    /// the path is considered a black hole for the current size, which is then reset to the
    /// minimum. Used by transports that send packets of the minimum size too rarely to distinguish
    /// a black hole from an outage.
    pub fn on_timeout(&mut self, timeouts: u32) -> bool {
        let is_black_hole = timeouts == MAX_LOSSES && self.size > self.base;
        if is_black_hole {
            self.fall_back();
        }
        is_black_hole
    }

    fn fall_back(&mut self) {
        self.losses = 0;
        let failed = std::mem::replace(&mut self.size, self.base);
        self.search(failed, true);
    }

    fn search(&mut self, below: u64, tried_most: bool) {
        self.phase = Phase::Searching { below };
        (self.probe, self.failed, self.tried_most) = (None, 0, tried_most);
    }

    fn is_probe(&self, number: u64) -> bool {
        self.probe.is_some_and(|(sent, _)| sent == Some(number))
    }

    /// Returns the next size to try, or `None` if the remaining range is at most [`PRECISION`].
    fn next_size(&mut self) -> Option<u64> {
        let Phase::Searching { below } = self.phase else { return None };
        let left = below.saturating_sub(1 + self.size);
        if !std::mem::replace(&mut self.tried_most, true) && left > 0 {
            return Some(below - 1);
        }
        (left >= PRECISION).then(|| self.size + left.div_ceil(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::ZERO;

    fn search() -> Search {
        let mut search = Search::new(1200, 1472);
        assert_eq!((search.size(), search.due(NOW)), (1200, None), "nothing is sent before the handshake is over");
        search.start(65_527);
        search
    }

    /// Sends probes over a path that forwards datagrams up to `mtu`, until the search ends. Returns
    /// the sizes of the probes.
    fn probe(search: &mut Search, mtu: u64, numbers: &mut std::ops::RangeFrom<u64>) -> Vec<u64> {
        let mut sizes = Vec::new();
        while let Some(octets) = search.due(NOW) {
            let number = numbers.next().unwrap();
            search.on_sent(number);
            assert_eq!(search.due(NOW), None, "one is under way");
            if octets <= mtu {
                search.on_acknowledged(number, octets);
            } else {
                assert!(search.on_lost(number, octets));
                assert!(!search.finds_black_hole(), "a lost probe is no evidence against the present size");
            }
            sizes.push(octets);
        }
        sizes
    }

    #[test]
    fn the_largest_size_is_tried_first() {
        let mut search = search();
        assert_eq!(probe(&mut search, 1472, &mut (0..)), [1472]);
        assert_eq!((search.size(), search.due(NOW + RAISE)), (1472, None), "there is nothing larger");
    }

    #[test]
    fn each_size_is_tried_three_times_and_what_is_left_is_halved() {
        let mut search = search();
        let sizes = probe(&mut search, 1400, &mut (0..));
        assert_eq!(sizes, [1472, 1472, 1472, 1336, 1404, 1404, 1404, 1370, 1387]);
        assert_eq!(search.size(), 1387, "within twenty octets of what passes");
        assert_eq!(search.due(NOW + RAISE / 2), None);
        assert_eq!(search.due(NOW + RAISE), Some(1472), "the path may have changed");
    }

    #[test]
    fn the_peer_limits_the_search() {
        let mut search = Search::new(1200, 1472);
        search.start(1300);
        assert_eq!(probe(&mut search, 1472, &mut (0..)), [1300]);
        let mut small = Search::new(1200, 1472);
        small.start(1000);
        assert_eq!((small.size(), small.due(NOW)), (1200, None), "every peer takes the least size");
    }

    #[test]
    fn losses_time_after_time_are_a_black_hole() {
        let (mut search, mut numbers) = (search(), 0..);
        probe(&mut search, 1472, &mut numbers);
        for time in 1..=3 {
            for number in numbers.by_ref().take(5) {
                assert!(!search.on_lost(number, 1472));
            }
            search.on_acknowledged(numbers.next().unwrap(), 1200);
            assert_eq!(search.finds_black_hole(), time == 3, "{time}");
        }
        assert_eq!(search.size(), 1200);
        assert_eq!(probe(&mut search, 1372, &mut numbers)[..2], [1336, 1404], "below the size that failed");
        assert!((1353..=1372).contains(&search.size()), "{}", search.size());
    }

    #[test]
    fn timeouts_in_a_row_are_a_black_hole() {
        let (mut search, mut numbers) = (search(), 0..);
        assert!(!search.on_timeout(3), "there is nothing to fall back to");
        probe(&mut search, 1472, &mut numbers);
        assert!(!search.on_timeout(2));
        assert!(search.on_timeout(3));
        assert_eq!((search.size(), search.due(NOW)), (1200, Some(1336)), "below the size that failed");
    }

    #[test]
    fn another_path_is_searched_from_the_least_size() {
        let (mut search, mut numbers) = (search(), 0..);
        search.restart();
        probe(&mut search, 1472, &mut numbers);
        search.restart();
        assert_eq!(search.size(), 1200);
        assert_eq!(probe(&mut search, 1472, &mut numbers), [1472]);
    }

    #[test]
    fn congestion_is_no_black_hole() {
        let (mut search, mut numbers) = (search(), 0..);
        probe(&mut search, 1472, &mut numbers);
        for _ in 0..10 {
            let lost = numbers.next().unwrap();
            search.on_lost(lost, 1472);
            assert!(!search.finds_black_hole());
            search.on_acknowledged(numbers.next().unwrap(), 1472);
        }
        let (overtaken, later) = (numbers.next().unwrap(), numbers.next().unwrap());
        search.on_acknowledged(later, 1472);
        search.on_lost(overtaken, 1472);
        assert!(!search.is_suspicious, "a later packet of this size has arrived");
        for _ in 0..10 {
            search.on_lost(numbers.next().unwrap(), 1200);
            assert!(!search.finds_black_hole(), "packets of the minimum size are no evidence");
        }
    }
}
