//! Monitors of a cell's air: they record PPDUs as rows of a table and in captures.

use crate::capture::{AirCapture, Error};
use crate::observed::Observed;
use acklab_base::{Bytes, Datagram, Duration, Instant};
use acklab_wifi::phy::Mode;
use acklab_wifi::ppdu::{Frame, Outcome, Ppdu};

/// The monitor of one cell.
pub struct AirMonitor<P> {
    rows: Option<Vec<Row>>,
    captures: Vec<AirCapture>,
    /// PPDUs that have ended while an earlier PPDU is still on the air.
    waiting: Vec<Ppdu<P>>,
    failed: Option<Error>,
}

/// A row of the table: one PPDU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) at: Instant,
    pub(crate) duration: Duration,
    pub(crate) from: usize,
    pub(crate) to: Option<usize>,
    pub(crate) kind: &'static str,
    pub(crate) outcome: Outcome,
    pub(crate) mpdus: u64,
    pub(crate) octets: Bytes,
    pub(crate) mode: Mode,
}

impl<P> Default for AirMonitor<P> {
    fn default() -> Self {
        Self { rows: None, captures: Vec::new(), waiting: Vec::new(), failed: None }
    }
}

impl<P: Observed> AirMonitor<P> {
    /// Stores rows for the table from now on.
    pub fn keep_rows(&mut self) {
        self.rows = Some(Vec::new());
    }

    /// Also records all PPDUs in `capture`.
    pub fn add(&mut self, capture: AirCapture) {
        self.captures.push(capture);
    }

    /// Returns `true` if a table or a capture needs the PPDUs.
    #[must_use]
    pub const fn is_in_use(&self) -> bool {
        self.rows.is_some() || !self.captures.is_empty()
    }

    pub(crate) fn rows(&self) -> &[Row] {
        self.rows.as_deref().unwrap_or_default()
    }

    /// Records PPDUs that have ended, in the order of their start. PPDUs that end later start at
    /// `settled` or later.
    pub(crate) fn record(&mut self, ppdus: impl Iterator<Item = Ppdu<P>>, settled: Instant) {
        self.waiting.extend(ppdus);
        self.waiting.sort_by_key(|ppdu| ppdu.at);
        let ready = self.waiting.partition_point(|ppdu| ppdu.at < settled);
        for ppdu in self.waiting.drain(..ready) {
            if let Some(rows) = &mut self.rows {
                rows.push(row(&ppdu));
            }
            for capture in &mut self.captures {
                if self.failed.is_none()
                    && let Err(error) = capture.record_ppdu(&ppdu)
                {
                    self.failed = Some(error);
                }
            }
        }
    }

    /// Returns the first failure of a capture as an error.
    pub(crate) fn check(&mut self) -> Result<(), Error> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Finishes all captures.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        self.record(std::iter::empty(), Instant::FAR_FUTURE);
        self.check()?;
        self.captures.drain(..).try_for_each(AirCapture::finish)
    }
}

fn row<P: Datagram>(ppdu: &Ppdu<P>) -> Row {
    let mpdus = match &ppdu.frame {
        Frame::Data(mpdus) => mpdus.len() as u64,
        _ => 0,
    };
    Row {
        at: ppdu.at,
        duration: ppdu.duration,
        from: ppdu.from,
        to: ppdu.to,
        kind: kind(ppdu),
        outcome: ppdu.outcome,
        mpdus,
        octets: ppdu.octets,
        mode: ppdu.mode,
    }
}

/// Returns the name of a PPDU in the table. Data PPDUs with pure ACKs only and response frames with
/// compressed ACKs have separate names.
fn kind<P: Datagram>(ppdu: &Ppdu<P>) -> &'static str {
    match &ppdu.frame {
        Frame::Ack if !ppdu.appended.is_empty() => "augmented_ack",
        Frame::BlockAck { .. } if !ppdu.appended.is_empty() => "augmented_block_ack",
        Frame::Data(mpdus) if mpdus.iter().flat_map(|mpdu| &mpdu.packets).all(Datagram::is_pure_ack) => "tcp_ack",
        frame => frame.name(),
    }
}
