//! The AccECN option of an end: its counters, its position among the options, and the conditions
//! under which the option is omitted (RFC 9768, §3.2.3).

use super::super::rules::{OptionFields, OptionRoom, OptionUse, Rules};
use acklab_base::Ecn;
use acklab_wire::tcp::{AccurateEcn, FieldOrder, Options, Segment};

/// The bytes that a full-sized segment reserves for the option: three counters and padding.
const RESERVE: u64 = 12;

/// The option displaces SACK blocks only beyond this number (RFC 9768, §3.2.3.3; Linux's
/// `tcp_options_fit_accecn`).
const MIN_BLOCKS: usize = 2;

/// The number of bytes that have arrived, by codepoint, and the option that reports these numbers.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct OctetReport {
    fields: OptionFields,
    withheld: OptionUse,
    room: OptionRoom,
    /// `true` if both ends use AccECN, and this end should send the option.
    is_agreed: bool,
    /// `true` if segments now carry the option.
    is_sent: bool,
    /// r.e0b, r.e1b and r.ceb, by codepoint, in bytes.
    octets: [u64; Ecn::ALL.len()],
    /// `true` for each counter that has increased since the last option.
    has_grown: [bool; Ecn::ALL.len()],
    /// `true` if an option of the peer has arrived.
    is_seen: bool,
    /// `true` if ACKs with the option seem to be lost.
    is_blocked: bool,
    /// The start of the D-SACK in the segment with the newest option.
    beside_duplicate: Option<u64>,
}

impl OctetReport {
    /// Creates the report of a connection with these `rules`. `is_agreed` is `true` if both ends
    /// use AccECN and this end should send the option.
    pub(in crate::tcp) const fn new(rules: &Rules, is_agreed: bool) -> Self {
        let mut octets = [0; Ecn::ALL.len()];
        // RFC 9768, §3.2.1: with this initial value, a counter that the path sets to zero is
        // detectable.
        octets[Ecn::Ect0 as usize] = 1;
        octets[Ecn::Ect1 as usize] = 1;
        let (fields, withheld, room) = (rules.option_fields, rules.option_use, rules.option_room);
        let mut report = Self {
            fields,
            withheld,
            room,
            is_agreed,
            is_sent: false,
            octets,
            has_grown: [false; Ecn::ALL.len()],
            is_seen: false,
            is_blocked: false,
            beside_duplicate: None,
        };
        report.settle();
        report
    }

    const fn settle(&mut self) {
        self.is_sent = self.is_agreed
            && match self.withheld {
                OptionUse::Always => true,
                OptionUse::AsPathAllows => self.is_seen && !self.is_blocked,
            };
    }

    /// Processes a segment of the peer.
    pub(in crate::tcp) const fn watch(&mut self, segment: &Segment) {
        if !self.is_seen && segment.options.accurate_ecn.is_some() {
            self.is_seen = true;
            self.settle();
        }
    }

    /// Counts `octets` bytes of payload that arrived with `codepoint`.
    pub(in crate::tcp) fn count(&mut self, codepoint: Ecn, octets: u32) {
        self.octets[codepoint as usize] += u64::from(octets);
        self.has_grown[codepoint as usize] |= octets > 0;
    }

    /// Processes a segment at `start` without new data. If the ACK of its first arrival carried the
    /// option, that ACK was lost, perhaps because of the option (RFC 9768, §3.2.3.2.2).
    pub(in crate::tcp) fn on_duplicate(&mut self, start: u64) {
        if self.withheld == OptionUse::AsPathAllows && self.beside_duplicate == Some(start) {
            self.block();
        }
    }

    /// Stops sending the option.
    pub(in crate::tcp) const fn block(&mut self) {
        self.is_blocked = true;
        self.settle();
    }

    /// Returns `true` if the option is no longer sent.
    pub(in crate::tcp) const fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    /// Returns `true` if segments carry the option if it fits.
    #[inline]
    pub(in crate::tcp) const fn is_sent(&self) -> bool {
        self.is_sent
    }

    /// Returns the number of bytes that a full-sized segment reserves for the option.
    #[inline]
    pub(in crate::tcp) const fn reserve(&self) -> u64 {
        if self.is_sent && matches!(self.room, OptionRoom::Reserved) { RESERVE } else { 0 }
    }

    /// Returns the option of the SYN-ACK. It has all counters, so that the peer detects whether the
    /// path carries the option (RFC 9768, §3.2.3.2.1).
    pub(in crate::tcp) fn of_syn_ack(&self) -> Option<AccurateEcn> {
        self.is_agreed.then(|| self.whole())
    }

    /// Returns the option of the ACK of a SYN-ACK, if the option is sent. It has all counters, for
    /// the same reason as the SYN-ACK.
    pub(in crate::tcp) fn of_ack_of_syn_ack(&self) -> Option<AccurateEcn> {
        self.is_sent.then(|| self.whole())
    }

    /// Returns an option with all counters.
    fn whole(&self) -> AccurateEcn {
        let (order, codepoints, _) = self.layout();
        AccurateEcn::new(order, &codepoints.map(|codepoint| self.octets[codepoint as usize]))
    }

