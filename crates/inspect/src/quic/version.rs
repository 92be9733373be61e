//! Versions of QUIC.

/// The kinds of version numbers of long headers (RFC 8999, §5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// A Version Negotiation packet (RFC 8999, §6).
    Negotiation,
    /// RFC 9000, RFC 9369 or a draft since -22, whose packet types have these numbers.
    Current(Types),
    /// A registered version of which only the invariants are known.
    Registered,
    /// Google's Q046 to Q049 and drafts up to -21, which have the lengths of both connection IDs in
    /// one octet.
    Nibbles,
    /// A number that exercises version negotiation (RFC 9000, §15).
    Greased,
    /// Any other number.
    Unknown,
}

/// The numbers of packet types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Types {
    /// Initial, 0-RTT, Handshake and Retry are 0 to 3 (RFC 9000, §17.2).
    One,
    /// They are 1, 2, 3 and 0 (RFC 9369, §3.2).
    Two,
}

/// Numbers and masks of versions with the invariants of RFC 8999:
/// <https://github.com/quicwg/base-drafts/wiki/QUIC-Versions>.
const REGISTERED: &[(u32, u32)] = &[
    (0x4547_4700, 0xffff_ff00), // quant
    (0x5043_5130, 0xffff_fff0), // picoquic
    (0x5052_4f58, 0xffff_ffff), // proxied QUIC
    (0x5130_3530, 0xffff_fff0), // Google QUIC 50 to 59
    (0x5130_3939, 0xffff_ffff), // Google QUIC 99
    (0x5430_3530, 0xffff_fff0), // Google QUIC with TLS 50 to 59
    (0x5430_3939, 0xffff_ffff), // Google QUIC with TLS 99
    (0x5147_4f00, 0xffff_ff00), // quic-go
    (0x5c10_0000, 0xffff_fff0), // QUIC over SCION
    (0x91c1_7000, 0xffff_ff00), // quicly
    (0xabcd_0000, 0xffff_fff0), // MsQuic
    (0xf0f0_f0f0, 0xffff_fff0), // experiments of ETH Zürich
    (0xf0f0_f1f0, 0xffff_fff0), // experiments of Telecom Italia
    (0xf0f0_f2f0, 0xffff_fff0), // quinn-noise
    (0xf123_f0c0, 0xffff_fff0), // MozQuic
    (0xface_b000, 0xffff_ff00), // mvfst
    (0xff02_0000, 0xffff_ff00), // the first draft of version 2
];

impl Version {
    /// Returns the version with this number.
    pub(crate) fn of(number: u32) -> Self {
        match number {
            0 => Self::Negotiation,
            1 => Self::Current(Types::One),
            // RFC 9369 and its drafts since -01.
            0x6b33_43cf | 0x709a_50c4 => Self::Current(Types::Two),
            0xff00_0001..=0xff00_0015 | 0x5130_3436..=0x5130_3439 => Self::Nibbles,
            0xff00_0016..=0xff00_0022 => Self::Current(Types::One),
            _ if number & 0x0f0f_0f0f == 0x0a0a_0a0a => Self::Greased,
            _ if REGISTERED.iter().any(|(value, mask)| number & mask == *value) => Self::Registered,
            _ => Self::Unknown,
        }
    }

    /// Returns `true` if the number alone shows that a packet may be QUIC.
    pub(crate) const fn is_known(self) -> bool {
        matches!(self, Self::Current(_) | Self::Registered | Self::Nibbles)
    }
}

/// Returns the name of the version with this number.
pub(crate) fn name(number: u32) -> String {
    match number {
        1 => "version 1 (RFC 9000)".to_owned(),
        0x6b33_43cf => "version 2 (RFC 9369)".to_owned(),
        0xff00_0001..=0xff00_0022 => format!("draft-{:02} of version 1", number & 0xff),
        _ => {
            let octets = number.to_be_bytes();
            let is_text = octets.iter().all(u8::is_ascii_alphanumeric);
            let text = if is_text { format!(" ({})", String::from_utf8_lossy(&octets)) } else { String::new() };
            format!("version 0x{number:08x}{text}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_versions() {
        assert_eq!(Version::of(0), Version::Negotiation);
        assert_eq!(Version::of(0xff00_001d), Version::Current(Types::One));
        assert_eq!(Version::of(0x6b33_43cf), Version::Current(Types::Two));
        assert_eq!(Version::of(u32::from_be_bytes(*b"Q046")), Version::Nibbles);
        assert_eq!(Version::of(u32::from_be_bytes(*b"Q050")), Version::Registered);
        assert_eq!(Version::of(0xface_b002), Version::Registered);
        assert_eq!(Version::of(0x1a2a_3a4a), Version::Greased);
        assert_eq!(Version::of(0x0001_0000), Version::Unknown);
    }

    #[test]
    fn names_are_those_of_the_documents() {
        assert_eq!(name(1), "version 1 (RFC 9000)");
        assert_eq!(name(0xff00_001d), "draft-29 of version 1");
        assert_eq!(name(u32::from_be_bytes(*b"T051")), "version 0x54303531 (T051)");
    }
}
