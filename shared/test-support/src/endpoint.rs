//! An HTTP endpoint in the test's own process: it answers as it is told to and
//! remembers what it was asked. What stands behind an SDK's endpoint is faked at
//! the wire, so that the code under test runs as it is deployed.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_dynamodb::config::{Credentials, SharedCredentialsProvider};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What the endpoint was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The method.
    pub method: String,
    /// The path with its query, as it was sent.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl Asked {
    /// A header; empty where there is none.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map_or("", |(_, value)| value)
    }
}

/// What the endpoint answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Headers besides the length.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: String,
}

impl Answer {
    /// An answer of this status and body.
    #[must_use]
    pub fn new(status: u16, body: impl Into<String>) -> Self {
        Self { status, headers: Vec::new(), body: body.into() }
    }

    /// With a header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

type Answers = dyn Fn(&Asked) -> Answer + Send + Sync;

/// The endpoint; it ends when it is dropped.
#[derive(Debug)]
pub struct Endpoint {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    connections: Arc<AtomicUsize>,
    serving: JoinHandle<()>,
}

impl Endpoint {
    /// Starts an endpoint on a free port.
    ///
    /// # Panics
    /// When no port can be had.
    #[expect(clippy::expect_used, reason = "only tests come here")]
    pub async fn start(answers: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let connections = Arc::new(AtomicUsize::new(0));
        let (asking, opened) = (Arc::clone(&asked), Arc::clone(&connections));
        let serving = tokio::spawn(serve(listener, Arc::new(answers), asking, opened));
        Self { address, asked, connections, serving }
    }

    /// Its address, without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A configuration for an SDK's clients of it.
    #[must_use]
    pub fn sdk_config(&self) -> SdkConfig {
        sdk_config_at(&self.url())
    }

    /// Forgets what it was asked, and gives it back.
    #[must_use]
    pub fn take_asked(&self) -> Vec<Asked> {
        std::mem::take(&mut *lock(&self.asked))
    }

    /// How many connections to it were opened so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// A configuration for an SDK's clients of whatever answers there.
pub(crate) fn sdk_config_at(url: &str) -> SdkConfig {
    let credentials = Credentials::new("test", "test", None, None, "test");
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .endpoint_url(url)
        .build()
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(
    listener: TcpListener,
    answers: Arc<Answers>,
    asked: Arc<Mutex<Vec<Asked>>>,
    opened: Arc<AtomicUsize>,
) {
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        opened.fetch_add(1, Ordering::SeqCst);
        let (answers, asked) = (Arc::clone(&answers), Arc::clone(&asked));
        connections.spawn(async move {
            // A client that hangs up ends its connection, nothing else.
            let _ = converse(stream, &*answers, &asked).await;
        });
    }
}

async fn converse(
    stream: TcpStream,
    answers: &Answers,
    asked: &Mutex<Vec<Asked>>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    while let Some(request) = read_request(&mut stream).await? {
        let answer = answers(&request);
        lock(asked).push(request);
        stream.write_all(render(&answer).as_bytes()).await?;
        stream.flush().await?;
    }
    Ok(())
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> std::io::Result<Option<Asked>> {
    let mut first = String::new();
    if stream.read_line(&mut first).await? == 0 {
        return Ok(None);
    }
    let mut words = first.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let headers = read_headers(stream).await?;
    let mut asked = Asked { method, path, headers, body: String::new() };
    let length = asked.header("content-length").parse().unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    asked.body = String::from_utf8_lossy(&body).into_owned();
    Ok(Some(asked))
}

async fn read_headers(stream: &mut BufReader<TcpStream>) -> std::io::Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 || line.trim().is_empty() {
            return Ok(headers);
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
}

fn render(answer: &Answer) -> String {
    let mut text = format!("HTTP/1.1 {} Answer\r\n", answer.status);
    for (name, value) in &answer.headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!("content-length: {}\r\n\r\n{}", answer.body.len(), answer.body));
    text
}

/// A test that panicked leaves nothing half-done here.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
