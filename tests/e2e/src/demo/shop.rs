//! What a fan does inside: looks, chooses, buys, and reads how it ended.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use contracts::orders::{OrderBody, OrderStateBody};
use domain::{OrderId, OrderState, TicketTypeId};
use serde_json::{Value, json};

use crate::demo::chance::Chance;
use crate::demo::chart::States;
use crate::demo::hall::{Entry, Hall, SEATS, STANDING};
use crate::demo::ledger::{Outcome, Purchase};
use crate::demo::persona::{LIMIT_PER_FAN, Persona};
use crate::error::ClientError;
use crate::http::Answer;
use crate::identity::new_word;
use crate::sale::Shopper;
use crate::watcher::{Told, Watcher};

/// A fan inside.
pub struct Visit<'a> {
    /// Where.
    pub hall: &'a Hall,
    /// Who, with the admission.
    pub shopper: Shopper,
    /// Of which character.
    pub persona: &'a Persona,
    /// What chance the fan has left.
    pub chance: Chance,
}

/// What the fan asks for.
#[derive(Debug, Clone)]
struct Cart {
    lines: Value,
    wanted: usize,
}

/// An answer, and when it was read.
struct Answered {
    answer: Answer,
    at: Instant,
}

impl Answered {
    fn is_acceptance(&self) -> bool {
        self.answer.status == 202
    }
}

/// What one purchase came to.
enum Bought {
    /// Tickets.
    Tickets,
    /// Others had those seats; there may be other ones.
    SeatsTaken,
    /// Nothing, for good.
    Nothing,
}

/// An accepted order that has not ended after so long is lost.
const LOST_AFTER: Duration = Duration::from_secs(120);
/// How often an owner looks at a queued order, at first.
const FIRST_LOOK: Duration = Duration::from_millis(250);
const LONGEST_LOOK: Duration = Duration::from_secs(2);

impl Visit<'_> {
    /// Everything the fan does inside; whether it ended with tickets.
    ///
    /// # Errors
    /// When an answer is not one that the interface promises.
    pub async fn shop(&mut self) -> Result<bool, ClientError> {
        if self.persona.is_greedy {
            self.overreach().await?;
        }
        let mut watcher = None;
        for _ in 0..=self.persona.retries {
            tokio::time::sleep(self.persona.thinks_for).await;
            let Some(cart) = self.fill_cart(watcher.as_ref()).await? else { break };
            if watcher.is_none() {
                // Who can't watch still buys.
                watcher = self.watch().await.ok();
            }
            match self.buy(&cart, watcher.as_mut()).await? {
                Bought::Tickets => return Self::go(watcher, true).await,
                Bought::SeatsTaken => {}
                Bought::Nothing => break,
            }
        }
        Self::go(watcher, false).await
    }

    async fn go(watcher: Option<Watcher>, has_tickets: bool) -> Result<bool, ClientError> {
        if let Some(watcher) = watcher {
            // It may have been closed from the other side already.
            watcher.end().await.ok();
        }
        Ok(has_tickets)
    }

    async fn watch(&self) -> Result<Watcher, ClientError> {
        let sale = &self.hall.sale;
        let connection = sale.world.connect_live_politely(&self.shopper.fan.token).await?;
        self.hall.watch(connection, &[]).await
    }

    /// What the fan would like of what is left; none: goes home without trying.
    async fn fill_cart(&mut self, watcher: Option<&Watcher>) -> Result<Option<Cart>, ClientError> {
        let seats = self.hall.seats().await?;
        let mut states: States = seats
            .sections
            .iter()
            .filter_map(|section| Some((section.section.clone(), section.unpack()?)))
            .collect();
        if let Some(watcher) = watcher.filter(|watcher| !watcher.view().seats().is_empty()) {
            states.clone_from(watcher.view().seats());
        }
        let left = |ticket_type: &str| {
            let of_type = |id: &TicketTypeId| id.as_str() == ticket_type;
            let body = seats.ticket_types.iter().find(|body| of_type(&body.ticket_type));
            body.map_or(0, |body| body.remaining)
        };
        let mut lines = Vec::new();
        let mut wanted = 0;
        if self.persona.seats > 0
            && let Some(labels) =
                self.hall.chart.choose(&states, self.persona.seats, &mut self.chance)
        {
            wanted += labels.len();
            lines.push(json!({"ticket_type": SEATS, "seats": labels}));
        }
        if self.persona.standing > 0
            && (left(STANDING) >= self.persona.standing || self.persona.is_stubborn)
        {
            wanted += self.persona.standing as usize;
            lines.push(json!({"ticket_type": STANDING, "quantity": self.persona.standing}));
        }
        Ok((wanted > 0).then(|| Cart { lines: Value::from(lines), wanted }))
    }

    /// Asks for more than one fan can have.
    async fn overreach(&mut self) -> Result<(), ClientError> {
        if self.persona.standing == 0 {
            return Ok(());
        }
        let quantity = LIMIT_PER_FAN + 1;
        let lines = json!([{"ticket_type": STANDING, "quantity": quantity}]);
        self.buy(&Cart { lines, wanted: quantity as usize }, None).await?;
        Ok(())
    }

    /// One purchase: one key, however often it is sent.
    async fn buy(
        &mut self,
        cart: &Cart,
        watcher: Option<&mut Watcher>,
    ) -> Result<Bought, ClientError> {
        let (key, sent_at) = (new_word(), Instant::now());
        let answers = self.ask(&key, cart).await?;
        let accepted = answers.iter().filter(|answered| answered.is_acceptance());
        let orders: Vec<OrderBody> =
            accepted.map(|answered| answered.answer.json()).collect::<Result<_, ClientError>>()?;
        let purchase = |orders: BTreeSet<OrderId>, outcome| Purchase {
            customer: self.shopper.fan.id.clone(),
            wanted: cart.wanted,
            orders,
            sent_at,
            outcome,
        };
        if let (Some(order), Some(accepted_at)) = (orders.first(), first_acceptance(&answers)) {
            let ids = orders.iter().map(|order| order.id).collect();
            // Lost, unless the fan reads how it ended.
            let entry = self.hall.enter(purchase(ids, Outcome::Lost));
            return self.follow(order.id, accepted_at, entry, watcher).await;
        }
        let refusal = &answers[0].answer;
        if refusal.asks_for_repetition() {
            self.hall.enter(purchase(BTreeSet::new(), Outcome::Undecided));
            return Ok(Bought::Nothing);
        }
        let problem = refusal.problem()?;
        let decisions = ["sold_out", "seat_taken", "over_limit"];
        if problem.status != 409 || !decisions.contains(&problem.reason.as_str()) {
            return Err(refusal.unexpected());
        }
        let were_taken = problem.reason == "seat_taken";
        let outcome = Outcome::Refused { reason: problem.reason };
        self.hall.enter(purchase(BTreeSet::new(), outcome));
        Ok(if were_taken { Bought::SeatsTaken } else { Bought::Nothing })
    }

    /// Sends a purchase, as often as the fan clicks: the same decision each time.
    async fn ask(&self, key: &str, cart: &Cart) -> Result<Vec<Answered>, ClientError> {
        let mut answers = vec![self.send(key, cart).await?];
        if self.persona.is_double_clicker {
            let (first, second) = tokio::join!(self.send(key, cart), self.send(key, cart));
            answers.extend([first?, second?]);
        }
        let first = &answers[0].answer;
        match answers.iter().find(|other| !is_same_decision(first, &other.answer)) {
            Some(other) => Err(other.answer.unexpected()),
            None => Ok(answers),
        }
    }

    async fn send(&self, key: &str, cart: &Cart) -> Result<Answered, ClientError> {
        let sale = &self.hall.sale;
        let post = sale.world.api.post(&sale.path("/orders")).by(&self.shopper.fan);
        let answer = post
            .header("onsale-admission", &self.shopper.admission)
            .header("idempotency-key", key)
            .json(&json!({"lines": cart.lines}))
            .send_politely()
            .await?;
        Ok(Answered { answer, at: Instant::now() })
    }

    /// Reads how an accepted order ends: looks at once, then whenever the
    /// WebSocket says that something happened, or after a while.
    async fn follow(
        &mut self,
        order: OrderId,
        accepted_at: Instant,
        entry: Entry,
        mut watcher: Option<&mut Watcher>,
    ) -> Result<Bought, ClientError> {
        let mut pause = FIRST_LOOK;
        while accepted_at.elapsed() < LOST_AFTER {
            let body = self.read(order).await?;
            let after = accepted_at.elapsed();
            match body.state {
                OrderStateBody::Queued(_) => {}
                OrderStateBody::Stored(OrderState::Rejected) => {
                    let reason = body.reason.unwrap_or_default();
                    self.hall.end(entry, Outcome::Rejected { reason });
                    return Ok(Bought::Nothing);
                }
                OrderStateBody::Stored(_) => {
                    let units = unit_names(&body);
                    self.hall.tally.sells(units.len());
                    self.hall.end(entry, Outcome::Persisted { units, after });
                    return Ok(Bought::Tickets);
                }
            }
            await_news(watcher.as_deref_mut(), pause).await;
            pause = (pause * 2).min(LONGEST_LOOK);
        }
        Ok(Bought::Nothing)
    }

    async fn read(&self, order: OrderId) -> Result<OrderBody, ClientError> {
        let sale = &self.hall.sale;
        let get = sale.world.api.get(&sale.path(&format!("/orders/{order}")));
        get.by(&self.shopper.fan).send_politely().await?.success()?.json()
    }
}

