//! Generic options (RFC 6846, §8.2: `tcp_opt_generic`), which have the indices 7 to 15 in a list.

use crate::rohc::Error;
use crate::rohc::octets::Reader;
use crate::tcp::octets::{KIND_ACCURATE_ECN, KIND_EXPERIMENT, take};
use crate::tcp::{AccurateEcn, Options};

/// The discriminator of an irregular item whose contents are unchanged
/// (`generic_stable_irregular`).
pub(super) const STABLE: u8 = 0xff;
/// The discriminator of an irregular item with new contents (`generic_full_irregular`).
pub(super) const FULL: u8 = 0x00;
/// `option_static`, which shares an octet with the length.
const STATIC: u8 = 0x80;
/// Octets of kind and length.
const KIND_AND_LENGTH: usize = 2;

/// A generic option in the item table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Generic {
    value: Value,
    /// `true` if the contents never change, so that the irregular chain has no item for them
    /// (`generic_static_irregular`).
    is_static: bool,
}

/// The options without a specific index that an [`Ack`](crate::rohc::Ack) can represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    AccurateEcn(AccurateEcn),
    AckRatio(u8),
}

impl Value {
    /// Decodes an option. Returns `None` if an [`Ack`](crate::rohc::Ack) cannot represent it
    /// exactly.
    fn decode(kind: u8, contents: &[u8]) -> Option<Self> {
        let mut options = Options::default();
        if !take(kind, contents, &mut options) {
            return None;
        }
        let value = match (options.accurate_ecn, options.ack_ratio) {
            (Some(option), None) => Self::AccurateEcn(option),
            (None, Some(ratio)) => Self::AckRatio(ratio),
            _ => return None,
        };
        (value.contents_len() == contents.len()).then_some(value)
    }

    fn kind(&self) -> u8 {
        match self {
            Self::AccurateEcn(option) => KIND_ACCURATE_ECN[option.order() as usize],
            Self::AckRatio(_) => KIND_EXPERIMENT,
        }
    }

    fn contents_len(&self) -> usize {
        match self {
            Self::AccurateEcn(option) => option.len() as usize - KIND_AND_LENGTH,
            // The experiment identifier, and the ratio.
            Self::AckRatio(_) => 3,
        }
    }
}

impl Generic {
    /// Returns the option in these octets, which begin with its kind and length.
    pub(super) fn of(octets: &[u8]) -> Option<Self> {
        let [kind, _, contents @ ..] = octets else { return None };
        Some(Self { value: Value::decode(*kind, contents)?, is_static: false })
    }

    /// Reads `generic_list_item`.
    pub(super) fn read(reader: &mut Reader) -> Result<Self, Error> {
        let [kind, len] = reader.array()?;
        let invalid = Error::Options { what: "length", found: len };
        let contents = usize::from(len & !STATIC).checked_sub(KIND_AND_LENGTH).ok_or(invalid)?;
        let value = Value::decode(kind, reader.take(contents)?);
        let value = value.ok_or(Error::Options { what: "option kind", found: kind })?;
        Ok(Self { value, is_static: len & STATIC != 0 })
    }

    /// Reads the item of the irregular chain, which refers to this generic option.
    pub(super) fn read_irregular(&mut self, reader: &mut Reader) -> Result<(), Error> {
        if self.is_static {
            return Ok(());
        }
        match reader.u8()? {
            STABLE => Ok(()),
            FULL => {
                let kind = self.value.kind();
                let value = Value::decode(kind, reader.take(self.value.contents_len())?);
                self.value = value.ok_or(Error::Options { what: "option kind", found: kind })?;
                Ok(())
            }
            found => Err(Error::Options { what: "generic option", found }),
        }
    }

    /// Adds the option to the options of a header.
    pub(super) const fn put(&self, options: &mut Options) {
        match self.value {
            Value::AccurateEcn(option) => options.accurate_ecn = Some(option),
            Value::AckRatio(ratio) => options.ack_ratio = Some(ratio),
        }
    }

    /// Updates the value of the option from a header that contains it.
    pub(super) fn update(&mut self, options: &Options) {
        match &mut self.value {
            Value::AccurateEcn(option) => *option = options.accurate_ecn.unwrap_or(*option),
            Value::AckRatio(ratio) => *ratio = options.ack_ratio.unwrap_or(*ratio),
        }
    }

    /// Returns `true` for an option of the same kind and length.
    pub(super) fn is_like(&self, octets: &[u8]) -> bool {
        octets.first() == Some(&self.value.kind()) && octets.len() == KIND_AND_LENGTH + self.value.contents_len()
    }
}
