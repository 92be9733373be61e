//! Finds the end of a direction that is at the point of capture, from times to live.

/// Initial values of operating systems (the 64 that RFC 1700 recommends; 128 of Windows, 255 of
/// Solaris and of routers). Each router decrements it (RFC 791, §3.2).
const INITIAL: [u8; 3] = [64, 128, 255];

/// The times to live of data and of ACKs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hops {
    data: Lives,
    acks: Lives,
}

/// Packets of one end.
#[derive(Clone, Copy, Debug, Default)]
struct Lives {
    last: u8,
    /// Packets with an initial value, and packets with another value.
    initial: u64,
    others: u64,
}

impl Lives {
    #[inline]
    fn packet(&mut self, time_to_live: u8) {
        self.last = time_to_live;
        *if INITIAL.contains(&time_to_live) { &mut self.initial } else { &mut self.others } += 1;
    }
}

impl Hops {
    #[inline]
    pub(super) fn data(&mut self, time_to_live: u8) {
        self.data.packet(time_to_live);
    }

    #[inline]
    pub(super) fn ack(&mut self, time_to_live: u8) {
        self.acks.packet(time_to_live);
    }

    /// Returns the evidence that no router is between the receiver and the point of capture: data
    /// have passed a router, and ACKs have not.
    pub(crate) fn are_none_of_acks(&self) -> Option<String> {
        let is_near = self.acks.initial > 0 && self.acks.others == 0;
        let is_far = self.data.others > 0 && self.data.initial == 0;
        (is_near && is_far).then(|| {
            format!(
                "captured beside the receiver, whose packets have their initial time to live of {}, and the data {}",
                self.acks.last, self.data.last
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acks_that_have_passed_no_router_are_seen_beside_the_receiver() {
        let hops = |data: u8, acks: u8| {
            let mut hops = Hops::default();
            hops.data(data);
            hops.ack(acks);
            hops.are_none_of_acks().is_some()
        };
        assert!(hops(52, 64) && hops(245, 128));
        // Hops at the sender, between the ends, and within one network.
        assert!(!hops(64, 52) && !hops(60, 61) && !hops(64, 64));
    }
}
