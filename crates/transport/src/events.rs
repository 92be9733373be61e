//! Queues the events of a connection until they are taken.

use acklab_base::Event;
use std::collections::VecDeque;

/// Events in chronological order.
#[derive(Debug, Default)]
pub(crate) struct Events {
    queue: VecDeque<Event>,
    /// `true` if lost data packets are recorded as events.
    records_losses: bool,
}

impl Events {
    /// Enables the recording of lost packets as events.
    pub(crate) const fn record_losses(&mut self) {
        self.records_losses = true;
    }

    pub(crate) fn push(&mut self, event: Event) {
        self.queue.push_back(event);
    }

    /// Records the loss of the packet with this number.
    pub(crate) fn push_loss(&mut self, number: u64) {
        if self.records_losses {
            self.push(Event::PacketLost { number });
        }
    }

    /// Removes and returns the oldest event.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Event> {
        self.queue.pop_front()
    }
}
