//! SOCKS5 (RFC 1928), without authentication and only with CONNECT.

use super::target::Target;
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const NO_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;
/// The message for a client that does not use SOCKS5. It does not quote the client's octets.
const NOT_SOCKS: &str = "it does not speak SOCKS5";

/// The reply field (RFC 1928, §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reply(pub(super) u8);

impl Reply {
    pub(super) const SUCCEEDED: Self = Self(0);
    pub(super) const FAILURE: Self = Self(1);
    pub(super) const NOT_ALLOWED: Self = Self(2);
    pub(super) const NETWORK_UNREACHABLE: Self = Self(3);
    pub(super) const HOST_UNREACHABLE: Self = Self(4);
    pub(super) const REFUSED: Self = Self(5);
    pub(super) const COMMAND_NOT_SUPPORTED: Self = Self(7);
    pub(super) const ADDRESS_NOT_SUPPORTED: Self = Self(8);

    /// Returns the reply to a connection attempt that failed with this error.
    pub(super) fn of(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Self::REFUSED,
            io::ErrorKind::NetworkUnreachable => Self::NETWORK_UNREACHABLE,
            io::ErrorKind::HostUnreachable | io::ErrorKind::TimedOut => Self::HOST_UNREACHABLE,
            _ => Self::FAILURE,
        }
    }

    pub(super) const fn meaning(self) -> &'static str {
        match self {
            Self::SUCCEEDED => "succeeded",
            Self::NOT_ALLOWED => "not allowed by the far side (--allow)",
            Self::NETWORK_UNREACHABLE => "network unreachable",
            Self::HOST_UNREACHABLE => "host unreachable",
            Self::REFUSED => "connection refused",
            Self::COMMAND_NOT_SUPPORTED => "command not supported",
            Self::ADDRESS_NOT_SUPPORTED => "address type not supported",
            _ => "failed",
        }
    }
}

/// Reads a program's request, and replies to the steps of the set-up. Returns `None` if the request
/// was refused.
///
/// # Errors
/// If the program does not speak SOCKS5, or the connection is lost.
pub async fn read_request(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> io::Result<Option<Target>> {
    let expect_version = |found| {
        if found == VERSION { Ok(()) } else { Err(io::Error::new(io::ErrorKind::InvalidData, NOT_SOCKS)) }
    };
    expect_version(stream.read_u8().await?)?;
    let mut methods = vec![0; stream.read_u8().await?.into()];
    stream.read_exact(&mut methods).await?;
    if !methods.contains(&NO_AUTHENTICATION) {
        stream.write_all(&[VERSION, NO_METHOD]).await?;
        return Ok(None);
    }
    stream.write_all(&[VERSION, NO_AUTHENTICATION]).await?;
    expect_version(stream.read_u8().await?)?;
    let command = stream.read_u8().await?;
    let _reserved = stream.read_u8().await?;
    let target = Target::read(stream).await?;
    let refusal = match (command, &target) {
        (CONNECT, Some(_)) => return Ok(target),
        (CONNECT, None) => Reply::ADDRESS_NOT_SUPPORTED,
        _ => Reply::COMMAND_NOT_SUPPORTED,
    };
    reply(stream, refusal).await?;
    Ok(None)
}

/// Sends a reply. Omits the bound address of the far side, because connecting programs do not use
/// it.
pub(super) async fn reply(stream: &mut (impl AsyncWrite + Unpin), reply: Reply) -> io::Result<()> {
    stream.write_all(&[VERSION, reply.0, 0, 1, 0, 0, 0, 0, 0, 0]).await
}
