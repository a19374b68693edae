//! Where the running stack is.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::ClientError;

/// The outputs of the stack that `localstack/up` has deployed.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Stack {
    /// The HTTP API.
    pub http_url: String,
    /// The WebSocket API.
    pub ws_url: String,
    /// The user pool that signs people in.
    pub user_pool_id: String,
    /// Its client, whose tokens the APIs accept.
    pub user_pool_client_id: String,
    /// The AWS APIs: the emulator.
    pub endpoint: String,
    /// The region they say they are in.
    pub region: String,
    /// Redis. Only the final account looks into it.
    pub redis_url: String,
    /// The catalogue's table.
    pub catalog_table: String,
    /// The orders' table.
    pub orders_table: String,
    /// The units' table.
    pub units_table: String,
    /// The table of WebSocket connections.
    pub connections_table: String,
    /// The queue of order intents.
    pub order_intents_queue_url: String,
    /// The queue of orders that Redis still has to be made to agree with.
    pub settle_retries_queue_url: String,
    /// Where order intents end that were given up.
    pub order_intents_dead_letters_url: String,
    /// Where the letters of such orders are kept.
    pub order_intents_parked_url: String,
    /// How long a hold lives, in seconds.
    pub hold_seconds: u32,
    /// The timeout of order-persistence, in seconds.
    pub persistence_timeout_seconds: u32,
}

impl Stack {
    /// Reads the outputs of the running stack: from the file that `ONSALE_OUTPUTS`
    /// names, or from where `localstack/up` puts them.
    ///
    /// # Errors
    /// When there are none.
    pub fn read() -> Result<Self, ClientError> {
        let path = outputs_file();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(source) => return Err(ClientError::NoStack { path, source }),
        };
        serde_json::from_str(&text).map_err(|source| ClientError::Outputs { path, source })
    }

    /// Where the local stack's functions read which faults are to happen.
    #[must_use]
    pub fn faults_file() -> PathBuf {
        outputs_file().with_file_name("faults")
    }
}

fn outputs_file() -> PathBuf {
    match std::env::var_os("ONSALE_OUTPUTS") {
        Some(file) => PathBuf::from(file),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.localstack/outputs.json"),
    }
}
