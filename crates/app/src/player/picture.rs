//! Damage as a viewer sees it: a frame that is decoded from a damaged frame is also damaged.

use super::arrivals::Shown;

/// The state of the picture.
#[derive(Clone, Debug)]
pub(super) struct Picture {
    /// The number of frames after which intra refresh has repaired a picture.
    refresh: u64,
    /// The number of frames until the picture is repaired; zero if it is clean.
    dirty: u64,
    /// The number of frames shown.
    pub(super) frames: u64,
    /// The number of frames with missing parts.
    pub(super) damaged: u64,
    /// The number of frames with artefacts: damaged frames, and frames that were decoded from
    /// frames with artefacts.
    pub(super) with_artefacts: u64,
    /// The number of runs of consecutive frames with artefacts.
    pub(super) runs: u64,
}

impl Picture {
    pub(super) const fn new(refresh: u32) -> Self {
        Self { refresh: refresh as u64, dirty: 0, frames: 0, damaged: 0, with_artefacts: 0, runs: 0 }
    }

    pub(super) const fn show(&mut self, Shown { is_key, is_complete }: Shown) {
        self.frames += 1;
        let was_clean = self.dirty == 0;
        if !is_complete {
            self.damaged += 1;
            // The damage is in this frame and in the following ones, until each part has been
            // refreshed once.
            self.dirty = self.refresh + 1;
        } else if is_key {
            self.dirty = 0;
        }
        if self.dirty > 0 {
            self.dirty -= 1;
            self.with_artefacts += 1;
            self.runs += was_clean as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of frames with artefacts, and the number of their runs. In `frames`, `k`
    /// is a key frame, `p` another frame, and an upper-case letter a damaged frame.
    fn seen(refresh: u32, frames: &str) -> (u64, u64) {
        let mut picture = Picture::new(refresh);
        for frame in frames.chars() {
            picture.show(Shown { is_key: frame.eq_ignore_ascii_case(&'k'), is_complete: frame.is_lowercase() });
        }
        (picture.with_artefacts, picture.runs)
    }

    #[test]
    fn refresh_repairs_a_picture() {
        assert_eq!(seen(3, "kppppp"), (0, 0));
        assert_eq!(seen(3, "kPpppppp"), (4, 1), "the frame and the three that refresh it");
        assert_eq!(seen(3, "kPpPpppp"), (6, 1), "damage in between begins the refresh anew");
        assert_eq!(seen(3, "kPpppPpp"), (7, 2));
    }

    #[test]
    fn a_key_frame_repairs_a_picture_at_once() {
        assert_eq!(seen(3, "kPkppp"), (1, 1));
        assert_eq!(seen(3, "KPpk"), (3, 1));
    }
}
