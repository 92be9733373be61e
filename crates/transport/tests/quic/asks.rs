//! Requests of test connections for their peer's ACKs.

use acklab_base::Duration;
use acklab_transport::quic::ask::{
    AskConfig, ack_congestion, bbr, fixed::Fixed, neqo, picoquic, quicly, round_trip, tack,
};

/// Returns each rule, and a request that leaves nearly all ACKs to a late timer.
pub(crate) fn asks() -> Vec<AskConfig> {
    let late =
        Fixed { ack_eliciting_threshold: 1000, max_ack_delay: Duration::from_millis(200), reordering_threshold: 0 };
    vec![
        AskConfig::None,
        AskConfig::Fixed(Fixed::default()),
        AskConfig::Fixed(late),
        AskConfig::Neqo(neqo::Neqo::default()),
        AskConfig::Picoquic(picoquic::Picoquic::default()),
        AskConfig::Quicly(quicly::Quicly::default()),
        AskConfig::Tack(tack::Tack::default()),
        AskConfig::RoundTrip(round_trip::RoundTrip::default()),
        AskConfig::Bbr(bbr::Bbr::default()),
        AskConfig::AckCongestion(ack_congestion::AckCongestion::default()),
    ]
}
