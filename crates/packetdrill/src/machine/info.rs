//! `tcp_info` of a connection (Linux, `tcp_get_info` in `net/ipv4/tcp.c`).

use crate::names;
use acklab_base::{Duration, Instant};
use acklab_transport::recovery::CongestionState;
use acklab_transport::tcp::connection::State;
use acklab_transport::tcp::{Connection, ecn};

/// The threshold before a loss (`TCP_INFINITE_SSTHRESH`).
const INFINITE: i64 = 0x7fff_ffff;

/// The start times of the ages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ages {
    pub(super) now: Instant,
    /// The time at which the connection was established.
    pub(super) established: Option<Instant>,
}

/// Returns the field with this name, or `None` if acklab's TCP does not have it.
pub(super) fn field(connection: &Connection, ages: Ages, name: &str) -> Option<i64> {
    let sending = connection.sending();
    let (window, board) = (sending.window(), sending.scoreboard());
    let segments = |octets: u64| octets.div_ceil(window.mss);
    let number = |value: u64| i64::try_from(value).ok();
    match name {
        "tcpi_state" => Some(state(connection.state())),
        "tcpi_ca_state" => Some(match sending.congestion_state() {
            CongestionState::Open => 0,
            CongestionState::Disorder => 1,
            CongestionState::Reduced => 2,
            CongestionState::Recovery => 3,
            CongestionState::Loss => 4,
        }),
        "tcpi_options" => Some(options(connection)),
        "tcpi_snd_cwnd" => number(window.cwnd / window.mss),
        "tcpi_snd_ssthresh" if window.ssthresh == u64::MAX => Some(INFINITE),
        "tcpi_snd_ssthresh" => number(window.ssthresh / window.mss),
        "tcpi_snd_mss" => number(window.mss),
        "tcpi_advmss" => number(connection.receiving().announced_payload()),
        "tcpi_last_data_recv" => millis(ages.now.since(connection.receiving().last_arrival().or(ages.established)?)),
        "tcpi_unacked" => number(board.segments() as u64),
        "tcpi_sacked" => Some(i64::from(board.sacked_segments())),
        "tcpi_lost" => number(segments(board.lost())),
        "tcpi_retrans" => number(segments(board.retransmitted())),
        "tcpi_total_retrans" => number(sending.counters().retransmissions),
        "tcpi_probes" => Some(i64::from(sending.probes())),
        "tcpi_backoff" => Some(i64::from(sending.backoff())),
        "tcpi_reordering" => Some(i64::from(sending.reordering())),
        "tcpi_rtt" => micros(sending.rtt().srtt().unwrap_or_default()),
        "tcpi_rttvar" => micros(sending.rtt().rttvar()),
        "tcpi_min_rtt" => micros(sending.rtt().min().unwrap_or_default()),
        // The SYN or the SYN-ACK is counted as delivered.
        "tcpi_delivered" => number(1 + segments(sending.counters().delivered)),
        "tcpi_bytes_acked" => number(board.una()),
        "tcpi_notsent_bytes" => number(sending.written().saturating_sub(board.nxt())),
        "tcpi_bytes_received" => number(connection.receiving().received()),
        // Linux also counts packets marked with RFC 3168's echo.
        "tcpi_delivered_ce" if has_accurate_ecn(connection) => number(sending.reported_marks().packets),
        "tcpi_delivered_ce_bytes" => number(sending.reported_marks().ce),
        "tcpi_delivered_e0_bytes" => number(sending.reported_marks().ect0),
        "tcpi_delivered_e1_bytes" => number(sending.reported_marks().ect1),
        "tcpi_data_segs_out" => number(sending.counters().data_segments),
        "tcpi_busy_time" => micros(sending.limited_times(ages.now).busy),
        "tcpi_rwnd_limited" => micros(sending.limited_times(ages.now).by_peer_window),
        "tcpi_sndbuf_limited" => micros(sending.limited_times(ages.now).by_send_buffer),
        "tcpi_data_segs_in" => number(connection.receiving().counters().data_segments),
        _ => None,
    }
}

fn has_accurate_ecn(connection: &Connection) -> bool {
    connection.receiving().agreement().is_some_and(|agreement| agreement.ecn == ecn::EcnConfig::Accurate)
}

/// Returns the options in use, one bit per option.
fn options(connection: &Connection) -> i64 {
    let Some(agreement) = connection.receiving().agreement() else { return 0 };
    let bits = [
        (agreement.timestamps, "TCPI_OPT_TIMESTAMPS"),
        (agreement.sack, "TCPI_OPT_SACK"),
        (agreement.window_scaling, "TCPI_OPT_WSCALE"),
        (agreement.ecn != ecn::EcnConfig::Off, "TCPI_OPT_ECN"),
    ];
    bits.iter().filter(|(is_used, _)| *is_used).filter_map(|(_, name)| names::number(name)).sum()
}

fn millis(duration: Duration) -> Option<i64> {
    micros(duration).map(|micros| micros / 1000)
}

fn micros(duration: Duration) -> Option<i64> {
    i64::try_from(duration.as_nanos() / 1000).ok()
}

/// Returns the state's number (Linux, `include/net/tcp_states.h`).
const fn state(state: State) -> i64 {
    match state {
        State::Established => 1,
        State::SynSent => 2,
        State::SynReceived => 3,
        State::FinWait1 => 4,
        State::FinWait2 => 5,
        State::TimeWait => 6,
        State::Closed => 7,
        State::CloseWait => 8,
        State::LastAck => 9,
        State::Listen => 10,
        State::Closing => 11,
    }
}
