//! The context of a flow: its last header and control fields.

use super::Ack;
use super::ip_id::Behavior;
use super::options::List;
use crate::tcp::Timestamps;
use arrayvec::ArrayVec;

/// A header and its control fields (RFC 6846, §6.1): the reference for coding the next header.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) ack: Ack,
    /// The options of the header in their order (§6.3.3).
    pub(super) list: List,
    /// Master sequence number (§6.1.1).
    pub(super) msn: u16,
    /// The behavior of the IP-ID (§6.1.2).
    pub(super) behavior: Behavior,
    /// The control field `ip_id_offset` (§8.2), which each header sets under its own behavior. The
    /// RFC does not specify whether a random or zero IP-ID sets it. librohc's compressor assumes
    /// that it does. So the decompressor here also sets it for a random or zero IP-ID. The
    /// compressor here uses it only after a sequential IP-ID.
    pub(super) ip_id_offset: u16,
    /// `true` if each header carries the ECN bits (§6.1.3).
    pub(super) ecn_used: bool,
    /// The step of ACK numbers (§8.2: `ack_stride`); 0 if it is unknown.
    pub(super) ack_stride: u16,
}

impl State {
    /// Returns the state after an uncompressed ACK of TCP/HACK. Both ends derive it from the header
    /// alone. `msn` is the number before the number of the next compressed ACK.
    pub(super) const fn of_uncompressed(ack: Ack, list: List, msn: u16) -> Self {
        let behavior = Behavior::initial(ack.ip.identification);
        let mut state = Self { ack, list, msn, behavior, ip_id_offset: 0, ecn_used: false, ack_stride: 0 };
        state.set_ip_id_offset(0);
        state
    }

    /// Sets `ip_id_offset` to the difference between the IP-ID and `msn`.
    pub(super) const fn set_ip_id_offset(&mut self, msn: u16) {
        self.ip_id_offset = self.behavior.offset(self.ack.ip.identification, msn);
    }

    pub(super) const fn seq(&self) -> u32 {
        self.ack.segment.seq.0
    }

    pub(super) const fn ack_number(&self) -> u32 {
        self.ack.segment.ack.0
    }
}

/// The maximum of [`RohcConfig::references`](super::RohcConfig::references).
pub const MAX_REFERENCES: usize = 4;

/// The last headers that were sent. Any of them may be the last header that the decompressor
/// received: the sliding window of W-LSB encoding and of the optimistic approach (RFC 6846, §5.2).
/// A field is omitted if it has the same value in all these headers. The low bits of a field are
/// sent if they are unambiguous for all these headers.
#[derive(Clone, Debug)]
pub(super) struct References {
    states: ArrayVec<State, MAX_REFERENCES>,
    newest: usize,
    size: usize,
    /// The number of consecutive headers with timestamps, at most `size`.
    timestamps_run: usize,
    /// Possible timestamps in the decompressor's item table (§6.3.2) while headers have no
    /// timestamps. `None` if the table may contain none of them.
    earlier_timestamps: Option<ArrayVec<Timestamps, MAX_REFERENCES>>,
}

impl References {
    /// Returns a window of up to `size` headers, which contains `first`.
    pub(super) fn new(first: State, size: u8) -> Self {
        let size = usize::from(size).clamp(1, MAX_REFERENCES);
        let timestamps_run = usize::from(first.ack.segment.options.timestamps.is_some());
        Self { states: [first].into_iter().collect(), newest: 0, size, timestamps_run, earlier_timestamps: None }
    }

    pub(super) fn newest(&self) -> &State {
        &self.states[self.newest]
    }

    /// Adds `state`, which replaces the oldest header of a full window.
    pub(super) fn push(&mut self, state: State) {
        self.note_timestamps(state.ack.segment.options.timestamps.is_some());
        if self.states.len() < self.size {
            self.newest = self.states.len();
            self.states.push(state);
        } else {
            self.newest = (self.newest + 1) % self.size;
            self.states[self.newest] = state;
        }
    }

    /// Records whether a header has timestamps. When they end after a run as long as the window,
    /// the decompressor has received at least one header of the run, so its item table has one of
    /// the last timestamps. After a shorter run, the table may have an older item or no item.
    fn note_timestamps(&mut self, has_timestamps: bool) {
        if has_timestamps {
            self.timestamps_run = (self.timestamps_run + 1).min(self.size);
        } else if self.timestamps_run > 0 {
            let timestamps = self.states.iter().map(|state| state.ack.segment.options.timestamps);
            self.earlier_timestamps = if self.timestamps_run == self.size { timestamps.collect() } else { None };
            self.timestamps_run = 0;
        }
    }

    /// Returns the headers of the window, in no particular order.
    #[inline]
    pub(super) fn states(&self) -> impl Iterator<Item = &State> {
        self.states.iter()
    }

    /// Returns `true` if all headers of the window satisfy the predicate.
    #[inline]
    pub(super) fn all(&self, predicate: impl FnMut(&State) -> bool) -> bool {
        self.states().all(predicate)
    }

    /// Returns `true` if the item table of the decompressor certainly has timestamps, and all
    /// values that they may have satisfy the predicate.
    #[inline]
    pub(super) fn all_timestamps(&self, mut predicate: impl FnMut(Timestamps) -> bool) -> bool {
        self.all(|state| match state.ack.segment.options.timestamps {
            Some(timestamps) => predicate(timestamps),
            None => self.earlier_timestamps.as_ref().is_some_and(|earlier| earlier.iter().copied().all(&mut predicate)),
        })
    }
}
