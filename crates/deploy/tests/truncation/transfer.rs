//! A program and its target. They send octets to each other and read to the end.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

/// The octets that are written at once, followed by a pause: 8 MB take a second.
const BLOCK: usize = 80_000;
const PAUSE: Duration = Duration::from_millis(10);

/// How a transfer ended for a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It has written all octets, and read this number of octets and then the end.
    All(usize),
    Error(ErrorKind),
}

impl End {
    /// Returns `true` if nothing was lost without an error.
    pub(super) fn is_right(&self, size: usize) -> bool {
        matches!(self, Self::Error(_)) || *self == Self::All(size)
    }
}

fn octet(place: usize) -> u8 {
    (place.wrapping_mul(0x9e37_79b9) >> 16) as u8
}

fn write(mut to: &TcpStream, size: usize) -> std::io::Result<()> {
    let mut place = 0;
    while place < size {
        let block: Vec<u8> = (place..size.min(place + BLOCK)).map(octet).collect();
        to.write_all(&block)?;
        place += block.len();
        std::thread::sleep(PAUSE);
    }
    to.shutdown(Shutdown::Write)
}

fn read(mut from: &TcpStream) -> End {
    let (mut block, mut place) = (vec![0; BLOCK], 0);
    loop {
        match from.read(&mut block) {
            Ok(0) => return End::All(place),
            Ok(count) => {
                assert!(block[..count].iter().zip(place..).all(|(found, place)| *found == octet(place)));
                place += count;
            }
            Err(error) => return End::Error(error.kind()),
        }
    }
}

/// Sends `size` octets, and reads until the end or an error. The kernel reports a reset only once,
/// to the writer or to the reader.
fn exchange(stream: &TcpStream, size: usize) -> End {
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| write(stream, size));
        let end = read(stream);
        writer.join().unwrap().map_or_else(|error| End::Error(error.kind()), |()| end)
    })
}

/// The program's end of the transfer.
pub(super) struct Transfer {
    end: mpsc::Receiver<End>,
}

impl Transfer {
    pub(super) fn begin(at: SocketAddr, size: usize) -> Self {
        let (to, end) = mpsc::channel();
        std::thread::spawn(move || {
            let stream = TcpStream::connect(at);
            to.send(stream.map_or_else(|error| End::Error(error.kind()), |stream| exchange(&stream, size)))
        });
        Self { end }
    }

    pub(super) fn end(&self, patience: Duration) -> Option<End> {
        self.end.recv_timeout(patience).ok()
    }
}

/// The target's end of the transfer.
pub(super) struct Target {
    pub(super) port: u16,
    end: mpsc::Receiver<End>,
    arrived: mpsc::Receiver<()>,
}

impl Target {
    pub(super) fn serve(size: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let ((to, end), (arrives, arrived)) = (mpsc::channel(), mpsc::channel());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                _ = arrives.send(());
                let to = to.clone();
                std::thread::spawn(move || to.send(exchange(&stream, size)));
            }
        });
        Self { port, end, arrived }
    }

    /// Returns how the program's connection ended. If there was no connection, returns that it was
    /// refused with an error.
    pub(super) fn end(&self, patience: Duration) -> Option<End> {
        if self.arrived.try_recv().is_err() {
            return Some(End::Error(ErrorKind::NotConnected));
        }
        self.end.recv_timeout(patience).ok()
    }
}
