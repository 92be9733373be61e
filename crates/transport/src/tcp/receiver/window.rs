//! The receive window (RFC 9293, §3.8.6) and the application that opens it by reading.

use super::super::rules::BeyondWindow;
use super::Receiver;
use super::autotuning::{Autotuning, Selected};
use crate::ack::{Reason, Room};
use crate::reading::Reading;
use acklab_base::Instant;

/// The receive window that this end offers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    reading: Reading,
    /// The size of the buffer, up to the maximum of the window field.
    size: u64,
    /// The selection of autotuning, if there is autotuning.
    autotuned: Option<Selected>,
    shift: u8,
    /// Payload of a full-sized segment.
    mss: u64,
    rule: BeyondWindow,
    /// `OnDemand`: the bytes that the application has read.
    read: u64,
    /// `OnDemand`, or with autotuning: the maximum right edge offered so far, rcv.nxt + rcv.wnd.
    edge: u64,
}

impl Window {
    /// Creates the window before the handshake.
    pub(super) fn new(buffer: u64, mss: u64, rule: BeyondWindow) -> Self {
        Self { reading: Reading::AtOnce, size: buffer, autotuned: None, shift: 0, mss, rule, read: 0, edge: 0 }
    }

    /// Returns `true` if data beyond the window are cut off even if the application has read
    /// everything.
    pub(super) fn cuts(&self) -> bool {
        self.rule == BeyondWindow::CutOff
    }

    /// Returns `true` if a segment that begins within the window may end beyond it. This requires
    /// that the application has read everything below rcv.nxt, which is `next`.
    pub(super) fn takes_whole(&self, next: u64) -> bool {
        self.rule == BeyondWindow::TakenWhole && !self.has_unread(next)
    }

    /// Adopts the unit of the window field, 2^`shift` bytes, and the window that the handshake has
    /// offered.
    pub(super) fn agree(self, buffer: u64, shift: u8, offered: u16) -> Self {
        let size = (buffer >> shift).min(u64::from(u16::MAX)) << shift;
        Self { size, shift, edge: u64::from(offered), ..self }
    }

    /// Sets the window that autotuning selects now; `None` without autotuning.
    pub(super) const fn autotune(&mut self, selected: Option<Selected>) {
        self.autotuned = selected;
    }

    /// Returns `true` if the right edge moves with rcv.nxt, because the whole buffer is always
    /// offered.
    fn is_constant(&self) -> bool {
        self.is_read_at_once() && self.autotuned.is_none()
    }

    /// Returns `true` if the window certainly holds the next `octets` bytes of the stream, and does
    /// not change when they arrive.
    pub(super) fn takes_at_once(&self, octets: u32) -> bool {
        self.is_constant() && u64::from(octets) <= self.size
    }

    /// Returns `true` if the application reads arriving data at once.
    pub(super) fn is_read_at_once(&self) -> bool {
        self.reading == Reading::AtOnce
    }

    /// Returns the bytes that the sender may send from `next` on, by the last offered window.
    pub(super) fn left(&self, next: u64) -> u64 {
        if self.is_constant() { self.size } else { self.edge.saturating_sub(next) }
    }

    /// Returns `true` if unread data leave no window, with rcv.nxt at `next`, after a FIN that
    /// Linux accepted nevertheless.
    pub(super) fn is_overrun(&self, next: u64) -> bool {
        self.rule == BeyondWindow::TakenWhole && self.reading == Reading::OnDemand && self.left(next) == 0
    }

    /// Returns `true` if unread data need more memory than there is, with rcv.nxt at `next`. Memory
    /// is twice the size of the buffer (`SO_RCVBUF`). A segment that exceeds it holds many
    /// segments, so headers are a small part of it.
    pub(super) fn is_out_of_memory(&self, next: u64) -> bool {
        self.rule == BeyondWindow::TakenWhole
            && self.reading == Reading::OnDemand
            && next.saturating_sub(self.read) > self.size.saturating_mul(2)
    }

    /// Returns the end of the accepted part of a segment from `start` to `end`, with rcv.nxt at
    /// `next`. The part beyond the window is cut off (RFC 9293, §3.10.7.4).
    pub(super) fn cut(&self, next: u64, start: u64, end: u64, has_fin: bool) -> u64 {
        let limit = next + self.left(next);
        if self.takes_whole(next) && start < limit && next < limit {
            return end;
        }
        // A FIN has a sequence number and needs no room. Linux accepts it even if the window is
        // closed (`tcp_data_queue`).
        let fin = u64::from(has_fin && self.reading == Reading::OnDemand && end == limit + 1);
        end.min(limit + fin)
    }

    /// Returns the window after the application's reads, in whole units of the field.
    fn open(&self, next: u64) -> u64 {
        let free = self.free(next);
        let window = match self.autotuned {
            // Rounded up, so that scaling does not reduce it, unless the window equals the free
            // memory (`__tcp_select_window`).
            Some(Selected { window, is_short: false }) => window.next_multiple_of(1 << self.shift).min(free),
            Some(Selected { window, is_short: true }) => window.min(free),
            None => free,
        };
        window >> self.shift << self.shift
    }

    /// Returns the part of the buffer that unread data leave, with rcv.nxt at `next`.
    fn free(&self, next: u64) -> u64 {
        let unread = if self.is_read_at_once() { 0 } else { next.saturating_sub(self.read) };
        self.size.saturating_sub(unread)
    }

