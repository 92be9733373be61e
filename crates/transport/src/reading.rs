//! Determines when an application reads arrived data.

/// The rule by which the application reads data that arrived in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// Immediately. The window is always the whole buffer, or the part that autotuning offers.
    #[default]
    AtOnce,
    /// When it calls [`StreamPort::read`](acklab_base::StreamPort::read). Unread data occupies the
    /// buffer.
    OnDemand,
}
