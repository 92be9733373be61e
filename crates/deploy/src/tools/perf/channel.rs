//! One connection with one stream, of any transport.

use super::contender::kernel_controllers;
use crate::connection::{Connection, ReceiveStream, SendStream};
use crate::tools::ToolError;
use acklab_base::endpoint::counter;
use acklab_live::TcpInfo;
use bytes::Bytes;
use rustix::net::sockopt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

pub(crate) type Sending = Box<dyn SendHalf>;
pub(crate) type Receiving = Box<dyn ReceiveHalf>;

type Doing<'a, T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send + 'a>>;

/// The sending half of a channel.
pub(crate) trait SendHalf: AsyncWrite + Send + Unpin {
    /// Writes a whole chunk. Copies it only if the transport requires it.
    fn write_chunk(&mut self, chunk: Bytes) -> Doing<'_, ()>;
}

/// The receiving half of a channel.
pub(crate) trait ReceiveHalf: AsyncRead + Send + Unpin {
    /// Receives some bytes and drops them. If the transport copies them, they are copied to
    /// `buffer`. Returns the number of bytes: zero at the end of the stream.
    fn skim<'a>(&'a mut self, buffer: &'a mut [u8]) -> Doing<'a, usize>;
}

impl SendHalf for SendStream {
    fn write_chunk(&mut self, mut chunk: Bytes) -> Doing<'_, ()> {
        Box::pin(async move { Self::write_chunk(self, &mut chunk).await })
    }
}

impl ReceiveHalf for ReceiveStream {
    fn skim<'a>(&'a mut self, _: &'a mut [u8]) -> Doing<'a, usize> {
        Box::pin(async { Ok(self.read_chunk(usize::MAX).await?.map_or(0, |chunk| chunk.len())) })
    }
}

impl SendHalf for quinn::SendStream {
    fn write_chunk(&mut self, chunk: Bytes) -> Doing<'_, ()> {
        Box::pin(async { Ok(Self::write_chunk(self, chunk).await?) })
    }
}

impl ReceiveHalf for quinn::RecvStream {
    fn skim<'a>(&'a mut self, _: &'a mut [u8]) -> Doing<'a, usize> {
        Box::pin(async { Ok(self.read_chunk(usize::MAX, true).await?.map_or(0, |chunk| chunk.bytes.len())) })
    }
}

impl SendHalf for OwnedWriteHalf {
    fn write_chunk(&mut self, chunk: Bytes) -> Doing<'_, ()> {
        Box::pin(async move { self.write_all(&chunk).await })
    }
}

impl ReceiveHalf for OwnedReadHalf {
    fn skim<'a>(&'a mut self, buffer: &'a mut [u8]) -> Doing<'a, usize> {
        Box::pin(self.read(buffer))
    }
}

/// One connection with one stream.
pub(crate) struct Channel {
    pub(crate) send: Sending,
    pub(crate) receive: Receiving,
    pub(crate) carrier: Carrier,
}

/// The connection under a channel.
pub(crate) enum Carrier {
    Tack(Connection),
    Quic(quinn::Connection),
    Tcp(OwnedFd),
}

/// The counters of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) data_packets: u64,
    pub(crate) retransmissions: u64,
    pub(crate) acks: u64,
}

impl Channel {
    pub(crate) fn tack(connection: Connection, (send, receive): (SendStream, ReceiveStream)) -> Self {
        Self { send: Box::new(send), receive: Box::new(receive), carrier: Carrier::Tack(connection) }
    }

    pub(crate) fn quic(connection: quinn::Connection, (send, receive): (quinn::SendStream, quinn::RecvStream)) -> Self {
        Self { send: Box::new(send), receive: Box::new(receive), carrier: Carrier::Quic(connection) }
    }

    pub(crate) fn tcp(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        let carrier = Carrier::Tcp(stream.as_fd().try_clone_to_owned()?);
        let (receive, send) = stream.into_split();
        Ok(Self { send: Box::new(send), receive: Box::new(receive), carrier })
    }
}

impl Carrier {
    /// Returns the counters of the connection up to now. Returns zeros if the connection no longer
    /// exists.
    pub(crate) fn counted(&self) -> Counted {
        match self {
            Self::Tack(connection) => {
                let statistics = connection.statistics();
                let count = |name| statistics.as_ref().and_then(|statistics| statistics.count(name)).unwrap_or(0);
                Counted {
                    data_packets: count(counter::DATA_PACKETS),
                    retransmissions: count(counter::RETRANSMISSIONS),
                    acks: count(counter::ACKS_SENT),
                }
            }
            // quinn sends lost data in new packets, so the number of lost bytes equals the number
            // of retransmitted bytes.
            Self::Quic(connection) => {
                let statistics = connection.stats();
                Counted {
                    data_packets: statistics.path.sent_packets,
                    retransmissions: statistics.path.lost_packets,
                    acks: statistics.frame_tx.acks,
                }
            }
            Self::Tcp(socket) => TcpInfo::of(socket).map_or_else(
                |_| Counted::default(),
                |info| Counted {
                    data_packets: info.data_segs_out().into(),
                    retransmissions: info.total_retrans().into(),
                    acks: info.segs_out().saturating_sub(info.data_segs_out()).into(),
                },
            ),
        }
    }

    /// Returns the smoothed round-trip time, if known.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        match self {
            Self::Tack(connection) => {
                connection.statistics()?.vitals.smoothed_rtt.map(|rtt| Duration::from_nanos(rtt.as_nanos()))
            }
            Self::Quic(connection) => Some(connection.rtt()),
            Self::Tcp(socket) => TcpInfo::of(socket).ok().map(|info| Duration::from_micros(info.rtt_us().into())),
        }
    }

    /// Returns the name of the kernel's congestion controller.
    pub(crate) fn kernel_congestion(&self) -> Option<String> {
        match self {
            Self::Tcp(socket) => sockopt::tcp_congestion(socket).ok(),
            Self::Tack(_) | Self::Quic(_) => None,
        }
    }

    /// Sets the kernel's congestion controller.
    pub(crate) fn set_kernel_congestion(&self, name: &str) -> Result<(), ToolError> {
        match self {
            Self::Tcp(socket) => set_congestion(socket, name),
            Self::Tack(_) | Self::Quic(_) => Ok(()),
        }
    }

    /// Ends the log of the connection, if it writes one.
    pub(crate) fn finish_log(&self) -> Result<(), ToolError> {
        match self {
            Self::Tack(connection) => match connection.finish_recording() {
                Some(Err(error)) => Err(ToolError::failed("qlog", error)),
                Some(Ok(_)) | None => Ok(()),
            },
            Self::Quic(_) | Self::Tcp(_) => Ok(()),
        }
    }

    /// Ends the connection immediately and drops queued data.
    pub(crate) fn abort(self) {
        match self {
            Self::Tack(connection) => connection.close(0),
            Self::Quic(connection) => connection.close(0u32.into(), b""),
            // The socket closes with its last descriptor, and then resets the connection.
            Self::Tcp(socket) => _ = sockopt::set_socket_linger(&socket, Some(Duration::ZERO)),
        }
    }
}

pub(crate) fn set_congestion(socket: impl AsFd, name: &str) -> Result<(), ToolError> {
    sockopt::set_tcp_congestion(socket, name).map_err(|error| {
        let expected =
            format!("tack, quic, tcp, or a congestion controller of the kernel that sends ({})", kernel_controllers());
        ToolError::Usage(format!("congestion controller: found {name:?} ({error}), expected {expected}"))
    })
}
