//! Where captures listen.

use crate::capture::{Capture, Error};
use acklab_base::Instant;
use acklab_wire::Pdu;

/// The captures of a run, by the places at which they listen.
#[derive(Default)]
pub(crate) struct Taps {
    captures: Vec<Capture>,
    listeners: Vec<(Place, usize)>,
    failed: Option<Error>,
}

/// A place that packets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The entrance of a link direction.
    Entrance(usize),
    /// The exit of a link direction.
    Exit(usize),
    /// The sender of a flow.
    Sender(usize),
    /// The receiver of a flow.
    Receiver(usize),
}

impl Taps {
    /// `capture` listens at these places.
    pub(crate) fn add(&mut self, capture: Capture, places: impl IntoIterator<Item = Place>) {
        let index = self.captures.len();
        self.captures.push(capture);
        self.listeners.extend(places.into_iter().map(|place| (place, index)));
    }

    pub(crate) fn enters(&mut self, link: usize, now: Instant, pdu: &Pdu) {
        self.pass(Place::Entrance(link), now, pdu);
    }

    pub(crate) fn leaves(&mut self, link: usize, now: Instant, pdu: &Pdu) {
        self.pass(Place::Exit(link), now, pdu);
    }

    pub(crate) fn at_sender(&mut self, flow: usize, now: Instant, pdu: &Pdu) {
        self.pass(Place::Sender(flow), now, pdu);
    }

    pub(crate) fn at_receiver(&mut self, flow: usize, now: Instant, pdu: &Pdu) {
        self.pass(Place::Receiver(flow), now, pdu);
    }

    fn pass(&mut self, place: Place, now: Instant, pdu: &Pdu) {
        for (listener, capture) in &self.listeners {
            if *listener == place
                && self.failed.is_none()
                && let Err(error) = self.captures[*capture].record(now, pdu)
            {
                self.failed = Some(error);
            }
        }
    }

    /// The first failure of a capture, after which it holds no more.
    pub(crate) fn check(&mut self) -> Result<(), Error> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Finish all captures.
    pub(crate) fn finish(self) -> Result<(), Error> {
        self.captures.into_iter().try_for_each(Capture::finish)
    }
}
