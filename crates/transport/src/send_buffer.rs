//! The bytes that an application has written and the peer has not acknowledged, as offsets of a
//! stream.

/// A send buffer of limited size. It counts bytes and stores none.
#[derive(Clone, Copy, Debug)]
pub struct SendBuffer {
    size: u64,
    /// The bytes that the application has written.
    written: u64,
    /// The end of the stream, once the application has closed it.
    end: Option<u64>,
}

impl SendBuffer {
    /// Creates an empty buffer that accepts at most `size` unacknowledged bytes.
    #[must_use]
    pub const fn new(size: u64) -> Self {
        Self { size, written: 0, end: None }
    }

    /// Returns the number of bytes that the application may write, if all bytes below
    /// `acknowledged` are acknowledged.
    #[must_use]
    pub const fn room(&self, acknowledged: u64) -> u64 {
        match self.end {
            Some(_) => 0,
            None => acknowledged.saturating_add(self.size).saturating_sub(self.written),
        }
    }

    /// Writes as many of `octets` bytes as fit. Returns the number of bytes written.
    pub fn write(&mut self, octets: u64, acknowledged: u64) -> u64 {
        let taken = octets.min(self.room(acknowledged));
        self.append(taken);
        taken
    }

    /// Writes `octets` bytes, which must fit into the buffer.
    #[inline]
    pub const fn append(&mut self, octets: u64) {
        self.written += octets;
    }

    /// Ends the stream after the written bytes.
    pub fn close(&mut self) {
        self.end.get_or_insert(self.written);
    }

    /// Ends the stream after the bytes below `sent`, which have been sent, unless its end has been
    /// sent.
    pub fn truncate(&mut self, sent: u64) {
        if self.end.is_none_or(|end| sent < end) {
            self.end = Some(sent);
        }
    }

    /// Returns the number of bytes that the application has written, whether or not they will be
    /// sent.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// Returns the number of bytes of the stream that may be sent.
    #[must_use]
    #[inline]
    pub fn sendable(&self) -> u64 {
        self.end.unwrap_or(self.written)
    }

    /// Returns `true` if the application waits for space in the buffer, with all bytes below `una`
    /// acknowledged. After the application has closed the stream, it does not wait.
    #[must_use]
    #[inline]
    pub fn is_full(&self, una: u64) -> bool {
        self.end.is_none() && self.room(una) == 0
    }

    /// Returns the offset after the last byte, once the application has closed the stream.
    #[must_use]
    #[inline]
    pub const fn end(&self) -> Option<u64> {
        self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledgment_makes_room() {
        let mut buffer = SendBuffer::new(1000);
        assert_eq!((buffer.write(1500, 0), buffer.room(0)), (1000, 0));
        assert_eq!((buffer.room(300), buffer.write(100, 300), buffer.written()), (300, 100, 1100));
    }

    #[test]
    fn closing_ends_the_stream_behind_what_is_written() {
        let mut buffer = SendBuffer::new(1000);
        buffer.write(400, 0);
        buffer.close();
        assert_eq!((buffer.end(), buffer.sendable(), buffer.write(1, 400)), (Some(400), 400, 0));
        buffer.truncate(400);
        assert_eq!(buffer.end(), Some(400), "all was sent");
    }

    #[test]
    fn truncation_forgets_what_was_not_sent() {
        let mut buffer = SendBuffer::new(1000);
        buffer.write(1000, 0);
        buffer.truncate(300);
        assert_eq!((buffer.sendable(), buffer.end(), buffer.written()), (300, Some(300), 1000));
    }
}
