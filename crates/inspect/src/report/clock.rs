//! The report of the capture's clock.

use serde::Serialize;

/// The clock of a capture, measured from its times.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Clock {
    /// The step by which times grow, in milliseconds.
    pub tick: f64,
    /// The first steps of the clock that were found.
    pub steps: Vec<Step>,
    /// The number of steps found.
    pub step_count: u64,
    /// The longest gap of 1000 s or more that may be a pause or a step.
    pub gap: Option<Step>,
    /// Packets that follow later ones in the file.
    pub out_of_order: u64,
    /// The maximum of this disorder in milliseconds.
    pub out_of_order_by: Option<f64>,
}

/// A step of the clock. Times across it are not measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Step {
    /// The first packet after the step. The first packet of the file has number 1.
    pub packet: u64,
    /// Seconds from the start of the capture, without steps.
    pub at: f64,
    /// The size of the step in seconds: positive ahead, negative back. Without timestamps, it may
    /// include a pause.
    pub size: f64,
}
