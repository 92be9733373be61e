//! A connection, and its streams.

use crate::association::{Association, Counters, Ends, Wakers};
use crate::driver::Driver;
use crate::error::Lost;
use crate::hub::Handle;
use crate::pipe::{Inlet, Outlet, ReadError, WriteError};
use crate::statistics::Statistics;
use acklab_base::Duration;
use acklab_measure::{Table, qlog};
use bytes::Bytes;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The code if the application gives no code.
const NO_REASON: u32 = 0;

/// A connection. Clones refer to the same connection. It is closed when the last clone and the last
/// of its streams are dropped.
#[derive(Clone, Debug)]
pub struct Connection {
    inner: Arc<Owner>,
}

#[derive(Debug)]
struct Owner {
    driver: Arc<Driver>,
    handle: Handle,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.close(NO_REASON);
    }
}

impl Owner {
    fn close(&self, code: u32) {
        let shared = &self.driver.shared;
        shared.lock().close(shared.now(), self.handle, code);
        shared.stir();
    }

    /// Calls `act` with the connection, and wakes the connection's thread. Returns `None` if the
    /// connection no longer exists.
    fn with<T>(&self, act: impl FnOnce(&mut Association) -> T) -> Option<T> {
        let result = self.driver.shared.lock().with(self.handle, act);
        self.driver.shared.stir();
        result
    }

    /// Calls `act` with the connection. `act` must not cause a change that is visible to the peer.
    /// Returns `None` if the connection no longer exists.
    fn look<T>(&self, act: impl FnOnce(&mut Association) -> T) -> Option<T> {
        self.driver.shared.lock().look(self.handle, act)
    }

    /// Records that the application has written to a stream or read from it.
    fn note(&self, stream: u32) {
        self.driver.shared.note(self.handle, stream);
    }

    fn lost(&self) -> Lost {
        self.driver.shared.lock().lost(self.handle).unwrap_or(Lost::TimedOut)
    }
}

/// Stores the waker, unless it is stored already.
fn wait(wakers: &mut Vec<Waker>, context: &Context<'_>) {
    if !wakers.iter().any(|waker| waker.will_wake(context.waker())) {
        wakers.push(context.waker().clone());
    }
}

impl Connection {
    pub(crate) fn new(driver: Arc<Driver>, handle: Handle) -> Self {
        Self { inner: Arc::new(Owner { driver, handle }) }
    }

    pub(crate) async fn established(&self) -> Result<(), Lost> {
        self.wait_for(|wakers| &mut wakers.established, |end| end.is_established().then_some(())).await
    }

    /// Waits until `get` returns a value, or the connection is lost. Code that changes the result
    /// of `get` must wake the wakers that `wakers` returns.
    async fn wait_for<T>(
        &self,
        wakers: fn(&mut Wakers) -> &mut Vec<Waker>,
        mut get: impl FnMut(&mut Association) -> Option<T>,
    ) -> Result<T, Lost> {
        poll_fn(|context| {
            let state = self.inner.look(|end| {
                if let Some(found) = get(end) {
                    return Poll::Ready(Ok(found));
                }
                if let Some(lost) = end.lost() {
                    return Poll::Ready(Err(lost.clone()));
                }
                wait(wakers(&mut end.wakers), context);
                wait(&mut end.wakers.closed, context);
                Poll::Pending
            });
            state.unwrap_or_else(|| Poll::Ready(Err(self.inner.lost())))
        })
        .await
    }

    /// Returns `true` if `self` and `other` are the same connection.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Returns the address of the peer. The address may change during a connection.
    #[must_use]
    pub fn remote_address(&self) -> Option<SocketAddr> {
        self.inner.look(|end| end.remote())
    }

    /// Opens a bidirectional stream. Waits until the peer permits another stream.
    ///
    /// # Errors
    /// If the connection is lost.
    pub async fn open_stream(&self) -> Result<(SendStream, ReceiveStream), Lost> {
        let ends = self.wait_for(|wakers| &mut wakers.may_open, Association::open_stream).await?;
        Ok(self.stream(ends))
    }

    /// Returns the next stream that the peer has opened. No stream is lost if the future is
    /// dropped.
    ///
    /// # Errors
    /// If the connection is lost.
    pub async fn accept_stream(&self) -> Result<(SendStream, ReceiveStream), Lost> {
        let ends = self.wait_for(|wakers| &mut wakers.opened, Association::accept_stream).await?;
        Ok(self.stream(ends))
    }

    fn stream(&self, Ends { id, outlet, inlet }: Ends) -> (SendStream, ReceiveStream) {
        let half = || Half { connection: Arc::<Owner>::clone(&self.inner), id };
        (SendStream { half: half(), outlet, has_ended: false }, ReceiveStream { half: half(), inlet })
    }

