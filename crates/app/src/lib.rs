//! Models of applications that write and read over a port.
//!
//! In reading order:
//!
//! | module | contents |
//! |---|---|
//! | [`traffic`] | [`Traffic`]: the configuration of a writing application in a scenario |
//! | [`reading`] | [`Reading`]: the configuration of a reading application in a scenario |
//! | [`video`] | [`Video`]: a video as a sequence of frames |
//! | [`page`] | [`Page`]: a document and its objects, the [`Browser`](page::Browser) that requests them and the [`Server`](page::Server) |
//! | [`sizes`] | [`Sizes`]: distributions of the sizes of transfers |
//! | [`schedule`] | [`Schedule`](schedule::Schedule): the times and sizes of writes at a mean rate |
//! | [`writer`] | [`Writer`]: an application that opens a port, writes and closes |
//! | [`reader`] | [`Reader`]: an application that reads received data |
//! | [`player`] | [`Player`]: a reader that plays a video and measures stalls and damage |
//!
//! An application runs whenever its endpoint has been called, and at the application's
//! [deadline](Writer::deadline). It depends on a [`StreamPort`](acklab_base::StreamPort), a
//! [`DatagramPort`](acklab_base::DatagramPort) or a [`MessagePort`](acklab_base::MessagePort), not
//! on a transport. It passes only the numbers of octets.

pub mod page;
pub mod player;
pub mod reader;
pub mod reading;
pub mod schedule;
pub mod sizes;
pub mod traffic;
pub mod video;
pub mod writer;

pub use page::Page;
pub use player::Player;
pub use reader::Reader;
pub use reading::{AfterStall, Reading};
pub use sizes::Sizes;
pub use traffic::Traffic;
pub use video::Video;
pub use writer::Writer;

#[cfg(test)]
mod testing;
