//! The mean number of octets of an ACK for various streams: the table of `docs/models/rohc.md`.

use acklab_base::random::Seed;
use acklab_wire::Endpoints;
use acklab_wire::ipv4::Ipv4Fields;
use acklab_wire::rohc::{Ack, Checksum, Compressor, Decompressor, Octets, Profile, RohcConfig, write_frame};
use acklab_wire::tcp::{Flags, Options, SackBlock, Segment, SeqNumber, Timestamps};

/// Mean octets per ACK in hundredths, rounded up: of all ACKs, and of the second half, when
/// contexts and strides are established.
const ACKS: u32 = 2000;
const MSS: u32 = 1460;

fn ack(connection: u32) -> Ack {
    let segment = Segment {
        ecn: acklab_base::Ecn::NotEct,
        seq: SeqNumber(1),
        ack: SeqNumber(1),
        flags: Flags::ACK,
        window: 501,
        options: Options::default(),
        payload: 0,
    };
    Ack::of(segment, Endpoints::of_connection(connection).reverse())
}

fn advance(ack: &mut Ack, octets: u32) {
    ack.segment.ack.0 += octets;
}

/// Mean octets of an ACK in hundredths, rounded up: of all ACKs, and of the second half, when
/// contexts and strides are established.
fn means(sizes: &[u64]) -> [u64; 2] {
    let mean = |sizes: &[u64]| (sizes.iter().sum::<u64>() * 100).div_ceil(sizes.len() as u64);
    [mean(sizes), mean(&sizes[sizes.len() / 2..])]
}

/// Returns the sizes of the ACKs of a stream in octets. `next` changes an ACK to the next one. In
/// TCP/HACK, an uncompressed ACK of each flow precedes the stream.
fn sizes(config: RohcConfig, flows: u32, mut next: impl FnMut(&mut Ack, u32)) -> Vec<u64> {
    let (mut compressor, mut decompressor) = (Compressor::new(config), Decompressor::new(config));
    let mut acks: Vec<Ack> = (0..flows).map(ack).collect();
    for ack in &acks {
        compressor.observe(ack);
        decompressor.observe(ack);
    }
    let (mut octets, mut frame) = (Octets::new(), Vec::new());
    let mut one = |count: u32| {
        let ack = &mut acks[(count % flows) as usize];
        next(ack, count);
        let msn = compressor.compress(ack, &mut octets).unwrap();
        frame.clear();
        match config.profile {
            Profile::Standard => frame.extend_from_slice(&octets),
            Profile::Hack => write_frame(config.numbers, msn, &octets, &mut frame),
        }
        let mut out = None;
        decompressor.decompress(&frame, |_, ack| out = Some(*ack)).unwrap();
        assert_eq!(out.as_ref(), Some(&*ack));
        octets.len() as u64
    };
    (0..ACKS).map(&mut one).collect()
}

fn constant(ack: &mut Ack, _: u32) {
    advance(ack, 2 * MSS);
}

fn timestamps(every: u32) -> impl FnMut(&mut Ack, u32) {
    move |ack, count| {
        advance(ack, 2 * MSS);
        let clock = 1000 + count / every;
        ack.segment.options.timestamps = Some(Timestamps { value: clock, echo: clock + 77 });
    }
}

/// Returns the stream with the IP-IDs that `identify` returns.
fn identified(identify: impl Fn(u16) -> u16) -> impl FnMut(&mut Ack, u32) {
    move |ack, count| {
        advance(ack, 2 * MSS);
        ack.ip = Ipv4Fields { identification: identify(count as u16), ..ack.ip };
    }
}

fn windows(ack: &mut Ack, count: u32) {
    advance(ack, 2 * MSS);
    ack.segment.window += u16::from(count % 10 == 9) * 8;
}

fn one_to_four_segments() -> impl FnMut(&mut Ack, u32) {
    let mut stream = Seed(1).stream("strides");
    move |ack, _| advance(ack, MSS * (1 + stream.below(4) as u32))
}

fn sack_in_a_fifth(ack: &mut Ack, count: u32) {
    timestamps(1)(ack, count);
    // Twenty of every hundred ACKs repeat one number, and each reports one more segment beyond a
    // hole.
    let hole = count % 100;
    ack.segment.options.sack = if hole < 80 {
        Default::default()
    } else {
        ack.segment.ack.0 -= 2 * MSS;
        let start = ack.segment.ack.0 + MSS;
        [SackBlock { start: SeqNumber(start), end: SeqNumber(start + MSS * (hole - 79)) }].into_iter().collect()
    };
}