    /// Sends a message that expires after `lifetime`. Returns once the message is written
    /// completely. The peer [receives](Self::receive_message) the whole message or nothing.
    ///
    /// # Errors
    /// If the connection is lost.
    pub async fn send_message(&self, message: &[u8], lifetime: Duration) -> Result<(), Lost> {
        let (mut send, receive) = self.open_stream().await?;
        drop(receive);
        let until = self.inner.driver.shared.now() + lifetime;
        self.inner.with(|end| end.limit_stream(send.half.id, until));
        let mut written = 0;
        while written < message.len() {
            match poll_fn(|context| send.write_some(context, &message[written..])).await {
                Ok(octets) => written += octets,
                Err(WriteError::Lost(lost)) => return Err(lost),
                // The reader has abandoned the message.
                Err(WriteError::Stopped(_) | WriteError::Ended) => return Ok(()),
            }
        }
        send.end();
        Ok(())
    }

    /// Returns the next message of the peer, in the order in which messages begin to arrive. Skips
    /// expired messages.
    ///
    /// # Errors
    /// If the connection is lost.
    pub async fn receive_message(&self) -> Result<Vec<u8>, Lost> {
        loop {
            let (mut send, mut receive) = self.accept_stream().await?;
            send.end();
            drop(send);
            let mut message = Vec::new();
            match receive.read_to_end(&mut message).await {
                Ok(()) => return Ok(message),
                Err(ReadError::Lost(lost)) => return Err(lost),
                Err(_) => {}
            }
        }
    }

    /// Raises the peer's limits: `streams` open streams, and `receive_buffer` unread bytes of each.
    /// Ignores values below the present limits. A server can start a connection with the low limits
    /// of [`Config::transport`](crate::Config::transport), and raise them once the client is
    /// authenticated.
    pub fn raise_limits(&self, streams: u32, receive_buffer: acklab_base::Bytes) {
        let now = self.inner.driver.shared.now();
        self.inner.with(|end| end.raise_limits(now, streams, receive_buffer.get()));
    }

    /// Ends the connection with the code `code`, which must be below 2³¹. Unacknowledged data may
    /// be lost.
    pub fn close(&self, code: u32) {
        self.inner.close(code & !(1 << 31));
    }

    /// Waits until the connection has ended, and returns the reason.
    pub async fn closed(&self) -> Lost {
        poll_fn(|context| {
            let state = self.inner.look(|end| match end.lost() {
                Some(lost) => Poll::Ready(lost.clone()),
                None => {
                    wait(&mut end.wakers.closed, context);
                    Poll::Pending
                }
            });
            state.unwrap_or_else(|| Poll::Ready(self.inner.lost()))
        })
        .await
    }

    /// Returns the measurements of the connection up to now. Returns `None` if the connection no
    /// longer exists.
    #[must_use]
    pub fn statistics(&self) -> Option<Statistics> {
        let now = self.inner.driver.shared.now();
        self.inner.look(|end| Statistics::of(now, end))
    }

    /// Ends the recording of the connection, and returns its tables in the form of a simulation.
    /// Returns `None` if nothing is recorded, or if the connection no longer exists.
    ///
    /// # Errors
    /// If its log cannot be written.
    pub fn finish_recording(&self) -> Option<Result<Vec<Table>, qlog::Error>> {
        let now = self.inner.driver.shared.now();
        self.inner.look(|end| end.finish_recording(now)).flatten()
    }

    /// Returns the counters of datagrams and their bytes. Returns `None` if the connection no
    /// longer exists.
    #[must_use]
    pub fn counters(&self) -> Option<Counters> {
        self.inner.look(|end| end.counters)
    }
}

#[derive(Debug)]
struct Half {
    connection: Arc<Owner>,
    id: u32,
}

/// The sending half of a stream. Dropping the half before its [`end`](Self::end) resets it with the
/// code 0. Truncated data, after an error, a cancelled task or a dropped runtime, are therefore
/// never mistaken for complete data.
#[derive(Debug)]
pub struct SendStream {
    half: Half,
    outlet: Arc<Outlet>,
    has_ended: bool,
}

impl SendStream {
    /// Returns the stream's id, which is the same at both ends.
    #[must_use]
    pub const fn id(&self) -> u32 {
        self.half.id
    }

    fn write_some(&mut self, context: &mut Context<'_>, octets: &[u8]) -> Poll<Result<usize, WriteError>> {
        let Half { connection, id } = &self.half;
        self.outlet.poll_write(context, octets).map_ok(|done| {
            if done.is_news {
                connection.note(*id);
            }
            done.octets
        })
    }

