//! The reasons why a segment has no effect.

use acklab_base::Fate;

/// The reason why a segment has no effect. TACK uses the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The segment belongs to no connection, or to an earlier connection. A RST answers it (RFC
    /// 9293, §3.10.7.1).
    Connection,
    /// The segment is not permitted in this phase of the connection.
    Phase,
    /// The segment acknowledges nothing, or data that were never sent (RFC 9293, §3.10.7.4; RFC
    /// 5961, §5.2).
    NeverSent,
    /// The segment lies outside the receive window.
    Window,
    /// The segment is a SYN or a RST that an attacker may have sent (RFC 5961, §3.2 and §4.2).
    Suspicious,
}

impl From<Refusal> for Fate {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(match refusal {
            Refusal::Connection => "refused_connection",
            Refusal::Phase => "refused_phase",
            Refusal::NeverSent => "refused_never_sent",
            Refusal::Window => "refused_window",
            Refusal::Suspicious => "refused_suspicious",
        })
    }
}
