//! The radiotap header that a capture adds before a frame. It describes when and how the frame was
//! sent (radiotap.org, "defined fields").

mod decode;
mod encode;

pub use decode::{DecodeError, decode};
pub use encode::append;

/// The metadata of a captured frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Header {
    /// TSFT: the time of the cell's clock when the first bit of the frame arrived, in microseconds.
    pub tsft: Option<u64>,
    /// `true` if the frame was sent with the short DSSS preamble.
    pub has_short_preamble: bool,
    /// `true` if the captured octets end with the FCS.
    pub has_fcs: bool,
    /// `true` if the MAC header is padded to a multiple of four octets.
    pub is_padded: bool,
    /// `true` if the FCS is wrong.
    pub is_damaged: bool,
    /// The channel.
    pub channel: Option<Channel>,
    /// Signal power in dBm.
    pub signal: Option<i8>,
    /// Noise power in dBm.
    pub noise: Option<i8>,
    /// The rate.
    pub modulation: Option<Modulation>,
    /// The A-MPDU that contained the frame.
    pub ampdu: Option<Ampdu>,
    /// Timestamp: the time of the capture's clock at the end of the PPDU, in nanoseconds.
    pub end: Option<u64>,
}

/// A channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Centre frequency of the primary 20 MHz channel, in MHz.
    pub frequency: u16,
    /// Channel flags: [`Channel::CCK`] and so on.
    pub flags: u16,
}

impl Channel {
    /// DSSS and CCK.
    pub const CCK: u16 = 0x0020;
    /// OFDM.
    pub const OFDM: u16 = 0x0040;
    /// At 2.4 GHz.
    pub const GHZ_2: u16 = 0x0080;
    /// At 5 GHz.
    pub const GHZ_5: u16 = 0x0100;
}

/// The rate of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modulation {
    /// DSSS or OFDM at a rate in units of 500 kbps.
    Legacy(u8),
    /// HT.
    Ht(Ht),
    /// VHT for a single user.
    Vht(Vht),
    /// HE for a single user.
    He(He),
    /// EHT for a single user.
    Eht(Eht),
}

/// The rate of HT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ht {
    /// The MCS index. Each spatial stream after the first adds eight to it.
    pub mcs: u8,
    /// The channel width in MHz, if known: 20 or 40.
    pub width: Option<u16>,
    /// The guard interval in nanoseconds, if known: 400 or 800.
    pub guard: Option<u16>,
    /// `true` if the frame is coded with LDPC; `None` if unknown.
    pub is_ldpc: Option<bool>,
    /// Additional STBC streams, if known: 0 to 3.
    pub stbc: Option<u8>,
    /// Extension spatial streams, if known: 0 to 3.
    pub extension: Option<u8>,
}

/// The rate of VHT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vht {
    /// The MCS. Only the low four bits are used.
    pub mcs: u8,
    /// Spatial streams: 1 to 8.
    pub streams: u8,
    /// The channel width in MHz, if known: 20, 40, 80 or 160.
    pub width: Option<u16>,
    /// The guard interval in nanoseconds, if known: 400 or 800.
    pub guard: Option<u16>,
    /// `true` if the frame is coded with LDPC.
    pub is_ldpc: bool,
    /// `true` if the frame is sent with STBC; `None` if unknown.
    pub is_stbc: Option<bool>,
}

/// The rate of HE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct He {
    /// The MCS. Only the low four bits are used.
    pub mcs: u8,
    /// Space-time streams: 1 to 8.
    pub streams: u8,
    /// The channel width in MHz, if known: 20, 40, 80 or 160.
    pub width: Option<u16>,
    /// The guard interval in nanoseconds, if known: 800, 1600 or 3200.
    pub guard: Option<u16>,
    /// Length of the HE-LTF symbols in multiples of 3.2 µs, if known: 1, 2 or 4.
    pub training: Option<u8>,
    /// `true` if the frame is coded with LDPC; `None` if unknown.
    pub is_ldpc: Option<bool>,
    /// `true` if the frame is sent with STBC; `None` if unknown.
    pub is_stbc: Option<bool>,
}

/// The rate of EHT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eht {
    /// The MCS. Only the low four bits are used.
    pub mcs: u8,
    /// Spatial streams: 1 to 16.
    pub streams: u8,
    /// The channel width in MHz, if known: 20, 40, 80, 160 or 320.
    pub width: Option<u16>,
    /// The guard interval in nanoseconds, if known: 800, 1600 or 3200.
    pub guard: Option<u16>,
    /// Length of the EHT-LTF symbols in multiples of 3.2 µs, if known: 1, 2 or 4.
    pub training: Option<u8>,
    /// `true` if the frame is coded with LDPC; `None` if unknown.
    pub is_ldpc: Option<bool>,
}

