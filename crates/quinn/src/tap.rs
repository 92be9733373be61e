//! Makes unencrypted packets visible: a cryptography layer of QUIC that records the packets that it
//! encrypts and decrypts.

use acklab_wire::quic::{Frames, decode::decode_frames};
use bytes::BytesMut;
use quinn_proto::crypto::{
    ClientConfig, CryptoError, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, ServerConfig, Session,
    UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError};
use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A packet number space (RFC 9000, §12.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    /// Initial packets.
    Initial,
    /// Handshake packets.
    Handshake,
    /// 1-RTT packets.
    Data,
}

impl Space {
    /// All spaces, in the order of a handshake.
    pub(crate) const ALL: [Self; 3] = [Self::Initial, Self::Handshake, Self::Data];
}

/// An unencrypted packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The packet number space of the packet.
    pub space: Space,
    /// The number of the packet.
    pub number: u64,
    /// The length of the packet in bytes, including header and tag.
    pub length: u32,
    /// The length of header and tag, in bytes.
    pub overhead: u32,
    /// The frames of the packet.
    pub frames: Frames,
}

/// The packets that one end has encrypted and decrypted since the last call.
#[derive(Debug, Default)]
struct Notes {
    encrypted: Vec<Packet>,
    decrypted: Vec<(Space, u64)>,
}

/// The records of one end, shared with its keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tap(Arc<Mutex<Notes>>);

impl Tap {
    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the packets encrypted since the last call.
    pub(crate) fn take_encrypted(&self) -> Vec<Packet> {
        std::mem::take(&mut self.notes().encrypted)
    }

    /// Returns space and number of the packets decrypted since the last call.
    pub(crate) fn take_decrypted(&self) -> Vec<(Space, u64)> {
        std::mem::take(&mut self.notes().decrypted)
    }

    /// Returns a configuration of the same client that records its packets.
    pub(crate) fn client(&self, inner: Arc<dyn ClientConfig>) -> Arc<dyn ClientConfig> {
        Arc::new(Tapped { inner, tap: self.clone() })
    }

    /// Returns a configuration of the same server that records its packets.
    pub(crate) fn server(&self, inner: Arc<dyn ServerConfig>) -> Arc<dyn ServerConfig> {
        Arc::new(Tapped { inner, tap: self.clone() })
    }

    fn session(&self, inner: Box<dyn Session>) -> Box<dyn Session> {
        Box::new(TappedSession { inner, tap: self.clone(), next: Space::Handshake })
    }

    fn keys(&self, keys: Keys, space: Space) -> Keys {
        Keys { header: keys.header, packet: self.packet_keys(keys.packet, space) }
    }

    fn packet_keys(&self, keys: KeyPair<Box<dyn PacketKey>>, space: Space) -> KeyPair<Box<dyn PacketKey>> {
        let tapped = |inner| Box::new(TappedKey { inner, tap: self.clone(), space }) as Box<dyn PacketKey>;
        KeyPair { local: tapped(keys.local), remote: tapped(keys.remote) }
    }
}

/// A client's or server's configuration that records packets.
struct Tapped<C: ?Sized> {
    inner: Arc<C>,
    tap: Tap,
}

impl ClientConfig for Tapped<dyn ClientConfig> {
    fn start_session(
        self: Arc<Self>,
        version: u32,
        server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(self.tap.session(Arc::clone(&self.inner).start_session(version, server_name, params)?))
    }
}

impl ServerConfig for Tapped<dyn ServerConfig> {
    fn initial_keys(&self, version: u32, dst_cid: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(self.tap.keys(self.inner.initial_keys(version, dst_cid)?, Space::Initial))
    }

    fn retry_tag(&self, version: u32, orig_dst_cid: &ConnectionId, packet: &[u8]) -> [u8; 16] {
        self.inner.retry_tag(version, orig_dst_cid, packet)
    }

    fn start_session(self: Arc<Self>, version: u32, params: &TransportParameters) -> Box<dyn Session> {
        self.tap.session(Arc::clone(&self.inner).start_session(version, params))
    }
}

struct TappedSession {
    inner: Box<dyn Session>,
    tap: Tap,
    /// The packet number space of the next keys from the handshake.
    next: Space,
}

impl Session for TappedSession {
    fn initial_keys(&self, dst_cid: &ConnectionId, side: Side) -> Keys {
        self.tap.keys(self.inner.initial_keys(dst_cid, side), Space::Initial)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.inner.handshake_data()
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        self.inner.peer_identity()
    }

    /// Returns `None`, because 0-RTT is not offered.
    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.inner.early_data_accepted()
    }

    fn is_handshaking(&self) -> bool {
        self.inner.is_handshaking()
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.inner.read_handshake(buf)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        self.inner.transport_parameters()
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let keys = self.inner.write_handshake(buf)?;
        let space = std::mem::replace(&mut self.next, Space::Data);
        Some(self.tap.keys(keys, space))
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(self.tap.packet_keys(self.inner.next_1rtt_keys()?, Space::Data))
    }

    fn is_valid_retry(&self, orig_dst_cid: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        self.inner.is_valid_retry(orig_dst_cid, header, payload)
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        self.inner.export_keying_material(output, label, context)
    }
}

struct TappedKey {
    inner: Box<dyn PacketKey>,
    tap: Tap,
    space: Space,
}

impl PacketKey for TappedKey {
    fn encrypt(&self, packet: u64, buf: &mut [u8], header_len: usize) {
        let clear = &buf[header_len..buf.len() - self.inner.tag_len()];
        let frames = decode_frames(clear);
        debug_assert!(frames.is_ok(), "found a frame that is not known: {clear:?}");
        let frames = frames.unwrap_or_default();
        let (length, overhead) = (buf.len() as u32, (header_len + self.inner.tag_len()) as u32);
        let noted = Packet { space: self.space, number: packet, length, overhead, frames };
        self.tap.notes().encrypted.push(noted);
        self.inner.encrypt(packet, buf, header_len);
    }

    fn decrypt(&self, packet: u64, header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        self.inner.decrypt(packet, header, payload)?;
        self.tap.notes().decrypted.push((self.space, packet));
        Ok(())
    }

    fn tag_len(&self) -> usize {
        self.inner.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.inner.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.inner.integrity_limit()
    }
}
