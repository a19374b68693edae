//! An event that was set up, as its operator and its fans meet it.

use contracts::catalog::{TicketTypeBody, TicketTypesBody};
use contracts::orders::OrderBody;
use contracts::queue::{AdmissionBody, PlaceBody, QueueStatusBody, ViewerBody};
use contracts::seats::SeatsBody;
use domain::{EventId, OrderId, SectionId};
use serde_json::{Value, json};

use crate::error::ClientError;
use crate::http::{Answer, HttpApi};
use crate::identity::{Person, new_word};
use crate::live::LiveConnection;
use crate::until::{SOON, Seen, eventually};
use crate::watcher::{Source, Watcher};
use crate::world::World;

/// An event that was set up.
#[derive(Debug, Clone)]
pub struct Sale {
    /// The stack it is on.
    pub world: World,
    /// Its id.
    pub event: EventId,
    /// Who set it up.
    pub operator: Person,
}

/// A fan who was let in.
#[derive(Debug, Clone)]
pub struct Shopper {
    /// The fan.
    pub fan: Person,
    /// The admission token.
    pub admission: String,
}

impl Sale {
    /// A path of this event.
    #[must_use]
    pub fn path(&self, rest: &str) -> String {
        format!("/events/{}{rest}", self.event)
    }

    fn api(&self) -> &HttpApi {
        &self.world.api
    }

    /// Creates what must not be there yet.
    ///
    /// # Errors
    /// When it is refused.
    pub async fn create(&self, rest: &str, body: &Value) -> Result<Answer, ClientError> {
        let put = self.api().put(&self.path(rest)).by(&self.operator);
        put.header("if-none-match", "*").json(body).send().await?.success()
    }

    /// Says what the sale shall be: `open`, `paused` or `closed`. Where the answer asks
    /// for it, it is said again, under the same key.
    ///
    /// # Errors
    /// When it is refused.
    pub async fn switch(&self, state: &str) -> Result<(), ClientError> {
        let put = self.api().put(&self.path("/sale")).by(&self.operator);
        let put = put.header("idempotency-key", &new_word()).json(&json!({"state": state}));
        put.send_politely().await?.success()?;
        Ok(())
    }

    /// The public status of the line.
    ///
    /// # Errors
    /// When there is none.
    pub async fn queue(&self) -> Result<QueueStatusBody, ClientError> {
        self.api().get(&self.path("/queue")).read().await
    }

    /// A fan joins the line.
    ///
    /// # Errors
    /// When no answer comes.
    pub async fn join(&self, fan: &Person) -> Result<Answer, ClientError> {
        self.api().post(&self.path("/queue/places")).by(fan).send().await
    }

    /// A fan's place in line.
    ///
    /// # Errors
    /// When there is none.
    pub async fn place(&self, fan: &Person) -> Result<PlaceBody, ClientError> {
        self.api().get(&self.path("/queue/places/mine")).by(fan).read().await
    }

    /// A fan asks to be let in.
    ///
    /// # Errors
    /// When no answer comes.
    pub async fn enter(&self, fan: &Person) -> Result<Answer, ClientError> {
        self.api().post(&self.path("/queue/places/mine/admission")).by(fan).send().await
    }

    /// A fan leaves.
    ///
    /// # Errors
    /// When it is refused.
    pub async fn leave(&self, fan: &Person) -> Result<(), ClientError> {
        let leave = self.api().delete(&self.path("/queue/places/mine")).by(fan);
        leave.send().await?.expect(204)?;
        Ok(())
    }

    /// Brings a fan in: joins, and enters as soon as the line allows.
    ///
    /// # Errors
    /// When the line does not let the fan in.
    pub async fn admit(&self, fan: Person) -> Result<Shopper, ClientError> {
        self.join(&fan).await?.success()?;
        let admission: AdmissionBody = eventually("the fan is let in", SOON, async || {
            let answer = self.enter(&fan).await?;
            if answer.status == 409 {
                return Ok(Seen::NotYet(answer.text()));
            }
            Ok(Seen::Yes(answer.success()?.json()?))
        })
        .await?;
        Ok(Shopper { fan, admission: admission.admission_token })
    }

    /// A new fan who is in.
    ///
    /// # Errors
    /// When the line does not let the fan in.
    pub async fn shopper(&self) -> Result<Shopper, ClientError> {
        self.admit(self.world.identity.fan().await?).await
    }

