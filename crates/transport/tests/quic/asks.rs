//! What connections of the tests ask of their peer's ACKs.

use acklab_base::Duration;
use acklab_transport::quic::ask::{Config, ack_congestion, fixed::Fixed, neqo, picoquic, quicly, tack};

/// Each rule, and a request that leaves nearly all to a late timer.
pub(crate) fn asks() -> Vec<Config> {
    let late =
        Fixed { ack_eliciting_threshold: 1000, max_ack_delay: Duration::from_millis(200), reordering_threshold: 0 };
    vec![
        Config::None,
        Config::Fixed(Fixed::default()),
        Config::Fixed(late),
        Config::Neqo(neqo::Neqo::default()),
        Config::Picoquic(picoquic::Picoquic::default()),
        Config::Quicly(quicly::Quicly::default()),
        Config::Tack(tack::Tack::default()),
        Config::AckCongestion(ack_congestion::AckCongestion::default()),
    ]
}
