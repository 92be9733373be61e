//! The clock of the capture.

use serde::Serialize;

/// The clock of a capture, as shown by its times.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Clock {
    /// The step by which times grow, in milliseconds.
    pub tick: f64,
    /// The first steps of the clock that were found.
    pub steps: Vec<Step>,
    /// How many steps were found.
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
    /// The packet of the file before which the clock has stepped. The first packet has number 1.
    pub packet: u64,
    /// Seconds from the start of the capture, without steps.
    pub at: f64,
    /// Seconds by which it has stepped: ahead, or back if negative. Without timestamps, a pause may
    /// be part of it.
    pub size: f64,
}
