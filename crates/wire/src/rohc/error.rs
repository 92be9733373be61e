//! Errors of decompression.

use super::Cid;

/// The reasons why octets cannot be decompressed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The octets end within a field.
    #[error("found {left} octets, expected {wanted}")]
    Truncated {
        /// The number of octets of the field.
        wanted: usize,
        /// The number of octets that remain.
        left: usize,
    },
    /// The first octet does not begin a format that fits the context.
    #[error("a header that begins with {octet:#04x} is not supported")]
    Format {
        /// The first octet after the CID.
        octet: u8,
    },
    /// An IR, IR-DYN or IR-CR header has another profile.
    #[error("found profile {found:#04x}, expected 0x06 (ROHC-TCP)")]
    Profile {
        /// The profile found.
        found: u8,
    },
    /// Reserved bits of a field or a chain are set, or the header is not TCP over IPv4.
    #[error("{what}: found {found:#04x}, expected TCP over IPv4 in profile 0x06")]
    Chain {
        /// The field.
        what: &'static str,
        /// The value of the field.
        found: u8,
    },
    /// No header has established the context.
    #[error("{0} has no context")]
    NoContext(Cid),
    /// An earlier header of this context failed its check. Only a header with a CRC of seven bits,
    /// an IR or an uncompressed ACK repairs the context.
    #[error("the context of {0} is damaged")]
    Damaged(Cid),
    /// The CRC is wrong.
    #[error("{cid}: found CRC {found:#x}, expected {computed:#x}")]
    Crc {
        /// The context.
        cid: Cid,
        /// The value in the compressed header.
        found: u8,
        /// The value for the decompressed header.
        computed: u8,
    },
    /// The TCP checksum is wrong.
    #[error("{cid}: found TCP checksum {found:#06x}, expected {computed:#06x}")]
    Checksum {
        /// The context.
        cid: Cid,
        /// The value in the compressed header.
        found: u16,
        /// The value for the decompressed header.
        computed: u16,
    },
    /// The master sequence number is not the next number.
    #[error("{cid}: found low bits {found}, expected those of MSN {expected}")]
    Msn {
        /// The context.
        cid: Cid,
        /// The next number in the frame.
        expected: u16,
        /// The four bits found.
        found: u8,
    },
    /// An ACK with an earlier number was not received before, so its length is unknown.
    #[error("MSN {0} is in the past, and was not received")]
    Late(u16),
    /// The ACK number is scaled, but the stride is unknown.
    #[error("{0}: a scaled ACK number without a stride")]
    NoStride(Cid),
    /// The list of options, or an option, is invalid or not supported.
    #[error("{what} {found:#04x} in the list of TCP options")]
    Options {
        /// The invalid element.
        what: &'static str,
        /// The value found.
        found: u8,
    },
    /// The decompressed header does not belong to a pure ACK.
    #[error("{0}: the header is not that of a pure ACK")]
    NotPure(Cid),
    /// Octets follow the header.
    #[error("{octets} octets of payload follow a pure ACK")]
    Payload {
        /// The number of octets after the header.
        octets: usize,
    },
}
