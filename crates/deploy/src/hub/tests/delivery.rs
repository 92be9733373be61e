//! Tests the result of a stream for each kind of end of a connection. A reader gets all bytes and
//! the end, or an error. A writer is notified of delivery only if all data were delivered.

use super::*;
use crate::pipe::ReadError;
use proptest::prelude::*;
use proptest::sample::select;

/// An action of an application or a host during a transfer.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Ends the connection with this code.
    Close(u32),
    /// Drops the streams of the host, as a cancelled task does.
    Drop,
    /// The host stops working.
    Die,
    /// The host is replaced by a host without connections.
    Restart,
}

/// A direction of a stream.
#[derive(Debug, Default)]
struct Direction {
    to_write: Vec<u8>,
    written: usize,
    read: Vec<u8>,
    /// The end of the stream, as the reader receives it.
    end: Option<Result<(), ReadError>>,
    /// `true` if the writer was notified that the peer has received all data.
    is_delivered: bool,
}

struct Transfer {
    net: Net,
    handles: [Handle; 2],
    /// The handles of the client and the server on the stream.
    ends: [Option<Ends>; 2],
    /// The direction from the client, and the direction from the server.
    directions: [Direction; 2],
    is_dead: [bool; 2],
}

impl Transfer {
    fn new(weather: Weather, sizes: [usize; 2], seed: u64) -> Self {
        let mut net = Net::new(configs(), CLEAN);
        net.chance = Seed(seed).stream("net");
        let handles = net.connect();
        net.weather = weather;
        let ends = [Some(net.open(handles[0])), None];
        let octets = |size: usize| (0..size).map(|place| (place % 251) as u8).collect();
        let directions = sizes.map(|size| Direction { to_write: octets(size), ..Direction::default() });
        Self { net, handles, ends, directions, is_dead: [false; 2] }
    }

    /// Runs the applications of all running hosts until nothing changes.
    fn serve(&mut self) {
        let Self { net, handles, ends, directions, is_dead } = self;
        for host in (0..2).filter(|host| !is_dead[*host]) {
            let handle = handles[host];
            if host == 1 && ends[1].is_none() {
                ends[1] = net.hubs[1].with(handle, |end| end.accept_stream()).flatten();
            }
            let Some(stream) = &ends[host] else { continue };
            let outgoing = &mut directions[host];
            if outgoing.written < outgoing.to_write.len() || outgoing.to_write.is_empty() {
                outgoing.written +=
                    net.write(host, handle, stream, &outgoing.to_write[outgoing.written..]).unwrap_or(0);
                if outgoing.written == outgoing.to_write.len() {
                    net.hubs[host].with(handle, |end| end.finish_stream(net.now, stream.id));
                }
            }
            let context = Context::from_waker(Waker::noop());
            let finished = net.hubs[host].look(handle, |end| end.poll_finished(&context, stream.id));
            outgoing.is_delivered |= matches!(finished, Some(Poll::Ready(Ok(()))));
            let incoming = &mut directions[1 - host];
            while incoming.end.is_none() {
                let read = stream.inlet.poll_read(&context, 10_000, |octets| incoming.read.extend_from_slice(octets));
                match read {
                    Poll::Ready(Ok(done)) if done.octets == 0 => incoming.end = Some(Ok(())),
                    Poll::Ready(Ok(_)) => {}
                    Poll::Ready(Err(error)) => incoming.end = Some(Err(error)),
                    Poll::Pending => break,
                }
            }
            net.hubs[host].serve_streams(net.now, &mut vec![(handle, stream.id)]);
        }
    }

    fn act(&mut self, host: usize, act: Act) {
        let Self { net, handles, ends, is_dead, .. } = self;
        match act {
            Act::Close(code) => net.hubs[host].close(net.now, handles[host], code),
            Act::Drop => {
                if let Some(stream) = ends[host].take() {
                    net.hubs[host].with(handles[host], |end| {
                        end.reset_stream(stream.id, 0);
                        end.release_stream(net.now, stream.id, 0);
                        end.release_stream(net.now, stream.id, 1);
                    });
                }
                is_dead[host] = true;
            }
            // The host sends nothing, or the answers of a hub without connections.
            Act::Die => {
                net.hubs[host] = Hub::new(net.now, Config::new()).unwrap();
                is_dead[host] = true;
            }
            Act::Restart => {
                let config = (*net.hubs[host].config).clone();
                net.hubs[host] = Hub::new(net.now, config).unwrap();
                is_dead[host] = true;
            }
        }
    }

    /// Continues until there is nothing to do, or for ten minutes.
    fn finish(&mut self) {
        let start = self.net.now;
        while self.net.step() && self.net.now < start + Duration::from_secs(600) {
            self.serve();
        }
        self.serve();
    }

    fn check(&self) -> Result<(), TestCaseError> {
        for (host, direction) in self.directions.iter().enumerate() {
            let Direction { to_write, read, end, is_delivered, .. } = direction;
            prop_assert!(to_write.starts_with(read), "what was read was written");
            if *end == Some(Ok(())) {
                prop_assert_eq!(read.len(), to_write.len(), "the end is that of all octets");
            }
            // A reader that was dropped has not read the data that its host received.
            if *is_delivered && !self.is_dead[1 - host] {
                prop_assert_eq!(end, &Some(Ok(())), "what was reported as delivered has arrived");
            }
            prop_assert!(
                end.is_some() || self.is_dead[1 - host] || self.ends[1 - host].is_none(),
                "a reader waits for ever"
            );
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, max_shrink_iters: 100, ..ProptestConfig::default() })]

    #[test]
    fn a_reader_gets_all_octets_or_an_error_and_a_writer_hears_of_no_more(
        (loss, jitter, seed) in (0.0..0.4f64, 0u64..20, any::<u64>()),
        sizes in select(vec![[0, 0], [1, 1], [3000, 100_000], [100_000, 3000], [300_000, 300_000]]),
        acts in proptest::collection::vec(
            (prop_oneof![0usize..10, 0usize..400], 0usize..2, select(vec![Act::Close(0), Act::Close(7), Act::Drop, Act::Die, Act::Restart])),
            0..3,
        ),
    ) {
        let weather = Weather { loss, jitter: Duration::from_millis(jitter), ..CLEAN };
        let mut transfer = Transfer::new(weather, sizes, seed);
        for (steps, host, act) in acts {
            for _ in 0..steps {
                transfer.net.step();
                transfer.serve();
            }
            transfer.act(host, act);
        }
        transfer.finish();
        transfer.check()?;
    }
}

/// All packets of the client are lost, and the server ends the connection without a reason.
#[test]
fn a_peer_that_closes_without_a_reason_has_not_received_everything() {
    let mut transfer = Transfer::new(CLEAN, [1000, 0], 1);
    transfer.serve();
    transfer.net.drain_from(0);
    transfer.net.under_way.clear();
    transfer.act(1, Act::Close(0));
    transfer.finish();
    let [sent, _] = &transfer.directions;
    assert!(!sent.is_delivered && sent.written == 1000);
}
