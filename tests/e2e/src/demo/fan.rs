//! A fan's whole visit: arrives, waits in line, shops, leaves.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use contracts::queue::{AdmissionBody, PlaceBody};

use crate::demo::chance::Chance;
use crate::demo::hall::Hall;
use crate::demo::persona::{Patience, Persona};
use crate::demo::shop::Visit;
use crate::error::ClientError;
use crate::http::HttpApi;
use crate::identity::Person;
use crate::sale::Shopper;

/// One of the crowd.
#[derive(Debug)]
pub struct Fan {
    /// Who.
    pub person: Person,
    /// Of which character.
    pub persona: Persona,
    /// The fan's own chance.
    pub chance: Chance,
}

/// By how much who comes too late is late: enough that no clock disputes it.
const LATE_BY: Duration = Duration::from_secs(2);

impl Fan {
    /// The whole visit; whether it ended with tickets.
    ///
    /// # Errors
    /// When an answer is not one that the interface promises.
    pub async fn visit(mut self, hall: Arc<Hall>) -> Result<bool, ClientError> {
        tokio::time::sleep(self.persona.arrives_after).await;
        hall.tally.waiting.fetch_add(1, Relaxed);
        let admission = self.wait_in_line(&hall).await;
        hall.tally.waiting.fetch_sub(1, Relaxed);
        let Some(admission) = admission? else { return Ok(false) };
        hall.tally.enters();
        let shopper = Shopper { fan: self.person.clone(), admission: admission.admission_token };
        let mut inside =
            Visit { hall: &hall, shopper, persona: &self.persona, chance: self.chance.clone() };
        let shopped = inside.shop().await;
        hall.tally.leaves();
        self.leave(&hall, &hall.sale.world.api).await?;
        shopped
    }

    /// Joins and waits, as long as this fan's patience lasts.
    async fn wait_in_line(&mut self, hall: &Hall) -> Result<Option<AdmissionBody>, ClientError> {
        let join = hall.line.post(&hall.sale.path("/queue/places"));
        let joined = join.by(&self.person).send_politely().await?.success()?;
        let place: PlaceBody = joined.json()?;
        let mut looks = 0;
        loop {
            let status = hall.queue().await?;
            if status.serving >= place.number {
                break;
            }
            if self.persona.patience == Patience::GivesUp && looks >= 2 {
                self.leave(hall, &hall.line).await?;
                return Ok(None);
            }
            looks += 1;
            self.pause(status.next_poll_seconds).await;
        }
        match self.persona.patience {
            Patience::Waits | Patience::GivesUp => {}
            Patience::ComesLate => tokio::time::sleep(hall.grace + LATE_BY).await,
            Patience::NeverComes => return Ok(None),
        }
        self.enter(hall).await.map(Some)
    }

    /// Asks to be let in until it is so. Who came too late is called again.
    async fn enter(&mut self, hall: &Hall) -> Result<AdmissionBody, ClientError> {
        loop {
            let post = hall.line.post(&hall.sale.path("/queue/places/mine/admission"));
            let answer = post.by(&self.person).send_politely().await?;
            if answer.status == 409 {
                let wait = answer.retry_after().unwrap_or(Duration::from_secs(2));
                self.pause(u32::try_from(wait.as_secs()).unwrap_or(2)).await;
                continue;
            }
            return answer.success()?.json();
        }
    }

    async fn leave(&self, hall: &Hall, way: &HttpApi) -> Result<(), ClientError> {
        let leave = way.delete(&hall.sale.path("/queue/places/mine"));
        leave.by(&self.person).send_politely().await?.success()?;
        Ok(())
    }

    /// About that long: a crowd that waits for the same second asks as one.
    async fn pause(&mut self, seconds: u32) {
        let about = Duration::from_secs(seconds.max(1).into());
        tokio::time::sleep(self.chance.between(about.mul_f32(0.8), about.mul_f32(1.2))).await;
    }
}
