//! The signer: its secret is fetched while the function starts, and nobody gets
//! a token before its public key is where verifiers look for it.

use std::error::Error;
use std::sync::Arc;

use aws_config::SdkConfig;
use dynamo_store::{CatalogStore, StoredKey};
use jiff::Timestamp;
use lambda_kit::config::Secret;
use lambda_kit::loading::Loading;
use tokens::Signer;

/// The signer, there or on its way.
pub type Signing = Arc<Loading<Arc<Signer>>>;

/// The secret has no text.
#[derive(Debug, thiserror::Error)]
#[error("the signing secret has no text")]
struct NoText;

/// Begins to fetch the signing secret from Secrets Manager, in the background.
#[must_use]
pub fn signer_at(aws: &SdkConfig, secret_arn: String, catalog: CatalogStore) -> Signing {
    let secrets = aws_sdk_secretsmanager::Client::new(aws);
    Arc::new(Loading::begin(move || {
        let (secrets, secret_arn, catalog) = (secrets.clone(), secret_arn.clone(), catalog.clone());
        async move {
            let secret = secrets.get_secret_value().secret_id(secret_arn).send().await?;
            let secret = Secret::new(secret.secret_string().ok_or(NoText)?);
            publish(&secret, &catalog).await
        }
    }))
}

async fn publish(
    secret: &Secret,
    catalog: &CatalogStore,
) -> Result<Arc<Signer>, Box<dyn Error + Send + Sync>> {
    let signer = Signer::derive(secret.expose())?;
    let key = signer.public_key();
    catalog.key_put(&StoredKey { kid: key.kid.clone(), jwk: key.jwk.to_string() }).await?;
    Ok(Arc::new(signer))
}

/// A token's expiry has whole seconds: rounded down, it never outlasts what it
/// stands for.
pub(crate) fn whole_seconds(instant: Timestamp) -> Timestamp {
    Timestamp::from_second(instant.as_second()).unwrap_or(instant)
}
