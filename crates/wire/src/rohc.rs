//! Compressed TCP ACKs: ROHC-TCP (RFC 6846, profile 0x0006), and its variant in TCP/HACK (Salameh,
//! Zhushi, Handley, Jamieson and Karp: HACK: Hierarchical ACKs for Efficient Wireless Medium
//! Utilization, USENIX ATC '14, §3.3.2 and §3.4).
//!
//! A [`Compressor`] reduces the header of a pure ACK ([`Ack`]) to a few octets. The
//! [`Decompressor`] of the peer restores the header from them. Both have a context for each flow,
//! which contains the last headers. The last header that the peer has received may be any of the
//! newest headers; their number is [`references`](RohcConfig::references). The compressor uses the
//! shortest format that is unambiguous for all these headers.
//!
//! | module | contents |
//! |---|---|
//! | `ack` | [`Ack`]: a pure ACK with all fields of its headers |
//! | `compress`, `decompress` | the two ends |
//! | `context`, `cid` | contexts and their identifiers |
//! | `co` | compressed headers: a base header, a list and the irregular chain |
//! | `formats` | base headers: `rnd_*`, `seq_*`, `co_common` |
//! | `ir`, `ir_cr` | initialization, refresh and replication of contexts |
//! | `options` | the list of TCP options |
//! | `wlsb`, `stride`, `ip_id`, `crc` | encodings of single fields, and checks |
//! | `frame` | several ACKs in one link-layer acknowledgment |
//! | `octets`, `error` | reading and writing of octets, and errors |
//!
//! The decompressor reads everything that a compressor of RFC 6846 may send for the ACKs that
//! [`Ack`] can represent. Any decompressor can read the output of the compressor. Payload, and
//! headers other than IPv4 with TCP, are not implemented. The unidirectional mode needs no
//! feedback, so feedback is not implemented either.

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
pub use context::MAX_REFERENCES;
pub use decompress::{Decompressed, Decompressor};
pub use error::Error;
pub use frame::{Numbers, write_frame};
pub use octets::{LONGEST, Octets};

/// The rules of compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// RFC 6846 in unidirectional mode, with small CIDs.
    Standard,
    /// TCP/HACK. Uncompressed ACKs establish contexts at both ends, and CIDs are computed. The MSN
    /// counts the ACKs of all flows of a peer. A frame begins with the low bits of the first MSN.
    ///
    /// Because the MSN counts all flows, a sequential IP-ID is relative to the IP-ID of the last
    /// ACK, not to the MSN.
    Hack,
}

/// The treatment of the TCP checksum in compressed headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// Each header carries the checksum in two octets, as in RFC 6846.
    Carried,
    /// The checksum is not sent; the decompressor computes it. The frame check sequence of the link
    /// layer and a CRC of three or seven bits protect the segment until then.
    ///
    /// The paper does not mention this. Its mean of 4.36 octets implies it: a CID takes one octet,
    /// the shortest base header two, and a checksum would take two more.
    Elided,
}

/// The configuration, which must be the same at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RohcConfig {
    /// The rules of compression.
    pub profile: Profile,
    /// The treatment of the TCP checksum in compressed headers.
    pub checksum: Checksum,
    /// The number of newest headers, each of which may be the last one that the peer has received:
    /// 1 to [`MAX_REFERENCES`]. A change is sent this number of times. So all but one of these
    /// headers may be lost consecutively.
    pub references: u8,
    /// The width of the first number of a frame of [`Profile::Hack`].
    pub numbers: Numbers,
}

impl RohcConfig {
    /// RFC 6846 with the repetitions of librohc 2.3 (`MAX_IR_COUNT`, `MAX_FO_COUNT`).
    #[must_use]
    pub const fn standard() -> Self {
        Self { profile: Profile::Standard, checksum: Checksum::Carried, references: 3, numbers: Numbers::Eight }
    }

    /// TCP/HACK behind a Block ACK window of at most 64 frames. Changes are not repeated, because
    /// the sender retains a compressed ACK until the peer has received it.
    #[must_use]
    pub const fn hack() -> Self {
        Self { profile: Profile::Hack, checksum: Checksum::Elided, references: 1, numbers: Numbers::Eight }
    }
}

#[cfg(test)]
mod tests;
