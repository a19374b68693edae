//! Shows how the sale goes: bars on a terminal, plain lines elsewhere. All of
//! it on standard error.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Who is where. The fans count themselves.
#[derive(Debug, Default)]
pub struct Tally {
    /// In line.
    pub waiting: AtomicU32,
    /// Inside.
    pub shopping: AtomicU32,
    /// The most that were inside at once.
    pub most_shopping: AtomicU32,
    /// Went home with tickets.
    pub bought: AtomicU32,
    /// Went home without.
    pub without: AtomicU32,
    /// Went home because something broke.
    pub failed: AtomicU32,
    /// Tickets that were sold.
    pub tickets: AtomicU32,
}

impl Tally {
    /// A fan came in.
    pub fn enters(&self) {
        let inside = self.shopping.fetch_add(1, Relaxed) + 1;
        self.most_shopping.fetch_max(inside, Relaxed);
    }

    /// A fan is about to go out.
    pub fn leaves(&self) {
        self.shopping.fetch_sub(1, Relaxed);
    }

    /// So many tickets were sold.
    pub fn sells(&self, tickets: usize) {
        self.tickets.fetch_add(u32::try_from(tickets).unwrap_or(0), Relaxed);
    }

    fn line(&self) -> String {
        format!(
            "in line {:>5}  shopping {:>4}  with tickets {:>5}  without {:>5}  tickets sold {:>6}",
            self.waiting.load(Relaxed),
            self.shopping.load(Relaxed),
            self.bought.load(Relaxed),
            self.without.load(Relaxed),
            self.tickets.load(Relaxed),
        )
    }
}

/// One step of the demo, on display until it is dropped.
#[derive(Debug)]
pub struct Step {
    bar: ProgressBar,
    title: &'static str,
    plain: bool,
    length: u64,
}

const REFRESH: Duration = Duration::from_millis(200);
const PLAIN_LINE_EVERY: Duration = Duration::from_secs(5);

impl Step {
    /// Begins a step of so many parts.
    #[must_use]
    pub fn begin(title: &'static str, length: u64) -> Self {
        let plain = !std::io::stderr().is_terminal();
        let bar = if plain { ProgressBar::hidden() } else { ProgressBar::new(length) };
        bar.set_length(length);
        // The template is a constant; a style that can't be read is no style.
        if let Ok(style) =
            ProgressStyle::with_template("{prefix:<18} {bar:30} {pos:>5}/{len} {elapsed:>4}  {msg}")
        {
            bar.set_style(style);
        }
        bar.set_prefix(title);
        bar.enable_steady_tick(REFRESH);
        if plain {
            eprintln!("{title} ({length})");
        }
        Self { bar, title, plain, length }
    }

    /// One part is done.
    pub fn advance(&self) {
        self.bar.inc(1);
    }

    /// Keeps showing who is where, for as long as it is polled.
    pub async fn follow(&self, tally: &Tally) {
        let mut last_line = tokio::time::Instant::now();
        loop {
            tokio::time::sleep(REFRESH).await;
            self.bar.set_message(tally.line());
            if self.plain && last_line.elapsed() >= PLAIN_LINE_EVERY {
                last_line = tokio::time::Instant::now();
                let done = self.bar.position();
                eprintln!("{} {done}/{}  {}", self.title, self.length, tally.line());
            }
        }
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        self.bar.finish();
    }
}
