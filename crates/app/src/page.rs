//! A page of objects: one end requests them, the other responds.
//!
//! The [`Browser`] opens the connection and requests a document. When the document is complete, the
//! browser requests the objects that the document names. The [`Server`] responds to each request
//! with the octets of the object. Requests and responses are numbers of octets. The stream of a
//! request identifies its object. If there is only one stream, the position among its requests
//! does.

mod browser;
mod server;

pub use browser::{Browser, Object};
pub use server::Server;

use crate::Sizes;
use acklab_base::random::Stream;
use acklab_base::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The counters of a browser.
pub mod counter {
    /// The number of complete objects, including the document.
    pub const OBJECTS: &str = "page_objects";
    /// The time at which the last object was complete, in nanoseconds since the start of the run.
    pub const COMPLETE: &str = "page_complete";
}

/// A page. The application at `to` opens the connection and sends requests; the application at
/// `from` responds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// The size of the response to the first request, for the document.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(example = "30kB")]
    pub document: Bytes,
    /// The distribution from which the size of the document is drawn, instead of `document`. A
    /// separate size is drawn for each copy of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Sizes>,
    /// The sizes of the responses to the following requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<Bytes>,
    /// The size of a request.
    #[serde(default = "one_request")]
    #[schemars(example = "400B")]
    pub request: Bytes,
    /// The time from the end of a request to the beginning of its response.
    #[serde(default)]
    #[schemars(example = "0s")]
    pub think: Duration,
    /// The rule by which the objects are requested.
    #[serde(default)]
    pub requests: Requests,
    /// The streams that carry the objects.
    #[serde(default)]
    pub streams: Streams,
}

/// The rule by which the objects of a page are requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Requests {
    /// All objects immediately when the document is complete.
    #[default]
    Parallel,
    /// Each object when the previous one is complete, as over a connection of HTTP/1.1 without
    /// pipelining.
    Serial,
}

/// The streams that carry the objects of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Streams {
    /// A stream for each object, if the transport offers its applications several streams, as QUIC
    /// does. The streams take turns, and none waits for another. If the transport offers one
    /// stream, all objects use it.
    #[default]
    Many,
    /// One stream, on which responses follow each other in the order of the requests.
    One,
}

/// Returns the size of a request with its headers. The size matters only in that it fits in one
/// packet.
const fn one_request() -> Bytes {
    Bytes(400)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(size: &Bytes) -> bool {
    *size == Bytes::ZERO
}

impl Page {
    /// Returns the same page with a drawn document size, if it has a distribution.
    #[must_use]
    pub fn sized(self, chance: impl FnOnce() -> Stream) -> Self {
        match self.sizes {
            Some(sizes) => Self { document: sizes.draw(&mut chance()), sizes: None, ..self },
            None => self,
        }
    }

    /// Returns the sizes of the responses, in the order of the requests.
    pub fn sizes(&self) -> impl Iterator<Item = u64> {
        [self.document].into_iter().chain(self.objects.iter().copied()).map(Bytes::get)
    }

    /// Returns the number of responses.
    #[must_use]
    pub const fn count(&self) -> usize {
        1 + self.objects.len()
    }

    /// Returns the number of octets of all requests.
    #[must_use]
    pub const fn requested(&self) -> Bytes {
        Bytes(self.request.get() * self.count() as u64)
    }

    /// Returns the name in the flows table.
    #[must_use]
    pub fn label(&self) -> String {
        let octets: u64 = self.sizes().sum();
        format!("Page(objects={}, bytes={octets})", self.count())
    }
}

#[cfg(test)]
mod tests;
