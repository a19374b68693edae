//! One event's rush is no other event's problem.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use contracts::orders::OrderBody;
use domain::{
    CustomerKey, Epoch, Fingerprint, Line, OrderId, OrderLines, SessionId, TicketTypeId, Wanted,
};
use e2e::clock::seconds_from_now;
use e2e::demo::timings::nearest_rank;
use e2e::error::ClientError;
use e2e::identity::new_word;
use e2e::plan::Plan;
use e2e::sale::{Sale, Shopper};
use e2e::stores::Stores;
use e2e::world::World;
use futures::future::try_join_all;
use futures::{StreamExt, TryStreamExt, stream};
use redis_store::{Inventory, Mode, Pointer, Reservation, Reserve, Session};
use serde_json::{Value, json};

type Journey = Result<(), ClientError>;

/// Quiet and flooded rounds take turns, so that whatever else the machine does
/// meanwhile slows down both alike.
const ROUNDS: usize = 7;
/// The slowest of so many stands for the 99th percentile of its round. The median
/// round counts: one pause of the machine says nothing about this product.
const PROBES_A_ROUND: usize = 30;
/// The whole local stack answers from one process, so a flood that fills it would
/// measure the emulator. Each lane of orders therefore rests after each answer for
/// three times as long as it took: whatever the machine, it leaves room to answer. The
/// inventory, which decides, gets as much as one connection carries.
const LANES: usize = 2;
const REST: u32 = 3;
const RESERVES_AT_ONCE: u32 = 20;
const FLOODERS: usize = 100;
/// A flood of less than this, in all rounds, is none: orders that were accepted, as many
/// that were refused, and reservations at the inventory.
const LEAST_ORDERS: u32 = 20;
const LEAST_RESERVES: u32 = 1_000;
/// Below it, differences are the scheduler's.
const GRANULARITY: Duration = Duration::from_millis(10);

fn one(ticket_type: &str) -> Value {
    json!([{"ticket_type": ticket_type, "quantity": 1}])
}

fn one_gone() -> Result<OrderLines, ClientError> {
    let line = Line { ticket_type: id("gone", TicketTypeId::parse)?, wanted: Wanted::Quantity(1) };
    OrderLines::new(vec![line]).map_err(|_| ClientError::InvalidId { id: "gone".to_owned() })
}

fn id<T, E>(text: &str, parse: impl Fn(&str) -> Result<T, E>) -> Result<T, ClientError> {
    parse(text).map_err(|_| ClientError::InvalidId { id: text.to_owned() })
}

/// How long one purchase took: until it was accepted, and from then until it was
/// persisted.
async fn probe(sale: &Sale, buyer: &Shopper) -> Result<(Duration, Duration), ClientError> {
    let sent_at = Instant::now();
    let post = sale.world.api.post(&sale.path("/orders")).by(&buyer.fan);
    let post = post.header("onsale-admission", &buyer.admission);
    let post = post.header("idempotency-key", &new_word()).json(&json!({"lines": one("floor")}));
    let order: OrderBody = post.send_politely().await?.expect(202)?.json()?;
    let accepted_at = Instant::now();
    while sale.order(&buyer.fan, order.id).await?.version == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok((accepted_at - sent_at, accepted_at.elapsed()))
}

/// The slowest reservation and the slowest persistence of each round.
#[derive(Debug, Default)]
struct Slowest {
    reserved: Vec<Duration>,
    persisted: Vec<Duration>,
}

impl Slowest {
    async fn round(&mut self, sale: &Sale, buyers: &[Shopper]) -> Journey {
        let (mut reserved, mut persisted) = (Duration::ZERO, Duration::ZERO);
        for buyer in buyers.iter().cycle().take(PROBES_A_ROUND) {
            let (one, other) = probe(sale, buyer).await?;
            (reserved, persisted) = (reserved.max(one), persisted.max(other));
        }
        self.reserved.push(reserved);
        self.persisted.push(persisted);
        Ok(())
    }
}

