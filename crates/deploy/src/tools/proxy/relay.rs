//! A TCP connection and a stream become one.

use crate::connection::{ReceiveStream, SendStream};
use rustix::net::sockopt;
use std::io;
use tokio::io::{AsyncWriteExt, BufReader, copy_buf};
use tokio::net::TcpStream;

/// Octets that are read at once.
const BLOCK: usize = 64 << 10;
/// The code by which a stream is reset because its TCP connection was.
const RESET: u32 = 1;

/// The TCP connection of a program or a target that is not finished. However it is closed, it is
/// reset: after an error, with its task, and by the kernel when the process is killed. A FIN would
/// state that no octets are missing.
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

    /// Finishes a connection to which everything was written: the kernel delivers it, and closes
    /// the connection in order.
    pub(super) fn finish(self) {
        // It fails if the connection is over already.
        _ = sockopt::set_socket_linger(&self.0, None);
    }
}

/// Passes octets, ends and resets on until both directions have ended, and all octets have reached
/// the other side.
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
