//! A browser and a server over a port without a network.

use super::*;
use acklab_base::{Instant, Port, StreamPort, StreamsPort};

/// A connection that passes octets on immediately, over one stream or over as many streams as the
/// browser may open.
struct Ends {
    /// The number of octets in flight per direction and stream: to the server, and to the browser.
    under_way: [Vec<u64>; 2],
    /// The maximum number of streams.
    allowed: usize,
    has_many: bool,
    is_open: bool,
    closed: [bool; 2],
    /// The maximum size of a write in octets.
    room: u64,
    side: usize,
}

impl Ends {
    fn new(has_many: bool) -> Self {
        Self {
            under_way: [vec![0], vec![0]],
            allowed: 100,
            has_many,
            is_open: false,
            closed: [false; 2],
            room: u64::MAX,
            side: 0,
        }
    }

    fn at(&mut self, side: usize) -> Port<'_> {
        self.side = side;
        Port::Stream(self)
    }
}

impl StreamPort for Ends {
    fn open(&mut self, _: Instant) {
        self.is_open = true;
    }

    fn is_open(&self) -> bool {
        self.is_open
    }

    fn room(&self) -> u64 {
        self.room
    }

    fn write(&mut self, _: Instant, octets: u64) -> u64 {
        StreamsPort::write(self, 0, octets)
    }

    fn close(&mut self, _: Instant) {
        self.closed[self.side] = true;
    }

    fn read(&mut self, now: Instant, maximum: u64) -> u64 {
        StreamsPort::read(self, now, 0, maximum)
    }

    fn streams(&mut self) -> Option<&mut dyn StreamsPort> {
        if self.has_many { Some(self) } else { None }
    }
}

impl StreamsPort for Ends {
    fn open(&mut self) -> bool {
        let may = self.under_way[0].len() < self.allowed;
        if may {
            self.under_way.iter_mut().for_each(|streams| streams.push(0));
        }
        may
    }

    fn write(&mut self, number: u32, octets: u64) -> u64 {
        let taken = octets.min(self.room);
        self.under_way[self.side][number as usize] += taken;
        taken
    }

    fn close(&mut self, _: u32) {}

    fn read(&mut self, _: Instant, number: u32, maximum: u64) -> u64 {
        let Some(waiting) = self.under_way[1 - self.side].get_mut(number as usize) else { return 0 };
        let read = maximum.min(*waiting);
        *waiting -= read;
        read
    }
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn page(requests: Requests) -> Page {
    Page {
        sizes: None,
        document: Bytes(30_000),
        objects: vec![Bytes(1000), Bytes(2000), Bytes(3000)],
        request: Bytes(400),
        think: Duration::ZERO,
        requests,
        streams: Streams::Many,
    }
}

/// Runs both ends once per millisecond, the server first. Returns when each object was requested,
/// begun and complete.
fn load(page: &Page, ends: &mut Ends, milliseconds: u64) -> (Vec<[Option<u64>; 3]>, Browser) {
    let (mut browser, mut server) = (Browser::new(page, at(1)), Server::new(page));
    for now in (0..milliseconds).map(at) {
        server.run(now, ends.at(1));
        browser.run(now, ends.at(0));
    }
    let ms = |at: Option<Instant>| at.map(|at| at.as_nanos() / 1_000_000);
    let times = browser.objects().iter().map(|object| [object.requested, object.begun, object.complete].map(ms));
    (times.collect(), browser)
}

#[test]
fn objects_are_requested_once_the_document_is_there() {
    for has_many in [true, false] {
        let mut ends = Ends::new(has_many);
        let (times, browser) = load(&page(Requests::Parallel), &mut ends, 10);
        let document = [Some(1), Some(2), Some(2)];
        let object = [Some(2), Some(3), Some(3)];
        assert_eq!(times, [document, object, object, object], "{has_many}");
        assert_eq!((ends.closed, browser.deadline()), ([true, true], None));
        assert_eq!(ends.under_way[0].len(), if has_many { 4 } else { 1 });
    }
}

#[test]
fn serial_requests_wait_for_each_other() {
    for has_many in [true, false] {
        let (times, _) = load(&page(Requests::Serial), &mut Ends::new(has_many), 10);
        let requested: Vec<_> = times.iter().map(|[requested, ..]| *requested).collect();
        assert_eq!(requested, [Some(1), Some(2), Some(3), Some(4)], "{has_many}");
    }
}

#[test]
fn what_has_no_room_waits() {
    for has_many in [true, false] {
        let mut ends = Ends { room: 500, ..Ends::new(has_many) };
        let (times, _) = load(&page(Requests::Parallel), &mut ends, 100);
        assert_eq!(times[0], [Some(1), Some(2), Some(61)], "60 writes of 500 octets");
        let complete: Vec<_> = times[1..].iter().map(|[.., complete]| *complete).collect();
        // Over one stream, only one write progresses at a time. Over several streams, one write
        // progresses on each stream.
        let expected = if has_many { [63, 65, 67] } else { [63, 66, 71] };
        assert_eq!(complete, expected.map(Some), "{has_many}");
    }
}

#[test]
fn streams_that_the_peer_does_not_allow_wait() {
    let mut ends = Ends { allowed: 2, ..Ends::new(true) };
    let (times, _) = load(&page(Requests::Parallel), &mut ends, 10);
    assert_eq!(times[1], [Some(2), Some(3), Some(3)]);
    assert_eq!(times[2..], [[None; 3]; 2]);
    assert_eq!(ends.closed, [false, false]);
}

#[test]
fn a_server_thinks_before_each_response() {
    let page = Page { think: Duration::from_millis(5), ..page(Requests::Parallel) };
    let (times, _) = load(&page, &mut Ends::new(true), 100);
    // The server reads a request a millisecond after it was written. The browser reads the response
    // in the same millisecond.
    assert_eq!(times[0], [Some(1), Some(7), Some(7)]);
    assert_eq!(times[1], [Some(7), Some(13), Some(13)]);
}
