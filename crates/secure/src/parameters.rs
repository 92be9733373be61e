//! The parameters that the ends exchange in the TLS handshake, in QUIC's extension for transport
//! parameters (RFC 9001, §8.2). The handshake authenticates the parameters.
//!
//! Each parameter is an identifier, a length and a value (RFC 9000, §18).

use acklab_wire::varint;

/// The bytes of the client's Open frame. A server uses the frame before TLS has authenticated it.
pub(crate) const OPEN: u64 = 0x01;
/// The token of a stateless reset (RFC 9000, §18.2).
pub(crate) const RESET: u64 = 0x02;

/// Returns the encoding of one parameter.
pub(crate) fn encode(id: u64, value: &[u8]) -> Vec<u8> {
    let mut octets = Vec::with_capacity(value.len() + 4);
    varint::append(id, &mut octets);
    varint::append(value.len() as u64, &mut octets);
    octets.extend_from_slice(value);
    octets
}

/// Returns the value of the parameter `id`. Ignores other parameters. Returns `None` if the
/// parameter is missing or malformed.
pub(crate) fn find(mut octets: &[u8], id: u64) -> Option<&[u8]> {
    while !octets.is_empty() {
        let found = varint::take(&mut octets)?;
        let length = usize::try_from(varint::take(&mut octets)?).ok()?;
        let (value, rest) = octets.split_at_checked(length)?;
        if found == id {
            return Some(value);
        }
        octets = rest;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_parameters_are_skipped() {
        let mut octets = encode(0x7a, b"later");
        octets.extend(encode(RESET, b"token"));
        assert_eq!((find(&octets, RESET), find(&octets, OPEN)), (Some(&b"token"[..]), None));
        assert_eq!(find(&octets[..octets.len() - 1], RESET), None, "cut short");
    }
}
