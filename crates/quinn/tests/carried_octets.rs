//! Tests that quinn-proto carries random bytes, as acklab's transports do.

#[path = "../../transport/tests/common/carried.rs"]
mod carried;

use acklab_base::random::Seed;
use acklab_base::{Bytes, Instant, StreamPort};
use acklab_quinn::{Connection, Settings};
use acklab_transport::cc::Controller;
use acklab_transport::reading::Reading;
use carried::{BUFFER, carries, one_stream};

one_stream!(Connection, tells_duplicates: false);

#[test]
fn quinn_carries_octets() {
    let settings = Settings { send_buffer: Bytes(BUFFER), ..Settings::default() };
    carries(
        || {
            let seed = Seed(1);
            let controller = |name| {
                Controller::new(&settings.congestion, &settings.controller_start(seed, name)).expect("it is built in")
            };
            let end = |end: Result<Connection, _>| {
                end.expect("its TLS is well configured").two_way().with_reading(Reading::OnDemand)
            };
            [
                end(Connection::client(&settings, controller("f"), seed, "f")),
                end(Connection::server(&settings, controller("f_back"), seed, "f")),
            ]
        },
        1,
    );
}
