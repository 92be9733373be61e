//! LISP data packets (RFC 9300, §5.3): IP in UDP.

use super::frame::Frame;
use super::{Layer, Opened, plausible};

/// Opens a header of flags, nonce and locator bits, if an IP packet follows it.
pub(super) fn open(frame: Frame<'_>) -> Option<Opened<'_>> {
    let inner = frame.skip(8, "LISP").ok()?;
    plausible::is_ip(inner).then_some(Ok((Layer::Ip, inner)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ip_packet_follows_the_header() {
        let mut octets = [0; 48];
        octets[8] = 0x60;
        let (layer, inner) = open(Frame::new(&octets, 48)).unwrap().unwrap();
        assert_eq!((layer, inner.octets.len()), (Layer::Ip, 40));
        octets[8] = 0x10;
        assert!(open(Frame::new(&octets, 48)).is_none());
    }
}
