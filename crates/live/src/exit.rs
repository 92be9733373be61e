//! Sends Ethernet frames through a device, in batches.

use crate::diversion::LinkHeader;
use crate::sys;
use arrayvec::ArrayVec;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, OwnedFd};

/// The maximum number of octets queued in a device, as the kernel counts them. It is a few hundred
/// full packets, as in the queue of a network card.
const BUFFER: i32 = 1 << 20;

/// Sends frames through a device. The device needs no address, and the host itself does not receive
/// the frames.
#[derive(Debug)]
pub struct Exit {
    socket: OwnedFd,
    /// Frames that wait for the end of the batch.
    waiting: Vec<(LinkHeader, Vec<u8>)>,
    sent: u64,
    refused: u64,
}

impl Exit {
    /// Creates an exit to the device with this index.
    ///
    /// # Errors
    /// If the process lacks the permission.
    pub fn new(device: u32) -> io::Result<Self> {
        Ok(Self { socket: sys::packet::sender(device, BUFFER)?, waiting: Vec::new(), sent: 0, refused: 0 })
    }

    /// Adds a frame to the batch.
    pub fn push(&mut self, header: LinkHeader, packet: Vec<u8>) {
        self.waiting.push((header, packet));
    }

    /// Sends the batch in order, and returns the memory of each packet to `spare`. Frames that the
    /// device does not accept are lost, as in the queue of a network card.
    pub fn flush(&mut self, spare: &mut Vec<Vec<u8>>) {
        let mut rest = &self.waiting[..];
        while !rest.is_empty() {
            let frames: ArrayVec<[IoSlice<'_>; 2], { sys::packet::MAX_AT_ONCE }> = rest
                .iter()
                .take(sys::packet::MAX_AT_ONCE)
                .map(|(header, packet)| [IoSlice::new(header), IoSlice::new(packet)])
                .collect();
            // An error concerns only the first frame. The frames after it may be sent.
            let done = match sys::packet::send(self.socket.as_fd(), &frames) {
                Ok(sent) => {
                    self.sent += sent as u64;
                    sent
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
                Err(_) => {
                    self.refused += 1;
                    1
                }
            };
            rest = &rest[done..];
        }
        spare.extend(self.waiting.drain(..).map(|(_, packet)| packet));
    }

    /// Discards the batch, and returns the number of its frames.
    pub fn discard(&mut self) -> u64 {
        self.waiting.drain(..).count() as u64
    }

    /// Returns the number of frames sent.
    #[must_use]
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns the number of frames that the device did not accept.
    #[must_use]
    pub const fn refused(&self) -> u64 {
        self.refused
    }
}
