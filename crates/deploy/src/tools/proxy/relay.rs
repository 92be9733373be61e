//! A TCP connection and a stream become one.

use crate::connection::{ReceiveStream, SendStream};
use std::io;
use tokio::io::{AsyncWriteExt, BufReader, copy_buf};
use tokio::net::TcpStream;

/// Octets that are read at once.
const BLOCK: usize = 64 << 10;
/// The code by which a stream is reset because its TCP connection was.
const RESET: u32 = 1;

/// Passes octets, ends and resets on until both directions have ended.
pub(super) async fn relay(mut tcp: TcpStream, mut send: SendStream, mut receive: ReceiveStream) -> io::Result<()> {
    _ = tcp.set_nodelay(true);
    let passed = {
        let (from, mut to) = tcp.split();
        let out = async {
            copy_buf(&mut BufReader::with_capacity(BLOCK, from), &mut send).await?;
            send.end();
            Ok::<_, io::Error>(())
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
        // It resets the connection as soon as it is closed.
        _ = tcp.set_zero_linger();
        return Err(error);
    }
    Ok(())
}
