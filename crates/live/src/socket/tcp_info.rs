//! The state of a TCP connection of the kernel.

use crate::sys;
use std::io;
use std::os::fd::AsFd;

/// The number of octets of `TCP_INFO` that are read.
const INFO_LEN: usize = 256;
/// States of TCP (`include/net/tcp_states.h`).
const TCP_ESTABLISHED: u8 = 1;
const TCP_CLOSE_WAIT: u8 = 8;

/// `TCP_INFO` (`linux/tcp.h`, `struct tcp_info`). A field that an older kernel does not have is
/// zero.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TcpInfo {
    octets: [u8; INFO_LEN],
}

/// Defines methods that return a field of 32 bits or of 64, each with its offset in the structure.
macro_rules! fields {
    ($($(#[doc = $doc:literal])+ $name:ident at $offset:literal,)+) => {
        impl TcpInfo {
            $($(#[doc = $doc])+ #[must_use] pub fn $name(&self) -> u32 { self.word($offset) })+
        }
    };
    (long: $($(#[doc = $doc:literal])+ $name:ident at $offset:literal,)+) => {
        impl TcpInfo {
            $($(#[doc = $doc])+ #[must_use] pub fn $name(&self) -> u64 { self.long($offset) })+
        }
    };
}

fields! {
    /// The maximum payload of a segment that this end sends, in octets.
    snd_mss at 16,
    /// Segments sent, but not acknowledged cumulatively.
    unacked at 24,
    /// The number of these segments that were reported by SACK.
    sacked at 28,
    /// The number of these segments that are considered lost.
    lost at 32,
    /// The number of these segments that were retransmitted.
    retrans at 36,
    /// Smoothed round-trip time in microseconds.
    rtt_us at 68,
    /// Slow-start threshold in segments.
    snd_ssthresh at 76,
    /// Congestion window in segments.
    snd_cwnd at 80,
    /// The degree of reordering, in segments.
    reordering at 88,
    /// Total number of retransmissions.
    total_retrans at 100,
    /// Segments sent, including those without data (RFC 4898, `tcpEStatsPerfSegsOut`).
    segs_out at 136,
    /// Octets written and not yet sent.
    notsent_bytes at 144,
    /// Segments with data sent, including retransmissions (RFC 4898, `tcpEStatsPerfDataSegsOut`).
    data_segs_out at 156,
}

fields! {
    long:
    /// The time with unacknowledged data, in microseconds.
    busy_time_us at 168,
    /// The time during which only the peer's window held data back, in microseconds.
    rwnd_limited_us at 176,
    /// The time during which only the send buffer held data back, in microseconds.
    sndbuf_limited_us at 184,
}

impl TcpInfo {
    /// Returns the state of `socket`.
    ///
    /// # Errors
    /// If it is not a TCP socket.
    pub fn of(socket: impl AsFd) -> io::Result<Self> {
        let mut octets = [0; INFO_LEN];
        sys::tcp_info(socket.as_fd(), &mut octets)?;
        Ok(Self { octets })
    }

    fn long(&self, offset: usize) -> u64 {
        let mut long = [0; 8];
        long.copy_from_slice(&self.octets[offset..offset + 8]);
        u64::from_ne_bytes(long)
    }

    fn word(&self, offset: usize) -> u32 {
        let mut word = [0; 4];
        word.copy_from_slice(&self.octets[offset..offset + 4]);
        u32::from_ne_bytes(word)
    }

    /// Returns `true` once the connection is established (`enum tcp_ca_state` is another field).
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.state(), TCP_ESTABLISHED | TCP_CLOSE_WAIT)
    }

    /// Returns `true` if the peer has finished, all its data have arrived in order, and this end
    /// has not finished.
    #[must_use]
    pub const fn is_half_closed(&self) -> bool {
        self.state() == TCP_CLOSE_WAIT
    }

    /// Returns the state of TCP (`include/net/tcp_states.h`).
    #[must_use]
    pub const fn state(&self) -> u8 {
        self.octets[0]
    }

    /// Returns the state of congestion control (`enum tcp_ca_state`).
    #[must_use]
    pub const fn ca_state(&self) -> u8 {
        self.octets[1]
    }

    /// Expirations of the retransmission timer, since Linux 6.7.
    #[must_use]
    pub fn total_rto(&self) -> u32 {
        u16::from_ne_bytes([self.octets[240], self.octets[241]]).into()
    }
}

impl std::fmt::Debug for TcpInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cwnd {} unacked {} srtt {} us", self.snd_cwnd(), self.unacked(), self.rtt_us())
    }
}
