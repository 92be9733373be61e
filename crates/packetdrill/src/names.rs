//! Names of numbers that scripts use (`symbols_linux.c`, `code.c`).

/// States of congestion control, options of a connection and states of TCP, and errors (Linux,
/// `include/uapi/linux/tcp.h`, `include/net/tcp_states.h`, `include/uapi/asm-generic/errno.h`).
const NAMES: [(&str, i64); 30] = [
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("TCPI_OPT_TIMESTAMPS", 1),
    ("TCPI_OPT_SACK", 2),
    ("TCPI_OPT_WSCALE", 4),
    ("TCPI_OPT_ECN", 8),
    ("TCPI_OPT_ECN_SEEN", 16),
    ("TCPI_OPT_SYN_DATA", 32),
    ("TCPI_OPT_USEC_TS", 64),
    ("TCPI_OPT_TFO_CHILD", 128),
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_FIN_WAIT1", 4),
    ("TCP_FIN_WAIT2", 5),
    ("TCP_TIME_WAIT", 6),
    ("TCP_CLOSE", 7),
    ("TCP_CLOSE_WAIT", 8),
    ("TCP_LAST_ACK", 9),
    ("TCP_LISTEN", 10),
    ("TCP_CLOSING", 11),
    ("TCP_INFINITE_SSTHRESH", 0x7fff_ffff),
    ("TCP_MAX_QUICKACKS", 16),
    ("EPIPE", 32),
    ("ECONNRESET", 104),
    ("ETIMEDOUT", 110),
    ("ECONNREFUSED", 111),
];

/// Returns the number of a named constant.
pub(crate) fn number(name: &str) -> Option<i64> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, number)| *number)
}
