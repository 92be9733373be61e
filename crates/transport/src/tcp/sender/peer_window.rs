//! The receive window that the peer offers (RFC 9293, §3.8.6; RFC 7323, §2).

use super::super::rules::WindowUpdate;
use acklab_wire::tcp::{Segment, SeqNumber};

/// RFC 7323, §2.3: a larger shift is treated as 14.
const MAX_SHIFT: u8 = 14;

/// The receive window of the peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerWindow {
    /// The right edge of the window: SND.UNA + SND.WND of the segment that last updated the window.
    end: u64,
    /// The acknowledgment number of that segment, as an offset (SND.WL2).
    acked: u64,
    /// The sequence number of that segment (SND.WL1). The number of a SYN is one less than that of
    /// the first ACK after the SYN.
    seq: SeqNumber,
    /// The sequence number of the SYN.
    syn: SeqNumber,
    rule: WindowUpdate,
    /// `true` if the peer sends no data, so that all its segments have the same sequence number.
    is_silent: bool,
    shift: u8,
    /// Max(SND.WND): the largest window that the peer has offered (RFC 9293, §3.8.6.2.1).
    largest: u64,
}

/// The movement of the window's right edge on an ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    /// `true` if the edge moved or, by Linux's rule, the segment updated the window. Without SACK,
    /// the ACK is then not a duplicate.
    pub(super) at_all: bool,
    /// `true` if the edge moved to the right.
    pub(super) forward: bool,
}

impl PeerWindow {
    /// Creates the window before the peer has offered a window. `rule` determines its updates.
    pub(super) const fn new(rule: WindowUpdate) -> Self {
        Self { end: 0, acked: 0, seq: SeqNumber(0), syn: SeqNumber(0), rule, is_silent: false, shift: 0, largest: 0 }
    }

    /// Returns the window for a peer that sends no data.
    pub(super) const fn of_silent_peer(self) -> Self {
        Self { is_silent: true, ..self }
    }

    /// Returns the window of a SYN or SYN-ACK, which is not scaled (RFC 7323, §2.2). Later windows
    /// use the shift in `syn`.
    pub(super) fn establish(self, syn: &Segment) -> Self {
        let window = u64::from(syn.window);
        let shift = syn.options.window_scale.map_or(0, |shift| shift.min(MAX_SHIFT));
        Self { end: window, acked: 0, seq: syn.seq, syn: syn.seq, shift, largest: window, ..self }
    }

    /// Returns this window without scaling, because this end does not offer window scaling.
    pub(super) fn unscaled(self) -> Self {
        Self { shift: 0, ..self }
    }

    /// Processes `segment`, whose acknowledgment number `ack` is not below snd.una.
    #[inline]
    pub(super) fn update(&mut self, ack: u64, segment: &Segment) -> Moved {
        let window = u64::from(segment.window) << self.shift;
        let end = ack + window;
        let mut moved = Moved { at_all: end != self.end, forward: end > self.end };
        let seq = if self.is_silent { SeqNumber::at(self.syn, 1) } else { segment.seq };
        let updates = match self.rule {
            _ if seq.is_after(self.seq) || ack > self.acked => true,
            WindowUpdate::Newer => seq == self.seq,
            WindowUpdate::NewerWiderOrShut => seq == self.seq && (moved.forward || window == 0),
            WindowUpdate::NewerOrWider => moved.forward,
        };
        if self.rule == WindowUpdate::NewerWiderOrShut {
            // `FLAG_WIN_UPDATE` is also set if only SND.WL1 changes. The first ACK after the SYN
            // has that effect.
            moved.at_all = updates;
        }
        if updates {
            (self.end, self.acked, self.seq) = (end, ack, seq);
            self.largest = self.largest.max(window);
        }
        moved
    }

    /// Returns the number of bytes that may be sent beyond `nxt`.
    #[inline]
    pub(super) const fn room(&self, nxt: u64) -> u64 {
        self.end.saturating_sub(nxt)
    }

    /// Returns the largest window that the peer has offered.
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
    fn only_what_follows_the_syn_is_scaled() {
        let syn_ack = Segment {
            ecn: Ecn::NotEct,
            seq: SeqNumber(0),
            ack: SeqNumber(0),
            flags: Flags::SYN | Flags::ACK,
            window: 1000,
            options: Options { window_scale: Some(20), ..Options::default() },
            payload: 0,
        };
        let mut window = PeerWindow::new(WindowUpdate::Newer).establish(&syn_ack);
        assert_eq!(window.room(400), 600);
        let ack = |window| Segment { window, options: Options::default(), ..syn_ack };
        assert!(window.update(500, &ack(1)).forward);
        assert_eq!((window.room(500), window.largest()), (1 << MAX_SHIFT, 1 << MAX_SHIFT), "a shift of 14 at most");
        let moved = window.update(600, &ack(0));
        assert!(moved.at_all && !moved.forward);
        assert_eq!(window.room(500), 100, "what was acknowledged was within the window");
    }

    /// The same ACK, repeated with a smaller window, a window of zero, and a larger window.
    #[test]
    fn stacks_differ_on_what_shrinks_a_window() {
        let segment = |window| Segment {
            ecn: Ecn::NotEct,
            seq: SeqNumber(1),
            ack: SeqNumber(0),
            flags: Flags::ACK,
            window,
            options: Options::default(),
            payload: 0,
        };
        let rooms = |rule| {
            let mut window = PeerWindow::new(rule).establish(&segment(1000));
            [500, 0, 2000].map(|size| {
                window.update(0, &segment(size));
                window.room(0)
            })
        };
        assert_eq!(rooms(WindowUpdate::Newer), [500, 0, 2000]);
        assert_eq!(rooms(WindowUpdate::NewerWiderOrShut), [1000, 0, 2000]);
        assert_eq!(rooms(WindowUpdate::NewerOrWider), [1000, 1000, 2000]);
        let mut window = PeerWindow::new(WindowUpdate::NewerOrWider).establish(&segment(1000));
        window.update(100, &segment(0));
        assert_eq!(window.room(100), 0, "a later acknowledgment updates it in any case");
    }
}
