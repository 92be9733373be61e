//! The diversion of traffic that the kernel forwards between two devices.
//!
//! The kernel forwards, by a bridge or by its routes. A classifier at the exit of the second device
//! redirects frames that arrived at the first device to a TAP device of this process. A ring
//! collects the frames from there. Other frames pass unchanged: frames of the host itself or of
//! other devices, and frames of protocols other than IPv4 and IPv6. Frames in the ring are already
//! routed and have the header of the next hop. Because the TAP device has no offloads, the kernel
//! has already cut large segments into packets and computed their checksums.
//!
//! The classifier and the device are bound to descriptors. The kernel removes them with the last
//! descriptor, even if the process is killed. The classifier also lets traffic pass if the process
//! has not [prolonged](Diversion::prolong) the diversion in time.

use crate::clock::nanos;
use crate::netlink::{Device, Netlink, without_ipv6};
use crate::sys;
use crate::sys::bpf::{Instruction, ProgramKind, SharedWords};
use crate::sys::packet::Ring;
use crate::tun::{self, Tun};
use acklab_base::Duration;
use arrayvec::ArrayVec;
use rustix::time::ClockId;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The octets of an Ethernet header.
const ETHERNET: usize = 14;
/// The octets of the tag of a VLAN (IEEE 802.1Q, 9.6).
const TAG: usize = 4;
/// The offset of the tag: behind the two addresses.
const TAG_AT: usize = 12;

/// The size of a ring in octets. It has room for about 4,000 frames of 1500 octets: the arrivals of
/// 13 ms at 300,000 packets per second.
const RING: usize = 8 << 20;
/// The octets of a block of a ring. No frame is larger.
const BLOCK: usize = 1 << 17;
/// The bytes that the kernel puts before a frame: `TPACKET2_HDRLEN`, and room to align the content
/// behind the Ethernet header.
const BEFORE_FRAME: usize = 96;

/// Words that the classifier and this process share.
mod word {
    /// The time until which frames are diverted, in nanoseconds of the monotonic clock.
    pub(super) const UNTIL: usize = 0;
    /// The number of packets that passed because this time had passed.
    pub(super) const PASSED: usize = 1;
    pub(super) const COUNT: usize = 2;
}

/// The reasons why traffic cannot be diverted.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The TAP device cannot be created.
    #[error(transparent)]
    Tap(#[from] tun::Error),
    /// The TAP device cannot be configured.
    #[error("cannot configure the TAP device of a diversion: {0}")]
    Configure(io::Error),
    /// The kernel refuses a program.
    #[error(
        "cannot load a program into the kernel: {0}; it takes root (CAP_BPF and CAP_NET_ADMIN, which no user namespace gives), and in a container a seccomp profile that lets bpf() pass"
    )]
    Program(io::Error),
    /// The kernel refuses the classifier.
    #[error(
        "cannot attach a classifier to the device: {0}; it takes Linux 6.6 or newer, whose classifiers end with the process (tcx)"
    )]
    Attach(io::Error),
    /// The ring cannot be created.
    #[error("cannot make a ring of frames: {0}")]
    Ring(io::Error),
    /// The socket that sends frames cannot be created.
    #[error("cannot open a packet socket: {0}; it takes root (CAP_NET_RAW)")]
    Exit(io::Error),
}

/// The method by which frames reach this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// A packet socket with a ring in shared memory (`TPACKET_V2`).
    Ring,
    /// The file of the TAP device, with a system call for each frame.
    Tap,
}

impl Method {
    /// Returns the name for messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ring => "AF_PACKET with a ring (TPACKET_V2)",
            Self::Tap => "TAP",
        }
    }
}

/// The header of the link layer, including the tag of a VLAN if there is one.
pub type LinkHeader = ArrayVec<u8, { ETHERNET + TAG }>;

/// The traffic from one device to another, diverted to this process.
#[derive(Debug)]
pub struct Diversion {
    // Fields are dropped in this order. The classifier is dropped first, so that no frame is
    // redirected to a device that no longer exists.
    _classifier: OwnedFd,
    words: SharedWords,
    source: Source,
    overruns: u64,
}

#[derive(Debug)]
enum Source {
    Ring { ring: Ring, _tap: Tun },
    Tap { tap: Tun, frame: Vec<u8> },
}

