//! What has happened to the streams of a connection, kept for its driver.

use acklab_base::StreamEvent;
use std::collections::VecDeque;

/// The events that the driver has not taken yet. Nothing is kept unless they are recorded.
#[derive(Debug, Default)]
pub(crate) struct StreamEvents {
    is_recording: bool,
    waiting: VecDeque<(u32, StreamEvent)>,
}

impl StreamEvents {
    pub(crate) const fn record(&mut self) {
        self.is_recording = true;
    }

    #[inline]
    pub(crate) const fn is_recording(&self) -> bool {
        self.is_recording
    }

    #[inline]
    pub(crate) fn push(&mut self, stream: u32, event: StreamEvent) {
        if self.is_recording {
            self.waiting.push_back((stream, event));
        }
    }

    pub(crate) fn take(&mut self) -> Option<(u32, StreamEvent)> {
        self.waiting.pop_front()
    }
}
