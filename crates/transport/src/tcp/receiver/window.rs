//! The receive window (RFC 9293, §3.8.6). The window opens as the application reads.

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
    /// The size of the buffer, at most the maximum that the window field can express.
    size: u64,
    /// The window that autotuning selects, or `None` without autotuning.
    autotuned: Option<Selected>,
    shift: u8,
    /// Payload of a full-sized segment.
    mss: u64,
    rule: BeyondWindow,
    /// `OnDemand`: the total of bytes that the application has read.
    read: u64,
    /// `OnDemand`, or with autotuning: the maximum right edge that was offered, rcv.nxt + rcv.wnd.
    edge: u64,
}

impl Window {
    /// Creates the window before the handshake.
    pub(super) fn new(buffer: u64, mss: u64, rule: BeyondWindow) -> Self {
        Self { reading: Reading::AtOnce, size: buffer, autotuned: None, shift: 0, mss, rule, read: 0, edge: 0 }
    }

    /// Returns `true` if data beyond the window are discarded even if the application has read all
    /// earlier data.
    pub(super) fn cuts(&self) -> bool {
        self.rule == BeyondWindow::CutOff
    }

    /// Returns `true` if a segment that starts within the window may end beyond the window. The
    /// application must have read all data below rcv.nxt, which is `next`.
    pub(super) fn takes_whole(&self, next: u64) -> bool {
        self.rule == BeyondWindow::TakenWhole && !self.has_unread(next)
    }

    /// Applies the unit of the window field, 2^`shift` bytes, and the window that the handshake has
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

    /// Returns `true` if the window certainly has room for the next `octets` bytes of the stream
    /// and does not change when they arrive.
    pub(super) fn takes_at_once(&self, octets: u32) -> bool {
        self.is_constant() && u64::from(octets) <= self.size
    }

    /// Returns `true` if the application reads arriving data immediately.
    pub(super) fn is_read_at_once(&self) -> bool {
        self.reading == Reading::AtOnce
    }

    /// Returns the number of bytes from `next` on that the last offered window permits.
    pub(super) fn left(&self, next: u64) -> u64 {
        if self.is_constant() { self.size } else { self.edge.saturating_sub(next) }
    }

    /// Returns `true` if unread data exceed the buffer, with rcv.nxt at `next`. Linux may accept a
    /// FIN even then.
    pub(super) fn is_overrun(&self, next: u64) -> bool {
        self.rule == BeyondWindow::TakenWhole && self.reading == Reading::OnDemand && self.left(next) == 0
    }

    /// Returns `true` if unread data need more memory than the buffer has, with rcv.nxt at `next`.
    /// The memory is twice the size of the buffer (`SO_RCVBUF`). A packet that exceeds the memory
    /// contains many segments, so headers are a small part of it.
    pub(super) fn is_out_of_memory(&self, next: u64) -> bool {
        self.rule == BeyondWindow::TakenWhole
            && self.reading == Reading::OnDemand
            && next.saturating_sub(self.read) > self.size.saturating_mul(2)
    }

    /// Returns the end of the accepted part of a segment from `start` to `end`, with rcv.nxt at
    /// `next`. The part beyond the window is discarded (RFC 9293, §3.10.7.4).
    pub(super) fn cut(&self, next: u64, start: u64, end: u64, has_fin: bool) -> u64 {
        let limit = next + self.left(next);
        if self.takes_whole(next) && start < limit && next < limit {
            return end;
        }
        // A FIN has a sequence number but occupies no memory. Linux accepts a FIN even if the
        // window is closed (`tcp_data_queue`).
        let fin = u64::from(has_fin && self.reading == Reading::OnDemand && end == limit + 1);
        end.min(limit + fin)
    }

    /// Returns the window that follows from the application's reads, in whole units of the field.
    fn open(&self, next: u64) -> u64 {
        let free = self.free(next);
        let window = match self.autotuned {
            // The window is rounded up, so that scaling does not reduce it, unless it equals the
            // free memory (`__tcp_select_window`).
            Some(Selected { window, is_short: false }) => window.next_multiple_of(1 << self.shift).min(free),
            Some(Selected { window, is_short: true }) => window.min(free),
            None => free,
        };
        window >> self.shift << self.shift
    }

    /// Returns the bytes of the buffer without unread data, with rcv.nxt at `next`.
    fn free(&self, next: u64) -> u64 {
        let unread = if self.is_read_at_once() { 0 } else { next.saturating_sub(self.read) };
        self.size.saturating_sub(unread)
    }

    /// Returns `true` if the right edge can move by half the buffer or by a full-sized segment,
    /// whichever is less. Until then, the edge does not move (RFC 9293, §3.8.6.2.2). Autotuning
    /// moves the edge by less, and closes a window that would be smaller than a segment.
    fn can_move(&self, next: u64) -> bool {
        let step = if self.autotuned.is_some() { 1 } else { (self.size / 2).min(self.mss) };
        self.open(next) >= self.left(next) + step
    }

    /// Returns `true` if the application has unread data, with rcv.nxt at `next`.
    fn has_unread(&self, next: u64) -> bool {
        !self.is_read_at_once() && self.read < next
    }

    /// Returns the room in the buffer that unread data leave. rcv.nxt is `next`, and the last ACK
    /// reported `acked`.
    fn room(&self, next: u64, acked: u64) -> Room {
        let free = self.free(next);
        let (window, is_short) =
            self.autotuned.map_or((free, false), |selected| (selected.window.min(free), selected.is_short));
        let shrinks = window.next_multiple_of(1 << self.shift) < self.edge.saturating_sub(acked);
        Room { is_short: is_short || free < self.size / 2, shrinks }
    }

    /// Returns the window field of an ACK for `next`. The right edge never moves left. If the field
    /// cannot express the edge exactly, the edge moves right by less than a unit (RFC 7323, §2.4;
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
    /// Sets when the application reads. Call before opening.
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

    /// Returns the window field of an ACK that is sent now.
    #[inline]
    pub(super) fn window_field(&mut self) -> u16 {
        self.select_window();
        self.window.offer(self.stream.next())
    }

    /// Reports the room in the buffer to the policy, if any data are unread.
    #[inline]
    pub(super) fn tell_room(&mut self) {
        let next = self.stream.next();
        if self.window.has_unread(next) {
            self.select_window();
            let room = self.window.room(next, self.last_ack_sent);
            self.tell_policy(|policy| policy.on_unread(room));
        }
    }

    /// Returns the number of bytes that have arrived in order, read or unread.
    #[inline]
    pub(in crate::tcp) fn in_order(&self) -> u64 {
        let next = self.stream.next();
        self.fin.map_or(next, |fin| next.min(fin))
    }

    /// Returns the number of bytes that were passed to the application.
    #[must_use]
    #[inline]
    pub fn delivered(&self) -> u64 {
        match self.window.reading {
            Reading::AtOnce => self.in_order(),
            Reading::OnDemand => self.window.read,
        }
    }

    /// Returns the number of bytes that the application could read now.
    #[must_use]
    pub fn readable(&self) -> u64 {
        self.in_order() - self.delivered()
    }

    /// Reads at most `octets` of the available bytes for the application. Returns the number of
    /// bytes read.
    ///
    /// If the read at least doubles the window, an ACK with the new window is due. If no data are
    /// left unread, the ACK policy may request an ACK (`__tcp_cleanup_rbuf`). Poll for an ACK after
    /// this call.
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

    /// Consults the policy about pending data if the application's read has emptied the buffer.
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
