//! qlog files of QUIC endpoints: the packets that an end sent and received, including frames that
//! are encrypted in a capture.
//!
//! The log of one end describes both directions, like a capture at that end. Logs of other
//! transports that use QUIC's terms are read in the same way. Each event is read independently: an
//! event of unknown form is counted by name, and the rest of the log is read.
//!
//! Forms of a log (draft-ietf-quic-qlog-main-schema, sections "QLOG Serialization" of -00 to -14):
//!
//! | form | text |
//! |---|---|
//! | contained | one JSON object whose `traces` have their `events` in lists |
//! | JSON-SEQ | JSON texts after the separator 0x1e (RFC 7464): a header, then events |
//! | NDJSON | one JSON text per line: a header, then events |
//!
//! | module | contents |
//! |---|---|
//! | `read` | the form of a text, and the order in which it is read |
//! | `contained` | a contained log, event by event |
//! | `records` | JSON texts between separators |
//! | `header` | what precedes events: vantage point, title, format of times |
//! | `times` | times of events |
//! | `event` | an event as an object, or as a list in the order of `event_fields` |
//! | `packet` | packets and their frames in the terms of all drafts |
//! | `scalar` | numbers that some stacks write as strings |
//! | `connection` | analyses the packets of one connection |
//! | `log` | the traces of a log |
//! | `summary` | counts of traces, packets and unknown events |

mod connection;
mod contained;
mod event;
mod header;
mod log;
mod packet;
mod read;
mod records;
mod scalar;
mod summary;
mod times;

pub use header::Source;
pub use read::{BYTE_ORDER_MARK, Error, Log, SEPARATOR, read};
pub use summary::Summary;
