//! A network between the sides of a proxy, which loses datagrams.

use acklab_base::random::Seed;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const ALL: u64 = 1 << 32;

/// Forwards datagrams from its port to that of the far side, and back.
pub(super) struct Lossy {
    pub(super) port: u16,
    /// The share of datagrams that are lost, in 2⁻³².
    loss: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
}

impl Lossy {
    pub(super) fn between(far: u16, seed: Seed) -> Self {
        let bind = || {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
            Arc::new(socket)
        };
        let (front, back) = (bind(), bind());
        let port = front.local_addr().unwrap().port();
        let client = Arc::new(Mutex::new(None));
        let (loss, is_over) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        for towards_far in [true, false] {
            let [front, back] = [&front, &back].map(Arc::clone);
            let (client, loss, is_over) = (Arc::clone(&client), Arc::clone(&loss), Arc::clone(&is_over));
            let mut random = seed.stream(&format!("lossy/{towards_far}"));
            std::thread::spawn(move || {
                let (from, to) = if towards_far { (front, back) } else { (back, front) };
                let mut datagram = [0; 65_536];
                while !is_over.load(Ordering::Relaxed) {
                    // An error means that no peer is there, or that no datagram has arrived.
                    let Ok((length, source)) = from.recv_from(&mut datagram) else { continue };
                    let destination = if towards_far {
                        *client.lock().unwrap() = Some(source);
                        Some(SocketAddr::from(([127, 0, 0, 1], far)))
                    } else {
                        *client.lock().unwrap()
                    };
                    let passes = random.below(ALL) >= loss.load(Ordering::Relaxed);
                    if let Some(destination) = destination.filter(|_| passes) {
                        _ = to.send_to(&datagram[..length], destination);
                    }
                }
            });
        }
        Self { port, loss, is_over }
    }

    /// From now on, loses this share of the datagrams.
    pub(super) fn lose(&self, share: f64) {
        self.loss.store((share * ALL as f64) as u64, Ordering::Relaxed);
    }
}

impl Drop for Lossy {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}
