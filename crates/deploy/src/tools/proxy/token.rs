//! The secret that permits a client to use the far side of a proxy.

use crate::tools::ToolError;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use std::fmt;
use std::str::FromStr;

/// A secret of 32 octets, as 64 hexadecimal digits.
#[derive(Clone)]
pub struct Token([u8; 32]);

impl Token {
    /// Creates a new token.
    ///
    /// # Errors
    /// If the system provides no random numbers.
    pub fn generate() -> Result<Self, ToolError> {
        let mut octets = [0; 32];
        let filled = SystemRandom::new().fill(&mut octets);
        filled.map_err(|_| ToolError::failed("token", "the system gives no random numbers"))?;
        Ok(Self(octets))
    }

    pub(super) const fn octets(&self) -> &[u8; 32] {
        &self.0
    }

    /// The digests are compared, so that the duration of the comparison reveals nothing about the
    /// secret.
    pub(super) fn is(&self, shown: &[u8; 32]) -> bool {
        digest(&SHA256, &self.0).as_ref() == digest(&SHA256, shown).as_ref()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}

impl FromStr for Token {
    type Err = ToolError;

    fn from_str(text: &str) -> Result<Self, ToolError> {
        let text = text.trim();
        // The message must not contain the secret.
        let malformed =
            || ToolError::usage("token", format_args!("{} characters", text.chars().count()), "64 hexadecimal digits");
        if text.len() != 64 || !text.bytes().all(|octet| octet.is_ascii_hexdigit()) {
            return Err(malformed());
        }
        let mut octets = [0; 32];
        for (place, octet) in octets.iter_mut().enumerate() {
            *octet = u8::from_str_radix(&text[2 * place..2 * place + 2], 16).map_err(|_| malformed())?;
        }
        Ok(Self(octets))
    }
}
