//! Properties of the reader of logs, for any text. The tests of this crate and the fuzz target
//! `qlog` share them.

use acklab_inspect::qlog::read;

/// Checks that a text yields a report with sound numbers, and the same one from a source that
/// returns one octet at a time.
///
/// # Panics
/// If it does not hold.
pub(crate) fn any_text_is_read_to_its_end(octets: &[u8]) {
    let log = read(|| Ok(octets), None).expect("a source without errors");
    for connection in &log.report.connections {
        assert!(connection.duration >= 0.0 && connection.start >= 0.0, "{connection:?}");
        for direction in &connection.directions {
            assert!(direction.goodput.is_finite() && direction.goodput >= 0.0, "{}", direction.goodput);
            assert!((0.0..=1.0).contains(&direction.losses.share), "{:?}", direction.losses);
            assert!(direction.losses.spurious <= direction.losses.retransmitted, "{:?}", direction.losses);
            assert!(
                direction.rate.value().is_none_or(|rate| rate.value.is_finite() && rate.value > 0.0),
                "{:?}",
                direction.rate
            );
        }
    }
    let summary = log.report.log.expect("the summary of a log");
    assert!(summary.packets.iter().sum::<u64>() <= summary.events, "{summary:?}");
    let slow = read(|| Ok(Slow(octets)), None).expect("a source without errors");
    assert_eq!((slow.report.log, slow.cut), (Some(summary), log.cut));
}

/// A source that returns one octet at a time.
struct Slow<'a>(&'a [u8]);

impl std::io::Read for Slow<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let maximum = to.len().min(1);
        std::io::Read::read(&mut self.0, &mut to[..maximum])
    }
}
