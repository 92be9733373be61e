//! The end that sends requests.

use super::{Page, Requests, Streams, counter};
use acklab_base::{CounterValue, Instant, Port, StreamPort};

/// An object, as the browser tracks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// The size of the object, in octets.
    pub size: u64,
    /// The time at which the object was requested.
    pub requested: Option<Instant>,
    /// The time at which its first octet arrived.
    pub begun: Option<Instant>,
    /// The time at which its last octet arrived.
    pub complete: Option<Instant>,
    /// Octets of the request that the port has not accepted yet.
    unwritten: u64,
    received: u64,
}

impl Object {
    const fn new(size: u64) -> Self {
        Self { size, requested: None, begun: None, complete: None, unwritten: 0, received: 0 }
    }

    /// Returns `true` if the object is requested and not complete.
    const fn is_awaited(&self) -> bool {
        self.requested.is_some() && self.complete.is_none()
    }

    /// Consumes the octets of this object from `octets` that have arrived. Returns the remaining
    /// octets.
    fn take(&mut self, now: Instant, octets: u64) -> u64 {
        let own = octets.min(self.size - self.received);
        self.received += own;
        if own > 0 {
            self.begun.get_or_insert(now);
        }
        if self.received == self.size {
            self.complete.get_or_insert(now);
        }
        octets - own
    }
}

/// The application that opens the connection, requests a page, and reads it.
#[derive(Clone, Debug)]
pub struct Browser {
    requests: Requests,
    streams: Streams,
    request: u64,
    /// The time at which to open the connection; `None` once it is open.
    start: Option<Instant>,
    /// The document and the objects.
    objects: Vec<Object>,
    /// The number of requested objects, and the number of complete ones. Both are counted from the
    /// first object.
    requested: usize,
    complete: usize,
    is_closed: bool,
}

impl Browser {
    /// Returns an application that opens its port at `start`.
    #[must_use]
    pub fn new(page: &Page, start: Instant) -> Self {
        Self {
            requests: page.requests,
            streams: page.streams,
            request: page.request.get(),
            start: Some(start),
            objects: page.sizes().map(Object::new).collect(),
            requested: 0,
            complete: 0,
            is_closed: false,
        }
    }

    /// Returns the document and the objects, in the order of their requests.
    #[must_use]
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// Returns when the application must run next, or `None` if it only waits for data.
    #[must_use]
    pub const fn deadline(&self) -> Option<Instant> {
        self.start
    }

    /// Calls `to` with the name, unit and value of each counter, always in the same order.
    pub fn report_counters(&self, to: &mut dyn FnMut(&'static str, &'static str, CounterValue)) {
        to(counter::OBJECTS, "", CounterValue::Count(self.complete as u64));
        let complete = self.objects.iter().map(|object| object.complete).collect::<Option<Vec<_>>>();
        let last = complete.and_then(|all| all.into_iter().max());
        to(counter::COMPLETE, "ns", CounterValue::Gauge(last.map(|last| last.as_nanos() as f64)));
    }

    /// Reads arrived octets, and sends the next requests.
    pub fn run(&mut self, now: Instant, port: Port<'_>) {
        let Port::Stream(port) = port else { return };
        if self.start.is_some_and(|start| start <= now) {
            self.start = None;
            port.open(now);
        }
        if !port.is_open() || self.is_closed {
            return;
        }
        self.read(now, port);
        self.request_objects(now, port);
        self.write(now, port);
        if self.complete == self.objects.len() {
            self.is_closed = true;
            port.close(now);
        }
    }

    fn has_many(&self, port: &mut dyn StreamPort) -> bool {
        self.streams == Streams::Many && port.streams().is_some()
    }

    fn read(&mut self, now: Instant, port: &mut dyn StreamPort) {
        if self.has_many(port) {
            if let Some(streams) = port.streams() {
                for (number, object) in (0..).zip(&mut self.objects).filter(|(_, object)| object.is_awaited()) {
                    object.take(now, streams.read(now, number, u64::MAX));
                }
            }
        } else {
            let mut octets = port.read(now, u64::MAX);
            for object in self.objects.iter_mut().filter(|object| object.is_awaited()) {
                octets = object.take(now, octets);
            }
        }
        let is_complete = |object: &Object| object.complete.is_some();
        while self.objects.get(self.complete).is_some_and(is_complete) {
            self.complete += 1;
        }
    }

    /// Requests the objects that may be requested.
    fn request_objects(&mut self, now: Instant, port: &mut dyn StreamPort) {
        let has_many = self.has_many(port);
        while self.requested < self.objects.len() && self.may_request() {
            if has_many && self.requested > 0 && !port.streams().is_some_and(|streams| streams.open()) {
                // Wait until the peer permits more streams.
                return;
            }
            let object = &mut self.objects[self.requested];
            (object.requested, object.unwritten) = (Some(now), self.request);
            self.requested += 1;
        }
    }

    /// Returns `true` if the next object may be requested.
    const fn may_request(&self) -> bool {
        match (self.requested, self.requests) {
            (0, _) => true,
            (_, Requests::Parallel) => self.complete > 0,
            (requested, Requests::Serial) => self.complete == requested,
        }
    }

    /// Writes requests while the port accepts octets.
    fn write(&mut self, now: Instant, port: &mut dyn StreamPort) {
        let has_many = self.has_many(port);
        for (number, object) in
            (0..).zip(&mut self.objects[..self.requested]).filter(|(_, object)| object.unwritten > 0)
        {
            match port.streams().filter(|_| has_many) {
                Some(streams) => {
                    object.unwritten -= streams.write(number, object.unwritten);
                    // The first stream belongs to the connection. It remains open while there are
                    // objects to request.
                    if object.unwritten == 0 && number > 0 {
                        streams.close(number);
                    }
                }
                None => object.unwritten -= port.write(now, object.unwritten),
            }
            if object.unwritten > 0 && !has_many {
                return;
            }
        }
    }
}
