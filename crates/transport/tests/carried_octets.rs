//! Tests that acklab's transports carry random bytes.

#[path = "common/carried.rs"]
mod carried;

use acklab_base::random::Seed;
use acklab_base::{Bytes, Instant, StreamPort};
use acklab_transport::ack::Policy;
use acklab_transport::cc::Controller;
use acklab_transport::reading::Reading;
use acklab_transport::streams::StreamOperations;
use acklab_transport::{quic, tack, tcp};
use carried::{BUFFER, Streams, carries, one_stream};

macro_rules! streams {
    ($($connection:ty),*) => {$(
        impl Streams for $connection {
            fn open_another(&mut self) -> Option<u32> {
                self.open_stream().ok()
            }

            fn write(&mut self, _: Instant, stream: u32, octets: u64) -> u64 {
                self.write_to(stream, octets).expect("it is known")
            }

            fn end(&mut self, _: Instant, stream: u32) {
                self.close_stream(stream).expect("it is known");
            }

            fn read(&mut self, now: Instant, stream: u32, most: u64) -> u64 {
                self.read_from(now, stream, most).unwrap_or(0)
            }

            fn is_read(&self, stream: u32) -> bool {
                self.is_stream_at_end(stream)
            }
        }
    )*};
}

streams!(tack::Connection, quic::Connection);

one_stream!(tcp::Connection, tells_duplicates: true);

const BUILT_IN: &str = "it is built in";

#[test]
fn tcp_carries_octets() {
    let config = tcp::TcpConfig {
        send_buffer: Bytes(BUFFER),
        receive_buffer: Bytes(BUFFER),
        ..tcp::Settings::of(tcp::Preset::Linux).config()
    };
    carries(
        || {
            let seed = Seed(1);
            let controller =
                |name| Controller::new(&config.congestion, &config.controller_start(seed, name)).expect(BUILT_IN);
            let policy = || Policy::new(config.ack).expect(BUILT_IN);
            let end = |end: tcp::Connection| end.with_reading(Reading::OnDemand);
            [
                end(tcp::Connection::active(config, controller("f"), policy(), seed, "f")),
                end(tcp::Connection::passive(config, controller("f_back"), policy(), seed, "f")),
            ]
        },
        1,
    );
}

#[test]
fn tack_carries_octets() {
    let settings =
        tack::Settings { send_buffer: Bytes(BUFFER), receive_buffer: Bytes(BUFFER), ..tack::Settings::default() };
    carries(
        || {
            let seed = Seed(1);
            let controller =
                |name| Controller::new(&settings.congestion, &settings.controller_start(seed, name)).expect(BUILT_IN);
            let policy = || Policy::new(settings.ack).expect(BUILT_IN);
            let end = |end: tack::Connection| end.with_reading(Reading::OnDemand);
            [
                end(tack::Connection::client(&settings, controller("f"), policy(), seed, "f")),
                end(tack::Connection::server(&settings, controller("f_back"), policy(), seed, "f")),
            ]
        },
        4,
    );
}

#[test]
fn quic_carries_octets() {
    let settings = quic::Settings { send_buffer: Bytes(BUFFER), ..quic::Settings::default() };
    let config = settings.config();
    carries(
        || {
            let seed = Seed(1);
            let controller =
                |name| Controller::new(&config.congestion, &config.controller_start(seed, name)).expect(BUILT_IN);
            let policy = || Policy::new(config.ack).expect(BUILT_IN);
            let end = |end: quic::Connection| end.with_reading(Reading::OnDemand).with_peer(&settings);
            [
                end(quic::Connection::client(&settings, controller("f"), policy(), seed, "f")),
                end(quic::Connection::server(&settings, controller("f_back"), policy(), seed, "f")),
            ]
        },
        4,
    );
}
