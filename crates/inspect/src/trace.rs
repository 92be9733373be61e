//! Packets stored for estimates and figures: windows of successive packets, spread over the whole
//! connection, in bounded memory.

use crate::direction::{Ack, Data, Passing};
use crate::writes::Pause;

/// Successive packets in a window, data and ACKs together: 2,048 and 1,024 if each second segment
/// is acknowledged (RFC 9293, §3.8.6.3).
const WINDOW: u64 = 3072;

/// A block of data beyond the ACK that the receiver has (RFC 2018, §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeldBlock {
    pub(crate) at: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// The data of a direction and the acknowledgments that returned in between.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    pub(crate) data: Vec<Data>,
    pub(crate) acks: Vec<Ack>,
    pub(crate) held: Vec<HeldBlock>,
}

impl Window {
    fn has_retransmissions(&self) -> bool {
        self.data.iter().any(|data| data.passing == Passing::Retransmitted)
    }
}

/// A sample of the packets of a direction: as many windows as fit, evenly spaced. The sample always
/// contains the first packets.
///
/// For figures, the first window with a retransmission is also stored. Estimates need even
/// distances between windows.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    /// The stored windows, with their indices in the sequence of all windows.
    windows: Vec<(u64, Window)>,
    lossy: Option<(u64, Window)>,
    /// The current window. It contains the last `filled` packets.
    current: Window,
    place: u64,
    filled: u64,
    max_windows: usize,
    /// One window in `stride` is stored.
    stride: u64,
}

impl Trace {
    /// Returns an empty sample of at most `max_windows` windows.
    pub(crate) fn new(max_windows: usize) -> Self {
        Self {
            windows: Vec::new(),
            lossy: None,
            current: Window::default(),
            place: 0,
            filled: 0,
            max_windows,
            stride: 1,
        }
    }

    /// Adds data that passed.
    #[inline]
    pub(crate) fn data(&mut self, data: Data) {
        self.next();
        self.current.data.push(data);
    }

    /// Adds an acknowledgment that passed.
    #[inline]
    pub(crate) fn ack(&mut self, ack: Ack) {
        self.next();
        self.current.acks.push(ack);
    }

    /// Adds a block of the next acknowledgment. The limit of the packets limits the blocks: an ACK
    /// has at most four.
    #[cold]
    pub(crate) fn block(&mut self, block: HeldBlock) {
        self.current.held.push(block);
    }

    /// Counts a packet. Before that, closes a full window.
    #[inline]
    fn next(&mut self) {
        if self.filled == WINDOW {
            self.close();
        }
        self.filled += 1;
    }

    #[cold]
    fn close(&mut self) {
        let window = std::mem::take(&mut self.current);
        let place = self.place;
        self.filled = 0;
        self.place += 1;
        if !place.is_multiple_of(self.stride) {
            return self.keep_if_lossy(place, window);
        }
        if self.windows.len() == self.max_windows {
            self.stride *= 2;
            let stride = self.stride;
            let (kept, others) = std::mem::take(&mut self.windows)
                .into_iter()
                .partition::<Vec<_>, _>(|(place, _)| place.is_multiple_of(stride));
            self.windows = kept;
            others.into_iter().for_each(|(place, window)| self.keep_if_lossy(place, window));
            if !place.is_multiple_of(stride) {
                return self.keep_if_lossy(place, window);
            }
        }
        self.windows.push((place, window));
    }

    fn keep_if_lossy(&mut self, place: u64, window: Window) {
        let is_first = self.lossy.as_ref().is_none_or(|(other, _)| place < *other);
        if is_first && window.has_retransmissions() {
            self.lossy = Some((place, window));
        }
    }

    /// Returns the windows at even distances. The last one may not be full.
    fn even(&self) -> impl Iterator<Item = (u64, &Window)> {
        let is_last = self.place.is_multiple_of(self.stride) && self.windows.len() < self.max_windows;
        let last = (is_last && self.filled > 0).then_some((self.place, &self.current));
        self.windows.iter().map(|(place, window)| (*place, window)).chain(last)
    }

    /// Returns the maximum number of windows that are kept.
    pub(crate) const fn max_windows(&self) -> usize {
        self.max_windows
    }

    /// Returns the number of windows of which one is stored.
    pub(crate) const fn stride(&self) -> u64 {
        self.stride
    }

    /// Returns `true` if no packet is omitted.
    pub(crate) fn is_whole(&self) -> bool {
        self.stride == 1 && self.even().count() as u64 * WINDOW >= self.place * WINDOW + self.filled
    }

    /// Returns the data as stretches without gaps and steps of the capture's clock.
    pub(crate) fn data_stretches(&self) -> Vec<Vec<Data>> {
        self.stretches(|window| &window.data, |data| data.is_cut)
    }

    /// Returns the acknowledgments as stretches without gaps and steps of the capture's clock.
    pub(crate) fn ack_stretches(&self) -> Vec<Vec<Ack>> {
        self.stretches(|window| &window.acks, |ack| ack.pause == Pause::Step)
    }

