//! An application that opens a port, writes and closes.

use crate::Traffic;
use crate::schedule::{Schedule, Write};
use acklab_base::random::Stream;
use acklab_base::{DatagramPort, Duration, Instant, MessagePort, Port, StreamPort};
use std::collections::VecDeque;

/// An application that writes. It waits while the send buffer is full.
#[derive(Clone, Debug)]
pub struct Writer {
    /// The total number of octets to write, except those of a schedule.
    total: u64,
    schedule: Option<Schedule>,
    /// The time at which to open the port; `None` once it is open.
    start: Option<Instant>,
    /// The time at which to stop writing; `None` once the application has stopped.
    stop: Option<Instant>,
    /// The earliest of `start`, `stop` and the next write of the schedule.
    due: Option<Instant>,
    phase: Phase,
    /// The number of octets that were due so far.
    offered: u64,
    /// The number of octets that the port has accepted so far.
    written: u64,
    messages: Option<Messages>,
}

/// Writes that are separate messages.
#[derive(Clone, Debug)]
struct Messages {
    lifetime: Duration,
    /// Messages that the port has not accepted yet: their octets and the end of their lifetime.
    waiting: VecDeque<(u64, Instant)>,
}

impl Messages {
    /// Sends the messages that the port accepts.
    fn send(&mut self, now: Instant, port: &mut dyn MessagePort) {
        while let Some(&(octets, until)) = self.waiting.front()
            && port.send(now, octets, until)
        {
            self.waiting.pop_front();
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The application waits until its port is open.
    Waits,
    Writes,
    /// The application has stopped writing.
    Closed,
}

impl Writer {
    /// Returns an application that opens its port at `start` and, if `stop` is given, writes
    /// nothing from `stop` on.
    #[must_use]
    pub fn new(traffic: Traffic, start: Instant, stop: Option<Instant>, chance: Stream) -> Self {
        let mut chance = chance;
        let total = match traffic {
            Traffic::Drawn { sizes } => sizes.draw(&mut chance).get(),
            Traffic::Greedy {} => u64::MAX,
            Traffic::Fixed { size } => size.get(),
            Traffic::Constant { .. } | Traffic::Poisson { .. } | Traffic::Video(_) => 0,
        };
        let deadline = traffic.video().and_then(|video| video.deadline);
        Self {
            total,
            schedule: Schedule::of(traffic, chance),
            start: Some(start),
            stop,
            due: Instant::earliest(Some(start), stop),
            phase: Phase::Waits,
            offered: 0,
            written: 0,
            messages: deadline.map(|lifetime| Messages { lifetime, waiting: VecDeque::new() }),
        }
    }

    /// Writes the data that are due, while the port accepts octets.
    #[inline]
    pub fn run(&mut self, now: Instant, port: Port<'_>) {
        let is_due = self.due.is_some_and(|due| due <= now);
        match port {
            Port::Stream(port) if !is_due && self.phase == Phase::Writes => self.fill(now, port),
            Port::Datagram(_) if !is_due => {}
            port => self.act(now, port),
        }
    }

    /// Handles the rare parts of a run: starting, stopping, and the writes that are due.
    #[inline(never)]
    fn act(&mut self, now: Instant, port: Port<'_>) {
        match port {
            Port::Stream(port) => self.run_stream(now, port),
            Port::Datagram(port) => self.run_datagrams(now, port),
            Port::None => self.end(),
        }
        let next = self.schedule.as_ref().and_then(Schedule::next);
        self.due = Instant::earliest(Instant::earliest(self.start, self.stop), next);
    }

    /// Returns when the application must run next, or `None` if it only waits for space in the send
    /// buffer.
    #[must_use]
    #[inline]
    pub const fn deadline(&self) -> Option<Instant> {
        self.due
    }

    fn run_stream(&mut self, now: Instant, port: &mut dyn StreamPort) {
        if self.start.is_some_and(|start| start <= now) {
            self.start = None;
            port.open(now);
        }
        if self.stop.is_some_and(|stop| stop <= now) {
            // The schedule must also end if all data were written, because some may not have been
            // sent.
            self.stop = None;
            self.end();
            return port.truncate(now);
        }
        match self.phase {
            Phase::Closed => return,
            Phase::Waits if !port.is_open() => return,
            Phase::Waits => self.begin(now),
            Phase::Writes => {}
        }
        self.note_due(now);
        self.fill(now, port);
    }

    /// Writes as many octets as the port accepts, and closes after the last octet.
    #[inline]
    fn fill(&mut self, now: Instant, port: &mut dyn StreamPort) {
        if self.messages.is_some() {
            return self.send_messages(now, port);
        }
        if self.offered > self.written {
            self.written += port.write(now, self.offered - self.written);
        }
        if self.schedule.is_none() && self.written == self.total {
            self.end();
            port.close(now);
        }
    }

    /// Sends the waiting messages, while the port accepts messages.
    #[inline(never)]
    fn send_messages(&mut self, now: Instant, port: &mut dyn StreamPort) {
        if let (Some(messages), Some(port)) = (&mut self.messages, port.messages()) {
            messages.send(now, port);
        }
    }

    /// Unlike a stream, datagrams need no truncation at the end: each is sent when it is written.
    fn run_datagrams(&mut self, now: Instant, port: &mut dyn DatagramPort) {
        if self.stop.is_some_and(|stop| stop <= now) {
            self.stop = None;
            return self.end();
        }
        if self.start.is_some_and(|start| start <= now) {
            self.start = None;
            port.open(now);
            self.begin(now);
        }
        let Some(schedule) = &mut self.schedule else { return };
        while let Some(write) = schedule.take_due(now) {
            match write {
                Write::Octets(octets) => port.send(now, u32::try_from(octets).unwrap_or(u32::MAX)),
                Write::Frame(frame) => frame.payloads().for_each(|payload| port.send(now, payload)),
            }
        }
    }

    fn begin(&mut self, now: Instant) {
        self.phase = Phase::Writes;
        self.offered = self.total;
        if let Some(schedule) = &mut self.schedule {
            schedule.begin(now);
        }
    }

    fn note_due(&mut self, now: Instant) {
        let Some(schedule) = &mut self.schedule else { return };
        while let Some(write) = schedule.take_due(now) {
            match &mut self.messages {
                Some(messages) => messages.waiting.push_back((write.octets(), now + messages.lifetime)),
                None => self.offered += write.octets(),
            }
        }
    }

    fn end(&mut self) {
        (self.phase, self.start) = (Phase::Closed, None);
        if let Some(schedule) = &mut self.schedule {
            schedule.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Video;
    use crate::testing::Pipe;
    use crate::video::tests::even;
    use acklab_base::random::Seed;
    use acklab_base::{Bytes, Rate};

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn writer(traffic: Traffic, stop: Option<Instant>) -> Writer {
        Writer::new(traffic, Instant::ZERO, stop, Seed(1).stream("source"))
    }

    #[test]
    fn a_greedy_application_keeps_the_buffer_full() {
        let (mut writer, mut pipe) = (writer(Traffic::Greedy {}, None), Pipe::of(1000));
        writer.run(at(0), Port::Stream(&mut pipe));
        assert_eq!(pipe.written, 0, "the connection is not open");
        pipe.is_open = true;
        writer.run(at(1), Port::Stream(&mut pipe));
        assert_eq!(pipe.written, 1000);
        pipe.acknowledged = 300;
        writer.run(at(2), Port::Stream(&mut pipe));
        assert_eq!((pipe.written, pipe.closed), (1300, None));
    }

    #[test]
    fn a_fixed_transfer_ends() {
        let (mut writer, mut pipe) = (writer(Traffic::Fixed { size: Bytes(5000) }, None), Pipe::of(4000));
        pipe.is_open = true;
        writer.run(at(0), Port::Stream(&mut pipe));
        assert_eq!((pipe.written, pipe.closed), (4000, None));
        pipe.acknowledged = 2000;
        writer.run(at(1), Port::Stream(&mut pipe));
        assert_eq!((pipe.written, pipe.closed, writer.deadline()), (5000, Some(5000), None));
    }

    #[test]
    fn a_constant_rate_waits_for_room_and_catches_up() {
        let traffic = Traffic::Constant { rate: Rate::from_mbps(8), write: Bytes(1000) };
        let (mut writer, mut pipe) = (writer(traffic, None), Pipe::of(10_000));
        pipe.is_open = true;
        writer.run(at(0), Port::Stream(&mut pipe));
        writer.run(at(100), Port::Stream(&mut pipe));
        assert_eq!((pipe.written, writer.deadline()), (10_000, Some(at(101))), "101 writes are due, and ten have room");
        pipe.acknowledged = 200_000;
        writer.run(at(100), Port::Stream(&mut pipe));
        assert_eq!(pipe.written, 101_000);
    }

    #[test]
    fn stopping_discards_unsent_data() {
        let (mut writer, mut pipe) = (writer(Traffic::Greedy {}, Some(at(5))), Pipe::of(1000));
        pipe.is_open = true;
        writer.run(at(0), Port::Stream(&mut pipe));
        pipe.sent = 300;
        writer.run(at(5), Port::Stream(&mut pipe));
        assert_eq!((pipe.closed, writer.deadline()), (Some(300), None));
    }

    #[test]
    fn a_write_is_a_datagram() {
        let traffic = Traffic::Constant { rate: Rate::from_mbps(8), write: Bytes(1000) };
        let (mut writer, mut pipe) = (writer(traffic, Some(at(3))), Pipe::of(0));
        while let Some(now) = writer.deadline() {
            writer.run(now, Port::Datagram(&mut pipe));
        }
        assert_eq!(pipe.datagrams, [(at(0), 1000), (at(1), 1000), (at(2), 1000)]);
    }

    #[test]
    fn a_video_is_written_a_frame_at_a_time() {
        let (mut writer, mut pipe) = (writer(Traffic::Video(even(60, 10, None)), None), Pipe::of(1 << 20));
        pipe.is_open = true;
        writer.run(at(0), Port::Stream(&mut pipe));
        writer.run(at(100), Port::Stream(&mut pipe));
        assert_eq!(pipe.written, 7 * 1316, "frames at 0, 16.7, …, 100 ms");
    }

    #[test]
    fn a_frame_with_a_deadline_is_a_message_and_waits_for_the_peer() {
        let video = even(60, 10, Some(Duration::from_millis(40)));
        let (mut writer, mut pipe) = (writer(Traffic::Video(video), None), Pipe::of(1 << 20));
        (pipe.is_open, pipe.mailbox.limit) = (true, 1);
        writer.run(at(0), Port::Stream(&mut pipe));
        writer.run(at(20), Port::Stream(&mut pipe));
        assert_eq!((pipe.written, pipe.mailbox.sent.as_slice()), (0, [(1316, at(40))].as_slice()));
        pipe.mailbox.limit = 2;
        writer.run(at(25), Port::Stream(&mut pipe));
        assert_eq!(pipe.mailbox.sent[1], (1316, at(60)), "its lifetime begins when it is encoded, not when it is sent");
    }

    #[test]
    fn a_frame_fills_datagrams() {
        let traffic = Traffic::Video(Video { rate: Rate::from_mbps(1), ..even(60, 10, None) });
        let (mut writer, mut pipe) = (writer(traffic, None), Pipe::of(0));
        writer.run(at(0), Port::Datagram(&mut pipe));
        // 1 Mbps / 60 / 8 = 2083 octets, which are eleven packets of the transport stream.
        assert_eq!(pipe.datagrams, [(at(0), 1328), (at(0), 12 + 4 * 188)]);
    }
}
