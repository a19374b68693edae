//! What takes intents from their queue to the function that persists them.

use serde_json::{Value, json};

use crate::error::ClientError;
use crate::http::HttpApi;
use crate::world::World;

const PATH: &str = "/2015-03-31/event-source-mappings/";

impl World {
    /// From now on intents stay in their queue, until [`Self::take_intents`].
    ///
    /// # Errors
    /// When the local stack's function service refuses.
    pub async fn leave_intents(&self) -> Result<(), ClientError> {
        self.set_intents_mapping(false).await
    }

    /// Intents are taken again, ten at a time.
    ///
    /// # Errors
    /// When the local stack's function service refuses.
    pub async fn take_intents(&self) -> Result<(), ClientError> {
        self.set_intents_mapping(true).await
    }

    async fn set_intents_mapping(&self, enabled: bool) -> Result<(), ClientError> {
        let service = HttpApi::new(&self.stack.endpoint, 1)?;
        let mappings: Value = service.get(PATH).read().await?;
        let queue = self.stack.order_intents_queue_url.rsplit('/').next().unwrap_or_default();
        let is_ours = |mapping: &&Value| {
            let arn = mapping["EventSourceArn"].as_str().unwrap_or_default();
            arn.rsplit(':').next() == Some(queue)
        };
        let ours = mappings["EventSourceMappings"].as_array().into_iter().flatten().find(is_ours);
        let id = ours.and_then(|mapping| mapping["UUID"].as_str()).unwrap_or_default();
        let put = service.put(&format!("{PATH}{id}"));
        put.json(&json!({"Enabled": enabled})).send().await?.success()?;
        Ok(())
    }
}
