//! The events of a connection, until they are taken.

use acklab_base::Event;
use std::collections::VecDeque;

/// Events in the order in which they happened.
#[derive(Debug, Default)]
pub(crate) struct Events {
    queue: VecDeque<Event>,
    /// Packets of data that are declared lost are events.
    records_losses: bool,
}

impl Events {
    /// From now on, lost packets are events.
    pub(crate) const fn record_losses(&mut self) {
        self.records_losses = true;
    }

    pub(crate) fn push(&mut self, event: Event) {
        self.queue.push_back(event);
    }

    /// The packet of this number was lost.
    pub(crate) fn push_loss(&mut self, number: u64) {
        if self.records_losses {
            self.push(Event::PacketLost { number });
        }
    }

    /// The oldest.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Event> {
        self.queue.pop_front()
    }
}
