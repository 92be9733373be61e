//! Packet sockets (packet(7)): a ring of frames that the kernel fills, and frames that are sent in
//! batches.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// The version of ring frames (`TPACKET_V2`). With this version, the kernel delivers each frame
/// immediately. Version 3 delivers blocks of frames, and an incomplete block only after a
/// millisecond or more.
const VERSION: libc::c_int = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
/// The owner of a frame: the kernel, or the process.
const STATUS_KERNEL: u32 = 0;

fn bind(socket: &OwnedFd, protocol: u16, device: u32) -> io::Result<()> {
    // SAFETY: all fields of `sockaddr_ll` are integers or arrays of them.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol.to_be();
    address.sll_ifindex = device as libc::c_int;
    // SAFETY: the address lives across the call and has the length that is given.
    super::check(unsafe {
        let length = size_of_val(&address) as libc::socklen_t;
        libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length)
    })
}

/// Returns a packet socket that receives nothing yet.
fn silent() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: the call takes integers only.
    let socket = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
    super::check(socket)?;
    // SAFETY: the descriptor is new.
    Ok(unsafe { OwnedFd::from_raw_fd(socket) })
}

/// A frame in a ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RingFrame<'a> {
    /// The octets, from the Ethernet header on, without the tag.
    pub(crate) octets: &'a [u8],
    /// The length on the wire, which is larger if the frame did not fit.
    pub(crate) length: usize,
    /// The tag of a VLAN: protocol and control information.
    pub(crate) tag: Option<(u16, u16)>,
}

/// The ring of a socket that receives all frames of a device in both directions.
#[derive(Debug)]
pub(crate) struct Ring {
    socket: OwnedFd,
    memory: NonNull<u8>,
    frame_size: usize,
    frames: usize,
    next: usize,
}

// SAFETY: the memory is mapped until this is dropped, and only `&mut self` reads it.
unsafe impl Send for Ring {}

impl Ring {
    /// Creates a ring of `frames` frames of `frame_size` octets each, for the traffic of `device`
    /// that passes `filter`. `frame_size` divides the size of a block, which is a power of two and
    /// a multiple of a page.
    pub(crate) fn new(
        device: u32,
        filter: BorrowedFd<'_>,
        frame_size: usize,
        block_size: usize,
        frames: usize,
    ) -> io::Result<Self> {
        let socket = silent()?;
        super::bpf::filter(socket.as_fd(), filter)?;
        super::set_option(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_VERSION, &VERSION)?;
        let request = libc::tpacket_req {
            tp_block_size: block_size as libc::c_uint,
            tp_block_nr: (frames * frame_size / block_size) as libc::c_uint,
            tp_frame_size: frame_size as libc::c_uint,
            tp_frame_nr: frames as libc::c_uint,
        };
        super::set_option(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        let memory = super::map_shared(&socket, frames * frame_size)?;
        let ring = Self { socket, memory, frame_size, frames, next: 0 };
        bind(&ring.socket, libc::ETH_P_ALL as u16, device)?;
        Ok(ring)
    }

    /// Passes the next frame to `read`, and returns its memory to the kernel. Returns `None` if no
    /// frame waits.
    pub(crate) fn take<T>(&mut self, read: impl FnOnce(RingFrame<'_>) -> T) -> Option<T> {
        let at = self.next * self.frame_size;
        // SAFETY: the frame is in the mapped memory and begins with a `tpacket2_hdr`, aligned to a
        // frame. Both sides access its status atomically.
        let status = unsafe { self.memory.add(at).cast::<AtomicU32>().as_ref() };
        let flags = status.load(Ordering::Acquire);
        if flags & libc::TP_STATUS_USER == 0 {
            return None;
        }
        // SAFETY: the kernel has given the frame to the process, and does not write to it until the
        // status changes.
        let (header, octets) = unsafe {
            let header = self.memory.add(at).cast::<libc::tpacket2_hdr>().read();
            let (from, present) = (usize::from(header.tp_mac), header.tp_snaplen as usize);
            let present = present.min(self.frame_size.saturating_sub(from));
            (header, std::slice::from_raw_parts(self.memory.add(at + from).as_ptr(), present))
        };
        let has = |flag: u32| flags & flag != 0;
        let protocol =
            if has(libc::TP_STATUS_VLAN_TPID_VALID) { header.tp_vlan_tpid } else { libc::ETH_P_8021Q as u16 };
        let tag = has(libc::TP_STATUS_VLAN_VALID).then_some((protocol, header.tp_vlan_tci));
        let result = read(RingFrame { octets, length: header.tp_len as usize, tag });
        status.store(STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % self.frames;
        Some(result)
    }

    /// Returns the number of frames lost for lack of room since the last call.
    pub(crate) fn overruns(&self) -> io::Result<u64> {
        // SAFETY: all fields are integers.
        let mut statistics: libc::tpacket_stats = unsafe { std::mem::zeroed() };
        let mut length = size_of_val(&statistics) as libc::socklen_t;
        // SAFETY: the kernel writes at most `length` octets to the statistics, which live across
        // the call.
        super::check(unsafe {
            let to = (&raw mut statistics).cast();
            libc::getsockopt(self.socket.as_raw_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS, to, &raw mut length)
        })?;
        Ok(statistics.tp_drops.into())
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        super::unmap(self.memory, self.frames * self.frame_size);
    }
}

/// Returns a socket that sends frames through a device and receives none. `buffer` bounds the
/// octets that wait in the device.
pub(crate) fn sender(device: u32, buffer: libc::c_int) -> io::Result<OwnedFd> {
    let socket = silent()?;
    super::set_option(socket.as_fd(), libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &buffer)?;
    bind(&socket, 0, device)?;
    Ok(socket)
}

/// The maximum number of frames per call.
pub(crate) const MAX_AT_ONCE: usize = 64;

/// Sends frames, each of a header and a payload, until the device accepts no more. Returns their
/// number, or the error of the first frame.
pub(crate) fn send(socket: BorrowedFd<'_>, frames: &[[IoSlice<'_>; 2]]) -> io::Result<usize> {
    let mut messages: arrayvec::ArrayVec<libc::mmsghdr, MAX_AT_ONCE> = arrayvec::ArrayVec::new();
    for parts in frames.iter().take(MAX_AT_ONCE) {
        // SAFETY: zeros are null pointers and zero lengths.
        let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
        // `IoSlice` has the layout of `iovec`, and the kernel does not write through it when it
        // sends.
        message.msg_hdr.msg_iov = parts.as_ptr().cast_mut().cast();
        message.msg_hdr.msg_iovlen = parts.len() as _;
        messages.push(message);
    }
    // SAFETY: the messages and the memory that they point to live across the call.
    let sent = unsafe {
        libc::sendmmsg(socket.as_raw_fd(), messages.as_mut_ptr(), messages.len() as libc::c_uint, libc::MSG_DONTWAIT)
    };
    super::check(sent)?;
    Ok(sent as usize)
}
