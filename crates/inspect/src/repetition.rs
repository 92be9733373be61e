//! Recognises a file that was appended to itself: it begins again with its first frame, at the same
//! time.
//!
//! Tools that append captures (`mergecap -a`, `cat` of classic files) write such files. The second
//! part repeats the first. It would look like a step of the clock, and like connections that
//! transfer all data twice.

/// Octets of the first frame that are compared: all headers, and some payload.
const COMPARED: usize = 256;
/// The minimum number of frames before a file can begin again. A shorter file may repeat a frame
/// for another reason.
const MIN_FRAMES: u64 = 8;

/// The first frame of a file, and whether the file repeats itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repetition {
    /// The time of the first frame in nanoseconds, its octets, and its length in the file.
    first: Option<(u64, Vec<u8>, usize)>,
    frames: u64,
    /// The latest time before the file began again.
    newest: u64,
    is_within: bool,
}

impl Repetition {
    /// Adds a frame. Returns `true` if the file contained it before.
    #[inline]
    pub(crate) fn repeats(&mut self, nanos: u64, octets: &[u8]) -> bool {
        self.frames += 1;
        if self.is_within {
            self.is_within = nanos <= self.newest;
            return self.is_within;
        }
        match &self.first {
            Some(_) if nanos >= self.newest => self.newest = nanos,
            Some((first, ..)) if nanos == *first => self.is_within = self.begins_again(octets),
            Some(_) => {}
            None => self.begin(nanos, octets),
        }
        self.is_within
    }

    #[cold]
    fn begin(&mut self, nanos: u64, octets: &[u8]) {
        self.first = Some((nanos, octets.iter().copied().take(COMPARED).collect(), octets.len()));
        self.newest = nanos;
    }

    #[cold]
    fn begins_again(&self, octets: &[u8]) -> bool {
        let is_first =
            |(_, start, length): &(u64, Vec<u8>, usize)| *length == octets.len() && octets.starts_with(start);
        self.frames > MIN_FRAMES && self.first.as_ref().is_some_and(is_first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns for each frame of a file whether it is a repetition. `times` are the numbers of
    /// their times.
    fn repeated(times: &[u64]) -> Vec<bool> {
        let mut repetition = Repetition::default();
        times.iter().map(|&nanos| repetition.repeats(nanos, &nanos.to_be_bytes())).collect()
    }

    #[test]
    fn a_file_that_begins_again_repeats_itself_up_to_its_latest_time() {
        let once: Vec<u64> = (0..20).collect();
        let twice = [&once[..], &once[..], &[20, 21]].concat();
        let found = repeated(&twice);
        assert!(found[..20].iter().all(|repeats| !repeats));
        assert!(found[20..40].iter().all(|repeats| *repeats));
        assert!(found[40..].iter().all(|repeats| !repeats), "the file goes on");
    }

    /// The clock steps back to the time of the first frame, but the frame differs.
    #[test]
    fn another_frame_at_the_time_of_the_first_is_no_repetition() {
        let mut repetition = Repetition::default();
        assert!((0..20).all(|nanos| !repetition.repeats(nanos, &[1, 2])));
        assert!(!repetition.repeats(0, &[1, 3]));
    }

    /// With a mirror port, the file has each frame twice: the first is repeated immediately, before
    /// any other frame.
    #[test]
    fn frames_that_are_captured_twice_are_no_repetition() {
        assert!(repeated(&[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6]).iter().all(|repeats| !repeats));
    }
}