/// ECE on 50 of every 150 ACKs, as after a mark until the sender has reacted.
fn ece_runs(ack: &mut Ack, count: u32) {
    advance(ack, 2 * MSS);
    ack.segment.flags = if (50..100).contains(&(count % 150)) { Flags::ACK | Flags::ECE } else { Flags::ACK };
}

/// Timestamps in every second run of seven ACKs.
fn timestamps_that_come_and_go(ack: &mut Ack, count: u32) {
    timestamps(1)(ack, count);
    if count / 7 % 2 == 1 {
        ack.segment.options.timestamps = None;
    }
}

/// DSCP and DF change alternately, after 40 ACKs each.
fn dscp_and_df_change(ack: &mut Ack, count: u32) {
    advance(ack, 2 * MSS);
    ack.ip = Ipv4Fields { dscp: (count / 40 % 2 * 10) as u8, dont_fragment: (count + 20) % 80 < 40, ..ack.ip };
}

fn random(count: u16) -> u16 {
    count.wrapping_mul(40_503) ^ 0x5a5a
}

fn sequential(count: u16) -> u16 {
    count + 7
}

/// The comments quote the sizes of librohc 2.4.0-dev for streams of the same description, in
/// hundredths of an octet.
#[test]
fn the_standard_takes_no_more_than_librohc() {
    let means = |flows, next: &mut dyn FnMut(&mut Ack, u32)| means(&sizes(RohcConfig::standard(), flows, next));
    // A base header of two octets and a checksum of two. In addition, three IRs and a co_common at
    // the beginning, and one IR after 1700 headers.
    assert_eq!(means(1, &mut constant), [408, 404], "librohc: 409");
    assert_eq!(means(1, &mut identified(sequential)), [408, 404], "librohc: 409");
    assert_eq!(means(1, &mut identified(random)), [608, 604], "librohc: 610");
    // Nine of ten flows have an Add-CID octet. The IRs of ten flows cost as much as those of one
    // flow with a tenth of the ACKs.
    assert_eq!(means(10, &mut constant), [548, 490], "librohc: 490");
    // Two of seventeen flows share a CID, and each of their headers is an IR.
    assert_eq!(means(17, &mut constant), [963, 878]);
    // Three of ten ACKs carry the window, in a base header of six octets instead of two.
    assert_eq!(means(1, &mut windows), [528, 524], "librohc: 565");
    // The segment is the common stride, and librohc sends each new stride. Here, the third IR
    // carries a larger stride.
    assert_eq!(means(1, &mut one_to_four_segments()), [409, 404], "librohc: 980");
    // Each timestamp takes one octet.
    assert_eq!(means(1, &mut timestamps(1)), [610, 605], "librohc: 611");
    // A timestamp that may not have increased takes three octets.
    assert_eq!(means(1, &mut timestamps(4)), [909, 904], "librohc: 910");
    // The stream of librohc differed: a fifth of its ACKs also had SACK.
    assert_eq!(means(1, &mut sack_in_a_fifth), [757, 754], "librohc: 1150");
    // An octet in 50 of every 150 ACKs, and three headers of nine or ten octets at the beginning
    // and the end of a run.
    assert_eq!(means(1, &mut ece_runs), [470, 464]);
    // The list is sent three times at the beginning and at the end of a run. It refers to the
    // timestamps in the item table.
    assert_eq!(means(1, &mut timestamps_that_come_and_go), [808, 803]);
    // Three co_common for each change.
    assert_eq!(means(1, &mut dscp_and_df_change), [490, 486]);
}

/// Relative to the standard: two octets less for the checksum, one octet more for the CID, and
/// neither IRs nor repetitions. A frame has one more octet for all its ACKs.
#[test]
fn hack_takes_three_octets() {
    let of = |checksum, next: &mut dyn FnMut(&mut Ack, u32)| {
        means(&sizes(RohcConfig { checksum, ..RohcConfig::hack() }, 1, next))
    };
    let elided = |next: &mut dyn FnMut(&mut Ack, u32)| of(Checksum::Elided, next);
    assert_eq!(elided(&mut constant), [301, 300], "the paper: 3 at constant payload, 4.36 in all");
    assert_eq!(elided(&mut identified(sequential)), [301, 300]);
    assert_eq!(elided(&mut identified(random)), [501, 500]);
    assert_eq!(elided(&mut windows), [341, 340]);
    assert_eq!(elided(&mut one_to_four_segments()), [301, 300]);
    assert_eq!(elided(&mut timestamps(1)), [502, 500]);
    assert_eq!(elided(&mut timestamps(4)), [802, 800]);
    assert_eq!(of(Checksum::Carried, &mut constant), [501, 500]);
    assert_eq!(of(Checksum::Carried, &mut timestamps(1)), [702, 700]);
    assert_eq!(RohcConfig::hack().numbers.octets(), 1);
}
