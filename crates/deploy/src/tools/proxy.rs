//! TCP connections of other programs over one connection of TACK, with a stream for each.
//!
//! ```text
//! browser ──SOCKS5──▶ connect ══ TACK ══▶ listen ──TCP──▶ target
//! ```
//!
//! # Protocol, version 2
//!
//! The near side opens a connection of TACK and on its first stream sends `acklab`, the version,
//! the octet 2 and the 32 octets of the token. The far side replies with the octet 0; to another
//! token, it closes the connection. Until then, the near side may open no other stream, and send 16
//! KiB.
//!
//! The near side then opens a stream for each TCP connection and sends the target in the form that
//! SOCKS5 has for addresses (RFC 1928, §5). The far side replies with one octet, the reply field of
//! RFC 1928, §6. After 0 both directions carry what TCP carries: the end of a direction ends it at
//! the other side, and a reset resets it. A direction that cannot be carried to its end, because a
//! side stops, is killed or is lost, resets both TCP connections.
//!
//! The token permits the use of the far side. It is a secret of the state folder, and TLS
//! authenticates the server before the client sends it.
//!
//! | module | contents |
//! |---|---|
//! | [`listen`] | the far side |
//! | [`connect`] | the near side: SOCKS5 and the forwarding of ports |
//! | [`allow`] | which targets the far side connects to |
//! | `public` | addresses of the public Internet |
//! | `gate` | clients that have not shown the token |
//! | `dial` | the far side connects to a target |
//! | [`target`] | an address or a name, with a port |
//! | [`token`] | the secret |
//! | [`socks`] | SOCKS5 (RFC 1928) |
//! | `relay` | a TCP connection and a stream become one |

pub mod allow;
pub mod connect;
mod dial;
mod gate;
pub mod listen;
mod public;
mod relay;
pub mod socks;
pub mod target;
pub mod token;

pub use allow::Allow;
pub use connect::Forward;
pub use target::Target;
pub use token::Token;

use crate::config;
use acklab_base::Duration;
use acklab_transport::tack::Settings;

/// The beginning of the first stream: name, version and kind.
const PREFACE: [u8; 8] = *b"acklab\x02\x02";
/// The reply to the token.
const WELCOME: u8 = 0;
/// TCP connections at a time over one connection. Each may hold both buffers.
const MAX_STREAMS: u32 = 1000;
/// The number of bytes of a stream that may wait: 10 Mbps over 800 ms, or 1 Gbps over 8 ms.
const BUFFER: acklab_base::Bytes = acklab_base::Bytes(1 << 20);
/// The code by which a connection ends whose client does not have the token.
const NO_TOKEN: u32 = 2;
/// The code by which a connection ends that comes while the far side stops.
const STOPS: u32 = 3;
/// The code by which a connection ends while too many clients of its host have not shown the token.
const BUSY: u32 = 4;
/// The code by which a connection ends whose client has not shown the token in time.
const LATE: u32 = 5;
/// Streams and octets of a client that has not shown the token: one stream, and the largest
/// packets.
const STREAMS_OF_STRANGER: u32 = 1;
const BUFFER_OF_STRANGER: acklab_base::Bytes = acklab_base::Bytes(16 << 10);
/// Well below the idle timeout, so that a connection is kept and its loss is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

fn settings() -> Settings {
    Settings {
        streams: MAX_STREAMS,
        keep_alive: KEEP_ALIVE,
        send_buffer: BUFFER,
        receive_buffer: BUFFER,
        ..config::settings()
    }
}

/// Returns the settings with which a client begins.
fn settings_for_strangers() -> Settings {
    Settings { streams: STREAMS_OF_STRANGER, receive_buffer: BUFFER_OF_STRANGER, ..settings() }
}
