//! When an application reads what has arrived.

/// When the application reads what has arrived in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// At once, so the window always stands open by the whole buffer, or as much of it as
    /// autotuning offers.
    #[default]
    AtOnce,
    /// When it calls [`StreamPort::read`](acklab_base::StreamPort::read). Unread data occupies the
    /// buffer.
    OnDemand,
}
