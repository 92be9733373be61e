//! Both sides of a proxy, and a client of it.

#![allow(dead_code, reason = "each test binary uses a part")]

use acklab_deploy::tools::proxy::{Token, connect, listen};
use acklab_deploy::tools::serve::Serving;
use acklab_deploy::tools::trust::Trust;
use acklab_deploy::tools::{self, Stop, ToolError};
use acklab_secure::identity::Identity;
use acklab_secure::reset::ResetKey;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

pub(crate) const HOST: &str = "127.0.0.1";
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A tool in a separate thread.
pub(crate) struct Running {
    goes_on: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), ToolError>>>,
}

impl Running {
    pub(crate) fn start<F: Future<Output = Result<(), ToolError>>>(
        tool: impl FnOnce(Stop) -> F + Send + 'static,
    ) -> Self {
        let goes_on = Arc::new(AtomicBool::new(true));
        let flag = Arc::clone(&goes_on);
        let thread = std::thread::spawn(move || tools::run(|| flag.load(Ordering::Relaxed), tool));
        Self { goes_on, thread: Some(thread) }
    }

    pub(crate) fn stop(&mut self) {
        self.goes_on.store(false, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            assert_eq!(thread.join().unwrap(), Ok(()));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.stop();
        }
    }
}

pub(crate) struct Far {
    pub(crate) identity: Identity,
    pub(crate) token: Token,
    pub(crate) allow: Vec<String>,
}

impl Far {
    pub(crate) fn new(allow: &[&str]) -> Self {
        let (identity, ..) = Identity::generate(["proxy.test".to_owned()]).unwrap();
        let allow = allow.iter().map(|rule| (*rule).to_owned()).collect();
        Self { identity, token: Token::generate().unwrap(), allow }
    }

    pub(crate) fn listen(&self, port: u16) -> (Serving, Running) {
        let options = listen::Options {
            addresses: vec![HOST.parse::<IpAddr>().unwrap()],
            port,
            identity: self.identity.clone(),
            reset_key: ResetKey::new(&[7; 32]),
            token: self.token.clone(),
            allow: self.allow.iter().map(|rule| rule.parse().unwrap()).collect(),
        };
        let (to, ready) = mpsc::channel();
        let running =
            Running::start(|stop| listen::listen(options, stop, move |serving| to.send(serving).unwrap(), |_| {}));
        (ready.recv_timeout(PATIENCE).unwrap(), running)
    }

    /// Returns the local addresses of the near side: for SOCKS5, and for the port that is forwarded
    /// to `target`.
    pub(crate) fn connect(&self, port: u16, target: &str) -> (Vec<SocketAddr>, mpsc::Receiver<String>, Running) {
        let options = connect::Options {
            host: HOST.to_owned(),
            port,
            trust: Trust::Fingerprint(self.identity.fingerprint()),
            token: self.token.clone(),
            socks: Some((HOST.parse::<IpAddr>().unwrap(), 0).into()),
            forwards: vec![format!("0:{target}").parse().unwrap()],
            keys: None,
        };
        let (to, ready) = mpsc::channel();
        let (tell, lines) = mpsc::channel();
        let running = Running::start(|stop| {
            connect::connect(options, stop, move |bound| to.send(bound).unwrap(), move |line| _ = tell.send(line))
        });
        (ready.recv_timeout(PATIENCE).unwrap(), lines, running)
    }
}

pub(crate) fn open(at: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(at).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Opens a connection through SOCKS5, and returns it with the reply field. `address` contains the
/// type and the address.
pub(crate) fn socks(at: SocketAddr, command: u8, address: &[u8], port: u16) -> (TcpStream, u8) {
    let mut stream = open(at);
    stream.write_all(&[5, 2, 0, 2]).unwrap();
    let mut method = [0; 2];
    stream.read_exact(&mut method).unwrap();
    assert_eq!(method, [5, 0]);
    stream.write_all(&[[5, command, 0].as_slice(), address, &port.to_be_bytes()].concat()).unwrap();
    let mut reply = [0; 10];
    stream.read_exact(&mut reply).unwrap();
    assert_eq!((reply[0], reply[2], reply[3]), (5, 0, 1));
    (stream, reply[1])
}