/// The A-MPDU that contained a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ampdu {
    /// A number that all frames of one A-MPDU share. The next A-MPDU has a different number.
    pub reference: u32,
    /// `true` if the frame is the last frame of the A-MPDU; `None` if unknown.
    pub is_last: Option<bool>,
    /// `true` if the frame is the only MPDU, with EOF set in its delimiter (9.7.3); `None` if
    /// unknown.
    pub is_single: Option<bool>,
}

/// The number of each field: the position of its bit in the presence word.
mod field {
    pub(super) const TSFT: u32 = 0;
    pub(super) const FLAGS: u32 = 1;
    pub(super) const RATE: u32 = 2;
    pub(super) const CHANNEL: u32 = 3;
    pub(super) const SIGNAL: u32 = 5;
    pub(super) const NOISE: u32 = 6;
    pub(super) const MCS: u32 = 19;
    pub(super) const AMPDU: u32 = 20;
    pub(super) const VHT: u32 = 21;
    pub(super) const TIMESTAMP: u32 = 22;
    pub(super) const HE: u32 = 23;
    /// A list of items, each with its type and length, which ends the header.
    pub(super) const TLV: u32 = 28;
    /// Another presence word follows.
    pub(super) const EXTENDED: u32 = 31;

    /// Size and alignment of each field, in the order of the bits of the presence word.
    pub(super) const SHAPES: [(usize, usize); 28] = [
        (8, 8),  // TSFT
        (1, 1),  // flags
        (1, 1),  // rate
        (4, 2),  // channel
        (2, 1),  // FHSS
        (1, 1),  // antenna signal in dBm
        (1, 1),  // antenna noise in dBm
        (2, 2),  // lock quality
        (2, 2),  // transmit attenuation
        (2, 2),  // transmit attenuation in dB
        (1, 1),  // transmit power in dBm
        (1, 1),  // antenna
        (1, 1),  // antenna signal in dB
        (1, 1),  // antenna noise in dB
        (2, 2),  // RX flags
        (2, 2),  // TX flags
        (1, 1),  // RTS retries
        (1, 1),  // data retries
        (8, 4),  // extended channel
        (3, 1),  // MCS
        (8, 4),  // A-MPDU status
        (12, 2), // VHT
        (12, 8), // timestamp
        (12, 2), // HE
        (12, 2), // HE for several users
        (6, 2),  // HE of another user
        (1, 1),  // PSDU without octets
        (4, 2),  // L-SIG
    ];
}

mod flag {
    pub(super) const SHORT_PREAMBLE: u8 = 0x02;
    pub(super) const FCS: u8 = 0x10;
    pub(super) const PADDED: u8 = 0x20;
    pub(super) const BAD_FCS: u8 = 0x40;
}

mod mcs {
    pub(super) const WIDTH_KNOWN: u8 = 0x01;
    pub(super) const INDEX_KNOWN: u8 = 0x02;
    pub(super) const GUARD_KNOWN: u8 = 0x04;
    pub(super) const FORMAT_KNOWN: u8 = 0x08;
    pub(super) const CODING_KNOWN: u8 = 0x10;
    pub(super) const STBC_KNOWN: u8 = 0x20;
    pub(super) const EXTENSION_KNOWN: u8 = 0x40;
    /// The high bit of the number of extension streams is a bit of the `known` field.
    pub(super) const EXTENSION_HIGH: u8 = 0x80;
    pub(super) const WIDTH: u8 = 0x03;
    pub(super) const MHZ_40: u8 = 0x01;
    pub(super) const SHORT_GUARD: u8 = 0x04;
    pub(super) const LDPC: u8 = 0x10;
    pub(super) const STBC_SHIFT: u32 = 5;
    pub(super) const EXTENSION_LOW: u8 = 0x80;
}

mod ampdu {
    pub(super) const LAST_KNOWN: u16 = 0x0004;
    pub(super) const LAST: u16 = 0x0008;
    pub(super) const EOF: u16 = 0x0040;
    pub(super) const EOF_KNOWN: u16 = 0x0080;
}

mod vht {
    pub(super) const STBC_KNOWN: u16 = 0x0001;
    pub(super) const GUARD_KNOWN: u16 = 0x0004;
    pub(super) const WIDTH_KNOWN: u16 = 0x0040;
    pub(super) const STBC: u8 = 0x01;
    pub(super) const SHORT_GUARD: u8 = 0x04;
    pub(super) const LDPC: u8 = 0x01;
    /// Widths in MHz with their codes.
    pub(super) const WIDTHS: [(u8, u16); 4] = [(0, 20), (1, 40), (4, 80), (11, 160)];
}

