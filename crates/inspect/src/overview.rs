//! The course of a whole direction in bounded memory, for figures. It includes the packets outside
//! the windows.

use crate::direction::{Data, Passing};

/// The maximum number of spans of time that are stored. Chosen: a figure is about a thousand pixels
/// wide.
const MAX_SPANS: usize = 1024;
/// The length of the first spans in ns. Chosen: the shortest connections fit into one window of
/// packets and need no spans.
const FIRST_LENGTH: u64 = 1_000_000;

/// The traffic in a span of time: highest numbers at its end, and the extent of out-of-sequence
/// data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    /// The index of the span, counted in spans since the first packet.
    place: u64,
    /// The highest octet of data.
    pub(crate) highest: Option<u64>,
    pub(crate) acknowledged: Option<u64>,
    /// The right edge of the receive window.
    pub(crate) edge: Option<u64>,
    /// The lowest and the highest octet of retransmitted data.
    pub(crate) retransmitted: Option<(u64, u64)>,
    pub(crate) reordered: Option<(u64, u64)>,
}

impl Span {
    /// Joins the next span to this span.
    fn join(&mut self, later: &Self) {
        self.highest = self.highest.max(later.highest);
        self.acknowledged = self.acknowledged.max(later.acknowledged);
        self.edge = later.edge.or(self.edge);
        self.retransmitted = union(self.retransmitted, later.retransmitted);
        self.reordered = union(self.reordered, later.reordered);
    }
}

fn union(one: Option<(u64, u64)>, other: Option<(u64, u64)>) -> Option<(u64, u64)> {
    match (one, other) {
        (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
        _ => one.or(other),
    }
}

/// Spans of time of equal length in which packets passed. When there are too many, pairs are
/// merged.
#[derive(Clone, Debug)]
pub(crate) struct Overview {
    first: Option<u64>,
    last: u64,
    length: u64,
    spans: Vec<Span>,
}

impl Default for Overview {
    fn default() -> Self {
        Self { first: None, last: 0, length: FIRST_LENGTH, spans: Vec::new() }
    }
}

impl Overview {
    /// Records data that passed the point of capture.
    #[inline]
    pub(crate) fn data(&mut self, data: &Data) {
        let span = self.span(data.at);
        let end = data.start + u64::from(data.length);
        span.highest = span.highest.max(Some(end));
        match data.passing {
            Passing::New | Passing::Misfiled => {}
            Passing::Retransmitted => span.retransmitted = union(span.retransmitted, Some((data.start, end))),
            Passing::Reordered => span.reordered = union(span.reordered, Some((data.start, end))),
        }
    }

    /// Records an ACK that passed the point of capture. All octets below `acknowledged` have
    /// arrived, and `window` more octets may follow.
    #[inline]
    pub(crate) fn ack(&mut self, at: u64, acknowledged: u64, window: Option<u32>) {
        let span = self.span(at);
        span.acknowledged = span.acknowledged.max(Some(acknowledged));
        span.edge = window.map(|window| acknowledged + u64::from(window)).or(span.edge);
    }

    /// Returns the spans in order, each with the end of its time.
    pub(crate) fn spans(&self) -> impl Iterator<Item = (u64, &Span)> {
        let first = self.first.unwrap_or_default();
        self.spans.iter().map(move |span| ((first + (span.place + 1) * self.length).min(self.last), span))
    }

    #[inline]
    fn span(&mut self, at: u64) -> &mut Span {
        // The times of a connection do not decrease.
        self.last = self.last.max(at);
        let since = at.saturating_sub(*self.first.get_or_insert(at));
        let place = since / self.length;
        if self.spans.last().is_none_or(|span| span.place < place) {
            return self.begin(since);
        }
        let last = self.spans.len() - 1;
        &mut self.spans[last]
    }

    #[cold]
    fn begin(&mut self, since: u64) -> &mut Span {
        if self.spans.len() == MAX_SPANS {
            self.length *= 2;
            self.spans.iter_mut().for_each(|span| span.place /= 2);
            self.spans.dedup_by(|later, one| {
                let is_same = later.place == one.place;
                if is_same {
                    one.join(later);
                }
                is_same
            });
        }
        let place = since / self.length;
        if self.spans.last().is_none_or(|span| span.place < place) {
            self.spans.push(Span { place, ..Span::default() });
        }
        let last = self.spans.len() - 1;
        &mut self.spans[last]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(at: u64, start: u64, passing: Passing) -> Data {
        Data { at, start, length: 100, passing, ends_write: false, is_cut: false }
    }

    #[test]
    fn a_span_has_the_last_numbers_and_the_extent_of_what_was_retransmitted() {
        let mut overview = Overview::default();
        overview.data(&data(5, 1000, Passing::New));
        overview.data(&data(6, 300, Passing::Retransmitted));
        overview.data(&data(7, 700, Passing::Retransmitted));
        overview.ack(8, 800, Some(5000));
        let spans: Vec<_> = overview.spans().collect();
        let expected = Span {
            place: 0,
            highest: Some(1100),
            acknowledged: Some(800),
            edge: Some(5800),
            retransmitted: Some((300, 800)),
            reordered: None,
        };
        assert_eq!(spans, [(8, &expected)]);
    }

    #[test]
    fn a_long_connection_keeps_its_whole_course_in_bounded_memory() {
        let mut overview = Overview::default();
        (0..100_000).for_each(|number| overview.data(&data(number * 500_000, number * 100, Passing::New)));
        let spans: Vec<_> = overview.spans().collect();
        // 50 s are 782 spans of 64 ms. Spans of 32 ms would be 1,563.
        assert_eq!(spans.len(), 782);
        assert_eq!(spans.last().map(|(_, span)| span.highest), Some(Some(10_000_000)));
        assert!(spans.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1.highest < two[1].1.highest));
    }

    #[test]
    fn silence_takes_no_spans() {
        let mut overview = Overview::default();
        overview.data(&data(0, 0, Passing::New));
        overview.data(&data(3_600_000_000_000, 100, Passing::New));
        assert_eq!(overview.spans().count(), 2);
    }
}