    /// Returns `true` if the right edge can move by half the buffer or a full-sized segment,
    /// whichever is less. Until then, it stays (RFC 9293, §3.8.6.2.2). Autotuning closes a window
    /// that would be shorter, and moves the edge by less.
    fn can_move(&self, next: u64) -> bool {
        let step = if self.autotuned.is_some() { 1 } else { (self.size / 2).min(self.mss) };
        self.open(next) >= self.left(next) + step
    }

    /// Returns `true` if the application has unread data, with rcv.nxt at `next`.
    fn has_unread(&self, next: u64) -> bool {
        !self.is_read_at_once() && self.read < next
    }

    /// Returns the room that unread data leave in the buffer, with rcv.nxt at `next` and the last
    /// ACK at `acked`.
    fn room(&self, next: u64, acked: u64) -> Room {
        let free = self.free(next);
        let (window, is_short) =
            self.autotuned.map_or((free, false), |selected| (selected.window.min(free), selected.is_short));
        let shrinks = window.next_multiple_of(1 << self.shift) < self.edge.saturating_sub(acked);
        Room { is_short: is_short || free < self.size / 2, shrinks }
    }

    /// Returns the window field of an ACK for `next`. The right edge never moves left. If the field
    /// cannot express the edge exactly, it moves right by less than a unit (RFC 7323, §2.4;
    /// `tcp_select_window`).
    pub(super) fn offer(&mut self, next: u64) -> u16 {
        if self.is_constant() {
            return (self.size >> self.shift) as u16;
        }
        let kept = self.left(next).next_multiple_of(1 << self.shift);
        let window = if self.can_move(next) { self.open(next).max(kept) } else { kept };
        self.edge = self.edge.max(next + window);
        (window >> self.shift) as u16
    }
}

impl Receiver {
    /// Sets how the application reads. Call it before the connection opens.
    #[must_use]
    pub fn with_reading(mut self, reading: Reading) -> Self {
        self.window.reading = reading;
        self
    }

    /// Updates the window that an ACK would offer now, if there is autotuning.
    #[inline]
    pub(super) fn select_window(&mut self) {
        self.window.autotune(self.autotuning.as_ref().map(Autotuning::selected));
    }

    /// Returns the window field of this end's SYN or SYN-ACK, which is not scaled (RFC 7323, §2.2).
    pub(super) fn initial_window(&self) -> u16 {
        let whole = self.config.receive_buffer.get();
        let initial = self.autotuning.as_ref().map(|autotuning| autotuning.initial_window(self.announced_payload()));
        u16::try_from(initial.unwrap_or(whole).min(whole)).unwrap_or(u16::MAX)
    }

    /// Returns the window field of an ACK that leaves now.
    #[inline]
    pub(super) fn window_field(&mut self) -> u16 {
        self.select_window();
        self.window.offer(self.stream.next())
    }

    /// Reports to the policy the room that unread data leave in the buffer, if any data are unread.
    #[inline]
    pub(super) fn tell_room(&mut self) {
        let next = self.stream.next();
        if self.window.has_unread(next) {
            self.select_window();
            let room = self.window.room(next, self.last_ack_sent);
            self.tell_policy(|policy| policy.on_unread(room));
        }
    }

    /// Returns the bytes that have arrived in order, read or unread.
    #[inline]
    pub(in crate::tcp) fn in_order(&self) -> u64 {
        let next = self.stream.next();
        self.fin.map_or(next, |fin| next.min(fin))
    }

    /// Returns the bytes passed to the application, in order.
    #[must_use]
    #[inline]
    pub fn delivered(&self) -> u64 {
        match self.window.reading {
            Reading::AtOnce => self.in_order(),
            Reading::OnDemand => self.window.read,
        }
    }

    /// Returns the bytes that the application could read now.
    #[must_use]
    pub fn readable(&self) -> u64 {
        self.in_order() - self.delivered()
    }

    /// Reads at most `octets` of the available bytes for the application. Returns the number of
    /// bytes read.
    ///
    /// If this at least doubles the window, an ACK that reports it is due. If nothing is left
    /// unread, the ACK policy may request an ACK (`__tcp_cleanup_rbuf`). Poll for it afterwards.
    pub fn read(&mut self, now: Instant, octets: u64) -> u64 {
        let octets = octets.min(self.readable());
        let next = self.stream.next();
        if octets > 0 {
            self.window.read += octets;
            self.autotune_read(now, octets);
            self.select_window();
            let doubles = self.window.open(next) >= 2 * self.window.left(next);
            if self.fin.is_none() && doubles && self.window.can_move(next) {
                self.acknowledger.demand(now, Reason::WindowUpdate);
            }
            self.acknowledge_emptied(now);
            let sack = self.agreed.is_some_and(|agreed| agreed.has_sack);
            self.acknowledger.note_read(now, self.stream.held(sack));
        }
        octets
    }

    /// Consults the policy about pending data if the application's read empties the buffer.
    fn acknowledge_emptied(&mut self, now: Instant) {
        let is_empty = self.fin.is_none() && self.readable() == 0 && self.stream.recent().is_empty();
        if is_empty
            && self.acknowledger.is_waiting()
            && let Some(reason) = self.tell_policy(|policy| policy.on_emptied()).flatten()
        {
            self.acknowledger.demand(now, reason);
        }
    }
}
