//! A monitor beside a cell: it keeps what was on the air, as rows of a table and as captures.

use crate::capture::{AirCapture, Error};
use crate::packet::Packet;
use acklab_base::{Bytes, Datagram, Duration, Instant};
use acklab_wifi::phy::Mode;
use acklab_wifi::ppdu::{Frame, Outcome, Ppdu};

/// What is kept of the air of one cell.
#[derive(Default)]
pub(crate) struct Air {
    rows: Option<Vec<Row>>,
    captures: Vec<AirCapture>,
    /// PPDUs that have ended while one was on the air that had begun before them.
    waiting: Vec<Ppdu<Packet>>,
    failed: Option<Error>,
}

/// A PPDU in the table.
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

impl Air {
    /// Keep rows for the table.
    pub(crate) fn keep_rows(&mut self) {
        self.rows = Some(Vec::new());
    }

    pub(crate) fn add(&mut self, capture: AirCapture) {
        self.captures.push(capture);
    }

    /// Does anybody want to know what is on the air?
    pub(crate) const fn listens(&self) -> bool {
        self.rows.is_some() || !self.captures.is_empty()
    }

    pub(crate) fn rows(&self) -> &[Row] {
        self.rows.as_deref().unwrap_or_default()
    }

    /// These have ended. All that are yet to end began at `settled` or later.
    pub(crate) fn note(&mut self, ppdus: impl Iterator<Item = Ppdu<Packet>>, settled: Instant) {
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

    /// The first failure of a capture, after which it holds no more.
    pub(crate) fn check(&mut self) -> Result<(), Error> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Finish all captures.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        self.note(std::iter::empty(), Instant::FAR_FUTURE);
        self.check()?;
        self.captures.drain(..).try_for_each(AirCapture::finish)
    }
}

fn row(ppdu: &Ppdu<Packet>) -> Row {
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

/// Data PPDUs that carry nothing but pure ACKs have a name of their own, and answers that carry any.
fn kind(ppdu: &Ppdu<Packet>) -> &'static str {
    match &ppdu.frame {
        Frame::Ack if !ppdu.appended.is_empty() => "augmented_ack",
        Frame::BlockAck { .. } if !ppdu.appended.is_empty() => "augmented_block_ack",
        Frame::Data(mpdus) if mpdus.iter().flat_map(|mpdu| &mpdu.packets).all(Datagram::is_pure_ack) => "tcp_ack",
        frame => frame.name(),
    }
}
