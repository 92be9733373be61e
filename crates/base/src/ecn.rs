//! Explicit congestion notification in the IP header.

/// The ECN field of an IP packet (RFC 3168, §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// Not-ECT: the transport does not support ECN; only a drop signals congestion to it.
    #[default]
    NotEct,
    /// ECT(1): the transport supports ECN and responds to each mark, as L4S does (RFC 9331, §2).
    Ect1,
    /// ECT(0): the transport supports ECN.
    Ect0,
    /// CE: the packet experienced congestion.
    Ce,
}

impl Ecn {
    /// All codepoints, in the order of their binary values.
    pub const ALL: [Self; 4] = [Self::NotEct, Self::Ect1, Self::Ect0, Self::Ce];

    /// Returns the two bits of the header field.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// Returns the codepoint of the two low bits. Ignores the other bits.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self::ALL[(bits & 0b11) as usize]
    }

    /// Returns `true` if a queue may mark the packet instead of dropping it.
    #[must_use]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }

    /// Returns the name of the codepoint in RFC 3168.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotEct => "Not-ECT",
            Self::Ect1 => "ECT(1)",
            Self::Ect0 => "ECT(0)",
            Self::Ce => "CE",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_are_those_of_the_rfc() {
        assert_eq!(Ecn::ALL.map(Ecn::bits), [0b00, 0b01, 0b10, 0b11]);
        assert_eq!([0b00, 0b01, 0b10, 0b11].map(Ecn::from_bits), Ecn::ALL);
        assert_eq!(Ecn::ALL.map(Ecn::is_capable), [false, true, true, true]);
    }
}
