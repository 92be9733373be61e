//! An address or a name, with a port, as SOCKS5 encodes it (RFC 1928, §5).

use crate::tools::ToolError;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use tokio::io::{AsyncRead, AsyncReadExt};

const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// The target of a TCP connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub(super) host: Host,
    pub(super) port: u16,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Host {
    Address(IpAddr),
    /// A name: at most 255 octets of ASCII without spaces and control characters.
    Name(String),
}

fn name_of(text: &str) -> Option<Host> {
    let is_name = (1..=255).contains(&text.len()) && text.bytes().all(|octet| octet.is_ascii_graphic());
    // Programs also pass addresses in the form of names.
    is_name.then(|| text.parse().map_or_else(|_| Host::Name(text.to_ascii_lowercase()), Host::Address))
}

impl Target {
    /// Appends the target in the form of SOCKS5.
    pub fn append(&self, to: &mut Vec<u8>) {
        match &self.host {
            Host::Address(IpAddr::V4(address)) => {
                to.push(IPV4);
                to.extend(address.octets());
            }
            Host::Address(IpAddr::V6(address)) => {
                to.push(IPV6);
                to.extend(address.octets());
            }
            Host::Name(name) => {
                to.push(NAME);
                // A name has at most 255 octets.
                to.push(name.len() as u8);
                to.extend(name.as_bytes());
            }
        }
        to.extend(self.port.to_be_bytes());
    }

    /// Reads a target. Returns `None` for an unknown address type or an invalid name.
    ///
    /// # Errors
    /// If the octets end too early.
    pub async fn read(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Self>> {
        let host = match from.read_u8().await? {
            IPV4 => {
                let mut octets = [0; 4];
                from.read_exact(&mut octets).await?;
                Some(Host::Address(octets.into()))
            }
            IPV6 => {
                let mut octets = [0; 16];
                from.read_exact(&mut octets).await?;
                Some(Host::Address(octets.into()))
            }
            NAME => {
                let mut name = vec![0; from.read_u8().await?.into()];
                from.read_exact(&mut name).await?;
                std::str::from_utf8(&name).ok().and_then(name_of)
            }
            _ => return Ok(None),
        };
        let port = from.read_u16().await?;
        Ok(host.map(|host| Self { host, port }))
    }
}

impl FromStr for Target {
    type Err = ToolError;

    fn from_str(text: &str) -> Result<Self, ToolError> {
        let parsed = || {
            let (host, port) = text.rsplit_once(':')?;
            let (bare, is_v6) = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
                Some(bare) => (bare, true),
                None => (host, false),
            };
            let host = name_of(bare)?;
            let is_right = match &host {
                Host::Address(address) => address.is_ipv6() == is_v6,
                Host::Name(name) => !is_v6 && !name.contains(':'),
            };
            is_right.then_some(Self { host, port: port.parse().ok()? })
        };
        parsed().ok_or_else(|| ToolError::usage("target", format_args!("{text:?}"), "HOST:PORT or [IPv6]:PORT"))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Address(address) => SocketAddr::new(*address, self.port).fmt(f),
            Host::Name(name) => write!(f, "{name}:{}", self.port),
        }
    }
}