impl Diversion {
    /// Creates a diversion of frames that arrive at the device `from` and leave through the device
    /// `to`. `name` is the name of the TAP device. Packets have at most `mtu` octets. Nothing is
    /// diverted before the first call of [`prolong`](Self::prolong). Frames come by `method`, or by
    /// the best method that the system allows.
    ///
    /// # Errors
    /// If the system refuses a part of it.
    pub fn new(from: u32, to: u32, name: &str, mtu: u32, method: Option<Method>) -> Result<Self, Error> {
        let tap = Tun::tap(name)?;
        let netlink = Netlink::here().map_err(Error::Configure)?;
        let device = Device { mtu, queue_len: 1_000, gso_max_segs: u16::MAX.into() };
        netlink.configure(tap.index(), device).map_err(Error::Configure)?;
        netlink.give_no_address(tap.index()).map_err(Error::Configure)?;
        // A packet socket that is bound to a device that is down reports an error, so the driver
        // would never sleep.
        netlink.bring_up(tap.index()).map_err(Error::Configure)?;
        let words = SharedWords::new(word::COUNT).map_err(Error::Program)?;
        let source = Source::new(tap, from, mtu, method)?;
        let program = classifier(from, source.tap().index(), &words);
        let program = sys::bpf::load(ProgramKind::Classifier, &program).map_err(Error::Program)?;
        let classifier = sys::bpf::attach_to_egress(program.as_fd(), to).map_err(Error::Attach)?;
        Ok(Self { _classifier: classifier, words, source, overruns: 0 })
    }

    /// Returns how frames come to this process.
    #[must_use]
    pub const fn method(&self) -> Method {
        match self.source {
            Source::Ring { .. } => Method::Ring,
            Source::Tap { .. } => Method::Tap,
        }
    }

    /// Diverts traffic for the time `during`, starting now.
    pub fn prolong(&self, during: Duration) {
        self.words.set(word::UNTIL, nanos(ClockId::Monotonic) + during.as_nanos());
    }

    /// Lets all traffic pass from now on.
    pub fn suspend(&self) {
        self.words.set(word::UNTIL, 0);
    }

    /// Returns `true` if frames are diverted now. If the process has stalled, frames may have
    /// passed meanwhile.
    #[must_use]
    pub fn is_in_force(&self) -> bool {
        nanos(ClockId::Monotonic) < self.words.get(word::UNTIL)
    }

    /// Returns the number of packets, or segments of offloads, that passed although they should
    /// have been diverted.
    #[must_use]
    pub fn passed(&self) -> u64 {
        self.words.get(word::PASSED)
    }

    /// Returns the number of frames that were lost because they were not collected in time.
    ///
    /// # Errors
    /// If the kernel does not report it.
    pub fn overruns(&mut self) -> io::Result<u64> {
        if let Source::Ring { ring, .. } = &self.source {
            self.overruns += ring.overruns()?;
        }
        Ok(self.overruns)
    }

    /// Moves the next frame: its header to `header` and its packet to `packet`, both of which are
    /// emptied first. Returns the length of the packet on the wire, which exceeds that of `packet`
    /// if the frame did not fit. Returns `None` if no frame waits.
    ///
    /// # Errors
    /// If the device is gone.
    pub fn take(&mut self, header: &mut LinkHeader, packet: &mut Vec<u8>) -> io::Result<Option<usize>> {
        header.clear();
        packet.clear();
        match &mut self.source {
            Source::Ring { ring, .. } => Ok(ring.take(|frame| {
                let (before, behind) = frame.octets.split_at(frame.octets.len().min(ETHERNET));
                match (frame.tag, before.split_at_checked(TAG_AT)) {
                    (Some((protocol, control)), Some((addresses, kind))) => {
                        let tag = [protocol.to_be_bytes(), control.to_be_bytes()];
                        header.extend([addresses, tag.as_flattened(), kind].concat());
                    }
                    _ => header.extend(before.iter().copied()),
                }
                packet.extend_from_slice(behind);
                frame.length.saturating_sub(ETHERNET)
            })),
            Source::Tap { tap, frame } => {
                frame.clear();
                if !tap.read(frame)? {
                    return Ok(None);
                }
                let is_tagged = matches!(frame.get(TAG_AT..TAG_AT + 2), Some([0x81, 0] | [0x88, 0xa8]));
                let (before, behind) = frame.split_at(frame.len().min(ETHERNET + if is_tagged { TAG } else { 0 }));
                header.extend(before.iter().copied());
                packet.extend_from_slice(behind);
                Ok(Some(behind.len()))
            }
        }
    }
}

impl AsFd for Diversion {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.source {
            Source::Ring { ring, .. } => ring.as_fd(),
            Source::Tap { tap, .. } => tap.as_fd(),
        }
    }
}

