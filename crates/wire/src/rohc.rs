//! Compressed TCP ACKs: ROHC-TCP (RFC 6846, profile 0x0006), and what TCP/HACK makes of it (Salameh, Zhushi, Handley,
//! Jamieson and Karp: HACK: Hierarchical ACKs for Efficient Wireless Medium Utilization, USENIX ATC '14, §3.3.2 and
//! §3.4).
//!
//! A [`Compressor`] takes the header of a pure ACK ([`Ack`]) and writes a few octets; the [`Decompressor`] of the peer
//! makes the same header of them. Each holds a context for a flow: what the last headers were. A header takes the
//! shortest of the formats that the other end can tell it from, whichever of the last [references](Config::references) it
//! has received last.
//!
//! | module | holds |
//! |---|---|
//! | `ack` | [`Ack`]: a pure ACK with all that its headers say |
//! | `compress`, `decompress` | the two ends |
//! | `context`, `cid` | what they remember, and by which number |
//! | `formats` | base headers: `rnd_*`, `seq_*`, `co_common` |
//! | `ir` | IR and IR-DYN |
//! | `options` | the list of TCP options: timestamps, SACK, and others as they are |
//! | `wlsb`, `stride`, `ip_id`, `crc` | encodings of single fields, and checks |
//! | `frame` | several ACKs in one link-layer acknowledgment |
//! | `octets`, `error` | what is written and read, and why not |
//!
//! The formats are those of the RFC's formal notation, in the order in which librohc's headers quote it, and each was
//! worked out by hand in a test; no other implementation has read what is written here yet. Left out are other headers
//! than IPv4 with TCP, payload, feedback (the unidirectional mode works without) and context replication (IR-CR).

mod ack;
mod cid;
mod co;
mod compress;
mod context;
mod crc;
mod decompress;
mod error;
mod formats;
mod frame;
mod ip_id;
mod ir;
mod ir_cr;
mod octets;
mod options;
mod stride;
mod wlsb;

pub use ack::Ack;
pub use cid::Cid;
pub use compress::Compressor;
pub use context::MOST_REFERENCES;
pub use decompress::{Decompressed, Decompressor};
pub use error::Error;
pub use frame::{FRAME_HEADER, write_frame};
pub use octets::{LONGEST, Octets};

/// By whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// RFC 6846 in unidirectional mode, with small CIDs.
    Standard,
    /// TCP/HACK: uncompressed ACKs begin contexts at both ends, CIDs are computed, numbers count all flows of a peer, and
    /// a frame tells eight bits of the first one.
    ///
    /// As numbers count all flows, a sequential IP-ID is coded against that of the ACK before and not against the number.
    Hack,
}

/// Does the TCP checksum go with each header?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// As RFC 6846 has it: two octets.
    Carried,
    /// The other end computes it. What protected the segment until then, the link layer's own check and three or seven
    /// bits of CRC, has to do.
    ///
    /// The paper does not say that it is left out, but its sizes do: the checksum alone takes two octets of 4.36, a CID
    /// one and the shortest base header two.
    Elided,
}

/// What both ends must agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// By whose rules.
    pub profile: Profile,
    /// Does the TCP checksum go with each header?
    pub checksum: Checksum,
    /// Headers that the other end may have received last when the next one comes, 1 to [`MOST_REFERENCES`]: what changes
    /// is told so many times, and so many compressed ACKs but one may be lost in a row.
    pub references: u8,
}

impl Config {
    /// RFC 6846, with the repetitions of librohc 2.3 (`MAX_IR_COUNT`, `MAX_FO_COUNT`).
    #[must_use]
    pub const fn standard() -> Self {
        Self { profile: Profile::Standard, checksum: Checksum::Carried, references: 3 }
    }

    /// TCP/HACK. It needs no repetition: a compressed ACK is kept until the other end must have it.
    #[must_use]
    pub const fn hack() -> Self {
        Self { profile: Profile::Hack, checksum: Checksum::Elided, references: 1 }
    }
}

#[cfg(test)]
mod tests;
