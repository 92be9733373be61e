//! Programs that run in the kernel (bpf(2)).

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Commands (`enum bpf_cmd`, `linux/bpf.h`).
const MAP_CREATE: libc::c_int = 0;
const PROG_LOAD: libc::c_int = 5;
const LINK_CREATE: libc::c_int = 28;

/// An array whose values a process can map into its memory.
const MAP_TYPE_ARRAY: u32 = 2;
const F_MMAPABLE: u32 = 1 << 10;

/// The kinds of programs in use (`enum bpf_prog_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum ProgramKind {
    /// The filter of a socket.
    SocketFilter = 1,
    /// A classifier of traffic control.
    Classifier = 3,
}

/// The hook of a classifier (`BPF_TCX_EGRESS` of `enum bpf_attach_type`): behind routing and
/// bridging, in front of the queueing discipline of the device.
const TCX_EGRESS: u32 = 47;

/// One instruction (`struct bpf_insn`).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Instruction {
    pub(crate) code: u8,
    /// The destination register in the low half, the source register in the high half.
    pub(crate) registers: u8,
    pub(crate) offset: i16,
    pub(crate) immediate: i32,
}

#[repr(C)]
#[derive(Default)]
struct MapAttributes {
    kind: u32,
    key_size: u32,
    value_size: u32,
    entries: u32,
    flags: u32,
}

#[repr(C)]
#[derive(Default)]
struct ProgramAttributes {
    kind: u32,
    instruction_count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
}

#[repr(C)]
#[derive(Default)]
struct LinkAttributes {
    program: u32,
    target: u32,
    attach_type: u32,
    flags: u32,
}

/// Calls bpf(2) with attributes that the kernel reads and does not keep.
fn bpf<T>(command: libc::c_int, attributes: &T) -> io::Result<OwnedFd> {
    // SAFETY: the attributes live across the call and have the length that is given. The caller
    // owns what they point to.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(attributes), size_of::<T>()) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: these three commands return a descriptor without another owner. The kernel sets
    // close-on-exec.
    Ok(unsafe { OwnedFd::from_raw_fd(result as libc::c_int) })
}

/// Loads a program. The kernel refuses it without the permission, or if its verifier rejects the
/// program.
pub(crate) fn load(kind: ProgramKind, instructions: &[Instruction]) -> io::Result<OwnedFd> {
    // Most helpers require this license. The program calls only the clock and the redirection.
    const LICENSE: &[u8] = b"Dual MIT/GPL\0";
    bpf(
        PROG_LOAD,
        &ProgramAttributes {
            kind: kind as u32,
            instruction_count: instructions.len() as u32,
            instructions: instructions.as_ptr() as u64,
            license: LICENSE.as_ptr() as u64,
            ..ProgramAttributes::default()
        },
    )
}

/// Attaches a classifier to the egress of the device with this index, behind the existing
/// classifiers. It is detached when the descriptor is closed, at the latest when the process ends.
pub(crate) fn attach_to_egress(program: BorrowedFd<'_>, device: u32) -> io::Result<OwnedFd> {
    let program = program.as_raw_fd() as u32;
    bpf(LINK_CREATE, &LinkAttributes { program, target: device, attach_type: TCX_EGRESS, flags: 0 })
}

/// Makes `program` the filter of `socket`.
pub(crate) fn filter(socket: BorrowedFd<'_>, program: BorrowedFd<'_>) -> io::Result<()> {
    super::set_option(socket, libc::SOL_SOCKET, libc::SO_ATTACH_BPF, &program.as_raw_fd())
}

/// Words of memory that programs in the kernel and this process share.
#[derive(Debug)]
pub(crate) struct SharedWords {
    map: OwnedFd,
    memory: NonNull<AtomicU64>,
    words: usize,
}

// SAFETY: the memory is mapped until this is dropped, and all access to it is atomic.
unsafe impl Send for SharedWords {}
// SAFETY: as above.
unsafe impl Sync for SharedWords {}

impl SharedWords {
    /// Creates a memory of `words` zero words.
    pub(crate) fn new(words: usize) -> io::Result<Self> {
        let value_size = (words * size_of::<u64>()) as u32;
        let attributes = MapAttributes { kind: MAP_TYPE_ARRAY, key_size: 4, value_size, entries: 1, flags: F_MMAPABLE };
        let map = bpf(MAP_CREATE, &attributes)?;
        let memory = super::map_shared(&map, words * size_of::<u64>())?.cast();
        Ok(Self { map, memory, words })
    }

    /// Returns the number by which instructions name this memory.
    pub(crate) fn number(&self) -> i32 {
        self.map.as_raw_fd()
    }

    fn word(&self, index: usize) -> &AtomicU64 {
        assert!(index < self.words, "word {index} of {}", self.words);
        // SAFETY: the memory holds `words` aligned words, and is mapped as long as `self` lives.
        unsafe { self.memory.add(index).as_ref() }
    }

    pub(crate) fn get(&self, index: usize) -> u64 {
        self.word(index).load(Ordering::Acquire)
    }

    pub(crate) fn set(&self, index: usize, value: u64) {
        self.word(index).store(value, Ordering::Release);
    }
}

impl Drop for SharedWords {
    fn drop(&mut self) {
        super::unmap(self.memory.cast(), self.words * size_of::<u64>());
    }
}
