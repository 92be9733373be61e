//! The objects table, with a row for each object of a page.

use super::flows::{FlowResult, since_request, time_to_first_octet};
use crate::metric::Better::{Less, Neither};
use crate::metric::{Metric, Rows, count, number, text};
use acklab_app::page::Object;
use acklab_base::Instant;

/// An object of a page.
pub(super) struct ObjectResult<'a> {
    pub(super) flow: &'a FlowResult<'a>,
    /// The number of the object in the order of requests. The document has number 0.
    pub(super) number: usize,
    pub(super) object: Object,
}

impl<'a> ObjectResult<'a> {
    /// Returns all objects of a flow.
    pub(super) fn of(flow: &'a FlowResult<'a>) -> impl Iterator<Item = Self> {
        let objects = flow.receiver().into_iter().flat_map(|receiver| &receiver.objects).enumerate();
        objects.map(move |(number, object)| Self { flow, number, object: *object })
    }

    /// Returns the seconds from the start of the flow to `at`.
    fn since_start(&self, at: Option<Instant>) -> Option<f64> {
        at.map(|at| at.as_secs_f64() - self.flow.start)
    }
}

pub(super) struct ObjectRows;

impl Rows for ObjectRows {
    type Row<'a> = ObjectResult<'a>;
}

#[rustfmt::skip]
pub(super) const METRICS: &[Metric<ObjectRows>] = &[
    text("flow", "the flow that carries the page", |object| Some(object.flow.name().to_owned())),
    count("object", "", Neither, "its index among the requests; the document is 0", |object| Some(object.number as u64)),
    count("size_l7", "B", Neither, "its bytes", |object| Some(object.object.size)),
    number("request_time_l7", "s", Less, "from the start of the flow to its request", |object| object.since_start(object.object.requested)),
    number("time_to_first_octet_l7", "ms", Less, "from its request to its first byte at the application; null if none arrived", |object| time_to_first_octet(&object.object)),
    number("response_time_l7", "ms", Less, "from its request to its last byte; null if it is not complete", |object| since_request(&object.object, object.object.complete)),
    number("completion_time_l7", "s", Less, "from the start of the flow to its last byte", |object| object.since_start(object.object.complete)),
];
