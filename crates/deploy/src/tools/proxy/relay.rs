//! Joins a TCP connection and a stream.

use crate::connection::{ReceiveStream, SendStream};
use rustix::net::sockopt;
use std::io;
use tokio::io::{AsyncWriteExt, BufReader, copy_buf};
use tokio::net::TcpStream;

/// The number of bytes per read.
const BLOCK: usize = 64 << 10;
/// The code with which a stream is reset if its TCP connection was reset.
const RESET: u32 = 1;

/// An unfinished TCP connection of a program or a target. However it is closed, it is reset: after
/// an error, with its task, or by the kernel when the process is killed. A FIN would indicate that
/// all bytes were sent.
pub(super) struct Unfinished(TcpStream);

impl Unfinished {
    /// # Errors
    /// If the system refuses the option.
    pub(super) fn new(tcp: TcpStream) -> io::Result<Self> {
        tcp.set_zero_linger()?;
        Ok(Self(tcp))
    }

    pub(super) const fn tcp(&mut self) -> &mut TcpStream {
        &mut self.0
    }

    /// Finishes a connection after the last byte was written. The kernel delivers the bytes and
    /// closes the connection in order.
    pub(super) fn finish(self) {
        // The call fails if the connection has already ended.
        _ = sockopt::set_socket_linger(&self.0, None);
    }
}

/// Relays bytes, ends and resets. Returns when both directions have ended and the other side has
/// all bytes.
pub(super) async fn relay(mut tcp: Unfinished, mut send: SendStream, mut receive: ReceiveStream) -> io::Result<()> {
    _ = tcp.tcp().set_nodelay(true);
    let passed = {
        let (from, mut to) = tcp.tcp().split();
        let out = async {
            copy_buf(&mut BufReader::with_capacity(BLOCK, from), &mut send).await?;
            send.end();
            send.finished().await
        };
        let back = async {
            while let Some(chunk) = receive.read_chunk(usize::MAX).await? {
                to.write_all(&chunk).await?;
            }
            to.shutdown().await
        };
        tokio::try_join!(out, back)
    };
    if let Err(error) = passed {
        send.reset(RESET);
        return Err(error);
    }
    tcp.finish();
    Ok(())
}
