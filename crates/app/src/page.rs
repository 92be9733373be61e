//! A page of objects: one end asks, the other answers.
//!
//! The [`Browser`] opens the connection and asks for a document. Once it has the document, it asks
//! for the objects that the document names. The [`Server`] answers each request with so many octets
//! as the object has. Requests and responses are counts of octets: which object a request is for
//! follows from its stream, or from its place among the requests of one stream.

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
    /// Objects that are complete, the document among them.
    pub const OBJECTS: &str = "page_objects";
    /// When the last object was complete, in nanoseconds since the start of the run.
    pub const COMPLETE: &str = "page_complete";
}

/// A page. The application at `to` opens the connection and asks; the application at `from`
/// answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// The size of the response to the first request: of the document, which names the objects.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(example = "30kB")]
    pub document: Bytes,
    /// Draw the size of the document from this distribution instead. Each copy of the flow draws a
    /// size of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Sizes>,
    /// The sizes of the responses to the requests that follow it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<Bytes>,
    /// The size of a request.
    #[serde(default = "one_request")]
    #[schemars(example = "400B")]
    pub request: Bytes,
    /// Time from the end of a request to the beginning of its response.
    #[serde(default)]
    #[schemars(example = "0s")]
    pub think: Duration,
    /// When the objects are requested.
    #[serde(default)]
    pub requests: Requests,
    /// What streams carry the objects.
    #[serde(default)]
    pub streams: Streams,
}

/// When the objects of a page are requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Requests {
    /// All at once when the document is complete.
    #[default]
    Parallel,
    /// Each when the one before it is complete, as over a connection of HTTP/1.1 without
    /// pipelining.
    Serial,
}

/// What streams carry the objects of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Streams {
    /// A stream for each object where the transport has several for its applications, which QUIC
    /// does: they take turns, and none waits for another. Otherwise one stream.
    #[default]
    Many,
    /// One stream: responses follow each other in the order of the requests.
    One,
}

/// Returns the size of a request with its headers. It fits one packet, and nothing else depends on
/// it.
const fn one_request() -> Bytes {
    Bytes(400)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(size: &Bytes) -> bool {
    *size == Bytes::ZERO
}

impl Page {
    /// Returns the same with a document whose size is drawn, if its size is one to be drawn.
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

    /// Returns the name as the flows table writes it.
    #[must_use]
    pub fn label(&self) -> String {
        let octets: u64 = self.sizes().sum();
        format!("Page(objects={}, bytes={octets})", self.count())
    }
}

#[cfg(test)]
mod tests;
