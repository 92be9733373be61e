//! Properties of the parsers, for any bytes that the tools read: requests of SOCKS5, messages of
//! measurements, lines of `known_hosts`, and words of a command line. The tests of this crate and
//! the fuzz target `tack_tools` share them.

use acklab_deploy::tools::known_hosts;
use acklab_deploy::tools::perf::contender::Contender;
use acklab_deploy::tools::perf::protocol::{LARGEST, MAX_STREAMS, Message, Preface};
use acklab_deploy::tools::proxy::allow::Allow;
use acklab_deploy::tools::proxy::socks;
use acklab_deploy::tools::proxy::target::Target;
use acklab_deploy::tools::proxy::token::Token;
use acklab_secure::identity::Fingerprint;
use std::fmt::{Debug, Display};
use std::path::Path;
use std::pin::pin;
use std::str::FromStr;
use std::task::{Context, Poll, Waker};

/// Runs a future that never waits, because all octets are present.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("it waits for octets that cannot come"),
    }
}

/// Checks that a parsed value is written in a form that parses to the same value.
fn survives<T: FromStr<Err: Debug> + Display + PartialEq + Debug>(text: &str) {
    if let Ok(read) = text.parse::<T>() {
        assert_eq!(read.to_string().parse::<T>().unwrap(), read, "{text:?}");
    }
}

/// Checks that any octets are accepted or refused.
///
/// # Panics
/// If an accepted value violates its properties.
pub(crate) fn tools_read_or_refuse(octets: &[u8]) {
    let mut replies = Vec::new();
    let request = now(socks::read_request(&mut tokio::io::join(octets, &mut replies)));
    // A selection of the method, and a reply to a refused request (RFC 1928, §3, §6).
    assert!(matches!(replies.len(), 0 | 2 | 12), "{replies:?}");
    assert!(replies.is_empty() || replies.starts_with(&[5, 0]) || replies == [5, 0xff], "{replies:?}");
    if let Ok(Some(target)) = request {
        let mut again = Vec::new();
        target.append(&mut again);
        assert_eq!(now(Target::read(&mut &again[..])).unwrap(), Some(target));
        assert_eq!(replies, [5, 0]);
    }
    if let Some(first) = octets.first_chunk()
        && let Ok(preface) = Preface::parse(*first)
    {
        assert_eq!(preface.octets(), *first);
    }
    if octets.len() <= LARGEST
        && let Ok(message) = serde_json::from_slice::<Message>(octets)
    {
        let again = serde_json::to_vec(&message).unwrap();
        assert_eq!(serde_json::from_slice::<Message>(&again).unwrap(), message);
        if let Message::Request(plan) = message
            && plan.check().is_ok()
        {
            assert!(plan.streams <= MAX_STREAMS);
            let shares: Option<u64> = (0..plan.streams).map(|stream| plan.octets_of(stream)).sum();
            assert_eq!(shares, plan.octets);
        }
    }
    let Ok(text) = std::str::from_utf8(octets) else { return };
    survives::<Target>(text);
    survives::<Fingerprint>(text);
    _ = text.parse::<Allow>();
    if let Ok(token) = text.parse::<Token>() {
        assert_eq!(token.to_string(), text.trim().to_ascii_lowercase());
    }
    if let Ok(contenders) = Contender::list(text) {
        assert!(!contenders.is_empty());
    }
    _ = known_hosts::find(text, Path::new("known_hosts"), "host", 8225);
}
