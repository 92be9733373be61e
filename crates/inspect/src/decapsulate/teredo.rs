//! Teredo: IPv6 in UDP (RFC 4380, §5.1).

use super::frame::Frame;
use super::{Layer, Opened, plausible};

const NAME: &str = "Teredo";

/// Opens a datagram with an IPv6 packet behind indications of authentication and origin.
pub(super) fn open(mut frame: Frame<'_>) -> Option<Opened<'_>> {
    if let [0, 1, identifier, authentication, ..] = *frame.octets {
        // A client identifier, an authentication value, a nonce of eight octets, a confirmation.
        let length = 4 + usize::from(identifier) + usize::from(authentication) + 8 + 1;
        frame = frame.skip(length, NAME).ok()?;
    }
    if frame.octets.starts_with(&[0, 0]) {
        // An obfuscated port and an obfuscated address.
        frame = frame.skip(8, NAME).ok()?;
    }
    plausible::is_ip(frame).then_some(Ok((Layer::Ip, frame)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indications_are_left_out() {
        let mut v6 = [0; 40];
        v6[0] = 0x60;
        let authentication = [0, 1, 1, 2, 9, 9, 9, 1, 2, 3, 4, 5, 6, 7, 8, 0];
        let origin = [0, 0, 1, 2, 3, 4, 5, 6];
        for before in [&[][..], &authentication, &origin, &[&authentication[..], &origin].concat()] {
            let octets = [before, &v6].concat();
            let (layer, inner) = open(Frame::new(&octets, octets.len())).unwrap().unwrap();
            assert_eq!((layer, inner.octets), (Layer::Ip, &v6[..]));
        }
        assert!(open(Frame::new(&[1, 2, 3], 3)).is_none());
    }
}
