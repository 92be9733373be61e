//! Explicit congestion notification in the IP header.

/// The ECN field of an IP packet (RFC 3168, §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// Not-ECT: the transport understands no marks, so congestion can be told by a drop alone.
    #[default]
    NotEct,
    /// ECT(1): the transport understands marks and answers each of them, as L4S does (RFC 9331, §2).
    Ect1,
    /// ECT(0): the transport understands marks.
    Ect0,
    /// CE: the packet has met congestion.
    Ce,
}

impl Ecn {
    /// All codepoints, in the order of their bits.
    pub const ALL: [Self; 4] = [Self::NotEct, Self::Ect1, Self::Ect0, Self::Ce];

    /// The two bits as they stand in the header.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// The codepoint of the two low bits.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self::ALL[(bits & 0b11) as usize]
    }

    /// May a box mark the packet instead of dropping it?
    #[must_use]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }

    /// Its name in RFC 3168.
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
