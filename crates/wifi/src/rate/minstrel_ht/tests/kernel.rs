//! Compares each decision with the kernel's own code, which `validation/linux/minstrel` builds as a
//! program.

use super::*;
use acklab_base::random::Seed;
use std::fmt::Write;

/// The inputs for both, and the decisions of this implementation.
struct Run {
    capabilities: Capabilities,
    control: MinstrelHt,
    asked: String,
    ours: String,
}

fn is_short(guard: Guard) -> u8 {
    u8::from(guard == Guard::Ns400)
}

impl Run {
    fn new(capabilities: Capabilities, seed: u64) -> Self {
        let control = MinstrelHt::new(capabilities, &mut Seed(seed).stream("rate")).unwrap();
        let format = match capabilities.standard {
            Standard::B => 'C',
            Standard::N => 'H',
            Standard::Ac => 'V',
            _ => 'O',
        };
        let mut asked = format!(
            "{format} {} {} {}\n",
            capabilities.width.megahertz(),
            is_short(capabilities.guard),
            capabilities.streams
        );
        for order in &control.sampler.orders {
            let order: Vec<String> = order.iter().map(usize::to_string).collect();
            writeln!(asked, "{}", order.join(" ")).unwrap();
        }
        Self { capabilities, control, asked, ours: String::new() }
    }

    /// A channel whose signal-to-noise ratio changes each 500 PPDUs, aggregates of 1 to 40 frames,
    /// gaps of up to 8 ms.
    fn send(&mut self, ppdus: u32, seed: u64) {
        let mut stream = Seed(seed).stream("channel");
        let (mut millis, mut snr_db, mut attempt) = (0, 0.0, 0);
        for ppdu in 0..ppdus {
            if ppdu % 500 == 0 {
                snr_db = 5.0 + 35.0 * stream.unit();
            }
            millis += stream.below(4);
            let mode = self.choose(millis, attempt);
            let mpdus = if self.capabilities.standard.has_qos() { 1 + stream.below(40) as u32 } else { 1 };
            let success = synthetic(mode, snr_db, FRAME);
            let delivered = (0..mpdus).filter(|_| stream.chance(success)).count() as u32;
            millis += stream.below(5);
            let rate = format!("{} {} {} {}", mode.width.megahertz(), is_short(mode.guard), mode.streams, mode.mcs);
            writeln!(self.asked, "R {millis} {rate} {mpdus} {delivered}").unwrap();
            self.control.report(Instant::ZERO + Duration::from_millis(millis), mode, mpdus, delivered);
            attempt = if delivered == mpdus || attempt + 1 == LIMIT { 0 } else { attempt + 1 };
        }
    }

    fn choose(&mut self, millis: u64, attempt: u32) -> Mode {
        let begins_chain = attempt.min(self.control.unanswered) == 0;
        let mode = self.control.choose(Instant::ZERO + Duration::from_millis(millis), attempt);
        if begins_chain {
            let label = |rate: usize, tries: u32| {
                let Mode { width, guard, streams, mcs, .. } = self.control.table.rates[rate].mode;
                format!("{}/{}/{streams}/{mcs}*{tries}", width.megahertz(), is_short(guard))
            };
            let probe = self.control.probe.map_or_else(|| "-".to_owned(), |rate| label(rate, 1));
            let chain = self.control.chain.stages().map(|stage| label(stage.rate, stage.tries));
            writeln!(self.asked, "C {millis}").unwrap();
            writeln!(self.ours, "{millis} {probe} {}", chain.join(" ")).unwrap();
        }
        mode
    }
}

/// Returns the cases by name.
fn cases() -> [(&'static str, Capabilities); 8] {
    let capabilities =
        |standard, width, guard, streams| Capabilities { standard, width, guard, streams, is_short_preamble: false };
    [
        ("b", capabilities(Standard::B, Width::Mhz20, Guard::Ns800, 1)),
        ("a", capabilities(Standard::A, Width::Mhz20, Guard::Ns800, 1)),
        ("n-20-800-1", capabilities(Standard::N, Width::Mhz20, Guard::Ns800, 1)),
        ("n-40-400-2", capabilities(Standard::N, Width::Mhz40, Guard::Ns400, 2)),
        ("n-40-400-4", capabilities(Standard::N, Width::Mhz40, Guard::Ns400, 4)),
        ("ac-20-400-3", capabilities(Standard::Ac, Width::Mhz20, Guard::Ns400, 3)),
        ("ac-80-400-2", capabilities(Standard::Ac, Width::Mhz80, Guard::Ns400, 2)),
        ("ac-80-800-4", capabilities(Standard::Ac, Width::Mhz80, Guard::Ns800, 4)),
    ]
}

/// FNV-1a of 64 bits.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Digests of the output of `replay` in Linux 6.12.117 for the same inputs.
const KERNEL: [u64; 8] = [
    0x1fbb_f0bd_b155_637d,
    0x96d6_c03c_9273_39ea,
    0x1005_ab63_fbd1_0d36,
    0x0976_5b1e_7e3e_5b38,
    0x2d64_b1bc_a0ee_ca0a,
    0x5937_13e9_47d6_ecdb,
    0x8a79_6a68_d702_9269,
    0x5648_3b6e_3693_d7e8,
];

#[test]
fn decisions_are_those_of_the_kernel() {
    for ((name, capabilities), kernel) in cases().into_iter().zip(KERNEL) {
        let mut run = Run::new(capabilities, 0);
        run.send(4_000, 0);
        assert_eq!(
            digest(&run.ours),
            kernel,
            "{name}: `make -C validation/linux/minstrel run` shows where they differ"
        );
    }
}

#[test]
#[ignore = "writes files for validation/linux/minstrel"]
#[expect(clippy::disallowed_methods, reason = "a test hands over to a program")]
fn all_runs() {
    let folder = std::env::var("ACKLAB_MINSTREL").expect("ACKLAB_MINSTREL names a folder");
    for (name, capabilities) in cases() {
        for seed in 0..20 {
            let mut run = Run::new(capabilities, seed);
            run.send(if seed == 0 { 4_000 } else { 20_000 }, seed);
            std::fs::write(format!("{folder}/{name}.{seed}.asked"), run.asked).unwrap();
            std::fs::write(format!("{folder}/{name}.{seed}.ours"), run.ours).unwrap();
        }
    }
}
