//! Models of applications that write and read over a port.
//!
//! In the order of reading:
//!
//! | module | contents |
//! |---|---|
//! | [`traffic`] | [`Traffic`]: the configuration of a writing application in a scenario |
//! | [`reading`] | [`Reading`]: the configuration of a reading application in a scenario |
//! | [`schedule`] | [`Schedule`](schedule::Schedule): the times of writes at a mean rate |
//! | [`writer`] | [`Writer`]: an application that opens a port, writes and closes |
//! | [`reader`] | [`Reader`]: an application that reads received data |
//!
//! An application runs whenever its endpoint has been called, and at its own [deadline](Writer::deadline). It knows a
//! [`StreamPort`](acklab_base::StreamPort) or a [`DatagramPort`](acklab_base::DatagramPort) and no transport, and it moves counts of octets.

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
