//! The receive window that the peer offers (RFC 9293, §3.8.6; RFC 7323, §2).

use acklab_wire::tcp::Segment;

/// RFC 7323, §2.3: a larger shift is used as 14.
const MAX_SHIFT: u8 = 14;

/// The peer's receive window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PeerWindow {
    /// The highest offset that may be sent.
    end: u64,
    shift: u8,
    /// Max(SND.WND): the largest window that the peer has offered (RFC 9293, §3.8.6.2.1).
    largest: u64,
}

/// How an ACK moved the right edge of the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    /// It moved at all.
    pub(super) at_all: bool,
    /// It moved right.
    pub(super) forward: bool,
}

impl PeerWindow {
    /// The window of a SYN or SYN-ACK, which is not scaled (RFC 7323, §2.2), and the shift of those that follow.
    pub(super) fn establish(syn: &Segment) -> Self {
        let window = u64::from(syn.window);
        let shift = syn.options.window_scale.map_or(0, |shift| shift.min(MAX_SHIFT));
        Self { end: window, shift, largest: window }
    }

    /// This window without scaling, because this end does not offer it.
    pub(super) fn unscaled(self) -> Self {
        Self { shift: 0, ..self }
    }

    /// An ACK up to `ack` has this window `field`.
    #[inline]
    pub(super) fn update(&mut self, ack: u64, field: u16) -> Moved {
        let window = u64::from(field) << self.shift;
        let end = ack + window;
        let moved = Moved { at_all: end != self.end, forward: end > self.end };
        self.largest = self.largest.max(window);
        self.end = self.end.max(end);
        moved
    }

    /// Octets that may be sent beyond `nxt`.
    #[inline]
    pub(super) const fn room(&self, nxt: u64) -> u64 {
        self.end.saturating_sub(nxt)
    }

    /// The largest window that the peer has offered.
    pub(super) const fn largest(&self) -> u64 {
        self.largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::Ecn;
    use acklab_wire::tcp::{Flags, Options, SeqNumber};

    #[test]
    fn only_what_follows_the_syn_is_scaled_and_the_end_never_moves_back() {
        let syn_ack = Segment {
            ecn: Ecn::NotEct,
            seq: SeqNumber(0),
            ack: SeqNumber(0),
            flags: Flags::SYN | Flags::ACK,
            window: 1000,
            options: Options { window_scale: Some(20), ..Options::default() },
            payload: 0,
        };
        let mut window = PeerWindow::establish(&syn_ack);
        assert_eq!(window.room(400), 600);
        assert!(window.update(500, 1).forward);
        assert_eq!((window.room(500), window.largest()), (1 << MAX_SHIFT, 1 << MAX_SHIFT), "a shift of 14 at most");
        let moved = window.update(600, 0);
        assert!(moved.at_all && !moved.forward);
        assert_eq!(window.room(500), 1 << MAX_SHIFT);
    }
}