    /// Returns the order of the counters, and the number of counters to send if they fit.
    fn layout(&self) -> (FieldOrder, [Ecn; AccurateEcn::MAX], usize) {
        let ect0_first = (FieldOrder::Ect0First, [Ecn::Ect0, Ecn::Ce, Ecn::Ect1]);
        let ect1_first = (FieldOrder::Ect1First, [Ecn::Ect1, Ecn::Ce, Ecn::Ect0]);
        let has_come = |codepoint: Ecn| self.octets[codepoint as usize] > 1;
        let ((order, codepoints), count) = match (self.fields, has_come(Ecn::Ect0), has_come(Ecn::Ect1)) {
            (OptionFields::All, ..) => (ect1_first, 3),
            (OptionFields::Changed, true, true) => (ect0_first, 3),
            (OptionFields::Changed, false, true) => (ect1_first, 2),
            (OptionFields::Changed, _, false) => (ect0_first, 2),
        };
        (order, codepoints, count)
    }

    /// Returns the minimum number of bytes by which `option` lengthens a header. Linux aligns every
    /// option, and saves at most the padding of SACK (`tcp_options_fit_accecn`). Other stacks omit
    /// the padding if the options do not fit otherwise.
    const fn least_added(&self, option: &AccurateEcn, has_blocks: bool) -> u64 {
        let (len, spare) = (option.len(), if has_blocks { 2 } else { 0 });
        match self.fields {
            OptionFields::Changed => 0,
            OptionFields::All if len % 4 <= spare => len - len % 4,
            OptionFields::All => len.next_multiple_of(4),
        }
    }

    /// Inserts the option into `options`, which may have `room` bytes, if the option is sent and
    /// fits. If necessary, the option is reduced to the counters that have increased since the last
    /// option. It displaces SACK blocks beyond the second (RFC 9768, §3.2.3.3). The first block is
    /// a D-SACK if it starts at `duplicate`.
    pub(in crate::tcp) fn fit(&mut self, options: &mut Options, room: u64, duplicate: Option<u64>) {
        self.beside_duplicate = None;
        if !self.is_sent {
            return;
        }
        let (order, codepoints, most) = self.layout();
        let counters = codepoints.map(|codepoint| self.octets[codepoint as usize]);
        let last_grown = codepoints.iter().rposition(|codepoint| self.has_grown[*codepoint as usize]);
        let needed = last_grown.map_or(0, |place| place + 1);
        let least = if self.fields == OptionFields::All { needed } else { needed.max(1) };
        let blocks = options.sack.as_slice().len();
        let least_blocks = if needed > 0 { blocks.min(MIN_BLOCKS) } else { blocks };
        for kept in (least_blocks..=blocks).rev() {
            let mut with_option = Options { accurate_ecn: None, ..*options };
            with_option.sack.truncate(kept);
            let before = with_option.wire_len();
            for count in (least..=most).rev() {
                let option = AccurateEcn::new(order, &counters[..count]);
                with_option.accurate_ecn = Some(option);
                if with_option.wire_len() <= room && before + self.least_added(&option, kept > 0) <= room {
                    *options = with_option;
                    self.has_grown = [false; Ecn::ALL.len()];
                    self.beside_duplicate = duplicate;
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_wire::tcp::{SackBlock, SeqNumber, Timestamps};

    fn with_blocks(count: u32, has_timestamps: bool) -> Options {
        let block = |start| SackBlock { start: SeqNumber(start), end: SeqNumber(start + 1) };
        Options {
            timestamps: has_timestamps.then_some(Timestamps { value: 1, echo: 2 }),
            sack: (0..count).map(|index| block(2 * index)).collect(),
            ..Options::default()
        }
    }

    fn fitted(report: &mut OctetReport, mut options: Options) -> (Vec<u32>, usize) {
        report.fit(&mut options, Options::ROOM, None);
        let fields = options.accurate_ecn.map_or_else(Vec::new, |option| option.fields().to_vec());
        (fields, options.sack.as_slice().len())
    }

    /// The cases of the table in the commit that added Linux's `tcp_options_fit_accecn`. With
    /// timestamps, 8 bytes remain with two SACK blocks, and none with three.
    #[test]
    fn a_third_block_gives_way_to_counters_that_have_grown() {
        let mut report = OctetReport::new(&Rules { option_use: OptionUse::Always, ..Rules::LINUX }, true);
        assert_eq!(fitted(&mut report, with_blocks(3, true)), (vec![], 3), "an empty option in place of padding");
        report.count(Ecn::Ect1, 1000);
        assert_eq!(fitted(&mut report, with_blocks(2, true)), (vec![1001, 0], 2));
        report.count(Ecn::Ce, 1000);
        assert_eq!(fitted(&mut report, with_blocks(3, true)), (vec![1001, 1000], 2));
        report.count(Ecn::Ect0, 1000);
        assert_eq!(fitted(&mut report, with_blocks(4, false)), (vec![1001, 1000, 1001], 3));
        assert_eq!(fitted(&mut report, with_blocks(1, true)), (vec![1001, 1000, 1001], 1));
    }

    #[test]
    fn counters_that_do_not_fit_are_not_cut_off() {
        let mut report = OctetReport::new(&Rules::RFC, true);
        report.count(Ecn::Ect0, 10);
        report.count(Ecn::Ect1, 10);
        let mut options = with_blocks(2, false);
        let taken = options.wire_len();
        report.fit(&mut options, taken + 8, None);
        assert_eq!(options.accurate_ecn, None, "all three have to be there");
        report.fit(&mut options, taken + 12, None);
        assert_eq!(options.accurate_ecn.unwrap().fields(), [11, 0, 11]);
    }
}
