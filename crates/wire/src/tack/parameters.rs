//! The handshake parameters of an endpoint.
//!
//! Each parameter is an identifier, a length and a value, as in RFC 9000, §18, in the order of the
//! identifiers. Unknown parameters are stored, but have no effect.

use crate::octets::Octets;
use crate::varint::{self as wide, short as varint};

mod id {
    pub(super) const WINDOW: u32 = 0x01;
    pub(super) const STREAMS: u32 = 0x02;
    pub(super) const PAYLOAD: u32 = 0x03;
    pub(super) const IDLE: u32 = 0x04;
}

/// The mandatory parameters.
const KNOWN: [u32; 4] = [id::WINDOW, id::STREAMS, id::PAYLOAD, id::IDLE];

/// The handshake parameters of an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// The initial flow control window of each stream.
    pub window: u64,
    /// The number of streams that the peer may open initially.
    pub streams: u32,
    /// The maximum UDP payload that the endpoint accepts, in octets (`max_udp_payload_size` of RFC
    /// 9000, §18.2).
    pub payload: u16,
    /// The idle timeout in milliseconds; zero disables it (`max_idle_timeout` of RFC 9000, §18.2).
    pub idle: u32,
    /// Other parameters by identifier, in ascending order.
    pub others: Vec<(u32, Vec<u8>)>,
}

impl Parameters {
    fn known(&self) -> [(u32, u64); 4] {
        [
            (id::WINDOW, self.window),
            (id::STREAMS, self.streams.into()),
            (id::PAYLOAD, self.payload.into()),
            (id::IDLE, self.idle.into()),
        ]
    }

    fn content_len(&self) -> u64 {
        let known = self.known().map(|(id, value)| varint::len(id) + 1 + wide::len(value));
        let other = |(id, value): &(u32, Vec<u8>)| {
            let length = value.len() as u64;
            varint::len(*id) + wide::len(length) + length
        };
        known.iter().sum::<u64>() + self.others.iter().map(other).sum::<u64>()
    }

    /// Returns the number of octets of the parameters.
    pub(super) fn wire_len(&self) -> u64 {
        let content = self.content_len();
        wide::len(content) + content
    }

    pub(super) fn append(&self, octets: &mut Vec<u8>) {
        wide::append(self.content_len(), octets);
        let mut others = self.others.iter().peekable();
        for (id, value) in self.known() {
            while let Some((id, value)) = others.next_if(|(other, _)| *other < id) {
                append_other(*id, value, octets);
            }
            varint::append(id, octets);
            wide::append(wide::len(value), octets);
            wide::append(value, octets);
        }
        others.for_each(|(id, value)| append_other(*id, value, octets));
    }

    /// Consumes the parameters at the front of `octets`. Returns `None` if a parameter is malformed
    /// or occurs twice, or if a mandatory parameter is missing.
    pub(super) fn take(octets: &mut &[u8]) -> Option<Self> {
        let length = varint::take(octets)? as usize;
        let (own, rest) = octets.split_at_checked(length)?;
        *octets = rest;
        let (mut own, mut parameters, mut known, mut minimum) = (own, Self::default(), KNOWN.iter(), 0);
        while !own.is_empty() {
            let id = varint::take(&mut own).filter(|id| *id >= minimum)?;
            minimum = id.checked_add(1)?;
            let length = varint::take(&mut own)? as usize;
            let mut cursor = Octets(own);
            let mut value = cursor.take(length)?;
            own = cursor.0;
            if !KNOWN.contains(&id) {
                parameters.others.push((id, value.to_vec()));
                continue;
            }
            if known.next() != Some(&id) {
                return None;
            }
            let number = wide::take(&mut value).filter(|number| wide::len(*number) == length as u64)?;
            match id {
                id::WINDOW => parameters.window = number,
                id::STREAMS => parameters.streams = u32::try_from(number).ok()?,
                id::PAYLOAD => parameters.payload = u16::try_from(number).ok()?,
                _ => parameters.idle = u32::try_from(number).ok()?,
            }
        }
        known.next().is_none().then_some(parameters)
    }
}

fn append_other(id: u32, value: &[u8], octets: &mut Vec<u8>) {
    varint::append(id, octets);
    wide::append(value.len() as u64, octets);
    octets.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(octets: &[u8]) -> Option<Parameters> {
        let mut rest = octets;
        Parameters::take(&mut rest).filter(|_| rest.is_empty())
    }

    #[test]
    fn unknown_parameters_are_skipped_and_kept() {
        let others = vec![(0, vec![]), (77, vec![1, 2, 3])];
        let parameters = Parameters { window: 1 << 40, streams: 100, payload: 1472, idle: 30_000, others };
        let mut octets = Vec::new();
        parameters.append(&mut octets);
        assert_eq!(octets.len() as u64, parameters.wire_len());
        assert_eq!(taken(&octets), Some(parameters));
    }

    #[test]
    fn each_comes_once_and_in_order() {
        let minimum = [12, 1, 1, 5, 2, 1, 6, 3, 1, 7, 4, 1, 8];
        let expected = Parameters { window: 5, streams: 6, payload: 7, idle: 8, others: Vec::new() };
        assert_eq!(taken(&minimum), Some(expected));
        assert_eq!(taken(&[9, 1, 1, 5, 2, 1, 6, 3, 1, 7]), None, "one is missing");
        assert_eq!(taken(&[15, 1, 1, 5, 1, 1, 5, 2, 1, 6, 3, 1, 7, 4, 1, 8]), None, "one comes twice");
        assert_eq!(taken(&[12, 2, 1, 6, 1, 1, 5, 3, 1, 7, 4, 1, 8]), None, "not in order");
        assert_eq!(taken(&[13, 1, 2, 5, 0, 2, 1, 6, 3, 1, 7, 4, 1, 8]), None, "longer than its value");
        assert_eq!(taken(&[13, 1, 1, 5]), None, "cut short");
    }
}
