//! Reassembly of IP fragments (RFC 791, §3.2; RFC 8200, §4.5), limited to the headers.
//!
//! A datagram is complete once fragments cover it. Only its length and the start of its octets
//! matter, which holds the headers of transports and tunnels. Where fragments overlap, IPv4 uses
//! the octets that arrived last. An IPv6 datagram with overlapping fragments is discarded, with all
//! its further fragments (RFC 5722, §4). A repeated fragment is not an overlap.

use super::closed::{Closed, Unopened};
use super::frame::Frame;
use super::ip::HEADERS;
use acklab_wire::IpPacket;
use std::collections::BTreeMap;

const NAME: &str = "IP fragment";
/// The time for which fragments wait for the others (RFC 8200, §4.5; RFC 1122, §3.3.2: 60 to 120
/// s).
const TIMEOUT: u64 = 60_000_000_000;
/// The maximum number of datagrams in reassembly. Chosen: with [`MAX_FRAGMENTS`], it bounds the
/// memory to some megabytes.
const MAX_DATAGRAMS: usize = 256;
/// The maximum number of fragments of a datagram. Chosen: the longest datagram has this number if
/// each fragment carries 64 octets.
const MAX_FRAGMENTS: usize = 1024;
/// Octets of a datagram that are stored. They are whole units of eight octets, since fragments
/// begin at multiples of eight (RFC 791, §3.1).
const KEPT: usize = 2 * HEADERS;
const UNIT: usize = 8;
/// Octets of the fragment header of IPv6 (RFC 8200, §4.5).
const V6_FRAGMENT_HEADER: usize = 8;
const V6_HEADER: usize = 40;

/// Addresses, protocol (of IPv4), identification (RFC 791, §2.3; RFC 8200, §4.5).
type Key = ([u8; 32], u8, u32);

/// The datagrams of which fragments have arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct Fragments {
    datagrams: BTreeMap<Key, Datagram>,
}

#[derive(Clone, Debug)]
struct Datagram {
    since: u64,
    /// The IP headers of the first fragment, empty before it arrives.
    headers: Vec<u8>,
    /// The start of the payload.
    start: Vec<u8>,
    /// A bit for each unit that is present.
    present: u64,
    /// Starts and ends of fragments, in order.
    ranges: Vec<(u32, u32)>,
    /// Octets of the payload, once the last fragment has arrived.
    length: Option<u32>,
    is_discarded: bool,
    fragments: u64,
}

/// The header fields of a fragment.
struct Fragment<'a> {
    key: Key,
    headers: &'a [u8],
    range: (u32, u32),
    is_last: bool,
    is_v6: bool,
    octets: &'a [u8],
}

impl Fragments {
    /// Adds a fragment. Returns the start and the length of the datagram that it completes.
    pub(super) fn accept(
        &mut self,
        at: u64,
        packet: &IpPacket,
        frame: Frame<'_>,
        unopened: &mut Unopened,
    ) -> Option<(Vec<u8>, usize)> {
        let fragment = match Fragment::of(packet, frame) {
            Ok(fragment) => fragment,
            Err(closed) => {
                unopened.count(closed);
                return None;
            }
        };
        let key = fragment.key;
        if self.datagrams.get(&key).is_some_and(|datagram| at > datagram.since + TIMEOUT) {
            self.remove(&key, unopened);
        }
        if self.datagrams.len() >= MAX_DATAGRAMS && !self.datagrams.contains_key(&key) {
            self.make_room(unopened);
        }
        let datagram = self.datagrams.entry(key).or_insert_with(|| Datagram::new(at));
        datagram.fragments += 1;
        datagram.add(&fragment);
        if datagram.is_discarded || !datagram.is_complete() {
            return None;
        }
        let whole = self.datagrams.remove(&key)?.reassemble(fragment.is_v6);
        if whole.is_none() {
            unopened.count(Closed::Damaged(NAME));
        }
        whole
    }

    /// Returns the number of fragments in incomplete datagrams.
    pub(super) fn pending(&self) -> u64 {
        self.datagrams.values().map(|datagram| datagram.fragments).sum()
    }

    fn remove(&mut self, key: &Key, unopened: &mut Unopened) {
        if let Some(datagram) = self.datagrams.remove(key) {
            unopened.incomplete_fragments(datagram.fragments);
        }
    }

    /// Drops the datagram that has waited longest.
    #[cold]
    fn make_room(&mut self, unopened: &mut Unopened) {
        if let Some((&key, _)) = self.datagrams.iter().min_by_key(|(_, datagram)| datagram.since) {
            self.remove(&key, unopened);
        }
    }
}

