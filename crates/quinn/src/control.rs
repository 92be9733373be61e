//! quinn-proto's congestion controller. It is either one of quinn's controllers, or a proxy that
//! records quinn-proto's reports and returns a window that acklab sets.
//!
//! quinn-proto reports acknowledged bytes first, then updates its round-trip estimate, and reports
//! losses last. acklab's controllers need all of this together. So the reports are collected, and
//! [`Sender::settle`](crate::sender::Sender::settle) passes them on after each call of quinn-proto.
//! quinn-proto reads the window later, when a packet is requested.

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A loss that quinn-proto has detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    /// The time at which the last of the lost packets was sent.
    pub(crate) sent_at: Instant,
    /// The number of bytes of the lost packets.
    pub(crate) octets: u64,
    /// `true` if the loss is persistent congestion (RFC 9002, §7.6).
    pub(crate) is_persistent: bool,
}

/// The reports of quinn-proto since the last call.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    /// The number of bytes in flight after the last acknowledgment, before losses; `None` without
    /// an acknowledgment.
    pub(crate) in_flight: Option<u64>,
    pub(crate) losses: Vec<Loss>,
    /// `true` if an acknowledgment reported a congestion mark.
    pub(crate) is_marked: bool,
}

#[derive(Debug, Default)]
struct State {
    window: u64,
    initial_window: u64,
    reports: Reports,
}

/// The state that a controller shares with its endpoint.
#[derive(Clone, Debug, Default)]
pub(crate) struct Control(Arc<Mutex<State>>);

impl Control {
    /// Returns a controller with this initial window in bytes.
    pub(crate) fn new(initial_window: u64) -> Self {
        let window = initial_window + 1;
        Self(Arc::new(Mutex::new(State { window, initial_window, ..State::default() })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_window(&self, window: u64) {
        self.state().window = window;
    }

    pub(crate) fn take_reports(&self) -> Reports {
        std::mem::take(&mut self.state().reports)
    }
}

/// Creates the controllers of a connection.
pub(crate) struct Factory {
    control: Control,
    own: Option<Arc<dyn ControllerFactory + Send + Sync>>,
}

impl Factory {
    /// Creates proxies for acklab's controllers. If `own` is set, creates quinn's controllers,
    /// whose input is recorded.
    pub(crate) fn new(control: Control, own: Option<Arc<dyn ControllerFactory + Send + Sync>>) -> Self {
        Self { control, own }
    }
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let own = self.own.as_ref().map(|own| Arc::clone(own).build(now, current_mtu));
        Box::new(Relay { control: self.control.clone(), own })
    }
}

/// Records quinn-proto's reports, and passes them to quinn's controller, if it is used.
struct Relay {
    control: Control,
    own: Option<Box<dyn Controller>>,
}

impl Controller for Relay {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        if let Some(own) = &mut self.own {
            own.on_sent(now, bytes, last_packet_number);
        }
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        if let Some(own) = &mut self.own {
            own.on_ack(now, sent, bytes, app_limited, rtt);
        }
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        if let Some(own) = &mut self.own {
            own.on_end_acks(now, in_flight, app_limited, largest);
        }
        self.control.state().reports.in_flight = Some(in_flight);
    }

    /// quinn-proto reports congestion marks as losses of zero bytes.
    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent_congestion: bool, lost_bytes: u64) {
        if let Some(own) = &mut self.own {
            own.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
        }
        let mut state = self.control.state();
        if lost_bytes == 0 {
            state.reports.is_marked = true;
        } else {
            let loss = Loss { sent_at: sent, octets: lost_bytes, is_persistent: is_persistent_congestion };
            state.reports.losses.push(loss);
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        if let Some(own) = &mut self.own {
            own.on_mtu_update(new_mtu);
        }
    }

    fn window(&self) -> u64 {
        self.own.as_ref().map_or_else(|| self.control.state().window, |own| own.window())
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        match &self.own {
            Some(own) => return own.metrics(),
            None => metrics.congestion_window = self.window(),
        }
        metrics
    }

    /// Creates a controller for the path to which the peer has migrated.
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { control: self.control.clone(), own: self.own.as_ref().map(|own| own.clone_box()) })
    }

    fn initial_window(&self) -> u64 {
        self.own.as_ref().map_or_else(|| self.control.state().initial_window, |own| own.initial_window())
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
