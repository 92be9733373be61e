//! What applications do over a port.
//!
//! | module | holds |
//! |---|---|
//! | [`traffic`] | [`Traffic`]: what an application writes, as scenarios say it |
//! | [`reading`] | [`Reading`]: how it reads, as scenarios say it |
//! | [`schedule`] | when a writer with a rate of its own writes, and how much |
//! | [`writer`] | [`Writer`]: opens a port, writes and closes |
//! | [`reader`] | [`Reader`]: takes what arrives |
//!
//! An application is a machine of its own. It is run after anything has happened at its endpoint, and at its [deadline](Writer::deadline).
//! It knows a [`StreamPort`](acklab_base::StreamPort) or a [`DatagramPort`](acklab_base::DatagramPort) and no transport; it moves counts of
//! octets.

pub mod reader;
pub mod reading;
pub mod schedule;
pub mod traffic;
pub mod writer;

pub use reader::Reader;
pub use reading::Reading;
pub use traffic::Traffic;
pub use writer::Writer;

#[cfg(test)]
mod testing;
