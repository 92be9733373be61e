//! Forwards TCP connections of other programs over one connection of TACK. Each TCP connection has
//! a stream.
//!
//! ```text
//! browser ──SOCKS5──▶ connect ══ TACK ══▶ listen ──TCP──▶ target
//! ```
//!
//! # Protocol, version 2
//!
//! The near side opens a connection of TACK and on its first stream sends `acklab`, the version,
//! the octet 2 and the 32 octets of the token. If the token is valid, the far side replies with the
//! octet 0. Otherwise it closes the connection. Until then, the near side may open no other stream,
//! and may send at most 16 KiB.
//!
//! The near side then opens a stream for each TCP connection and sends the target as a SOCKS5
//! address (RFC 1928, §5). The far side replies with one octet, the reply field of RFC 1928, §6.
//! After 0, both directions carry the TCP payload. If a direction of the TCP connection ends or is
//! reset, the same happens on the other side. If a side stops, is killed or is lost before a
//! direction ends, both TCP connections are reset.
//!
//! The token permits the use of the far side. It is a secret in the state folder. The client sends
//! it only after TLS has authenticated the server.
//!
//! | module | contents |
//! |---|---|
//! | [`listen`] | the far side |
//! | [`connect`] | the near side: SOCKS5 and the forwarding of ports |
//! | [`allow`] | decides which targets the far side connects to |
//! | `public` | addresses of the public Internet |
//! | `gate` | limits clients that have not shown the token |
//! | `dial` | the far side connects to a target |
//! | [`target`] | an address or a name, with a port |
//! | [`token`] | the secret |
//! | [`socks`] | SOCKS5 (RFC 1928) |
//! | `relay` | joins a TCP connection and a stream |

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

/// The first octets of the first stream: name, version and kind.
const PREFACE: [u8; 8] = *b"acklab\x02\x02";
/// The reply to the token.
const WELCOME: u8 = 0;
/// The maximum number of TCP connections over one connection. Each may fill both of its buffers.
const MAX_STREAMS: u32 = 1000;
/// The maximum number of queued bytes of a stream: 10 Mbps over 800 ms, or 1 Gbps over 8 ms.
const BUFFER: acklab_base::Bytes = acklab_base::Bytes(1 << 20);
/// The close code for a client without a valid token.
const NO_TOKEN: u32 = 2;
/// The close code for a client that connects while the far side stops.
const STOPS: u32 = 3;
/// The close code if too many clients of the same host have not shown the token.
const BUSY: u32 = 4;
/// The close code for a client that did not show the token in time.
const LATE: u32 = 5;
/// The limits of a client that has not shown the token: one stream, and packets of the maximum
/// size.
const STREAMS_OF_STRANGER: u32 = 1;
const BUFFER_OF_STRANGER: acklab_base::Bytes = acklab_base::Bytes(16 << 10);
/// The interval of keep-alives. It is well below the idle timeout. Keep-alives keep a connection
/// open and reveal its loss.
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

/// Returns the initial settings of a client's connection.
fn settings_for_strangers() -> Settings {
    Settings { streams: STREAMS_OF_STRANGER, receive_buffer: BUFFER_OF_STRANGER, ..settings() }
}
