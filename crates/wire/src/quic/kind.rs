//! Types of frames (RFC 9000, §19). Most types are encoded as a varint of one octet.

pub(super) const PADDING: u64 = 0x00;
pub(super) const PING: u64 = 0x01;
pub(super) const ACK: u64 = 0x02;
pub(super) const ACK_ECN: u64 = 0x03;
pub(super) const RESET_STREAM: u64 = 0x04;
pub(super) const STOP_SENDING: u64 = 0x05;
pub(super) const CRYPTO: u64 = 0x06;
pub(super) const NEW_TOKEN: u64 = 0x07;
/// The three low bits are OFF, LEN and FIN.
pub(super) const STREAM: u64 = 0x08;
pub(super) const OFF: u64 = 0x04;
pub(super) const LEN: u64 = 0x02;
pub(super) const FIN: u64 = 0x01;
pub(super) const MAX_DATA: u64 = 0x10;
pub(super) const MAX_STREAM_DATA: u64 = 0x11;
pub(super) const MAX_STREAMS_BIDI: u64 = 0x12;
pub(super) const MAX_STREAMS_UNI: u64 = 0x13;
pub(super) const DATA_BLOCKED: u64 = 0x14;
pub(super) const STREAM_DATA_BLOCKED: u64 = 0x15;
pub(super) const STREAMS_BLOCKED_BIDI: u64 = 0x16;
pub(super) const STREAMS_BLOCKED_UNI: u64 = 0x17;
pub(super) const NEW_CONNECTION_ID: u64 = 0x18;
pub(super) const RETIRE_CONNECTION_ID: u64 = 0x19;
pub(super) const PATH_CHALLENGE: u64 = 0x1a;
pub(super) const PATH_RESPONSE: u64 = 0x1b;
pub(super) const CONNECTION_CLOSE: u64 = 0x1c;
pub(super) const APPLICATION_CLOSE: u64 = 0x1d;
pub(super) const HANDSHAKE_DONE: u64 = 0x1e;
/// draft-ietf-quic-ack-frequency, §5.
pub(super) const IMMEDIATE_ACK: u64 = 0x1f;
/// draft-ietf-quic-ack-frequency, §4.
pub(super) const ACK_FREQUENCY: u64 = 0xaf;
/// draft-ietf-quic-receive-ts-03, §4.
pub(super) const ACK_RECEIVE_TIMESTAMPS: u64 = 0x0317_8307;
pub(super) const ACK_RECEIVE_TIMESTAMPS_ECN: u64 = 0x0317_8308;