    /// Writes a chunk. A chunk of more than a few KiB is not copied. Returns once the whole chunk
    /// is accepted. `chunk` contains the data that are not accepted yet. If the future is dropped,
    /// no data are therefore lost or written twice. The memory of the chunk is freed once the peer
    /// has acknowledged it.
    ///
    /// # Errors
    /// If the connection is lost, the stream was ended or reset, or the peer has stopped reading
    /// it.
    pub async fn write_chunk(&mut self, chunk: &mut Bytes) -> io::Result<()> {
        let Half { connection, id } = &self.half;
        while !chunk.is_empty() {
            let done = poll_fn(|context| self.outlet.poll_chunk(context, chunk)).await?;
            if done.is_news {
                connection.note(*id);
            }
        }
        Ok(())
    }

    /// Ends the half: the application will write no more data.
    pub fn end(&mut self) {
        if !std::mem::replace(&mut self.has_ended, true) {
            let now = self.half.connection.driver.shared.now();
            self.half.connection.with(|end| end.finish_stream(now, self.half.id));
        }
    }

    /// Abandons undelivered data, and sends the code to the peer.
    pub fn reset(&mut self, code: u32) {
        self.has_ended = true;
        self.half.connection.with(|end| end.reset_stream(self.half.id, code));
    }

    /// Waits until the peer has received all data. Call it after [`end`](Self::end).
    ///
    /// # Errors
    /// If the connection is lost before that, the stream was reset, or the peer has stopped reading
    /// the stream.
    pub async fn finished(&mut self) -> io::Result<()> {
        let Half { connection, id } = &self.half;
        let finished = poll_fn(|context| {
            let state = connection.look(|end| end.poll_finished(context, *id));
            state.unwrap_or_else(|| Poll::Ready(Err(WriteError::Lost(connection.lost()))))
        });
        finished.await.map_err(io::Error::from)
    }
}

impl Drop for SendStream {
    fn drop(&mut self) {
        if !self.has_ended {
            self.reset(NO_REASON);
        }
        let now = self.half.connection.driver.shared.now();
        self.half.connection.with(|end| end.release_stream(now, self.half.id, 0));
    }
}

impl AsyncWrite for SendStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        self.write_some(context, octets).map_err(io::Error::from)
    }

    /// Written data are sent without a flush.
    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.end();
        Poll::Ready(Ok(()))
    }
}

/// The receiving half of a stream.
#[derive(Debug)]
pub struct ReceiveStream {
    half: Half,
    inlet: Arc<Inlet>,
}

impl ReceiveStream {
    /// Returns the stream's id, which is the same at both ends.
    #[must_use]
    pub const fn id(&self) -> u32 {
        self.half.id
    }

    fn read_some(
        &mut self,
        context: &mut Context<'_>,
        most: usize,
        to: impl FnMut(&[u8]),
    ) -> Poll<Result<usize, ReadError>> {
        let Half { connection, id } = &self.half;
        self.inlet.poll_read(context, most, to).map_ok(|done| {
            if done.is_news {
                connection.note(*id);
            }
            done.octets
        })
    }

    /// Returns the next bytes of the stream, at most `most`, without copying them. Returns `None`
    /// at the end of the stream. The bytes are in a block of the endpoint's memory of at most 64
    /// KiB. The block is reused once all references to it are dropped. To keep a small chunk for a
    /// long time, copy it. No bytes are lost if the future is dropped.
    ///
    /// # Errors
    /// If the connection is lost, or the peer has reset the stream.
    pub async fn read_chunk(&mut self, most: usize) -> io::Result<Option<Bytes>> {
        let Half { connection, id } = &self.half;
        let (chunk, done) = poll_fn(|context| self.inlet.poll_chunk(context, most)).await?;
        if done.is_news {
            connection.note(*id);
        }
        Ok((most == 0 || !chunk.is_empty()).then_some(chunk))
    }

    /// Stops reading, and requests that the peer stop sending, with the code `code`. Dropping the
    /// half has the same effect with the code 0.
    pub fn stop(&mut self, code: u32) {
        self.half.connection.with(|end| end.stop_stream(self.half.id, code));
    }

    /// Reads all data up to the end of the stream.
    async fn read_to_end(&mut self, to: &mut Vec<u8>) -> Result<(), ReadError> {
        while poll_fn(|context| self.read_some(context, usize::MAX, |octets| to.extend_from_slice(octets))).await? > 0 {
        }
        Ok(())
    }
}

impl Drop for ReceiveStream {
    fn drop(&mut self) {
        let now = self.half.connection.driver.shared.now();
        self.half.connection.with(|end| end.release_stream(now, self.half.id, 1));
    }
}

impl AsyncRead for ReceiveStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = self.read_some(context, buffer.remaining(), |octets| buffer.put_slice(octets));
        read.map_ok(|_| ()).map_err(io::Error::from)
    }
}