impl Source {
    fn new(tap: Tun, from: u32, mtu: u32, method: Option<Method>) -> Result<Self, Error> {
        if method != Some(Method::Tap) {
            let filter = sys::bpf::load(ProgramKind::SocketFilter, &forwarded_from(from)).map_err(Error::Program)?;
            let frame_size = (BEFORE_FRAME + ETHERNET + mtu as usize).next_power_of_two().min(BLOCK);
            match Ring::new(tap.index(), filter.as_fd(), frame_size, BLOCK, RING / frame_size) {
                Ok(ring) => {
                    sys::discard_tap(tap.as_fd()).map_err(Error::Configure)?;
                    return Ok(Self::Ring { ring, _tap: tap });
                }
                Err(why) if method.is_some() => return Err(Error::Ring(why)),
                // The file of the device is used instead.
                Err(_) => {}
            }
        }
        // This method cannot distinguish frames that the host itself sends through the device.
        without_ipv6(tap.name()).map_err(Error::Configure)?;
        Ok(Self::Tap { tap, frame: Vec::with_capacity(ETHERNET + TAG + mtu as usize) })
    }

    const fn tap(&self) -> &Tun {
        match self {
            Self::Ring { _tap: tap, .. } | Self::Tap { tap, .. } => tap,
        }
    }
}

/// The fields of a packet that programs read (`struct __sk_buff`, `linux/bpf.h`).
mod field {
    pub(super) const PROTOCOL: i16 = 16;
    pub(super) const INGRESS_IFINDEX: i16 = 36;
}

/// Functions of the kernel (`enum bpf_func_id`).
mod helper {
    pub(super) const KTIME_GET_NS: i32 = 5;
    pub(super) const REDIRECT: i32 = 23;
}

/// `TCX_NEXT`: the next classifier decides, and the packet passes if there is none.
const NEXT: i32 = -1;

const fn instruction(code: u8, to: u8, from: u8, offset: i16, immediate: i32) -> Instruction {
    Instruction { code, registers: to | from << 4, offset, immediate }
}

/// Returns `r<to> = immediate`
const fn set(to: u8, immediate: i32) -> Instruction {
    instruction(0xb7, to, 0, 0, immediate)
}

/// Returns `r<to> = *(u32 *)(r<from> + offset)`
const fn load_word(to: u8, from: u8, offset: i16) -> Instruction {
    instruction(0x61, to, from, offset, 0)
}

/// Returns `r<to> = *(u64 *)(r<from> + offset)`
const fn load_double(to: u8, from: u8, offset: i16) -> Instruction {
    instruction(0x79, to, from, offset, 0)
}

/// Returns `if r<register> == immediate, skip some instructions`
const fn skip_if_equal(register: u8, immediate: i32, skipped: i16) -> Instruction {
    instruction(0x15, register, 0, skipped, immediate)
}

/// Returns `if r<register> != immediate, skip some instructions`
const fn skip_unless_equal(register: u8, immediate: i32, skipped: i16) -> Instruction {
    instruction(0x55, register, 0, skipped, immediate)
}

const fn call(helper: i32) -> Instruction {
    instruction(0x85, 0, 0, 0, helper)
}

const fn exit() -> Instruction {
    instruction(0x95, 0, 0, 0, 0)
}

/// Returns the program that redirects frames from device `from` to device `tap`.
fn classifier(from: u32, tap: u32, words: &SharedWords) -> Vec<Instruction> {
    let protocol = |protocol: libc::c_int| i32::from((protocol as u16).to_be());
    let offset = |word: usize| (word * size_of::<u64>()) as i16;
    vec![
        // Checks that the frame arrived at that device, and is IP.
        load_word(2, 1, field::INGRESS_IFINDEX),
        skip_unless_equal(2, from.cast_signed(), 15),
        load_word(2, 1, field::PROTOCOL),
        skip_if_equal(2, protocol(libc::ETH_P_IP), 1),
        skip_unless_equal(2, protocol(libc::ETH_P_IPV6), 12),
        // r6 = the shared words, in two slots.
        instruction(0x18, 6, 2, 0, words.number()),
        instruction(0, 0, 0, 0, 0),
        // Checks that the diversion is in force.
        call(helper::KTIME_GET_NS),
        load_double(2, 6, offset(word::UNTIL)),
        // If it is, skips the counter.
        instruction(0xad, 0, 2, 3, 0),
        set(1, 1),
        instruction(0xdb, 6, 1, offset(word::PASSED), 0),
        // Skips the redirection.
        instruction(0x05, 0, 0, 4, 0),
        set(1, tap.cast_signed()),
        set(2, 0),
        call(helper::REDIRECT),
        exit(),
        set(0, NEXT),
        exit(),
    ]
}

/// Returns the filter that keeps whole frames that arrived at device `from`.
fn forwarded_from(from: u32) -> [Instruction; 5] {
    [
        load_word(2, 1, field::INGRESS_IFINDEX),
        set(0, i32::MAX),
        skip_if_equal(2, from.cast_signed(), 1),
        set(0, 0),
        exit(),
    ]
}
