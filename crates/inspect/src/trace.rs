//! Packets that are kept for estimates: runs of successive ones, spread over the whole connection, in bounded memory.

/// Successive items in a run.
const RUN: usize = 1024;

/// A sample of a sequence: as many runs as fit, evenly spaced. The first items are always among them.
#[derive(Clone, Debug)]
pub(crate) struct Trace<T> {
    runs: Vec<Run<T>>,
    most_runs: usize,
    /// Of so many runs, one is kept.
    stride: usize,
    /// Items so far.
    count: u64,
}

#[derive(Clone, Debug)]
struct Run<T> {
    /// The place of its first item in the sequence, in runs.
    place: u64,
    items: Vec<T>,
}

impl<T: Copy> Trace<T> {
    /// An empty sample of at most `most_runs` runs.
    pub(crate) const fn new(most_runs: usize) -> Self {
        Self { runs: Vec::new(), most_runs, stride: 1, count: 0 }
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        let place = self.count / RUN as u64;
        self.count += 1;
        if let Some(run) = self.runs.last_mut().filter(|run| run.place == place) {
            run.items.push(item);
        } else if place.is_multiple_of(self.stride as u64) {
            self.begin(place, item);
        }
    }

    #[cold]
    fn begin(&mut self, place: u64, item: T) {
        if self.runs.len() == self.most_runs {
            self.stride *= 2;
            let stride = self.stride as u64;
            self.runs.retain(|run| run.place.is_multiple_of(stride));
            if !place.is_multiple_of(stride) {
                return;
            }
        }
        self.runs.push(Run { place, items: vec![item] });
    }

    /// The runs that are kept at most.
    pub(crate) const fn most_runs(&self) -> usize {
        self.most_runs
    }

    /// Of so many runs, one is kept.
    pub(crate) const fn stride(&self) -> u64 {
        self.stride as u64
    }

    /// The items as stretches without gaps.
    pub(crate) fn stretches(&self) -> Vec<Vec<T>> {
        let mut stretches: Vec<Vec<T>> = Vec::new();
        let mut next = u64::MAX;
        for run in &self.runs {
            match stretches.last_mut().filter(|_| run.place == next) {
                Some(last) => last.extend_from_slice(&run.items),
                None => stretches.push(run.items.clone()),
            }
            next = run.place + 1;
        }
        stretches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_sequence_is_kept_whole() {
        let mut trace = Trace::new(8);
        (0..3000).for_each(|item| trace.push(item));
        assert_eq!(trace.stretches(), [(0..3000).collect::<Vec<_>>()]);
    }

    #[test]
    fn a_long_sequence_is_sampled_in_runs_from_its_start_to_its_end() {
        let mut trace = Trace::new(8);
        (0..1_000_000).for_each(|item| trace.push(item));
        let stretches = trace.stretches();
        assert!(stretches.len() <= 8 && stretches.len() >= 4);
        assert_eq!(stretches[0][..3], [0, 1, 2]);
        assert!(stretches.iter().all(|run| run.windows(2).all(|two| two[1] == two[0] + 1)));
        assert!(*stretches.last().unwrap().last().unwrap() > 700_000);
    }
}