/// From here on the fan counts on the order, whatever the repeats take.
fn first_acceptance(answers: &[Answered]) -> Option<Instant> {
    answers.iter().filter(|answered| answered.is_acceptance()).map(|answered| answered.at).min()
}

/// One key has one decision, whatever else went wrong meanwhile.
fn is_same_decision(one: &Answer, other: &Answer) -> bool {
    let undecided = one.asks_for_repetition() || other.asks_for_repetition();
    undecided || one.status == other.status
}

/// Until the WebSocket tells of an order, or for that long.
async fn await_news(watcher: Option<&mut Watcher>, longest: Duration) {
    let Some(watcher) = watcher else {
        return tokio::time::sleep(longest).await;
    };
    let news = async {
        loop {
            match watcher.follow().await {
                Ok(Told::Order(_)) => return,
                Ok(Told::Seats | Told::Nothing) => {}
                // A broken connection brings no news; the fan looks by HTTP.
                Err(_) => std::future::pending::<()>().await,
            }
        }
    };
    tokio::time::timeout(longest, news).await.ok();
}

fn unit_names(order: &OrderBody) -> Vec<String> {
    let lines = order.lines.iter();
    lines
        .flat_map(|line| line.units.iter().map(move |unit| format!("{}/{unit}", line.ticket_type)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderMap;

    #[test]
    fn a_double_clickers_clock_starts_at_the_first_acceptance() {
        let begun = Instant::now();
        let answered = |status, after| Answered {
            answer: Answer {
                what: String::new(),
                status,
                headers: HeaderMap::new(),
                body: Vec::new(),
            },
            at: begun + Duration::from_secs(after),
        };
        let answers = [answered(503, 1), answered(202, 4), answered(202, 2)];
        assert_eq!(first_acceptance(&answers), Some(begun + Duration::from_secs(2)));
        assert_eq!(first_acceptance(&answers[..1]), None);
    }
}
