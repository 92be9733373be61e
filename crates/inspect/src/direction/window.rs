//! The receive window of a direction, and the probes of a closed one.

/// The maximum scale (RFC 7323, §2.3).
const MAX_SCALE: u8 = 14;

/// The window that the receiver offers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceiveWindow {
    scale: Option<u8>,
    /// `true` if the SYN of the receiver, which contains the scale, was captured.
    is_scale_known: bool,
    bytes: Option<u64>,
    /// The place of the byte that probed the window while it was closed.
    probe: Option<u64>,
}

impl ReceiveWindow {
    /// Records the scale of the receiver's SYN.
    pub(super) fn offer(&mut self, scale: Option<u8>) {
        self.scale = scale.map(|scale| scale.min(MAX_SCALE));
        self.is_scale_known = true;
    }

    /// Records the window field of an ACK.
    #[inline]
    pub(super) fn open(&mut self, window: u16) {
        self.bytes = Some(u64::from(window) << self.scale.unwrap_or(0));
    }

    /// Returns the window in bytes.
    pub(super) const fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    /// Returns the window in bytes, if its scale is known.
    pub(super) fn scaled(&self) -> Option<u64> {
        self.bytes.filter(|_| self.is_scale_known)
    }

    /// Returns `true` if the single byte at `start` probes a closed window after `highest`, or has
    /// done so before.
    pub(super) fn is_probed(&mut self, start: u64, highest: u64) -> bool {
        if start == highest && self.bytes == Some(0) {
            self.probe = Some(start);
        }
        self.probe == Some(start)
    }

    /// Returns `true` if the byte at `place` has probed the window.
    pub(super) fn has_probed(&self, place: u64) -> bool {
        self.probe == Some(place)
    }

    pub(super) const fn forget_probe(&mut self) {
        self.probe = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_syn_the_scale_is_not_known() {
        let mut window = ReceiveWindow::default();
        window.open(500);
        assert_eq!((window.bytes(), window.scaled()), (Some(500), None));
        window.offer(None);
        assert_eq!(window.scaled(), Some(500));
    }

    #[test]
    fn a_closed_window_is_probed_with_the_next_byte() {
        let mut window = ReceiveWindow::default();
        window.offer(Some(7));
        window.open(500);
        assert_eq!(window.bytes(), Some(64_000));
        assert!(!window.is_probed(9000, 9000));
        window.open(0);
        assert!(!window.is_probed(8999, 9000) && window.is_probed(9000, 9000));
        // The probe is repeated when the window is open again.
        window.open(500);
        assert!(window.has_probed(9000) && window.is_probed(9000, 9000));
    }
}