mod he {
    /// data1: the format, which is zero for a single user.
    pub(super) const FORMAT: u16 = 0x0003;
    /// data1.
    pub(super) const MCS_KNOWN: u16 = 0x0020;
    /// data1.
    pub(super) const CODING_KNOWN: u16 = 0x0080;
    /// data1.
    pub(super) const STBC_KNOWN: u16 = 0x0200;
    /// data1.
    pub(super) const WIDTH_KNOWN: u16 = 0x4000;
    /// data2.
    pub(super) const GUARD_KNOWN: u16 = 0x0002;
    /// data3: where the MCS begins.
    pub(super) const MCS_SHIFT: u32 = 8;
    /// data3.
    pub(super) const LDPC: u16 = 0x2000;
    /// data3.
    pub(super) const STBC: u16 = 0x8000;
    /// data5: where the guard interval begins.
    pub(super) const GUARD_SHIFT: u32 = 4;
    /// data5: where the size of the training symbols begins.
    pub(super) const TRAINING_SHIFT: u32 = 6;
    /// Widths in MHz with their codes in data5.
    pub(super) const WIDTHS: [(u16, u16); 4] = [(0, 20), (1, 40), (2, 80), (3, 160)];
    /// Guard intervals in nanoseconds with their codes.
    pub(super) const GUARDS: [(u16, u16); 3] = [(0, 800), (1, 1600), (2, 3200)];
    /// Sizes of training symbols with their codes.
    pub(super) const TRAININGS: [(u16, u8); 3] = [(1, 1), (2, 2), (3, 4)];
}

/// Items of the list of types and lengths.
mod tlv {
    pub(super) const U_SIG: u16 = 33;
    pub(super) const EHT: u16 = 34;
    /// Type and length.
    pub(super) const HEADER: usize = 4;
    /// The multiple of octets to which an item is padded. Its length excludes the padding.
    pub(super) const ALIGNMENT: usize = 4;
}

/// The item of U-SIG: a word of common fields, followed by the value and the mask of the other
/// fields.
mod u_sig {
    /// Common.
    pub(super) const VERSION_KNOWN: u32 = 0x0000_0001;
    /// Common.
    pub(super) const WIDTH_KNOWN: u32 = 0x0000_0002;
    /// Common: the PHY version identifier, which is zero for EHT.
    pub(super) const VERSION: u32 = 0x0000_7000;
    /// Common: the position of the width.
    pub(super) const WIDTH_SHIFT: u32 = 15;
    /// Common.
    pub(super) const WIDTH_MASK: u32 = 0b111;
    /// Widths in MHz with their codes. 320 MHz has a second code for channels at other centre
    /// frequencies.
    pub(super) const WIDTHS: [(u32, u16); 6] = [(0, 20), (1, 40), (2, 80), (3, 160), (4, 320), (5, 320)];
    /// Value and mask: PPDU Type And Compression Mode.
    pub(super) const TYPE: u32 = 0x0000_00c0;
    /// Value: a single user, in either direction.
    pub(super) const SINGLE_USER: u32 = 0x0000_0040;
    /// The number of octets of the item.
    pub(super) const LEN: usize = 12;
}

/// The item of EHT: a word of "known" bits, nine words of fields, and a word for each user.
mod eht {
    /// Known.
    pub(super) const GUARD_KNOWN: u32 = 0x0000_0004;
    /// Known.
    pub(super) const TRAINING_KNOWN: u32 = 0x0000_0008;
    /// `data[0]`: where the guard interval begins, with the codes of HE.
    pub(super) const GUARD_SHIFT: u32 = 7;
    /// `data[0]`: where the size of the training symbols begins, with the codes of HE.
    pub(super) const TRAINING_SHIFT: u32 = 9;
    /// User.
    pub(super) const MCS_KNOWN: u32 = 0x0000_0002;
    /// User.
    pub(super) const CODING_KNOWN: u32 = 0x0000_0004;
    /// User.
    pub(super) const STREAMS_KNOWN: u32 = 0x0000_0010;
    /// User: the frame is for this user.
    pub(super) const CAPTURED: u32 = 0x0000_0080;
    /// User.
    pub(super) const LDPC: u32 = 0x0008_0000;
    /// User: where the MCS begins.
    pub(super) const MCS_SHIFT: u32 = 20;
    /// User: the position of the number of spatial streams minus one.
    pub(super) const STREAMS_SHIFT: u32 = 24;
    /// Octets before the words of the users.
    pub(super) const USERS: usize = 40;
    /// Octets of the item with one user.
    pub(super) const LEN: usize = USERS + 4;
}

mod timestamp {
    /// The unit of the timestamp is nanoseconds, and its position is the end of the PPDU.
    pub(super) const NANOSECONDS_AT_END: u8 = 0x22;
}

/// Returns the code of `value` in a table.
fn code<C: Copy, V: Copy + PartialEq>(table: &[(C, V)], value: V) -> Option<C> {
    table.iter().find(|(_, known)| *known == value).map(|(code, _)| *code)
}

/// Returns the value of `code` in a table.
fn value<C: Copy + PartialEq, V: Copy>(table: &[(C, V)], code: C) -> Option<V> {
    table.iter().find(|(known, _)| *known == code).map(|(_, value)| *value)
}