/// What became of the flood.
#[derive(Debug, Default)]
struct Flood {
    accepted: AtomicU32,
    refused: AtomicU32,
    /// Neither: the stack was too busy to decide.
    undecided: AtomicU32,
    reserved: AtomicU32,
}

impl Flood {
    fn count(&self, status: Option<u16>) {
        let which = match status {
            Some(202) => &self.accepted,
            Some(409) => &self.refused,
            Some(_) | None => &self.undecided,
        };
        which.fetch_add(1, Relaxed);
    }

    /// Whether it reached what it was to flood.
    fn assert_was_one(&self) {
        let [accepted, refused, undecided, reserved] =
            [&self.accepted, &self.refused, &self.undecided, &self.reserved]
                .map(|count| count.load(Relaxed));
        assert!(accepted >= LEAST_ORDERS && refused >= LEAST_ORDERS, "{self:?}");
        assert!(undecided <= (accepted + refused) / 10, "{self:?}");
        assert!(reserved >= LEAST_RESERVES, "{self:?}");
    }
}

/// The event that everybody wants.
struct Rush {
    sale: Sale,
    fans: Vec<Shopper>,
    inventory: Inventory,
    epoch: Epoch,
    gone: OrderLines,
    session: SessionId,
}

impl Rush {
    async fn set_up(world: &World) -> Result<Self, ClientError> {
        let plan = Plan::new().standing("floor", 50_000).standing("gone", 1);
        let sale = plan.set_up(world).await?;
        let fans = world.identity.crowd(FLOODERS, || ()).await?;
        let admitted = stream::iter(fans).map(|fan| sale.admit(fan)).buffered(4);
        let fans: Vec<Shopper> = admitted.try_collect().await?;
        let all = json!({"ticket_type": "gone", "quantity": 1});
        sale.withdraw("all", &all).await?.expect(201)?;
        let inventory = Stores::of(&world.stack).inventory;
        let epoch = match inventory.pointer(&sale.event).await? {
            Some(Pointer::Active(epoch)) => epoch,
            Some(Pointer::Building(_)) | None => return Err(ClientError::NoInventory),
        };
        let (gone, session) = (one_gone()?, id("0-0", SessionId::parse)?);
        Ok(Self { sale, fans, inventory, epoch, gone, session })
    }

    /// One lane of orders; every second one is refused.
    async fn orders(&self, lane: usize, flood: &Flood) -> Journey {
        let fans = self.fans.iter().cycle().skip(lane).step_by(LANES);
        for (fan, wanted) in fans.zip(["floor", "gone"].into_iter().cycle()) {
            let sent_at = Instant::now();
            // A flood takes what it gets, but it is told what that was.
            let answer = self.sale.buy(fan, &new_word(), one(wanted)).await;
            flood.count(answer.ok().map(|answer| answer.status));
            tokio::time::sleep(sent_at.elapsed() * REST).await;
        }
        Ok(())
    }

    /// Reservations at the inventory itself.
    async fn reserves(&self, count: &AtomicU32) -> Journey {
        loop {
            let sent_at = Instant::now();
            let reserves = (0..RESERVES_AT_ONCE).map(|_| async {
                let reserve = self.wish(count.fetch_add(1, Relaxed));
                self.inventory.reserve(&reserve).await
            });
            for reservation in try_join_all(reserves).await? {
                assert!(matches!(reservation, Reservation::SoldOut { .. }), "{reservation:?}");
            }
            tokio::time::sleep(sent_at.elapsed() * REST).await;
        }
    }

    /// Both, until it is dropped.
    async fn flood(&self, flood: &Flood) -> Journey {
        let orders = try_join_all((0..LANES).map(|lane| self.orders(lane, flood)));
        futures::future::try_join(orders, self.reserves(&flood.reserved)).await?;
        Ok(())
    }