    /// Asks for tickets under a key.
    ///
    /// # Errors
    /// When no answer comes.
    pub async fn buy(
        &self,
        shopper: &Shopper,
        key: &str,
        lines: Value,
    ) -> Result<Answer, ClientError> {
        let post = self.api().post(&self.path("/orders")).by(&shopper.fan);
        post.header("onsale-admission", &shopper.admission)
            .header("idempotency-key", key)
            .json(&json!({ "lines": lines }))
            .send()
            .await
    }

    /// Asks for tickets under a new key; they must be given.
    ///
    /// # Errors
    /// When they are not.
    pub async fn bought(&self, shopper: &Shopper, lines: Value) -> Result<OrderBody, ClientError> {
        self.buy(shopper, &new_word(), lines).await?.expect(202)?.json()
    }

    /// An order, as its owner reads it.
    ///
    /// # Errors
    /// When it can't be read.
    pub async fn order(&self, fan: &Person, order: OrderId) -> Result<OrderBody, ClientError> {
        self.api().get(&self.path(&format!("/orders/{order}"))).by(fan).read().await
    }

    /// An order once it is stored, whatever it became.
    ///
    /// # Errors
    /// When it stays queued.
    pub async fn settled(&self, fan: &Person, order: OrderId) -> Result<OrderBody, ClientError> {
        eventually("the order is stored", SOON, async || {
            let body = self.order(fan, order).await?;
            Ok(if body.version == 0 { Seen::NotYet(format!("{body:?}")) } else { Seen::Yes(body) })
        })
        .await
    }

    /// A ticket type, as everybody reads it.
    ///
    /// # Errors
    /// When there is none of that name.
    pub async fn ticket_type(&self, ticket_type: &str) -> Result<TicketTypeBody, ClientError> {
        let answer = self.api().get(&self.path("/ticket-types")).send().await?.success()?;
        let types: TicketTypesBody = answer.json()?;
        let found = types.ticket_types.into_iter().find(|one| one.id.as_str() == ticket_type);
        found.ok_or_else(|| answer.unexpected())
    }

    /// Replaces what is there in this version.
    ///
    /// # Errors
    /// When no answer comes.
    pub async fn edit(
        &self,
        rest: &str,
        version: u64,
        body: &Value,
    ) -> Result<Answer, ClientError> {
        let put = self.api().put(&self.path(rest)).by(&self.operator);
        put.header("if-match", &format!("\"v{version}\"")).json(body).send().await
    }

    /// Takes units out of sale.
    ///
    /// # Errors
    /// When no answer comes.
    pub async fn withdraw(&self, withdrawal: &str, body: &Value) -> Result<Answer, ClientError> {
        let put = self.api().put(&self.path(&format!("/withdrawals/{withdrawal}")));
        put.by(&self.operator).json(body).send().await
    }

    /// Brings withdrawn units back.
    ///
    /// # Errors
    /// When it is refused.
    pub async fn give_back(&self, withdrawal: &str) -> Result<(), ClientError> {
        let delete = self.api().delete(&self.path(&format!("/withdrawals/{withdrawal}")));
        delete.by(&self.operator).send().await?.expect(204)?;
        Ok(())
    }

    /// How many tickets of a type can be had.
    ///
    /// # Errors
    /// When there is none of that name.
    pub async fn remaining(&self, ticket_type: &str) -> Result<u32, ClientError> {
        Ok(self.ticket_type(ticket_type).await?.remaining)
    }

    /// Every seat's state.
    ///
    /// # Errors
    /// When they can't be read.
    pub async fn seats(&self) -> Result<SeatsBody, ClientError> {
        self.api().get(&self.path("/seats")).read().await
    }

    /// A token for somebody who only watches.
    ///
    /// # Errors
    /// When none is given.
    pub async fn viewer_token(&self) -> Result<String, ClientError> {
        let viewer: ViewerBody = self.api().post(&self.path("/viewers")).read().await?;
        Ok(viewer.viewer_token)
    }

    /// Somebody who only watches, all of it.
    ///
    /// # Errors
    /// When the connection fails.
    pub async fn viewer(&self) -> Result<Watcher, ClientError> {
        let connection = self.world.connect_live(&self.viewer_token().await?).await?;
        self.watch(connection, &[]).await
    }

    /// Watches over an open connection.
    ///
    /// # Errors
    /// When the subscription fails.
    pub async fn watch(
        &self,
        connection: LiveConnection,
        sections: &[SectionId],
    ) -> Result<Watcher, ClientError> {
        let source = Source::Api(self.api().clone());
        Watcher::begin(source, connection, &self.event, sections).await
    }
}
