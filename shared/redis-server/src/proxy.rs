//! A way to Redis that can break: between a script's run and its reply.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};

/// A port that leads to another, until told to break.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    target: Arc<AtomicU16>,
    lose: Arc<AtomicUsize>,
}

impl Proxy {
    /// Leads to that port.
    ///
    /// # Panics
    /// When no port can be had.
    #[must_use]
    #[expect(clippy::expect_used, reason = "only tests come here")]
    pub fn to(target: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let lose = Arc::new(AtomicUsize::new(0));
        let target = Arc::new(AtomicU16::new(target));
        let (losing, leading) = (Arc::clone(&lose), Arc::clone(&target));
        // Ends with the test's process.
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A connection that can't be led on is hung up.
                let _ = lead(&client, leading.load(Ordering::SeqCst), &losing);
            }
        });
        Self { port, target, lose }
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Leads who connects from now on to that port; who is connected stays so.
    pub fn lead_to(&self, target: u16) {
        self.target.store(target, Ordering::SeqCst);
    }

    /// Loses the next so many replies, and the connection with each.
    pub fn lose_replies(&self, count: usize) {
        self.lose.store(count, Ordering::SeqCst);
    }

    /// How many are still to be lost.
    #[must_use]
    pub fn to_lose(&self) -> usize {
        self.lose.load(Ordering::SeqCst)
    }
}

fn lead(client: &TcpStream, target: u16, losing: &Arc<AtomicUsize>) -> std::io::Result<()> {
    let server = TcpStream::connect(("127.0.0.1", target))?;
    let (from, to) = (client.try_clone()?, server.try_clone()?);
    let client = client.try_clone()?;
    let losing = Arc::clone(losing);
    std::thread::spawn(move || carry(from, to, None));
    std::thread::spawn(move || carry(server, client, Some(&losing)));
    Ok(())
}

fn carry(mut from: TcpStream, mut to: TcpStream, lose: Option<&AtomicUsize>) {
    let mut chunk = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut chunk) {
        let lost = lose.is_some_and(|lose| {
            let fewer = |left: usize| left.checked_sub(1);
            lose.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer).is_ok()
        });
        if lost || to.write_all(&chunk[..length]).is_err() {
            break;
        }
    }
    for end in [from, to] {
        let _ = end.shutdown(Shutdown::Both);
    }
}
