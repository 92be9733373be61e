//! Runs bodies of fuzz targets on bytes of seeded streams. `ACKLAB_STEPS` sets the number of
//! operations, `ACKLAB_SEED` the seed. A failure prints the seed of its case; with `ACKLAB_CASE`,
//! only that case runs.

use acklab_base::random::Seed;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

#[expect(clippy::disallowed_methods, reason = "how long to look is not part of what is tested")]
fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap_or_else(|_| panic!("{name}={value} is no number")))
}

/// Returns the bytes of one case. Short cases stay near the handshake, long ones have repeated
/// recoveries.
fn octets(seed: u64) -> Vec<u8> {
    let mut stream = Seed(seed).stream("endpoints");
    let length = 1 << (6 + stream.below(7));
    (0..60 + stream.below(length)).map(|_| stream.below(256) as u8).collect()
}

/// A function that runs bytes, and returns the number of operations and a digest of all packets
/// sent.
pub(crate) type Body = fn(&[u8]) -> (u64, u64);

fn case(body: Body, seed: u64) -> u64 {
    let octets = octets(seed);
    let run = || body(&octets);
    let (steps, digest) = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|cause| {
        eprintln!("ACKLAB_CASE={seed}");
        resume_unwind(cause)
    });
    if seed.is_multiple_of(16) {
        assert_eq!(body(&octets), (steps, digest), "ACKLAB_CASE={seed}: the same again");
    }
    steps
}

/// Runs `steps` operations, or `ACKLAB_STEPS` operations if that is set, or the one requested case.
pub(crate) fn look(steps: u64, body: Body) {
    if let Some(seed) = variable("ACKLAB_CASE") {
        case(body, seed);
        return;
    }
    let (wanted, first) = (variable("ACKLAB_STEPS").unwrap_or(steps), variable("ACKLAB_SEED").unwrap_or(0));
    let (mut done, mut seed) = (0, first);
    while done < wanted {
        done += case(body, seed);
        seed += 1;
    }
    println!("{done} operations in {} cases", seed - first);
}
