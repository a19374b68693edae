//! A sale by many clients at once, either waiting for the row or racing for it.

use std::time::{Duration, Instant};

use futures::future::try_join_all;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, NoTls, Statement};

use super::server::PostgresServer;
use crate::error::BenchError;

/// How long each sale is watched.
const WATCHED: Duration = Duration::from_secs(8);
/// A fan does not wait longer.
const TIMEOUT: &str = "SET statement_timeout = '2s'";
/// More than can be sold while it is watched.
const STOCK: i32 = 10_000_000;
const CONNECTING_AT_ONCE: usize = 50;

/// How a client makes sure that it is alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Locks the row, looks, takes.
    ForUpdate,
    /// Looks, takes if nobody took in between, or else begins again.
    Optimistic,
}

impl Way {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ForUpdate => "FOR UPDATE",
            Self::Optimistic => "optimistic",
        }
    }
}

/// What a sale came to.
#[derive(Debug)]
pub(crate) struct Sold {
    pub(crate) way: Way,
    pub(crate) clients: usize,
    pub(crate) per_second: f64,
    pub(crate) tries_per_sale: f64,
    pub(crate) timeouts: u64,
}

#[derive(Debug, Default)]
struct Tally {
    sold: u64,
    tries: u64,
    timeouts: u64,
}

/// Sells for a while.
pub(crate) async fn run(
    server: &PostgresServer,
    way: Way,
    clients: usize,
) -> Result<Sold, BenchError> {
    tokio::task::LocalSet::new().run_until(sell(server, way, clients)).await
}

async fn sell(server: &PostgresServer, way: Way, clients: usize) -> Result<Sold, BenchError> {
    let first = connect(server).await?;
    first
        .batch_execute(&format!(
            "DROP TABLE IF EXISTS stock, orders;
             CREATE TABLE stock (id int PRIMARY KEY, remaining int NOT NULL, version bigint NOT NULL);
             CREATE TABLE orders (id bigserial PRIMARY KEY, buyer int NOT NULL);
             INSERT INTO stock VALUES (1, {STOCK}, 0);"
        ))
        .await?;
    let mut buyers = Vec::new();
    while buyers.len() < clients {
        let some = CONNECTING_AT_ONCE.min(clients - buyers.len());
        let connecting = (0..some).map(|number| async move {
            Buyer::new(connect(server).await?, way, i32::try_from(number).unwrap_or(0)).await
        });
        buyers.extend(try_join_all(connecting).await?);
    }
    let begun = Instant::now();
    let buying = buyers.into_iter().map(|buyer| buyer.buy_until(begun + WATCHED));
    let tallies = try_join_all(buying).await?;
    let seconds = begun.elapsed().as_secs_f64();
    let sum = |of: fn(&Tally) -> u64| tallies.iter().map(of).sum::<u64>();
    let (sold, tries) = (sum(|tally| tally.sold), sum(|tally| tally.tries));
    check(&first, sold).await?;
    Ok(Sold {
        way,
        clients,
        per_second: sold as f64 / seconds,
        tries_per_sale: tries as f64 / sold.max(1) as f64,
        timeouts: sum(|tally| tally.timeouts),
    })
}

async fn connect(server: &PostgresServer) -> Result<Client, Error> {
    let (client, connection) = tokio_postgres::connect(&server.url(), NoTls).await?;
    tokio::task::spawn_local(async move {
        // Its end is seen by the client's next call.
        let _ = connection.await;
    });
    client.batch_execute(TIMEOUT).await?;
    Ok(client)
}

/// A client with its statements prepared.
struct Buyer {
    client: Client,
    look: Statement,
    take: Statement,
    order: Statement,
    way: Way,
    number: i32,
}

impl Buyer {
    async fn new(client: Client, way: Way, number: i32) -> Result<Self, Error> {
        let (look, take) = match way {
            Way::ForUpdate => ("FOR UPDATE", ""),
            Way::Optimistic => ("", "AND version = $1"),
        };
        let look = format!("SELECT remaining, version FROM stock WHERE id = 1 {look}");
        let take = format!(
            "UPDATE stock SET remaining = remaining - 1, version = version + 1 WHERE id = 1 {take}"
        );
        Ok(Self {
            look: client.prepare(&look).await?,
            take: client.prepare(&take).await?,
            order: client.prepare("INSERT INTO orders (buyer) VALUES ($1)").await?,
            client,
            way,
            number,
        })
    }

    async fn buy_until(mut self, end: Instant) -> Result<Tally, Error> {
        let mut tally = Tally::default();
        while Instant::now() < end {
            tally.tries += 1;
            let bought = match self.way {
                Way::ForUpdate => self.wait_and_take().await,
                Way::Optimistic => self.race_and_take().await,
            };
            match bought {
                Ok(bought) => tally.sold += u64::from(bought),
                Err(error) if error.code() == Some(&SqlState::QUERY_CANCELED) => {
                    tally.timeouts += 1;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(tally)
    }

    async fn wait_and_take(&mut self) -> Result<bool, Error> {
        let transaction = self.client.transaction().await?;
        let remaining: i32 = transaction.query_one(&self.look, &[]).await?.get(0);
        if remaining < 1 {
            return Ok(false);
        }
        transaction.execute(&self.take, &[]).await?;
        transaction.execute(&self.order, &[&self.number]).await?;
        transaction.commit().await?;
        Ok(true)
    }

    async fn race_and_take(&mut self) -> Result<bool, Error> {
        let row = self.client.query_one(&self.look, &[]).await?;
        let (remaining, version): (i32, i64) = (row.get(0), row.get(1));
        if remaining < 1 {
            return Ok(false);
        }
        let transaction = self.client.transaction().await?;
        if transaction.execute(&self.take, &[&version]).await? == 0 {
            transaction.rollback().await?;
            return Ok(false);
        }
        transaction.execute(&self.order, &[&self.number]).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

/// A number that the database does not bear out is no number.
async fn check(client: &Client, sold: u64) -> Result<(), BenchError> {
    let query = "SELECT (SELECT count(*) FROM orders), remaining FROM stock";
    let row = client.query_one(query, &[]).await?;
    let (orders, remaining): (i64, i32) = (row.get(0), row.get(1));
    match u64::try_from(orders) == Ok(sold) && i64::from(STOCK - remaining) == orders {
        true => Ok(()),
        false => Err(BenchError::Tool("the sale on PostgreSQL")),
    }
}
