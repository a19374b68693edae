//! Who people are: the user pool of the local stack.
//!
//! A fan of AWS signs in by SRP in a browser. Here people are made by the
//! operator's API and sign in by password, which only the local stack allows.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};

use crate::error::ClientError;
use crate::stack::Stack;

/// Somebody who is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// What the product knows them by: the token's `sub`.
    pub id: String,
    /// Their bearer token.
    pub token: String,
}

/// The user pool.
#[derive(Debug, Clone)]
pub struct Identity {
    http: reqwest::Client,
    endpoint: String,
    pool: String,
    client: String,
}

const PASSWORD: &str = "Local-stack-only-1";
const OPERATORS: &str = "operators";

/// The emulator is one Python process: more at once only makes its iterations
/// over users trip over each other.
const AT_ONCE: usize = 4;

impl Identity {
    /// The user pool of a stack.
    ///
    /// # Errors
    /// When no HTTP client can be made.
    pub fn new(stack: &Stack) -> Result<Self, ClientError> {
        Ok(Self {
            http: reqwest::Client::builder().timeout(Duration::from_secs(30)).build()?,
            endpoint: stack.endpoint.clone(),
            pool: stack.user_pool_id.clone(),
            client: stack.user_pool_client_id.clone(),
        })
    }

    /// A fan nobody has seen before.
    ///
    /// # Errors
    /// When the user pool refuses.
    pub async fn fan(&self) -> Result<Person, ClientError> {
        let username = self.create(&new_email()).await?;
        self.sign_in(&username).await
    }

    /// So many fans nobody has seen before.
    ///
    /// # Errors
    /// When the user pool refuses.
    pub async fn fans(&self, count: usize) -> Result<Vec<Person>, ClientError> {
        stream::iter(0..count).map(|_| self.fan()).buffered(AT_ONCE).try_collect().await
    }

    /// A new member of the group that may edit events.
    ///
    /// # Errors
    /// When the user pool refuses.
    pub async fn operator(&self) -> Result<Person, ClientError> {
        let username = self.create(&new_email()).await?;
        let member = json!({"UserPoolId": self.pool, "Username": username, "GroupName": OPERATORS});
        self.call("AdminAddUserToGroup", &member).await?;
        self.sign_in(&username).await
    }

    /// So many fans of a standing crowd: who was made for an earlier sale signs
    /// in again. Making a person takes the emulator far longer. `progress` is
    /// told of each one.
    ///
    /// # Errors
    /// When the user pool refuses.
    pub async fn crowd(
        &self,
        count: usize,
        progress: impl Fn(),
    ) -> Result<Vec<Person>, ClientError> {
        let known = self.crowd_usernames().await?;
        let progress = &progress;
        let fans = stream::iter(0..count).map(|number| {
            let known = known.get(number).cloned();
            async move {
                let username = match known {
                    Some(username) => username,
                    None => self.create(&format!("{CROWD}{}@fans.example", new_word())).await?,
                };
                let fan = self.sign_in(&username).await;
                progress();
                fan
            }
        });
        fans.buffered(AT_ONCE).try_collect().await
    }

    async fn crowd_usernames(&self) -> Result<Vec<String>, ClientError> {
        let mut usernames = Vec::new();
        let mut page = Value::Null;
        loop {
            let mut ask = json!({
                "UserPoolId": self.pool,
                "Filter": format!("email ^= \"{CROWD}\""),
                "Limit": 60,
            });
            if !page.is_null() {
                ask["PaginationToken"] = page;
            }
            let answer = self.call("ListUsers", &ask).await?;
            let users = answer["Users"].as_array().cloned().unwrap_or_default();
            // Somebody may be half made by a run that is going on right now.
            let ready = users.iter().filter(|user| user["UserStatus"] == "CONFIRMED");
            usernames.extend(ready.filter_map(|user| Some(user["Username"].as_str()?.to_owned())));
            page = answer["PaginationToken"].clone();
            if page.is_null() {
                return Ok(usernames);
            }
        }
    }

    /// Makes a person and returns the name the pool gave them.
    async fn create(&self, email: &str) -> Result<String, ClientError> {
        let person = json!({
            "UserPoolId": self.pool,
            "Username": email,
            "MessageAction": "SUPPRESS",
        });
        let answer = self.call("AdminCreateUser", &person).await?;
        let username = text(&answer["User"]["Username"], "a user's name", &answer)?;
        let password = json!({
            "UserPoolId": self.pool,
            "Username": username,
            "Password": PASSWORD,
            "Permanent": true,
        });
        self.call("AdminSetUserPassword", &password).await?;
        Ok(username)
    }

    async fn sign_in(&self, username: &str) -> Result<Person, ClientError> {
        let ask = json!({
            "ClientId": self.client,
            "AuthFlow": "USER_PASSWORD_AUTH",
            "AuthParameters": {"USERNAME": username, "PASSWORD": PASSWORD},
        });
        let answer = self.call("InitiateAuth", &ask).await?;
        let token = text(&answer["AuthenticationResult"]["AccessToken"], "a token", &answer)?;
        // A pool that signs in by e-mail names people by their `sub`.
        Ok(Person { id: username.to_owned(), token })
    }

    async fn call(&self, action: &str, body: &Value) -> Result<Value, ClientError> {
        let mut tries_left = 5;
        loop {
            let answer = self
                .http
                .post(&self.endpoint)
                .header("x-amz-target", format!("AWSCognitoIdentityProviderService.{action}"))
                .header("content-type", "application/x-amz-json-1.1")
                .body(body.to_string())
                .send()
                .await?;
            let status = answer.status().as_u16();
            let answered = answer.text().await?;
            if status == 200 {
                let decode = |source| ClientError::Decode {
                    what: action.to_owned(),
                    body: answered.clone(),
                    source,
                };
                return serde_json::from_str(&answered).map_err(decode);
            }
            tries_left -= 1;
            // The emulator trips when it iterates over users while one is added;
            // it has changed nothing by then.
            if status < 500 && !answered.contains("InternalError") || tries_left == 0 {
                return Err(ClientError::Unexpected {
                    what: action.to_owned(),
                    status,
                    body: answered,
                });
            }
        }
    }
}

const CROWD: &str = "crowd-";

fn new_email() -> String {
    format!("{}@people.example", new_word())
}

/// A word that no other process and no other call makes.
#[must_use]
pub fn new_word() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    format!("{:x}-{:x}-{call:x}", since.as_micros(), std::process::id())
}

fn text(value: &Value, what: &str, whole: &Value) -> Result<String, ClientError> {
    value.as_str().map(str::to_owned).ok_or_else(|| ClientError::Unexpected {
        what: format!("{what} is missing"),
        status: 200,
        body: whole.to_string(),
    })
}
