//! Compares each decision with the kernel's own `cake_ack_filter`, which `validation/linux/cake`
//! builds as a program.

use super::*;
use acklab_base::random::{Seed, Stream};
use std::fmt::Write;

/// The packets of a run.
const PACKETS: u32 = 20_000;
/// Octets of a segment.
const SEGMENT: u32 = 1_000;

/// The inputs for both, and the decisions of this implementation.
struct Run {
    asked: String,
    ours: String,
}

/// Segments of four flows that arrive and leave at random: acknowledgments in and out of order
/// across the wrap of their numbers, with SACK, D-SACK, timestamps, ECN flags, data, FIN, PSH and
/// unknown options.
fn run(aggressive: bool, seed: u64) -> Run {
    let mut stream = Seed(seed).stream("segments");
    let mut queue = Bench::new(Cake { aggressive, accurate_ecn: false }, None);
    let mut run = Run { asked: format!("{}\n", u8::from(aggressive)), ours: String::new() };
    for id in 0..PACKETS {
        let (packet, text) = segment(&mut stream, id);
        writeln!(run.asked, "A {text}").unwrap();
        let removed = queue.removed(packet).map_or_else(|| "-".to_owned(), |older| older.size.to_string());
        writeln!(run.ours, "{id} {removed}").unwrap();
        while queue.filter.len() > 40 || (queue.filter.len() > 0 && stream.chance(0.3)) {
            let (_, head) = queue.filter.chain.pop().unwrap();
            writeln!(run.asked, "L {} {}", head.size, head.flow).unwrap();
        }
    }
    run
}

/// Returns a segment, whose size identifies it, and its text for the kernel.
fn segment(stream: &mut Stream, id: u32) -> (Packet, String) {
    let flow = stream.below(4) as u32;
    let mut edge = |from: u32, count: u64| from.wrapping_add(SEGMENT * stream.below(count) as u32);
    // The numbers wrap within the run.
    let number = edge((u32::MAX - 2_000_000).wrapping_add(id * 200), 4);
    let blocks: Vec<(u32, u32)> = (0..edge(0, 7) / SEGMENT)
        .skip(4)
        .map(|_| {
            // One of eight begins below the acknowledgment number.
            let start = edge(number.wrapping_sub(SEGMENT), 8);
            (start, edge(start.wrapping_add(SEGMENT), 3))
        })
        .collect();
    let timestamps = (flow < 2 && !stream.chance(0.02))
        .then(|| (id / 8 + stream.below(2) as u32, (id / 8 + stream.below(2) as u32).wrapping_sub(5)));
    let ecn = [(4, 0.02), (2, 0.05), (1, 0.1)].map(|(flag, share)| if stream.chance(share) { flag } else { 0 });
    let kind = if stream.chance(0.9) {
        'p'
    } else if stream.chance(0.7) {
        'd'
    } else {
        'f'
    };
    let other = if stream.chance(0.94) {
        '-'
    } else if stream.chance(0.5) {
        'p'
    } else {
        'o'
    };
    let header = AckHeader {
        ack: number,
        ecn: ecn.iter().sum(),
        timestamps,
        sack: blocks.iter().copied().collect(),
        is_pure: kind == 'p',
        has_other_content: other != '-',
        ..AckHeader::default()
    };
    let times = timestamps.map_or_else(|| "- -".to_owned(), |(value, echo)| format!("{value} {echo}"));
    let edges: String = blocks.iter().map(|(start, end)| format!(" {start} {end}")).collect();
    let text = format!("{id} {flow} {number} {} {kind} {other} {times} {}{edges}", header.ecn, blocks.len());
    (Packet { header: Some(header), flow, ..data(id.into()) }, text)
}

/// The cases by name.
const CASES: [(&str, bool); 2] = [("filter", false), ("aggressive", true)];

/// FNV-1a of 64 bits.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Digests of the output of `replay` in Linux 6.12.117 for the same inputs.
const KERNEL: [u64; 2] = [0x2c6f_fe30_9d36_b072, 0x704f_fa1f_415b_a09d];

#[test]
fn decisions_are_those_of_the_kernel() {
    for ((name, aggressive), kernel) in CASES.into_iter().zip(KERNEL) {
        let found = digest(&run(aggressive, 0).ours);
        assert_eq!(found, kernel, "{name}: `make -C validation/linux/cake run` shows where they differ");
    }
}

#[test]
#[ignore = "writes files for validation/linux/cake"]
#[expect(clippy::disallowed_methods, reason = "a test hands over to a program")]
fn all_runs() {
    let folder = std::env::var("ACKLAB_CAKE").expect("ACKLAB_CAKE names a folder");
    for seed in 0..8 {
        for (name, aggressive) in CASES {
            let Run { asked, ours } = run(aggressive, seed);
            std::fs::write(format!("{folder}/{name}-{seed}.asked"), asked).unwrap();
            std::fs::write(format!("{folder}/{name}-{seed}.ours"), ours).unwrap();
        }
    }
}