impl<'a> Fragment<'a> {
    fn of(packet: &'a IpPacket, frame: Frame<'a>) -> Result<Self, Closed> {
        let octets = packet.octets();
        let headers = octets.get(..packet.headers()).ok_or(Closed::Damaged(NAME))?;
        let is_v6 = octets[0] >> 4 == 6;
        let mut addresses = [0; 32];
        let (field, has_more, protocol, identification) = if is_v6 {
            addresses.copy_from_slice(&headers[8..V6_HEADER]);
            let (_, &[_, _, high, low, a, b, c, d]) =
                headers.split_last_chunk::<V6_FRAGMENT_HEADER>().ok_or(Closed::Damaged(NAME))?;
            let field = u16::from_be_bytes([high, low]);
            // The next header may differ between fragments (RFC 8200, §4.5).
            (field & !7, field & 1 != 0, 0, u32::from_be_bytes([a, b, c, d]))
        } else {
            addresses[..8].copy_from_slice(&headers[12..20]);
            let field = u16::from_be_bytes([headers[6], headers[7]]);
            let identification = u16::from_be_bytes([headers[4], headers[5]]);
            (field << 3, field & 0x2000 != 0, headers[9], identification.into())
        };
        let carried = frame.skip(headers.len(), NAME)?;
        let length = carried.length as u32;
        let range = (u32::from(field), u32::from(field) + length);
        // The length of each fragment except the last is a multiple of eight octets.
        if length == 0 || has_more && !length.is_multiple_of(UNIT as u32) {
            return Err(Closed::Damaged(NAME));
        }
        let key = (addresses, protocol, identification);
        Ok(Self { key, headers, range, is_last: !has_more, is_v6, octets: carried.octets })
    }
}

impl Datagram {
    const fn new(since: u64) -> Self {
        Self {
            since,
            headers: Vec::new(),
            start: Vec::new(),
            present: 0,
            ranges: Vec::new(),
            length: None,
            is_discarded: false,
            fragments: 0,
        }
    }

    fn add(&mut self, fragment: &Fragment<'_>) {
        let (start, end) = fragment.range;
        let place = match self.ranges.binary_search(&fragment.range) {
            Ok(_) => {
                self.keep(fragment);
                return;
            }
            Err(place) => place,
        };
        let before = place.checked_sub(1).is_some_and(|before| self.ranges[before].1 > start);
        let behind = self.ranges.get(place).is_some_and(|range| range.0 < end);
        let does_overlap = before || behind;
        if fragment.is_v6 && does_overlap || self.ranges.len() >= MAX_FRAGMENTS {
            self.discard();
        }
        if self.is_discarded {
            return;
        }
        self.ranges.insert(place, fragment.range);
        if fragment.is_last {
            self.length = Some(end);
        }
        if start == 0 {
            self.headers = fragment.headers.to_vec();
        }
        self.keep(fragment);
    }

    /// Discards the datagram. Later fragments are discarded too, until it times out.
    fn discard(&mut self) {
        *self = Self { is_discarded: true, fragments: self.fragments, ..Self::new(self.since) };
    }

    /// Keeps octets at the start of the datagram.
    fn keep(&mut self, fragment: &Fragment<'_>) {
        let start = fragment.range.0 as usize;
        if start >= KEPT || self.is_discarded {
            return;
        }
        self.start.resize(KEPT, 0);
        let count = fragment.octets.len().min(KEPT - start);
        self.start[start..start + count].copy_from_slice(&fragment.octets[..count]);
        // The last unit of a datagram may be shorter than the others.
        let is_whole = fragment.octets.len() == (fragment.range.1 - fragment.range.0) as usize;
        let units = if is_whole { count.div_ceil(UNIT) } else { count / UNIT };
        for unit in start / UNIT..start / UNIT + units {
            self.present |= 1 << unit;
        }
    }

    fn is_complete(&self) -> bool {
        let Some(length) = self.length else { return false };
        let mut covered = 0;
        for &(start, end) in &self.ranges {
            if start > covered {
                return false;
            }
            covered = covered.max(end);
        }
        covered >= length
    }

    /// Returns the start of the datagram as an unfragmented packet, and its length. Returns `None`
    /// if the length does not fit the length field.
    fn reassemble(mut self, is_v6: bool) -> Option<(Vec<u8>, usize)> {
        let payload = self.length? as usize;
        let mut packet = std::mem::take(&mut self.headers);
        if is_v6 {
            remove_fragment_header(&mut packet)?;
        }
        let total = packet.len() + payload;
        if is_v6 {
            packet[4..6].copy_from_slice(&u16::try_from(total - V6_HEADER).ok()?.to_be_bytes());
        } else {
            packet[6..8].fill(0);
            packet[2..4].copy_from_slice(&u16::try_from(total).ok()?.to_be_bytes());
        }
        let present = (self.present.trailing_ones() as usize * UNIT).min(payload);
        packet.extend_from_slice(self.start.get(..present).unwrap_or_default());
        Some((packet, total))
    }
}

/// Removes the fragment header, which is the last header. The header before it then announces the
/// next one (RFC 8200, §4.5).
fn remove_fragment_header(headers: &mut Vec<u8>) -> Option<()> {
    const AUTHENTICATION: u8 = 51;
    let end = headers.len().checked_sub(V6_FRAGMENT_HEADER)?;
    let next = *headers.get(end)?;
    let (mut field, mut at) = (6, V6_HEADER);
    while at < end {
        let length = usize::from(*headers.get(at + 1)?);
        // The length is in units of four octets minus two, or of eight octets minus one (RFC 4302,
        // §2.2; RFC 8200, §4.3).
        let length = if headers[field] == AUTHENTICATION { (length + 2) * 4 } else { (length + 1) * 8 };
        (field, at) = (at, at + length);
    }
    headers[field] = next;
    headers.truncate(end);
    Some(())
}

#[cfg(test)]
mod tests;
