//! Why octets are no compressed ACK.

use super::Cid;

/// Why octets are no compressed ACK, with what was found in them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The octets end within a field.
    #[error("{wanted} octets were expected, where {left} are left")]
    Truncated {
        /// Octets of the field, or of the rest of the header.
        wanted: usize,
        /// Octets that are left.
        left: usize,
    },
    /// The first octet begins none of the formats for the context.
    #[error("a header that begins with {octet:#04x} is none that is spoken here")]
    Format {
        /// The first octet behind the CID.
        octet: u8,
    },
    /// An IR or IR-DYN of another profile.
    #[error("profile {found:#04x}, where 0x06 (ROHC-TCP) was expected")]
    Profile {
        /// The profile that it names.
        found: u8,
    },
    /// Bits that a chain keeps free are set, or it heads something other than TCP over IPv4.
    #[error("{what} is {found:#04x}, which is not TCP over IPv4 in profile 0x06")]
    Chain {
        /// Which field.
        what: &'static str,
        /// What stands there.
        found: u8,
    },
    /// Nothing was seen that established the context.
    #[error("{0} has no context")]
    NoContext(Cid),
    /// A header of this context failed its check before, and only one with a CRC of seven bits, an IR or an uncompressed
    /// ACK helps.
    #[error("the context of {0} is damaged")]
    Damaged(Cid),
    /// The check of the header does not hold.
    #[error("{cid}: CRC {found:#x}, where the decompressed header has {computed:#x}")]
    Crc {
        /// The context.
        cid: Cid,
        /// What the compressed header says.
        found: u8,
        /// What the decompressed header gives.
        computed: u8,
    },
    /// The TCP checksum does not hold.
    #[error("{cid}: TCP checksum {found:#06x}, where the decompressed header has {computed:#06x}")]
    Checksum {
        /// The context.
        cid: Cid,
        /// What the compressed header says.
        found: u16,
        /// What the decompressed header gives.
        computed: u16,
    },
    /// The master sequence number does not follow the one before.
    #[error("{cid}: the low bits of MSN {expected} were expected, found {found}")]
    Msn {
        /// The context.
        cid: Cid,
        /// The number that comes next in the frame.
        expected: u16,
        /// The four bits found.
        found: u8,
    },
    /// It has a number that has gone by, and was not received then, so that there is no telling how long it is.
    #[error("MSN {0} has gone by")]
    Late(u16),
    /// The ACK number is scaled, but the stride is unknown.
    #[error("{0}: a scaled ACK number without a stride")]
    NoStride(Cid),
    /// The list of options, or one of them, is none that an ACK of these endpoints has.
    #[error("{what} {found:#04x} in the list of TCP options")]
    Options {
        /// What is wrong there.
        what: &'static str,
        /// The octet found.
        found: u8,
    },
    /// The decompressed header is not that of a pure ACK.
    #[error("{0}: the header is not that of a pure ACK")]
    NotPure(Cid),
    /// Octets follow the header.
    #[error("{octets} octets of payload follow a pure ACK")]
    Payload {
        /// How many.
        octets: usize,
    },
}
