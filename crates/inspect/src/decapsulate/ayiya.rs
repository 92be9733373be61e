//! AYIYA (draft-massar-v6ops-ayiya-02, §3): IP in UDP, signed.

use super::frame::Frame;
use super::{Layer, Opened, plausible};

/// Opens a header, if an IP packet follows it: lengths, next header, time, identity, signature.
pub(super) fn open(frame: Frame<'_>) -> Option<Opened<'_>> {
    let (&[identity, signature, ..], rest) = frame.take::<8>("AYIYA").ok()?;
    // The length of the identity is a power of two in octets, and that of the signature is in words
    // of four.
    let length = (1 << (identity >> 4)) + usize::from(signature >> 4) * 4;
    let inner = rest.skip(length, "AYIYA").ok()?;
    plausible::is_ip(inner).then_some(Ok((Layer::Ip, inner)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_and_signature_are_left_out() {
        let mut octets = vec![0x41, 0x52, 0x11, 41, 0, 0, 0, 0];
        octets.extend([9; 16 + 20]);
        octets.extend([0x60; 1]);
        octets.extend([0; 39]);
        let (layer, inner) = open(Frame::new(&octets, octets.len())).unwrap().unwrap();
        assert_eq!((layer, inner.octets.len()), (Layer::Ip, 40));
        assert!(open(Frame::new(&[0; 12], 12)).is_none());
    }
}
