//! The end that responds.

use super::{Page, Streams};
use acklab_base::{Duration, Instant, Port, StreamPort};
use std::collections::VecDeque;

/// The application that responds to the requests for a page.
#[derive(Clone, Debug)]
pub struct Server {
    streams: Streams,
    request: u64,
    think: Duration,
    /// The number of octets of each request that have arrived.
    received: Vec<u64>,
    /// The number of octets of each response that the port has not accepted yet.
    unwritten: Vec<u64>,
    /// Responses that begin later, with their times and indices, in the order of their times.
    thinking: VecDeque<(Instant, usize)>,
    /// Responses in progress, in the order in which they began.
    responding: VecDeque<usize>,
    /// The number of responses written.
    written: usize,
}

impl Server {
    /// Returns an application that serves `page`.
    #[must_use]
    pub fn new(page: &Page) -> Self {
        Self {
            streams: page.streams,
            request: page.request.get(),
            think: page.think,
            received: vec![0; page.count()],
            unwritten: page.sizes().collect(),
            thinking: VecDeque::new(),
            responding: VecDeque::new(),
            written: 0,
        }
    }

    /// Returns when the application must run next, or `None` if it only waits for requests or for
    /// space in the send buffer.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.thinking.front().map(|(at, _)| *at)
    }

    /// Reads requests, and writes responses while the port accepts octets.
    pub fn run(&mut self, now: Instant, port: Port<'_>) {
        let Port::Stream(port) = port else { return };
        if !port.is_open() || self.written == self.unwritten.len() {
            return;
        }
        self.read(now, port);
        while let Some(&(_, response)) = self.thinking.front().filter(|(at, _)| *at <= now) {
            self.thinking.pop_front();
            self.responding.push_back(response);
        }
        self.write(now, port);
        if self.written == self.unwritten.len() {
            port.close(now);
        }
    }

    fn has_many(&self, port: &mut dyn StreamPort) -> bool {
        self.streams == Streams::Many && port.streams().is_some()
    }

    fn read(&mut self, now: Instant, port: &mut dyn StreamPort) {
        let has_many = self.has_many(port);
        let mut octets = if has_many { 0 } else { port.read(now, u64::MAX) };
        for (number, received) in self.received.iter_mut().enumerate().filter(|(_, received)| **received < self.request)
        {
            let missing = self.request - *received;
            let read = match port.streams().filter(|_| has_many) {
                Some(streams) => streams.read(now, number as u32, missing),
                None => octets.min(missing),
            };
            octets -= if has_many { 0 } else { read };
            *received += read;
            if *received == self.request {
                self.thinking.push_back((now + self.think, number));
            }
        }
    }

    fn write(&mut self, now: Instant, port: &mut dyn StreamPort) {
        let has_many = self.has_many(port);
        let mut place = 0;
        while let Some(&response) = self.responding.get(place) {
            let left = &mut self.unwritten[response];
            let number = response as u32;
            *left -= match port.streams().filter(|_| has_many) {
                Some(streams) => streams.write(number, *left),
                None => port.write(now, *left),
            };
            if *left > 0 {
                if !has_many {
                    return;
                }
                place += 1;
                continue;
            }
            // The first stream belongs to the connection. It remains open while requests may
            // follow.
            if response > 0
                && has_many
                && let Some(streams) = port.streams()
            {
                streams.close(number);
            }
            self.responding.remove(place);
            self.written += 1;
        }
    }
}
