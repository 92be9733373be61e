//! The report of the capture's clock.

use serde::Serialize;

/// The clock of a capture, as derived from the times of packets.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Clock {
    /// The tick of the clock: the unit by which times increase, in milliseconds.
    pub tick: f64,
    /// The first steps of the clock that were found.
    pub steps: Vec<Step>,
    /// The number of steps found.
    pub step_count: u64,
    /// The longest gap of at least 1000 s that may be a pause or a step.
    pub gap: Option<Step>,
    /// The number of packets that follow later packets in the file.
    pub out_of_order: u64,
    /// The maximum time by which a packet is out of order, in milliseconds.
    pub out_of_order_by: Option<f64>,
}

/// A step of the clock. Times across it are not measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Step {
    /// The number of the first packet after the step. The first packet of the file has number 1.
    pub packet: u64,
    /// The time from the start of the capture in seconds, without steps.
    pub at: f64,
    /// The size of the step in seconds: positive if the clock was set ahead, negative if it was set
    /// back. Without timestamps, it may include a pause.
    pub size: f64,
}