    /// Returns the windows for figures. Successive ones are joined.
    pub(crate) fn windows(&self) -> Vec<Window> {
        let mut all: Vec<(u64, &Window)> = self.even().collect();
        all.extend(self.lossy.iter().map(|(place, window)| (*place, window)));
        if !all.iter().any(|(place, _)| *place == self.place) && self.current.has_retransmissions() {
            all.push((self.place, &self.current));
        }
        all.sort_by_key(|(place, _)| *place);
        let mut joined: Vec<Window> = Vec::new();
        let mut next = u64::MAX;
        for (place, window) in all {
            match joined.last_mut().filter(|_| place == next) {
                Some(last) => {
                    last.data.extend_from_slice(&window.data);
                    last.acks.extend_from_slice(&window.acks);
                    last.held.extend_from_slice(&window.held);
                }
                None => joined.push(window.clone()),
            }
            next = place + 1;
        }
        joined
    }

    fn stretches<T: Copy>(&self, of: impl Fn(&Window) -> &Vec<T>, is_cut: impl Fn(&T) -> bool) -> Vec<Vec<T>> {
        let mut stretches: Vec<Vec<T>> = Vec::new();
        let mut next = u64::MAX;
        for (place, window) in self.even() {
            let items = of(window);
            let is_apart = place != next || items.first().is_some_and(&is_cut);
            for (number, items) in items.chunk_by(|_, item| !is_cut(item)).enumerate() {
                match stretches.last_mut().filter(|_| number == 0 && !is_apart) {
                    Some(last) => last.extend_from_slice(items),
                    None => stretches.push(items.to_vec()),
                }
            }
            next = place + 1;
        }
        stretches.retain(|stretch| !stretch.is_empty());
        stretches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(at: u64) -> Data {
        Data { at, start: at, length: 1, passing: Passing::New, ends_write: false, is_cut: false }
    }

    fn ack(at: u64) -> Ack {
        Ack {
            at,
            ack: at,
            delivered: at,
            value: None,
            covers: 1,
            octets: 40,
            window: None,
            is_pure: true,
            pause: Pause::None,
        }
    }

    /// Data at even times, ACKs at odd ones.
    fn trace(packets: u64) -> Trace {
        let mut trace = Trace::new(8);
        for at in 0..packets {
            if at.is_multiple_of(2) { trace.data(data(at)) } else { trace.ack(ack(at)) }
        }
        trace
    }

    /// The clock has stepped before the items 10 and 1536. The latter begins the second window.
    #[test]
    fn a_step_of_the_clock_begins_a_stretch() {
        let mut trace = Trace::new(8);
        for at in 0..WINDOW {
            let is_cut = [10, WINDOW / 2].contains(&at);
            trace.data(Data { is_cut, ..data(at) });
            trace.ack(Ack { pause: if is_cut { Pause::Step } else { Pause::None }, ..ack(at) });
        }
        let ends = |times: Vec<(u64, u64)>| assert_eq!(times, [(0, 9), (10, WINDOW / 2 - 1), (WINDOW / 2, WINDOW - 1)]);
        ends(trace.data_stretches().iter().map(|run| (run[0].at, run[run.len() - 1].at)).collect());
        ends(trace.ack_stretches().iter().map(|run| (run[0].at, run[run.len() - 1].at)).collect());
    }

    #[test]
    fn a_short_sequence_is_kept_whole() {
        let trace = trace(8 * WINDOW);
        let times = |stretch: &[Data]| stretch.iter().map(|data| data.at).collect::<Vec<_>>();
        assert_eq!(
            trace.data_stretches().iter().map(|stretch| times(stretch)).collect::<Vec<_>>(),
            [(0..8 * WINDOW).step_by(2).collect::<Vec<_>>()]
        );
        assert_eq!((trace.windows().len(), trace.is_whole()), (1, true));
    }

    #[test]
    fn a_long_sequence_is_sampled_in_windows_that_hold_both_data_and_their_acks() {
        let windows = trace(1_000_000).windows();
        // 326 windows of 3,072 packets are reduced to at most eight, but to at least four.
        assert!((4..=8).contains(&windows.len()), "{}", windows.len());
        for window in &windows {
            let spans = [
                [window.data[0].at, window.data.last().unwrap().at],
                [window.acks[0].at, window.acks.last().unwrap().at],
            ];
            assert!(spans[0].iter().zip(spans[1]).all(|(one, other)| one.abs_diff(other) == 1), "{spans:?}");
        }
        assert_eq!((windows[0].data[0].at, trace(1_000_000).is_whole()), (0, false));
        assert!(windows.last().unwrap().acks.last().unwrap().at > 700_000);
    }

    #[test]
    fn a_window_without_acks_makes_no_empty_stretch() {
        let mut trace = Trace::new(8);
        (0..5000).for_each(|at| trace.data(data(at)));
        assert_eq!((trace.data_stretches().len(), trace.ack_stretches().len()), (1, 0));
    }

    #[test]
    fn the_first_retransmission_is_kept_for_figures_and_not_for_estimates() {
        let mut trace = Trace::new(8);
        // In the sixth window of 326, of which every 64th is kept.
        let at = 5 * WINDOW + 100;
        (0..1_000_000).for_each(|now| {
            let passing = if now == at { Passing::Retransmitted } else { Passing::New };
            trace.data(Data { passing, ..data(now) });
        });
        let has_it = |data: &[Data]| data.iter().any(|data| data.passing == Passing::Retransmitted);
        assert!(trace.windows().iter().any(|window| has_it(&window.data)));
        assert!(!trace.data_stretches().iter().any(|stretch| has_it(stretch)));
    }
}