    /// A wish for what is gone, by a fan of its own.
    fn wish(&self, number: u32) -> Reserve {
        let mut order = [0; 16];
        order[..4].copy_from_slice(&number.to_be_bytes());
        let mut customer = [0; 15];
        customer[..4].copy_from_slice(&number.to_be_bytes());
        Reserve {
            event: self.sale.event.clone(),
            epoch: self.epoch,
            order: OrderId::from_bytes(order),
            customer: CustomerKey(customer),
            fingerprint: Fingerprint::v1(&self.gone),
            lines: self.gone.clone(),
            hold: Duration::from_secs(60),
            mode: Mode::Buy,
            session: Some(Session { id: self.session.clone(), expires_at: seconds_from_now(60) }),
        }
    }
}

#[tokio::test]
async fn while_one_event_is_flooded_another_stays_within_twice_its_idle_p99() -> Journey {
    let world = World::connect()?;
    let rush = Rush::set_up(&world).await?;
    let calm = Plan::new().standing("floor", 5_000);
    let calm = calm.set_up_by(&world, rush.sale.operator.clone()).await?;
    let buyers = world.identity.fans(8).await?.into_iter().map(|fan| calm.admit(fan));
    let buyers = try_join_all(buyers).await?;
    let (mut idle, mut flooded) = (Slowest::default(), Slowest::default());
    let flood = Flood::default();
    let pair_of_rounds = async |idle: &mut Slowest, flooded: &mut Slowest| {
        world.until_intents_are_worked_off().await?;
        idle.round(&calm, &buyers).await?;
        tokio::select! {
            round = flooded.round(&calm, &buyers) => round,
            flooded = rush.flood(&flood) => flooded,
        }
    };
    // The first pair starts what the others find running.
    pair_of_rounds(&mut Slowest::default(), &mut Slowest::default()).await?;
    for _ in 0..ROUNDS {
        pair_of_rounds(&mut idle, &mut flooded).await?;
    }
    eprintln!("{flood:?}");
    flood.assert_was_one();
    for (what, idle, flooded) in [
        ("reservation", idle.reserved, flooded.reserved),
        ("persistence", idle.persisted, flooded.persisted),
    ] {
        let (idle, flooded) = (median(idle), median(flooded));
        eprintln!("{what}: p99 {idle:?} idle, {flooded:?} beside the flood");
        let bound = 2 * idle.max(GRANULARITY);
        assert!(flooded <= bound, "{what}: {flooded:?} is more than {bound:?}");
    }
    Ok(())
}

/// So many intents of the rush wait before those of the other event do.
const BACKLOG: usize = 400;

#[tokio::test]
async fn intents_that_pile_up_for_one_event_hold_up_no_other() -> Journey {
    let world = World::connect()?;
    let rush = Rush::set_up(&world).await?;
    let calm = Plan::new().standing("floor", 50);
    let calm = calm.set_up_by(&world, rush.sale.operator.clone()).await?;
    let buyer = calm.shopper().await?;
    world.until_intents_are_worked_off().await?;
    world.leave_intents().await?;
    let piled_up = stream::iter(rush.fans.iter().cycle().take(BACKLOG))
        .map(async |fan| rush.sale.buy(fan, &new_word(), one("floor")).await?.expect(202))
        .buffer_unordered(8)
        .try_collect::<Vec<_>>()
        .await;
    let bought = calm.buy(&buyer, &new_word(), one("floor")).await;
    world.take_intents().await?;
    piled_up?;
    let order: OrderBody = bought?.expect(202)?.json()?;
    calm.settled(&buyer.fan, order.id).await?;
    // It was the last to be queued.
    let left = world.intents().await?;
    eprintln!("when it was persisted, of {BACKLOG} there were left {left:?}");
    assert!(left.waiting > u32::try_from(BACKLOG / 2).unwrap_or_default(), "{left:?}");
    world.until_intents_are_worked_off().await
}

fn median(mut durations: Vec<Duration>) -> Duration {
    durations.sort_unstable();
    nearest_rank(&durations, 50)
}
