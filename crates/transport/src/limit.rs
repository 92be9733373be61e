//! What limits a sender: the congestion window, pacing, or the application.
//!
//! The window grows only while it is fully used. A paced sender is not application-limited if it
//! would have filled the window without the delay of pacing (RFC 9002, §7.8). An ACK that arrives
//! during the delay may then increase the window.

/// The limit of the next packet when the last attempt to send ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// The application, or the peer's flow control: the available data do not fill the window.
    #[default]
    Application,
    /// Pacing: the delayed data would fill the window.
    Pacing,
    /// The window: it has no space for a full-sized packet.
    Window,
}

impl Limit {
    /// Returns the limit of a sender that stops when `room` bytes of its window are unused. A
    /// full-sized packet takes `packet` bytes, and pacing delays `delayed` bytes.
    #[must_use]
    #[inline]
    pub const fn of(room: u64, packet: u64, delayed: u64) -> Self {
        if room < packet {
            Self::Window
        } else if room < packet.saturating_add(delayed) {
            Self::Pacing
        } else {
            Self::Application
        }
    }

    /// Returns `true` if the congestion window is fully used (RFC 9002, §7.8).
    #[must_use]
    #[inline]
    pub const fn uses_window(self) -> bool {
        !matches!(self, Self::Application)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pacing_limits_if_what_it_delays_would_fill_the_window() {
        assert_eq!(Limit::of(999, 1000, 0), Limit::Window, "full, whether or not anything waits");
        assert_eq!(Limit::of(1000, 1000, 0), Limit::Application);
        assert_eq!(Limit::of(3500, 1000, 2501), Limit::Pacing, "999 octets would be left");
        assert_eq!(Limit::of(3500, 1000, 2500), Limit::Application, "a packet more would fit");
    }
}
